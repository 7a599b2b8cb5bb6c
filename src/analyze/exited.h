/* SPDX-License-Identifier: MIT */
/*
 * What threads did that ended between two snapshots.
 *
 * A process keeps totals of its threads that have exited: their growth, less
 * what those had done before that were alive at the first snapshot, is what was
 * done in between; by threads that came and went in between, too.
 *
 * Totals of I/O contain children that were waited for, and there are totals of just
 * those: so what children had done before is taken off as well.  Which those are is a
 * guess, the right one unless a process ended before its children or does not wait
 * for them.
 */
#ifndef ANALYZE_EXITED_H
#define ANALYZE_EXITED_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct join;

/* The metric that keeps a thread metric's total of exited threads, or -1. */
int exited_total_of(enum metric_id id);

/* Whether anything is known of threads of this process (by its row in B) that ended. */
bool exited_any(const struct join *join, uint32_t process);

/* Whether threads of this process came and went in between that no snapshot has. */
bool exited_passed(const struct join *join, uint32_t process);

/* Of the threads that ended, by process of A: the metric's sum, and how many lack it. */
struct exited_sums {
	uint64_t *sums;
	uint32_t *missing;
	uint32_t *heirs; /* who waited for a process that ended; itself for one that lives on */
};

int exited_sums_init(struct exited_sums *sums, const struct join *join); /* 0 or -ENOMEM */
void exited_sums_clear(struct exited_sums *sums);
void exited_sums_fold(struct exited_sums *sums, const struct join *join, enum metric_id id);

/*
 * The same of a total by itself: of exited threads (dead_*) or of children that were
 * waited for (child_*).  What those that ended had done before is what the total grew
 * by without anything being done.  False, and nothing is folded, for other metrics.
 */
bool exited_sums_fold_total(struct exited_sums *sums, const struct join *join, enum metric_id id);

/* What one process tells of a metric of its exited threads. */
struct exited {
	bool known;
	uint64_t work; /* in between; never below 0 */
};

/* After exited_sums_fold() of the same metric. */
struct exited exited_of(const struct exited_sums *sums, const struct join *join, enum metric_id id,
			uint32_t process);

#endif
