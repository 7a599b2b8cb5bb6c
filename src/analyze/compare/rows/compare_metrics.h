/* SPDX-License-Identifier: MIT */
/*
 * Makes the rows of a comparison: folds a metric over the groups of a layout
 * and makes a row of its change in each group.  Metrics of threads, processes,
 * cgroups and the host all come through here.
 *
 * For a counter in an interval the difference is the work of rows that stayed,
 * of rows that were born, and of threads that ended.  A task whose counter fell
 * has restarted and is not counted; a row is a reset when no other task has a
 * value.  Counters that are computed from several reads may waver: their falls
 * are counted too, so that sums stay exact.
 *
 * For everything else the difference is B's value less A's.
 */
#ifndef ANALYZE_COMPARE_METRICS_H
#define ANALYZE_COMPARE_METRICS_H

#include "analyze/compare/fold/compare_work.h"
#include "metric/fold.h"
#include "analyze/compare/comparison.h"

struct mann_whitney;
struct rank_scale;
struct row_keeper;
struct sheet_layout;

/*
 * Makes rows.  Its user sets scale, keeper and comparison, and for readings
 * also the sheet's layout and the source; row_maker_init() sets the rest.
 */
struct row_maker {
	const struct rank_scale *scale;
	struct row_keeper *keeper;
	struct comparison *comparison;
	struct sheet_layout *sheet; /* NULL for metrics of tasks */
	const char *source;	    /* what captures call the source of the reading in hand */

	const struct compare_layout *layout;
	struct compare_work work;
	struct mann_whitney *test;    /* NULL: one snapshot a side */
	enum compare_section section; /* of the metric in hand */
	double whole;		      /* all that moved in its resource */
	bool is_setting;	      /* it is not a number */

	/* For settings; made when a metric first needs them. */
	struct member_list {
		uint32_t *first; /* by group, and one more */
		uint32_t *rows;
		struct cpu_counts cpu_counts; /* of the run: in its first list */
	} * lists;			      /* of each scope, for each run */
	const struct column **columns;	      /* of the metric in hand, by run */
	double tasks;			      /* of both sides */
	struct fold folds[SIDES];	      /* of the group in hand */
};

/* The layout must outlive the maker.  0 or -ENOMEM; clear it either way. */
int row_maker_init(struct row_maker *maker, const struct compare_layout *layout);
void row_maker_clear(struct row_maker *maker);

/* Passes all rows of one metric to the keeper.  0 or -ENOMEM. */
int row_maker_make(struct row_maker *maker, const struct metric *metric,
		   enum compare_section section);

/*
 * Settings: what a group is set to, rather than how much it has, such as
 * ranges, limits, categories, texts and sets of CPUs.  They are folded over all
 * snapshots of a side, group by group.
 *
 * Takes a metric that is not compare_is_number().  0 or -ENOMEM.
 */
int compare_settings_begin(struct row_maker *maker, const struct metric *metric);

/* Whether each side of a group has one number and both are equal, which need not be folded. */
bool compare_settings_are_same(const struct row_maker *maker, size_t group);

/* Folds both sides of one group, and notes whether they are equal in the maker's work. */
void compare_settings_fold(struct row_maker *maker, size_t group);

/* For the group that was just folded: the score of its row, and its values.  0 or -ENOMEM. */
double compare_settings_score(const struct row_maker *maker, const struct comparison_row *row);
int compare_settings_fill(const struct row_maker *maker, struct comparison_row *row);

/*
 * Measures what moved in each resource, which the shares of rows are of; what the
 * children of each group did that ended; and the size of groups that only one
 * side has.  0 or -ENOMEM.
 */
int compare_measure(const struct compare_layout *layout, struct rank_scale *scale,
		    struct comparison *comparison);

/* Makes rows of all metrics of tasks that the options select.  0 or -ENOMEM. */
int compare_metrics(const struct compare_layout *layout, const struct compare_options *options,
		    const struct rank_scale *scale, struct row_keeper *keeper,
		    struct comparison *comparison);

#endif
