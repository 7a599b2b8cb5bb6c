/* SPDX-License-Identifier: MIT */
/*
 * What a cgroup path says about whose process it is: the container, the pod and
 * the systemd unit.
 *
 * Runtimes have no registry; each names its cgroups in a way of its own, which a
 * table has one row for.  Of containers and units inside each other the innermost
 * is told; a unit, only when it is inside the container and not around it.  A
 * runtime's own helpers beside a container (conmon, a supervisor) are in none.
 */
#ifndef ANALYZE_CONTAINER_H
#define ANALYZE_CONTAINER_H

#include <stddef.h>

struct text;

/* Names are those of directories; a longer one is none. */
#define CONTAINER_NAME_SIZE 256
#define CONTAINER_POD_SIZE 40
#define CONTAINER_SHORT_ID 12 /* hexadecimal digits that people are shown */

struct container {
	const char *runtime;		/* "docker"; NULL outside of any container */
	char id[CONTAINER_NAME_SIZE];	/* 64 hexadecimal digits, or a name; "" without one */
	char pod[CONTAINER_POD_SIZE];	/* uid of a Kubernetes pod, or "" */
	char unit[CONTAINER_NAME_SIZE]; /* "nginx.service", or "" */
};

void container_find(const char *cgroup, struct container *ret);

/*
 * Appends what a person calls the innermost of these: "docker 0123456789ab", the
 * unit, or else the path itself.
 */
void container_append_name(const char *cgroup, struct text *out);

#endif
