/* SPDX-License-Identifier: MIT */
/*
 * What the host and the cgroup of the tree went through while it was watched: pressure, CPU time
 * that a quota held back, limits that were reached.
 *
 * Counters of cgroups are of all that is in them, not only of the tree.  When the root process
 * moves to another cgroup, that one counts from then on; the one that it was seen in last is
 * read at the end.  On hosts with several hierarchies each controller is asked where the
 * process is in its own.  A quota or limit further up binds too: the tightest is told, with
 * the counters of the cgroup that has it.
 */
#ifndef SESSION_SURROUNDINGS_H
#define SESSION_SURROUNDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/hierarchy.h"
#include "model/run.h"

struct host;

struct surroundings {
	const struct host *host;
	struct hierarchies trees;
	bool open;
	int64_t start_ticks;	       /* of the root process; 0: not known */
	char *places;		       /* the root process's cgroup file, or NULL */
	struct run_surroundings begin; /* counters as they were */
};

/* 0 or -ENOMEM; what cannot be read stays absent. */
int surroundings_begin(struct surroundings *surroundings, const struct host *host, int32_t pid);

/* Looks where the process is now; ignored when it is on its way out, or another by now. */
int surroundings_follow(struct surroundings *surroundings, int32_t pid);

/* Rows of the manifest. */
int surroundings_report(const struct surroundings *surroundings, struct run *run);

/* Fills the run's; may be called again.  0 or -ENOMEM. */
int surroundings_end(struct surroundings *surroundings, struct run *run);
void surroundings_close(struct surroundings *surroundings);

#endif
