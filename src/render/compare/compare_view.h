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
#include <stdio.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/fail_on.h"
#include "analyze/group/sort_spec.h"
#include "render/table/column_list.h"
#include "render/table/table.h"

struct digest;
struct error;
struct snapshot;
struct unmatched_cgroups;

/* The columns that --columns takes, as help shows them. */
#define COMPARE_COLUMNS                                                                            \
	"section, group, tasks, metric, unit, values, before, after, arrow, interval, delta, %, "  \
	"per_second, per_task_second, measured, state, share, p, uptime, tags, note"

/* What --display takes: which of them text has without --columns. */
#define COMPARE_DISPLAYS "full|arrow|delta|no-pct|pct"

/* Reads a comma list.  Returns 0, or -EINVAL with a sentence. */
int compare_columns_parse(const char *list, struct column_list *ret, struct error *error);

/* The columns of a display, one of those names. */
void compare_display_find(const char *name, struct column_list *ret);

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
	const struct digest *digest; /* NULL: there is none */
	enum group_axis axis;
	struct compared_files before, after;
	struct selection metrics;	  /* that were asked for */
	struct sort_spec sort;		  /* metrics that groups were ordered by; none: count 0 */
	const struct comparison *ordered; /* their rows, for all groups; NULL without an order */
	struct column_list columns;	  /* none: the format's defaults */
	struct column_list display;	  /* of text: these where they say something; none: usual */
	size_t limit;			  /* rows of each section; 0 for all */
	bool is_verbose;		  /* explain also what concerns no shown row */
	const struct unmatched_cgroups *unmatched; /* NULL: not searched */
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
	struct {
		char text[72];
	} ids[SORT_KEYS_MAX]; /* for programs: delta_METRIC */
};

/* Returns 0 and columns to clear, or -ENOMEM. */
int sort_columns_init(struct sort_columns *columns, const struct compare_view *view);
void sort_columns_clear(struct sort_columns *columns);

static inline const struct comparison_row *sort_columns_at(const struct sort_columns *columns,
							   uint32_t group, size_t key)
{
	return group < columns->groups ? columns->rows[group * columns->keys + key] : NULL;
}

/* What rows of a comparison have; a bit each. */
enum {
	COMPARE_HAS_TASKS = 1 << 0,
	COMPARE_HAS_RATE = 1 << 1,
	COMPARE_HAS_P = 1 << 2,
	COMPARE_HAS_PERCENT = 1 << 3,
	COMPARE_HAS_SHARE = 1 << 4,
	COMPARE_HAS_NOTE = 1 << 5,
	COMPARE_HAS_ALL = (1 << 6) - 1,
};

enum compare_format {
	COMPARE_TEXT = 1 << 0,
	COMPARE_JSON = 1 << 1,
	COMPARE_CSV = 1 << 2,
};

/* A table of rows: chosen or usual columns, then those of the order. */
struct compare_table {
	const struct compare_view *view;
	struct column_list columns;
	bool has_significance;		   /* in all detail: in JSON */
	const struct sort_columns *sorted; /* not in JSON */
	struct table table;
};

/* `has` is what rows have: columns for the rest are not usual.  The caller clears the table. */
void compare_table_init(struct compare_table *rows, const struct compare_view *view,
			enum compare_format format, unsigned has,
			const struct sort_columns *sorted);
void compare_table_put(struct compare_table *rows, const struct comparison_row *row);
/*
 * Puts a row of any comparison, under a name that is indented by a depth.  One of another
 * comparison than the view's has no cells in the columns of the order.  Without a row only the
 * name is put.
 */
void compare_table_put_named(struct compare_table *rows, const struct comparison *comparison,
			     const struct comparison_row *row, const char *name, uint32_t depth);
/*
 * Puts rows of the axis all, the best first, as a tree: each below its process and its cgroups,
 * which have a row of their own where they contain several that are put.  Returns 0 or -ENOMEM.
 */
int compare_table_put_tree(struct compare_table *rows, const struct comparison_row *const *best,
			   size_t count);
/* All rows, but only as many of a section as the view's limit. */
void compare_table_put_all(struct compare_table *rows);

/*
 * For people: the digest, what was compared, how the hosts differ, a table of changes for
 * each section, the groups that only one side has, and what the tables leave
 * open.  Returns 0 or -ENOMEM.
 */
int compare_text_print(const struct compare_view *view, const struct terminal *terminal, FILE *out);

/* One JSON object; docs/json.md describes it. */
void compare_json_print(const struct compare_view *view, FILE *out);

/*
 * CSV: a header, then a line for each row.  Values are in stored units, and empty
 * when absent.  A column with two numbers in text is two columns here.  Returns
 * 0 or -ENOMEM.
 */
int compare_csv_print(const struct compare_view *view, FILE *out);

#endif
