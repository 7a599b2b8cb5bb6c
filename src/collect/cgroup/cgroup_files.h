/* SPDX-License-Identifier: MIT */
/*
 * This room reads what cgroups use, their limits and their pressure, from the files of every
 * cgroup that holds a captured task and of those above it.
 *
 * Readings have the names of cgroup v2.  On hosts with v1 hierarchies they come from the v1 files
 * that mean the same, and the column says so.  A value that a cgroup does not have is absent, with
 * a reason; that is different from unlimited and from 0.
 */
#ifndef COLLECT_CGROUP_FILES_H
#define COLLECT_CGROUP_FILES_H

#include <stdbool.h>

#include "collect/kernel_parse.h"
#include "host/hierarchy.h"
#include "host/proc/kept_files.h"

struct capture;
struct snapshot;

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
#include "collect/cgroup/cgroup_files.def"
	CGROUP_FILE_COUNT,
};

struct cgroup_file {
	const char *name;
	enum cgroup_controller controller;
	enum kernel_format format;
	bool on_root;
};

extern const struct cgroup_file cgroup_files[CGROUP_FILE_COUNT];

/* What stays open from one sample to the next.  All zeros is valid. */
struct cgroup_sampling {
	bool is_open; /* the trees are; what is mounted later is not seen */
	struct hierarchies trees;
	struct kept_files files;
};

void cgroup_sampling_clear(struct cgroup_sampling *sampling);

/* Fills the cgroups' sheet; the tasks must be sorted already.  0 or -ENOMEM. */
int cgroup_files_collect(struct capture *capture);

/*
 * Fills the cgroups' sheet of a snapshot for one process, given by the text of its cgroup file:
 * its cgroups and those above, as they are now.  The process may have ended.  0 or -ENOMEM.
 */
int cgroup_files_read(const struct host *host, const struct hierarchies *trees, const char *places,
		      struct snapshot *snapshot);

#endif
