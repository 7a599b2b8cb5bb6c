/* SPDX-License-Identifier: MIT */
/*
 * What is to be shown of a snapshot; text, JSON and CSV are three ways of
 * writing it.
 */
#ifndef RENDER_SNAPSHOT_VIEW_H
#define RENDER_SNAPSHOT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group.h"
#include "analyze/selection.h"

struct error;
struct text;

/* Columns that are no metrics.  From COLUMN_METRIC on they are of one group and one metric. */
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
 * In the wide layout a line is a group and the metrics follow the columns; in
 * the long one, which any column of one metric brings about, a line is a group
 * and a metric.
 */
struct view_columns {
	enum view_column ids[COLUMN_COUNT];
	size_t count;
	bool is_long;
};

/* Their names, for people. */
#define VIEW_COLUMNS "group, tasks, processes, uptime, scope, metric, value, measured, unit, tags"

/* Reads a comma list.  Returns 0, or -EINVAL with a sentence. */
int view_columns_parse(const char *list, struct view_columns *ret, struct error *error);
const char *view_column_name(enum view_column column);

struct snapshot_view {
	struct grouping *grouping; /* sorted */
	struct selection metrics;
	struct view_columns columns; /* none: what the format has by itself */
	size_t limit;		     /* groups to show, the first ones; 0 for all */
	uint32_t sections; /* a bit each: show these, readings included; 0: the metrics alone */
};

/* How many groups are shown. */
size_t view_shown(const struct snapshot_view *view);

/* Age of the group's oldest task; false when the snapshot has no clock. */
bool view_age(const struct snapshot_view *view, const struct group *group, uint64_t *ret_ns);

/* The columns that were asked for, else those of the wide layout. */
const struct view_columns *view_columns(const struct snapshot_view *view);

/* The same for people: scopes are among them when a thread that is shown is in one. */
const struct view_columns *view_columns_for_people(const struct snapshot_view *view);

/* For people: scaled, escaped, a sign for what is absent; or stored units and CSV's quotes. */
enum cell_style {
	CELL_SCALED,
	CELL_RAW,
};

/* Appends what a column says of a group; nothing for a column of one metric. */
void view_group_cell(struct text *out, const struct snapshot_view *view, const struct group *group,
		     enum view_column column, enum cell_style style);

/* The same for any column; `fold` is the metric of the line. */
void view_cell(struct text *out, const struct snapshot_view *view, const struct group *group,
	       const struct fold *fold, enum view_column column, enum cell_style style);

/* A metric's scheduler class and kernel options: "[cfs-only] [SCHEDSTATS]". */
void metric_tags(struct text *out, const struct metric *metric);

#endif
