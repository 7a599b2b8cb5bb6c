/*
 * The files of cgroup v1 that mean the same as one of v2, and how their values
 * are put under v2's names.
 *
 * Left out are those that only look alike: soft limits, the limit on memory and
 * swap together, counts of a cgroup without those below where v2's are with them.
 */
#ifndef COLLECT_CGROUP_V1_H
#define COLLECT_CGROUP_V1_H

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

extern const struct cgroup_v1_file cgroup_v1_files[];
extern const size_t cgroup_v1_file_count;

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
