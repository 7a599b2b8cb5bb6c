/* SPDX-License-Identifier: MIT */
/*
 * Assigns every row of a comparison to a group.  Groups of both sides share
 * their numbers.  For an interval it also says which row of B is which of A.
 *
 * The tasks of each snapshot are in the groups that they have there; a cgroup
 * of A that was renamed has the number that it has in B.  The work of exited
 * threads belongs to the group of their process's first task.  On axes that
 * separate the threads of a process it belongs to a group of its own,
 * "<process> (exited threads)".
 *
 * The rows of a sheet have a layout of their own
 * (analyze/sheet/sheet_layout.h).
 */
#ifndef ANALYZE_COMPARE_LAYOUT_H
#define ANALYZE_COMPARE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/compare/comparison.h"
#include "analyze/match/join.h"
#include "base/collection/arena.h"
#include "metric/metric.h"

struct column;
struct sheet;
struct snapshot;

#define SCOPES 3 /* of metrics */

#define NO_GROUP UINT32_MAX
#define NO_ROW UINT32_MAX

struct member {
	uint32_t row, group;
};

/* The rows that metrics of one scope have values for, in one snapshot. */
struct member_rows {
	uint32_t *group_of; /* by row, or NO_GROUP; NULL: there are no such rows */
	/* The rows that have a group, ascending. */
	struct member *members;
	size_t member_count;
	/*
	 * By row: the nearest row of its group that includes its values, or
	 * NO_ROW.  May be NULL.
	 */
	uint32_t *above;
	size_t count;
	double *lives; /* by group: the sum of its members' lives in seconds; NULL: not known */
};

struct compare_run {
	const struct snapshot *snapshot;
	const struct sheet *sheet; /* it has the values of METRIC_OF_ROW */
	bool is_filtered;	   /* the capture was limited: what it lacks may have existed */
	double seconds;		   /* of an interval, else 0 */
	struct member_rows rows[SCOPES];
};

/* The arrays live as long as the layout. */
struct compare_layout {
	struct arena arena;
	struct compare_run *runs; /* before, then after */
	size_t before_count, run_count;
	size_t group_count;
	size_t first_exited; /* groups from here on are exited threads */
	/*
	 * By group: the group that contains it and has a lower number; group 0 has
	 * none.  NULL: no group contains another.
	 */
	uint32_t *parents;
	uint32_t *numbers;	   /* by group: its number in the comparison; NULL: the same */
	uint64_t left_out[SCOPES]; /* groups with members that the layout does without */
	bool is_interval;
	bool is_rates; /* the snapshots are intervals: counters are compared per second */
	/*
	 * By group: its members in all runs of a side; those that A missed count
	 * for A too.  NULL: there are no such rows.
	 */
	uint32_t *population[SIDES][SCOPES];
	/*
	 * By group: whether a side has it, measured or not.  NULL: it does if
	 * it has members there.
	 */
	uint8_t *has[SIDES];
	/* Set for an interval; otherwise all zeros. */
	struct join join;		   /* of tasks */
	const uint32_t *before_of[SCOPES]; /* by row of B: row of A, JOIN_BORN or JOIN_MISSED */
	uint32_t *removed;		   /* rows of A's sheet that are not in B */
	size_t removed_count;
	/* By process of B: the group of its exited threads, or NO_GROUP when it has none. */
	uint32_t *exited_group;
};

/* Begins a layout, with the runs of both sides and no groups.  0 or -ENOMEM. */
int compare_layout_begin(struct compare_layout *layout, const struct compare_side *sides,
			 const struct comparison *comparison);

/*
 * Counts the members of each group, once the groups are known; for populations
 * also their lives, if they are known.  0 or -ENOMEM.
 */
int compare_layout_count(struct compare_layout *layout, bool has_lives);

/*
 * Counts, for an interval, the members of each group that came, that went and
 * that A missed, and finds groups that were restarted.  0 or -ENOMEM.
 */
int compare_layout_count_interval(struct compare_layout *layout, struct comparison *comparison);

/* For populations: makes the tasks of a group those of one run on average. */
void compare_layout_average(const struct compare_layout *layout, struct comparison *comparison);

/* Runs of a side: from the first up to, not including, the end. */
static inline size_t compare_first(const struct compare_layout *layout, int side)
{
	return side ? layout->before_count : 0;
}

static inline size_t compare_end(const struct compare_layout *layout, int side)
{
	return side ? layout->run_count : layout->before_count;
}

/* The metric's values in a run; NULL when the run's sheet does not have it. */
const struct column *compare_column(const struct compare_run *run, const struct metric *metric);

/* Whether no run has a value of a metric that is not derived: folding it would be in vain. */
bool compare_is_unmeasured(const struct compare_layout *layout, const struct metric *metric);

/*
 * Groups the tasks of all snapshots and adds the groups to the comparison,
 * whose mode must be set.  0, -ENOMEM, or -EINVAL for a glob that
 * grouping_options_check() would refuse.
 */
int compare_layout_init(struct compare_layout *layout, const struct compare_side *sides,
			const struct compare_options *options, struct comparison *comparison);
void compare_layout_clear(struct compare_layout *layout); /* all zeros is allowed */

/*
 * Makes a layout of an interval without the groups that did not move at all.
 * What it is made from must outlive it.  0 or -ENOMEM; clear it either way.
 */
int compare_layout_moving(struct compare_layout *moving, const struct compare_layout *from);

/*
 * Fills in a layout whose groups, arena, numbers and parents are set with the
 * rows of another, which must outlive it.  `group_of` has the new group of each
 * old one, or NO_GROUP.  0 or -ENOMEM.
 */
int compare_layout_regroup(struct compare_layout *layout, const struct compare_layout *from,
			   const uint32_t *group_of);

/* Lists the rows that have a group, once all groups are known.  0 or -ENOMEM. */
int member_rows_list(struct member_rows *rows, struct arena *arena);

/* A group of a layout of tasks, in its comparison. */
static inline struct compared_group *compare_group(const struct compare_layout *layout,
						   const struct comparison *comparison,
						   size_t group)
{
	return &comparison->groups.data[layout->numbers ? layout->numbers[group] : group];
}

/* Why a side that has the group has no value of the metric; B's reason first, else A's. */
const char *compare_layout_reason(const struct compare_layout *layout, const struct metric *metric,
				  bool after_is_known);

#endif
