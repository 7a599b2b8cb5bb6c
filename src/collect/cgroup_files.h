/* SPDX-License-Identifier: MIT */
/*
 * What cgroups use, what they may use, and their pressure: the files of every
 * cgroup that holds a captured task, and of those above it.
 *
 * Readings have the names of cgroup v2.  On hosts with v1 hierarchies the files
 * that mean the same give them, and the column says so.  A value that a cgroup
 * does not have is absent with the reason; unlimited and 0 are something else.
 */
#ifndef COLLECT_CGROUP_FILES_H
#define COLLECT_CGROUP_FILES_H

#include <stdbool.h>

#include "collect/cgroup_parse.h"
#include "host/hierarchy.h"

struct capture;

enum cgroup_controller {
	CONTROLLER_NONE,
	CONTROLLER_CPU,
	CONTROLLER_MEMORY,
	CONTROLLER_IO,
	CONTROLLER_PIDS,
	CONTROLLER_CPUSET,
	CONTROLLER_COUNT,
};

enum cgroup_file_id {
#define CGROUP_FILE(id, ...) CGROUP_FILE_##id,
#include "collect/cgroup_files.def"
	CGROUP_FILE_COUNT,
};

struct cgroup_file {
	const char *name;
	enum cgroup_controller controller;
	enum cgroup_format format;
	bool on_root;
};

extern const struct cgroup_file cgroup_files[CGROUP_FILE_COUNT];

/* Fills the cgroups' sheet; the tasks must be in their order.  0 or -ENOMEM. */
int cgroup_files_collect(struct capture *capture);

#endif
