/* SPDX-License-Identifier: MIT */
/*
 * The processes that a detector follows: what each is now, and a little of its past.  Memory is
 * bounded: of more processes than FOLLOWED_MOST, those are followed that have an open episode, then
 * the largest and the busiest.
 */
#ifndef ANALYZE_FOLLOWED_H
#define ANALYZE_FOLLOWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/anomaly/past_values.h"
#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "model/record/anomaly.h"

#define FOLLOWED_MOST 8192
#define SLEEPERS_MOST 4096
#define LAST_MINUTE_NS 60e9 /* growth in it is evidence when memory runs out */

struct episode;
struct snapshot;

/* A number that may not be known. */
struct known {
	bool is_known;
	double value;
};

struct followed {
	struct task_key key;
	uint32_t row;  /* in the snapshot of the tick */
	uint64_t tick; /* when it was last seen */
	char comm[TREE_COMM_SIZE];
	struct known uid, rss, threads, fds, fd_limit;
	struct known cpu_total_ns;
	struct known cpu_percent;
	struct known stall_ns;	  /* of its thread that stalls the longest */
	struct known stuck_ns;	  /* of its thread that is in D the longest */
	uint64_t hot_since_ns;	  /* since when it uses a whole CPU; 0: it does not */
	uint64_t zombie_since_ns; /* 0: it is none */
	struct past_values memory, memory_long, thread_counts;
	struct episode *episodes[ANOMALY_RULE_COUNT]; /* the open ones */
};

/* A thread in uninterruptible sleep. */
struct sleeper {
	struct task_key key;
	uint64_t switches; /* a thread that ran in between has more */
	uint64_t since_ns;
};

struct followed_processes {
	ARRAY_OF(struct followed *) list;
	struct number_map index; /* by pid */
	ARRAY_OF(struct sleeper) sleepers;
	uint64_t tick;
	uint64_t ns;	    /* of the tick, by the monotonic clock */
	uint64_t before_ns; /* of the tick before; 0: this is the first one */
	uint64_t lost;	    /* processes of this tick that are not followed */
};

/* Takes the processes of a tick.  Those that ended stay until followed_forget().  0 or -ENOMEM. */
int followed_take(struct followed_processes *processes, const struct snapshot *now,
		  const struct anomaly_settings *settings);

static inline bool followed_has_ended(const struct followed_processes *processes,
				      const struct followed *process)
{
	return process->tick != processes->tick;
}

/* Forgets the processes that have ended; their episodes must be closed. */
void followed_forget(struct followed_processes *processes);
void followed_clear(struct followed_processes *processes);

/* Up to `most` processes with the largest memory, or with the largest growth in the last minute. */
size_t followed_largest(const struct followed_processes *processes, size_t most,
			const struct followed **ret);
size_t followed_growing(const struct followed_processes *processes, size_t most,
			const struct followed **ret);

/* How much the process's memory grew in the last minute. */
double followed_growth(const struct followed_processes *processes, const struct followed *process);

#endif
