/* SPDX-License-Identifier: MIT */
#include "analyze/compare/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/compare_layout.h"
#include "analyze/compare/compare_metrics.h"
#include "analyze/compare/compare_mode.h"
#include "analyze/compare/compare_rank.h"
#include "analyze/compare/compare_rows.h"
#include "analyze/compare/compare_sheets.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	if (comparison->layout)
		compare_layout_clear(comparison->layout);
	free(comparison->layout);
	array_free(&comparison->notes);
	array_free(&comparison->host_changes);
	array_free(&comparison->groups);
	array_free(&comparison->rows);
	arena_clear(&comparison->arena);
	free(comparison);
}

void comparison_free_pointer(struct comparison **comparison)
{
	comparison_free(*comparison);
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
		     struct comparison *comparison, const struct compare_layout *layout)
{
	struct row_keeper keeper;
	int status;

	row_keeper_init(&keeper, comparison, options);
	status = compare_metrics(layout, options, comparison->scale, &keeper, comparison);
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

/* Assigns tasks to groups, or takes the layout of another comparison. */
static int lay_out(const struct compare_side *sides, const struct compare_options *options,
		   struct comparison *comparison, const struct compare_layout **ret)
{
	if (options->like) {
		*ret = comparison->laid = options->like->laid;
		return take_groups(options->like, comparison);
	}
	comparison->layout = calloc(1, sizeof(*comparison->layout));
	if (!comparison->layout)
		return -ENOMEM;
	*ret = comparison->laid = comparison->layout;
	return compare_layout_init(comparison->layout, sides, options, comparison);
}

/* Rates of intervals are of one second. */
static int make_scale(const struct compare_side *sides, const struct compare_options *options,
		      const struct compare_layout *layout, struct comparison *comparison)
{
	uint64_t elapsed = layout->is_rates ? NS_PER_SECOND : comparison->elapsed_ns;
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
	return compare_measure(layout, scale, comparison);
}

static int compare(const struct compare_side *sides, const struct compare_options *options,
		   struct comparison *comparison, struct error *error)
{
	const struct compare_layout *layout = NULL;
	int status = compare_mode_choose(sides, options, comparison, error);

	if (status == 0)
		status = compare_mode_note_sides(sides, comparison);
	if (status == 0)
		status = compare_hosts(sides[0].snapshots[0], sides[1].snapshots[0], comparison);
	if (status == 0)
		status = lay_out(sides, options, comparison, &layout);
	if (status == 0 && layout->is_interval)
		status = compare_mode_note_ended(layout, comparison);
	if (status == 0)
		status = make_scale(sides, options, layout, comparison);
	return status < 0 ? status : make_rows(sides, options, comparison, layout);
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
