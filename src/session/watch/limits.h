/* SPDX-License-Identifier: MIT */
/*
 * Measures pressure and limits around the tree while it is watched: reads the files of the host
 * and of the root process's cgroups at the beginning and at the end, with the code of a capture.
 *
 * A cgroup's counters cover everything in it, not only the tree.  When the root process moves to
 * another cgroup, that one counts from then on; at the end the cgroup that it was last seen in is
 * read.  On hosts with several hierarchies each controller is read where the process is in that
 * controller's hierarchy.  A quota or limit of a cgroup further up applies too: the tightest one
 * is reported, with the counters of the cgroup that has it.
 */
#ifndef SESSION_LIMITS_H
#define SESSION_LIMITS_H

#include <stdint.h>

#include "host/hierarchy.h"
#include "host/proc/cpu_times.h"
#include "model/tree/run.h"

struct snapshot;

struct limits {
	const struct host *host;
	struct hierarchies trees;
	bool is_open;
	uint64_t start_ticks;	  /* of the root process; 0: not known */
	char *places;		  /* the root process's cgroup file, or NULL */
	struct cpu_times times;	  /* of the host's CPUs at the beginning */
	struct snapshot *begin;	  /* with the sheet of the host */
	struct snapshot *cgroups; /* with the sheet of the cgroups, from when it got there */
};

/* 0 or -ENOMEM; values that cannot be read stay absent. */
int limits_begin(struct limits *limits, const struct host *host, int32_t pid);

/*
 * Reads which cgroup the process is in now.  Does nothing when the process is ending, or another
 * process has its number.
 */
void limits_follow(struct limits *limits, int32_t pid);

/* Adds the rows of the manifest. */
int limits_report(const struct limits *limits, struct run *run);

/* Fills the limits of the run; may be called again.  0 or -ENOMEM. */
int limits_end(struct limits *limits, struct run *run);
void limits_close(struct limits *limits);

/*
 * Computes what changed between the beginning (sheets of `host` and `cgroups`) and the end, and
 * takes the limits from the end.  `places` and `trees` say which cgroups are the process's own.
 */
void limits_between(const struct snapshot *host, const struct snapshot *cgroups,
		    const struct snapshot *end, const struct hierarchies *trees, const char *places,
		    struct run_limits *ret);

#endif
