/* SPDX-License-Identifier: MIT */
/*
 * Takes a snapshot of a host.  This is what other rooms use of collect/.
 *
 * The tasks come from the BPF task iterator where it works, else from procfs.
 * What only procfs has is then added for each process.  A source that does not
 * work never makes a capture fail: its values are absent, and the snapshot says why.
 */
#ifndef COLLECT_CAPTURE_H
#define COLLECT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct activity;
struct error;
struct host;
struct snapshot;

enum source_id {
#define SOURCE(id, ...) SOURCE_##id,
#include "collect/sources.def"
	SOURCE_COUNT,
};

struct source_info {
	const char *name;
	const char *gives;
	const char *needs;
	uint64_t capabilities; /* a bit for each, by its number */
};

extern const struct source_info sources[SOURCE_COUNT];

/* Returns the source of that name, or -1. */
int source_find(const char *name);

/*
 * What would make a source work that failed here with this reason (or NULL).  That is what the
 * source needs; or `source_denied`, which says so, when we have the capability already and
 * something else denies access.
 */
extern const char source_denied[];
const char *source_needs(enum source_id id, const char *reason);

enum task_lister {
	LIST_AUTO, /* the iterator if it works, else procfs */
	LIST_BPF,
	LIST_PROCFS,
};

struct capture_options {
	enum task_lister lister;
	uint32_t without;    /* a bit for each source that is switched off */
	const int32_t *pids; /* only these processes; all processes when the list is empty */
	size_t pid_count;
	const char *cgroup;	 /* only tasks in this cgroup and below; all when NULL */
	bool smaps;		 /* also read memory by kind of page, which is slow */
	bool gpu;		 /* also ask about GPUs */
	bool activity;		 /* load what sampling_activity() needs */
	bool no_jemalloc_oracle; /* run no code, not even trusted code, to find heap counters */
	unsigned gpu_ms;	 /* time for the first answer of a GPU's driver; 0: GPU_FIRST_MS */
	unsigned jemalloc_ms;	 /* time for finding heap counters; 0: JEMALLOC_BUDGET_MS */
};

/*
 * A sampling takes snapshots one after the other.  Between them it keeps what does not change: the
 * loaded BPF program, the state of the gates, and what a process changes only by an exec.
 *
 *	sampling_open(host, &options, &sampling, error);
 *	sampling_take(sampling, &snapshot, error);	as often as you like
 *	sampling_close(sampling);
 *
 * The host, and what the options point to, must live until the sampling is closed.
 *
 * Opening fails, with a sentence, when the asked-for lister does not work, a pid in the list is not
 * a process, or the cgroup does not exist.  Processes of the list that end later are not in later
 * snapshots; when all of them have ended, taking one fails.
 */
struct sampling;

int sampling_open(const struct host *host, const struct capture_options *options,
		  struct sampling **ret, struct error *error);
int sampling_take(struct sampling *sampling, struct snapshot **ret, struct error *error);
/* From the next sample on, these sources are switched off: a bit for each. */
void sampling_leave_out(struct sampling *sampling, uint32_t without);
/*
 * From the next sample on, of what the task iterator tells of each thread only these metrics are kept
 * (NULL: all); the others are absent, and say so.  METRIC_STORED of them, which are the caller's and
 * must last as long as they are used.
 */
void sampling_want(struct sampling *sampling, const bool *wanted);
/*
 * Other processes from the next sample on, of a sampling that was opened for some; those that have ended
 * are not in it.  The list is the caller's, and must last as long as it is used.
 */
void sampling_set_pids(struct sampling *sampling, const int32_t *pids, size_t count);
void sampling_close(struct sampling *sampling); /* NULL is allowed */

static inline void sampling_close_pointer(struct sampling **sampling)
{
	sampling_close(*sampling);
}

/*
 * What active threads do (model/record/activity.h), of a sampling that was opened for it.
 *
 * sampling_plan_activity() makes the next sample's walk look at it, too; sampling_take_activity()
 * walks for it alone: 0, or a negative errno with a sentence.  Which threads are active depends on
 * the walk before, whatever kind it was.  sampling_activity() is what the last sample or walk found,
 * until the next one, and may be cut down; NULL when it did not look.  sampling_lacks_activity() says why it cannot be
 * had; NULL when it can.
 *
 * sampling_limit_activity() limits how many threads of each user are looked at in a walk (0: all); each
 * walk has the next ones, and the rest is counted.
 */
void sampling_limit_activity(struct sampling *sampling, uint32_t threads_per_user);
void sampling_plan_activity(struct sampling *sampling);
int sampling_take_activity(struct sampling *sampling, struct error *error);
struct activity *sampling_activity(struct sampling *sampling);
const char *sampling_lacks_activity(const struct sampling *sampling);

/* A sampling of one snapshot: opens, takes, closes. */
int capture_take(const struct host *host, const struct capture_options *options,
		 struct snapshot **ret, struct error *error);

#endif
