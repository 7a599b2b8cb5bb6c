/* SPDX-License-Identifier: MIT */
/*
 * Where every task and process of a comparison belongs: the groups of both sides
 * under common numbers, and, of an interval, who is who.
 *
 * Tasks of each snapshot are in the groups that they have there; a cgroup of A
 * that was renamed has the number that it has in B.  What exited threads did
 * belongs to the group of their process's first task, or on axes that tell
 * threads of a process apart to a group of its own, "<process> (exited threads)".
 */
#ifndef ANALYZE_COMPARE_LAYOUT_H
#define ANALYZE_COMPARE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/join.h"
#include "metric/metric.h"

struct comparison;
struct compare_options;
struct compare_side;
struct snapshot;

#define NO_GROUP UINT32_MAX

/* One snapshot; arrays end with the layout. */
struct compare_run {
	const struct snapshot *snapshot;
	uint32_t *group_of_task;
	uint32_t *group_of_process; /* of its first task */
	/* By group: how many it has, and how long they lived together, in seconds. */
	uint32_t *tasks, *processes;
	double *task_lives, *process_lives; /* NULL when the snapshot does not tell its time */
};

struct compare_layout {
	struct compare_run *runs; /* before, then after */
	size_t before_count, run_count;
	size_t group_count;
	size_t first_exited; /* groups from here on are exited threads */
	bool is_interval;
	struct join join; /* of an interval: all else is all zeros */
	/* By process of B: where its exited threads belong, or NO_GROUP when it has none. */
	uint32_t *exited_group;
	/* By group: those in B that A missed. */
	uint32_t *missed_tasks, *missed_processes;
};

/*
 * Groups the tasks of all snapshots, adding the groups to the comparison, whose
 * mode is set.  0, -ENOMEM, or -EINVAL for a glob that grouping_options_check()
 * would refuse.
 */
int compare_layout_init(struct compare_layout *layout, const struct compare_side *before,
			const struct compare_side *after, const struct compare_options *options,
			struct comparison *comparison);
void compare_layout_clear(struct compare_layout *layout); /* all zeros is allowed */

/* Why a side that has a group has no value of the metric: B, or else A. */
const char *compare_layout_reason(const struct compare_layout *layout, enum metric_id id,
				  bool after_is_known);

#endif
