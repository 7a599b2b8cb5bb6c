/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rows/compare_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/rank/compare_rank.h"

/* Rows are sorted once for every so many new ones. */
#define SLACK 64

void row_keeper_init(struct row_keeper *keeper, struct comparison *comparison,
		     const struct compare_options *options)
{
	memset(keeper, 0, sizeof(*keeper));
	keeper->comparison = comparison;
	keeper->limit = options->limit;
	keeper->unchanged = options->unchanged;
	keeper->places = options->places;
	keeper->place_count = options->place_count;
}

void row_keeper_clear(struct row_keeper *keeper)
{
	for (int i = 0; i < COMPARE_SECTION_COUNT; i++)
		array_free(&keeper->kept[i].rows);
}

bool row_keeper_takes(struct row_keeper *keeper, enum compare_section section, bool is_noise)
{
	struct row_tally *tally = &keeper->comparison->tallies[section];

	if (!keeper->unchanged)
		++*(is_noise ? &tally->noise : &tally->unchanged);
	return keeper->unchanged;
}

static int compare_rows(const void *first, const void *second, void *context)
{
	const struct comparison_row *a = first, *b = second;
	const struct row_keeper *keeper = context;
	uint32_t place_a = rank_place(keeper->places, keeper->place_count, a->group);
	uint32_t place_b = rank_place(keeper->places, keeper->place_count, b->group);

	if (place_a != place_b)
		return place_a < place_b ? -1 : 1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return rank_tie(keeper->comparison, a, b);
}

bool row_keeper_wants(struct row_keeper *keeper, const struct comparison_row *row)
{
	const struct kept_rows *kept = &keeper->kept[row->section];

	if (!kept->is_full || compare_rows(row, &kept->last, keeper) <= 0)
		return true;
	keeper->comparison->tallies[row->section].beyond_limit++;
	return false;
}

double row_keeper_floor(const struct row_keeper *keeper, enum compare_section section)
{
	const struct kept_rows *kept = &keeper->kept[section];

	return kept->is_full && !keeper->place_count ? kept->last.score : 0;
}

void row_keeper_skip(struct row_keeper *keeper, enum compare_section section, uint64_t unchanged,
		     uint64_t beyond_limit)
{
	keeper->comparison->tallies[section].unchanged += unchanged;
	keeper->comparison->tallies[section].beyond_limit += beyond_limit;
}

static void cut_rows(struct row_keeper *keeper, enum compare_section section)
{
	struct kept_rows *kept = &keeper->kept[section];

	if (kept->rows.count <= keeper->limit)
		return;
	qsort_r(kept->rows.data, kept->rows.count, sizeof(*kept->rows.data), compare_rows, keeper);
	keeper->comparison->tallies[section].beyond_limit += kept->rows.count - keeper->limit;
	kept->rows.count = keeper->limit;
	kept->last = kept->rows.data[keeper->limit - 1];
	kept->is_full = true;
}

int row_keeper_add(struct row_keeper *keeper, const struct comparison_row *row)
{
	struct kept_rows *kept = &keeper->kept[row->section];

	if (!keeper->limit) {
		keeper->comparison->tallies[row->section].kept++;
		return array_append(&keeper->comparison->rows, *row);
	}
	if (array_append(&kept->rows, *row) < 0)
		return -ENOMEM;
	if (kept->rows.count >= 2 * keeper->limit + SLACK)
		cut_rows(keeper, row->section);
	return 0;
}

int row_keeper_finish(struct row_keeper *keeper)
{
	struct comparison *comparison = keeper->comparison;

	for (int i = 0; i < COMPARE_SECTION_COUNT; i++) {
		struct kept_rows *kept = &keeper->kept[i];

		cut_rows(keeper, (enum compare_section)i);
		if (kept->rows.count == 0)
			continue;
		if (array_reserve(&comparison->rows, comparison->rows.count + kept->rows.count) < 0)
			return -ENOMEM;
		memcpy(comparison->rows.data + comparison->rows.count, kept->rows.data,
		       kept->rows.count * sizeof(*kept->rows.data));
		comparison->rows.count += kept->rows.count;
		comparison->tallies[i].kept += kept->rows.count;
		array_free(&kept->rows);
	}
	return 0;
}
