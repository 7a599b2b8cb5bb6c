/* SPDX-License-Identifier: MIT */
/*
 * What is shown of a moment: its tasks, filtered, in groups, in order.  A screen and a line of JSON
 * are two ways of writing it.
 */
#ifndef TUI_MOMENT_VIEW_H
#define TUI_MOMENT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/filter/filter.h"
#include "analyze/group/group_sorting.h"
#include "render/snapshot/snapshot_view.h"

struct error;
struct moment;

/* What a person chose; it outlasts moments. */
struct view_choice {
	enum group_axis axis;
	bool is_forest; /* processes below those that started them */
	struct grouping_options grouping;
	struct group_sorting sorting; /* by default by CPU time */
	struct selection metrics;
	const struct filter *filter;
	uint64_t job;	/* only processes of the job with this id; 0: all */
	char *user;	/* only processes of this user; NULL: of all */
	bool of_jobs;	/* only processes of the jobs that the moment has */
	size_t limit;	/* groups, 0: all */
	size_t ordered; /* so many of the first rows are in order; 0: all */
};

/* The metrics that are shown unless others are chosen; a screen may have states besides. */
void view_choice_usual(struct view_choice *choice, bool has_states);

/* All zeros is empty and valid. */
struct moment_view {
	struct snapshot *filtered; /* NULL: nothing is left out */
	struct grouping *grouping;
	uint32_t *depths;
	struct snapshot_view view;
};

/* Points into the moment.  0, or a negative errno with a sentence; clear it in either case. */
int moment_view_make(struct moment_view *ret, const struct moment *moment,
		     const struct view_choice *choice, struct error *error);
void moment_view_clear(struct moment_view *view);

/* One line of JSON; docs/json.md describes it. */
void moment_json_print(const struct moment *moment, const struct moment_view *view, FILE *out);

#endif
