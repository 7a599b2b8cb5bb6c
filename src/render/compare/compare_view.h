/* SPDX-License-Identifier: MIT */
/*
 * The view of a comparison: what to show of it.  Text, JSON and CSV are three
 * ways of writing it.
 */
#ifndef RENDER_COMPARE_VIEW_H
#define RENDER_COMPARE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/fail_on.h"
#include "analyze/group/sort_spec.h"

struct error;
struct snapshot;
struct text;

enum compare_column {
	CHANGE_SECTION,
	CHANGE_GROUP,
	CHANGE_TASKS,
	CHANGE_METRIC,
	CHANGE_UNIT,
	CHANGE_BEFORE,
	CHANGE_AFTER,
	CHANGE_INTERVAL, /* of derived metrics: over the work done in between */
	CHANGE_DELTA,
	CHANGE_PERCENT,
	CHANGE_PER_SECOND,
	CHANGE_SHARE,
	CHANGE_MEASURED,
	CHANGE_STATE,
	CHANGE_P,
	CHANGE_COLUMN_COUNT,
};

struct compare_columns {
	enum compare_column ids[CHANGE_COLUMN_COUNT];
	size_t count;
};

/* Their names, as help shows them. */
#define COMPARE_COLUMNS                                                                            \
	"section, group, tasks, metric, unit, before, after, interval, delta, %, per_second, "     \
	"share, measured, state, p"

/* Reads a comma list.  Returns 0, or -EINVAL with a sentence. */
int compare_columns_parse(const char *list, struct compare_columns *ret, struct error *error);
const char *compare_column_name(enum compare_column column);

/* What one side is made of. */
struct compared_files {
	const char *const *names; /* NULL: captured just now */
	const struct snapshot *const *snapshots;
	size_t count;
};

/* The result of a condition. */
struct compare_finding {
	enum fail_outcome outcome;
	const char *condition; /* as given */
	const char *group;     /* NULL: no group is meant */
	double change;	       /* unless FAIL_UNKNOWN */
	const char *sentence;
};

struct compare_view {
	const struct comparison *comparison;
	enum group_axis axis;
	struct compared_files before, after;
	struct selection metrics;	  /* that were asked for */
	struct sort_spec sort;		  /* metrics that groups were ordered by; none: count 0 */
	const struct comparison *ordered; /* their rows, for all groups; NULL without an order */
	struct compare_columns columns;	  /* none: the format's defaults */
	size_t limit;			  /* rows of each section; 0 for all */
	const struct compare_finding *findings;
	size_t finding_count;
};

/*
 * The changes of the metrics that groups are ordered by: a row of the
 * comparison for each group and metric, NULL where there is none.
 */
struct sort_columns {
	const struct comparison_row **rows; /* by group, then by key of the view's sort */
	size_t groups, keys;
};

/* Returns 0 and columns to clear, or -ENOMEM. */
int sort_columns_init(struct sort_columns *columns, const struct compare_view *view);
void sort_columns_clear(struct sort_columns *columns);

static inline const struct comparison_row *sort_columns_at(const struct sort_columns *columns,
							   uint32_t group, size_t key)
{
	return group < columns->groups ? columns->rows[group * columns->keys + key] : NULL;
}

static inline const struct compared_group *compare_group(const struct compare_view *view,
							 const struct comparison_row *row)
{
	return &view->comparison->groups.data[row->group];
}

#endif
