/* SPDX-License-Identifier: MIT */
/*
 * The view of a snapshot: what to show of it.  Text, JSON and CSV are three
 * ways of writing it.
 */
#ifndef RENDER_SNAPSHOT_VIEW_H
#define RENDER_SNAPSHOT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group/group.h"
#include "analyze/group/selection.h"

struct error;
struct text;

/*
 * Columns that are not metrics.  From COLUMN_METRIC on, a column is about one
 * group and one metric.
 */
enum view_column {
	COLUMN_GROUP,
	COLUMN_TASKS,
	COLUMN_PROCESSES,
	COLUMN_UPTIME, /* age of the group's oldest task */
	COLUMN_SCOPE,  /* of the thread that has been in its scope for longest */
	COLUMN_METRIC,
	COLUMN_VALUE,
	COLUMN_MEASURED,
	COLUMN_UNIT,
	COLUMN_TAGS,
	COLUMN_COUNT,
};

/*
 * In the wide layout a line is a group, and the metrics follow the columns.  In
 * the long layout a line is a group and a metric; any column about one metric
 * selects it.
 */
struct view_columns {
	enum view_column ids[COLUMN_COUNT];
	size_t count;
	bool is_long;
};

/* Their names, as help shows them. */
#define VIEW_COLUMNS "group, tasks, processes, uptime, scope, metric, value, measured, unit, tags"

/* Reads a comma list.  Returns 0, or -EINVAL with a sentence. */
int view_columns_parse(const char *list, struct view_columns *ret, struct error *error);
const char *view_column_name(enum view_column column);

struct snapshot_view {
	struct grouping *grouping; /* sorted */
	struct selection metrics;
	struct view_columns columns; /* none: the format's defaults */
	bool is_verbose;	     /* the footer has everything about the capture */
	bool may_leave_out;	     /* metrics may be left out: the user did not name them */
	size_t limit;		     /* groups to show, the first ones; 0 for all */
	uint32_t sections; /* a bit each: show these, readings included; 0: the metrics alone */
};

/* How many groups are shown. */
size_t view_shown(const struct snapshot_view *view);

/* Age of the group's oldest task; false when the snapshot has no clock. */
bool view_age(const struct snapshot_view *view, const struct group *group, uint64_t *ret_ns);

/* The requested columns, else those of the wide layout. */
const struct view_columns *view_columns(const struct snapshot_view *view);

/* The same for people: with scopes if a shown thread is in one. */
const struct view_columns *view_columns_for_people(const struct snapshot_view *view);

/* People get a word where there is nothing, and more about a scope than its label. */
enum view_reader {
	FOR_PEOPLE,
	FOR_PROGRAMS,
};

/*
 * Puts a column's value for a group into its cell; `fold` is the metric of the
 * line, if it has one.
 */
struct table;
void view_put(struct table *table, const struct snapshot_view *view, const struct group *group,
	      const struct fold *fold, enum view_column column, enum view_reader reader);

/* A metric's scheduler class and kernel options: "[cfs-only] [SCHEDSTATS]". */
void metric_tags(struct text *out, const struct metric *metric);

#endif
