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
#include <stdio.h>

#include "analyze/group/group.h"
#include "analyze/group/selection.h"
#include "render/table/column_list.h"
#include "render/table/table.h"

struct error;
struct snapshot;

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

/* The columns that --columns takes, as help shows them. */
#define VIEW_COLUMNS "group, tasks, processes, uptime, scope, metric, value, measured, unit, tags"

/* Reads a comma list.  Returns 0, or -EINVAL with a sentence. */
int view_columns_parse(const char *list, struct column_list *ret, struct error *error);

struct snapshot_view {
	struct grouping *grouping; /* sorted */
	struct selection metrics;
	const uint32_t *depths;	    /* by group: below how many parents; NULL: not in trees */
	const char *const *labels;  /* by group: its name in the tree; NULL: their keys */
	size_t lines;		    /* with labels: the first groups, so many, are the tree */
	struct column_list columns; /* none: the format's defaults */
	bool is_verbose;	    /* the footer has everything about the capture */
	bool may_leave_out;	    /* metrics may be left out: the user did not name them */
	size_t limit;		    /* groups to show, the first ones; 0 for all */
	uint32_t sections; /* a bit each: show these, readings included; 0: the metrics alone */
};

/* How many groups are shown. */
size_t view_shown(const struct snapshot_view *view);

/*
 * A table of groups.  In the wide layout a line is a group, and the metrics
 * follow the columns.  In the long layout a line is a group and a metric; any
 * column about one metric selects it.
 */
struct view_rows {
	const struct snapshot_view *view;
	const struct selection *metrics;
	struct column_list columns;
	bool is_long;
	bool has_partial;   /* some value covers only part of its group */
	bool has_elsewhere; /* some value is absent because its process is in another group */
	struct table table;
};

/*
 * The requested columns, else those of the wide layout; people see scopes if
 * there are any.  The caller clears the table.
 */
void view_rows_init(struct view_rows *rows, const struct snapshot_view *view,
		    const struct selection *metrics, bool is_for_people);
void view_rows_put_all(struct view_rows *rows);

/*
 * Puts a metric's value over a group.  Of an interval (analyze/compare/interval_snapshot.h)
 * what counts up is put as what was done in a second; for people CPU time as percent of one core.
 */
void view_put_fold(struct table *table, const struct snapshot_view *view, const struct fold *fold);

/* A metric as a column of groups or threads. */
void view_add_metrics(struct table *table, const struct snapshot_view *view,
		      const struct selection *metrics);

/* The fields that identify a thread, for programs. */
void view_add_identity(struct table *table);
void view_put_identity(struct table *table, const struct snapshot *snapshot, uint32_t row);

/*
 * For people: a table, and below it what they should know about the capture:
 * when and how it was made, what was lost, why values are missing.  Returns 0 or
 * -ENOMEM.
 */
int snapshot_text_print(const struct snapshot_view *view, const struct terminal *terminal,
			FILE *out);

/* One JSON object; docs/json.md describes it. */
void snapshot_json_print(const struct snapshot_view *view, FILE *out);
/* Its members about tasks: what was filtered, why values are absent, and the groups or threads. */
void snapshot_json_groups(struct json *json, const struct snapshot_view *view);

/*
 * CSV: a header, then a line for each thread or group, or in the long layout for
 * each group and metric.  Values are in stored units, and empty when absent.
 * Returns 0 or -ENOMEM.
 */
int snapshot_csv_print(const struct snapshot_view *view, FILE *out);

/* A metric's scheduler class and kernel options: "[cfs-only] [SCHEDSTATS]". */
void metric_tags(struct text *out, const struct metric *metric);

#endif
