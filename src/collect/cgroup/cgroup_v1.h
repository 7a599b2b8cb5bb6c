/* SPDX-License-Identifier: MIT */
/*
 * Lists the files of cgroup v1 that mean the same as a file of v2, and translates their values to
 * v2's names.
 *
 * Files that only look similar are left out: soft limits, the limit on memory and swap together,
 * and counts that exclude the cgroups below where v2's include them.
 */
#ifndef COLLECT_CGROUP_V1_H
#define COLLECT_CGROUP_V1_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/cgroup/cgroup_files.h"
#include "model/snapshot/sheet.h"

enum cgroup_v1_rest {
	V1_DROP,
	V1_KEEP,   /* under their own names */
	V1_TOTALS, /* of memory.stat: keys with "total_", which include the cgroups below */
};

struct cgroup_v1_key;

struct cgroup_v1_file {
	enum cgroup_file_id file; /* the v2 file that it replaces */
	enum hierarchy_id hierarchy;
	const char *name;
	enum kernel_format format;
	const struct cgroup_v1_key *keys; /* ended by one without a name */
	enum cgroup_v1_rest rest;	  /* what to do with lines that are not among the keys */
	bool not_on_root;
	bool is_in_v2; /* v2's file, where it exists, has all of it, whatever the controller */
	bool is_given; /* not a file to read: lines of another file give the value */
};

/* At least the number of cgroup_v1_files. */
#define CGROUP_V1_MAX 32

extern const struct cgroup_v1_file cgroup_v1_files[];
extern const size_t cgroup_v1_file_count;

/* Whether a reading of that name comes from this file on v1. */
bool cgroup_v1_gives(const struct cgroup_v1_file *file, const char *name);

/*
 * The name of the file's reading number `index`, among those that every kernel has; NULL when
 * there are no more, or when the names depend on devices.
 */
const char *cgroup_v1_reading(const struct cgroup_v1_file *file, size_t index);

/* A value under the name of a reading. */
struct cgroup_reading {
	char name[SHEET_NAME_SIZE];
	struct kernel_value value;
};

/* How many readings one value of a v1 file can become. */
#define V1_READINGS_MAX 2

/* Translates a value of a v1 file into readings.  Returns how many there are, often 0. */
size_t cgroup_v1_translate(const struct cgroup_v1_file *file, uint64_t tick_ns,
			   const struct kernel_value *value,
			   struct cgroup_reading ret[V1_READINGS_MAX]);

#endif
