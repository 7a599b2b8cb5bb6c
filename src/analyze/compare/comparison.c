/* SPDX-License-Identifier: MIT */
#include "analyze/compare/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/rows/compare_metrics.h"
#include "analyze/compare/compare_mode.h"
#include "analyze/compare/rank/compare_rank.h"
#include "analyze/compare/rows/compare_rows.h"
#include "analyze/compare/rows/compare_sheets.h"
#include "base/clock.h"
#include "base/error.h"

#define LAYOUTS 2

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (int i = 0; i < LAYOUTS && comparison->layouts; i++)
		compare_layout_clear(&comparison->layouts[i]);
	free(comparison->layouts);
	array_free(&comparison->notes);
	array_free(&comparison->host_changes);
	array_free(&comparison->groups);
	array_free(&comparison->rows);
	arena_clear(&comparison->arena);
	free(comparison);
}

int comparison_add_group(struct comparison *comparison, const char *key, size_t length,
			 const char *renamed_from)
{
	struct compared_group group = { .key = arena_copy(&comparison->arena, key, length) };

	if (renamed_from)
		group.renamed_from =
			arena_copy(&comparison->arena, renamed_from, strlen(renamed_from));
	if (!group.key || (renamed_from && !group.renamed_from))
		return -ENOMEM;
	return array_append(&comparison->groups, group);
}

/* Makes rows of metrics, then of readings, which join existing groups. */
static int make_rows(const struct compare_side *sides, const struct compare_options *options,
		     struct comparison *comparison)
{
	struct row_keeper keeper;
	int status;

	row_keeper_init(&keeper, comparison, options);
	status = compare_metrics(options->unchanged ? comparison->laid : comparison->moving,
				 options, comparison->scale, &keeper, comparison);
	if (status == 0 && !options->metrics_only)
		status = compare_sheets(sides, options, comparison->scale, &keeper, comparison);
	if (status == 0)
		status = row_keeper_finish(&keeper);
	row_keeper_clear(&keeper);
	return status < 0 ? status : rank_rows(comparison, options->places, options->place_count);
}

static int take_groups(const struct comparison *like, struct comparison *comparison)
{
	size_t count = like->groups.count;

	if (array_reserve(&comparison->groups, count + 1) < 0)
		return -ENOMEM;
	memcpy(comparison->groups.data, like->groups.data, count * sizeof(*like->groups.data));
	comparison->groups.count = count;
	return 0;
}

/* Assigns tasks to groups, or takes the layouts of another comparison. */
static int lay_out(const struct compare_side *sides, const struct compare_options *options,
		   struct comparison *comparison)
{
	struct compare_layout *layouts;
	int status;

	if (options->like) {
		comparison->laid = options->like->laid;
		comparison->moving = options->like->moving;
		return take_groups(options->like, comparison);
	}
	layouts = comparison->layouts = calloc(LAYOUTS, sizeof(*layouts));
	if (!layouts)
		return -ENOMEM;
	status = compare_layout_init(&layouts[0], sides, options, comparison);
	comparison->laid = comparison->moving = &layouts[0];
	if (status < 0 || !layouts[0].is_interval)
		return status;
	comparison->moving = &layouts[1];
	return compare_layout_moving(&layouts[1], &layouts[0]);
}

/* Rates of intervals are of one second. */
static int make_scale(const struct compare_side *sides, const struct compare_options *options,
		      struct comparison *comparison)
{
	uint64_t elapsed = comparison->laid->is_rates ? NS_PER_SECOND : comparison->elapsed_ns;
	struct rank_scale *scale;

	if (options->like) {
		comparison->scale = options->like->scale;
		return 0;
	}
	scale = arena_alloc(&comparison->arena, sizeof(*scale));
	if (!scale)
		return -ENOMEM;
	rank_scale_init(scale, sides[1].snapshots[0], elapsed);
	comparison->scale = scale;
	return compare_measure(comparison->moving, scale, comparison);
}

static int compare(const struct compare_side *sides, const struct compare_options *options,
		   struct comparison *comparison, struct error *error)
{
	int status = compare_mode_choose(sides, options, comparison, error);

	if (status == 0)
		status = compare_mode_note_sides(sides, comparison);
	if (status == 0)
		status = compare_hosts(sides[0].snapshots[0], sides[1].snapshots[0], comparison);
	if (status == 0)
		status = lay_out(sides, options, comparison);
	if (status == 0 && comparison->laid->is_interval)
		status = compare_mode_note_ended(comparison->laid, comparison);
	if (status == 0)
		status = make_scale(sides, options, comparison);
	return status < 0 ? status : make_rows(sides, options, comparison);
}

int comparison_new(const struct compare_side *before, const struct compare_side *after,
		   const struct compare_options *options, struct comparison **ret,
		   struct error *error)
{
	struct compare_side sides[SIDES] = { *before, *after };
	struct comparison *comparison;
	int status;

	if (before->count == 0 || after->count == 0)
		return error_set(error, -EINVAL, "there is nothing to compare: a side is empty");
	status = grouping_options_check(&options->grouping, error);
	if (status < 0)
		return status;
	comparison = calloc(1, sizeof(*comparison));
	if (!comparison)
		return error_set(error, -ENOMEM, "cannot compare: out of memory");
	status = compare(sides, options, comparison, error);
	if (status < 0) {
		comparison_free(comparison);
		return status == -ENOMEM ?
			       error_set(error, status, "cannot compare: out of memory") :
			       status;
	}
	*ret = comparison;
	return 0;
}
