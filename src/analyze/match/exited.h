/* SPDX-License-Identifier: MIT */
/*
 * The work of threads that ended between two snapshots.
 *
 * A process keeps totals of its exited threads.  The growth of a total, less
 * what the threads that ended had done before the first snapshot, is the work
 * done in between; that includes threads that came and went in between.
 *
 * Totals of I/O include children that were waited for, and there are also
 * totals of just those: so what children had done before is subtracted as
 * well.  Which children those are is a guess.  It is right unless a process
 * ended before its children or does not wait for them.
 */
#ifndef ANALYZE_EXITED_H
#define ANALYZE_EXITED_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct arena;
struct join;

/* The metric that totals a thread metric over exited threads, or -1. */
int exited_total_of(enum metric_id id);

/* Whether anything is known about threads of this process (its row in B) that ended. */
bool exited_any(const struct join *join, uint32_t process);

/* Whether threads of this process came and went in between, so that no snapshot has them. */
bool exited_passed(const struct join *join, uint32_t process);

/* For the threads that ended, by process of A: the metric's sum, and how many lack it. */
struct exited_sums {
	uint64_t *sums;
	uint32_t *missing;
	uint32_t *heirs; /* who waited for a process that ended; itself for one that lives on */
};

/* The arrays are in the arena.  0 or -ENOMEM. */
int exited_sums_init(struct exited_sums *sums, struct arena *arena, const struct join *join);
void exited_sums_fold(struct exited_sums *sums, const struct join *join, enum metric_id id);

/*
 * The same for a total itself: of exited threads (dead_*) or of children that
 * were waited for (child_*).  It grows without new work by what those that
 * ended had done before; that is the sum.  False, and nothing is folded, for
 * other metrics.
 */
bool exited_sums_fold_total(struct exited_sums *sums, const struct join *join, enum metric_id id);

/* What one process reports about a metric of its exited threads. */
struct exited {
	bool known;
	uint64_t work; /* in between; never below 0 */
};

/* After exited_sums_fold() of the same metric. */
struct exited exited_of(const struct exited_sums *sums, const struct join *join, enum metric_id id,
			uint32_t process);

#endif
