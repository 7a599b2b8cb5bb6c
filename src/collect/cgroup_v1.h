/* SPDX-License-Identifier: MIT */
/*
 * The files of cgroup v1 that mean the same as one of v2, and how their values
 * are put under v2's names.
 *
 * Left out are those that only look alike: soft limits, the limit on memory and
 * swap together, counts of a cgroup without those below where v2's are with them.
 */
#ifndef COLLECT_CGROUP_V1_H
#define COLLECT_CGROUP_V1_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/cgroup_files.h"
#include "model/sheet.h"

enum cgroup_v1_rest {
	V1_DROP,
	V1_KEEP,   /* under their own names */
	V1_TOTALS, /* of memory.stat: those with "total_", which are with everything below */
};

struct cgroup_v1_key;

struct cgroup_v1_file {
	enum cgroup_file_id file; /* the one of v2 that it stands for */
	enum hierarchy_id hierarchy;
	const char *name;
	enum cgroup_format format;
	const struct cgroup_v1_key *keys; /* ended by one without a name */
	enum cgroup_v1_rest rest;	  /* what becomes of lines that are not among the keys */
	bool not_on_root;
	bool is_in_v2; /* v2's own file tells all of it where it is there, whatever the controller */
	bool is_given; /* no file to read: another one's lines give the value */
};

/* At least as many as there are. */
#define CGROUP_V1_MAX 32

extern const struct cgroup_v1_file cgroup_v1_files[];
extern const size_t cgroup_v1_file_count;

/* Whether the file is where a reading of that name comes from on v1. */
bool cgroup_v1_gives(const struct cgroup_v1_file *file, const char *name);

/*
 * The name of its reading number `index`, of those that every kernel has; NULL when there
 * are no more, or they depend on devices.
 */
const char *cgroup_v1_reading(const struct cgroup_v1_file *file, size_t index);

/* A value under the name of a reading. */
struct cgroup_reading {
	char name[SHEET_NAME_SIZE];
	struct cgroup_value value;
};

/* How many readings one value of a v1 file can become. */
#define V1_READINGS_MAX 2

/* The readings that a value of a v1 file stands for; how many there are, often 0. */
size_t cgroup_v1_translate(const struct cgroup_v1_file *file, uint64_t tick_ns,
			   const struct cgroup_value *value,
			   struct cgroup_reading ret[V1_READINGS_MAX]);

#endif
