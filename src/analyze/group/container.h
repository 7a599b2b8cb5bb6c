/* SPDX-License-Identifier: MIT */
/*
 * Reads the container, the pod and the systemd unit of a process from its
 * cgroup path.
 *
 * Runtimes have no registry; each names its cgroups in its own way, and a table
 * has one row for each way.  The innermost of nested containers or units is
 * reported.  A unit is reported only when it is inside the container, not
 * around it.  A runtime's own helpers beside a container (conmon, a supervisor)
 * belong to no container.
 */
#ifndef ANALYZE_CONTAINER_H
#define ANALYZE_CONTAINER_H

#include <stddef.h>

struct text;

/* Names are those of directories; a longer one is not a name. */
#define CONTAINER_NAME_SIZE 256
#define CONTAINER_POD_SIZE 40
#define CONTAINER_SHORT_ID 12 /* hexadecimal digits shown to people */

struct container {
	const char *runtime;		/* "docker"; NULL outside of any container */
	char id[CONTAINER_NAME_SIZE];	/* 64 hexadecimal digits, or a name; "" without one */
	char pod[CONTAINER_POD_SIZE];	/* uid of a Kubernetes pod, or "" */
	char unit[CONTAINER_NAME_SIZE]; /* "nginx.service", or "" */
};

void container_find(const char *cgroup, struct container *ret);

/*
 * Appends the name that a person would use for the innermost of these: "docker
 * 0123456789ab", the unit, or else the path itself.
 */
void container_append_name(const char *cgroup, struct text *out);

#endif
