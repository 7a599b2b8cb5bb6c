/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rows/compare_sheets.h"

#include <errno.h>
#include <string.h>

#include "analyze/compare/rows/compare_metrics.h"
#include "analyze/compare/rank/compare_rank.h"
#include "analyze/compare/comparison.h"
#include "analyze/sheet/sheet_layout.h"
#include "base/collection/dictionary.h"

/*
 * The section that shows a reading, and the capture's source of it; the first
 * row that fits counts.
 */
static const struct placement {
	enum sheet_id sheet;
	enum metric_section from; /* SECTION_COUNT: any */
	const char *prefix;
	enum compare_section to;
	const char *source;
} placements[] = {
	/* clang-format off */
	{ SHEET_CGROUPS,   SECTION_LIMITS,        "",           COMPARE_LIMITS,          "cgroup_files" },
	{ SHEET_CGROUPS,   SECTION_MEMORY_STAT,   "",           COMPARE_MEMORY_STAT,     "cgroup_files" },
	{ SHEET_CGROUPS,   SECTION_MEMORY_EVENTS, "",           COMPARE_MEMORY_EVENTS,   "cgroup_files" },
	{ SHEET_CGROUPS,   SECTION_PRESSURE,      "",           COMPARE_CGROUP_PRESSURE, "cgroup_files" },
	{ SHEET_CGROUPS,   SECTION_COUNT,         "",           COMPARE_CGROUP,          "cgroup_files" },
	{ SHEET_PROCESSES, SECTION_MEMORY,        "",           COMPARE_SMAPS,           "smaps" },
	{ SHEET_PROCESSES, SECTION_HEAP,          "",           COMPARE_HEAP,            "jemalloc" },
	{ SHEET_HOST,      SECTION_PRESSURE,      "",           COMPARE_HOST_PRESSURE,   "pressure" },
	{ SHEET_HOST,      SECTION_HOST,          "sched_ext ", COMPARE_SCHED_EXT,       "sched_ext" },
	{ SHEET_HOST,      SECTION_GPU,           "",           COMPARE_GPU,             "gpu" },
	{ SHEET_HOST,      SECTION_HOST_USAGE,    "",           COMPARE_HOST_USAGE,      "host_figures" },
	{ SHEET_HOST,      SECTION_HOST_DETAILS,  "",           COMPARE_HOST_DETAILS,    "host_figures" },
	{ SHEET_HOST,      SECTION_COUNT,         "",           COMPARE_HOST,            "host_context" },
	{ SHEET_CAPTURE,   SECTION_HEAP,          "",           COMPARE_HEAP,            "jemalloc" },
	/* clang-format on */
};

static const struct placement *placement_of(enum sheet_id sheet, const struct metric *metric)
{
	for (size_t i = 0; i < ARRAY_SIZE(placements); i++) {
		const struct placement *placement = &placements[i];

		if (placement->sheet == sheet &&
		    (placement->from == SECTION_COUNT || placement->from == metric->section) &&
		    strncmp(metric->name, placement->prefix, strlen(placement->prefix)) == 0)
			return placement;
	}
	return NULL;
}

static bool is_unlimited(const struct compare_layout *layout, const struct metric *metric)
{
	for (size_t run = 0; run < layout->run_count; run++) {
		const struct column *column = compare_column(&layout->runs[run], metric);

		for (size_t row = 0;
		     column && column->values && row < layout->runs[run].sheet->row_count; row++)
			if (column->states[row] == CELL_UNLIMITED)
				return true;
	}
	return false;
}

/* cgroup v1 lists limits among memory use: a reading that is unlimited anywhere is a limit. */
static const struct metric *as_limit(const struct row_maker *maker, const struct metric *metric)
{
	struct metric *limit;

	if (metric->fold == FOLD_RANGE || !is_unlimited(maker->layout, metric))
		return metric;
	limit = arena_alloc(&maker->comparison->arena, sizeof(*limit));
	if (!limit)
		return NULL;
	*limit = *metric;
	limit->kind = KIND_LIMIT;
	limit->fold = FOLD_RANGE;
	return limit;
}

/* Whether a snapshot has the reading that this one repeats. */
static bool is_repeated(const struct row_maker *maker, const struct metric *metric)
{
	char name[SHEET_NAME_SIZE];

	if (!rank_repeats(metric, name, sizeof(name)))
		return false;
	for (size_t run = 0; run < maker->layout->run_count; run++)
		if (sheet_find(maker->layout->runs[run].sheet, name))
			return true;
	return false;
}

/* Makes all rows of one reading. */
static int make_column(struct row_maker *maker, const struct compare_options *options,
		       const struct metric *metric)
{
	const struct placement *placement = placement_of(maker->sheet->sheet, metric);

	if (!placement || !(options->sections & 1u << placement->to) ||
	    (options->fold_parts && is_repeated(maker, metric)))
		return 0;
	maker->source = placement->source;
	metric = as_limit(maker, metric);
	return metric ? row_maker_make(maker, metric, placement->to) : -ENOMEM;
}

/* Visits each name that any snapshot has once. */
static int make_columns(struct row_maker *maker, const struct compare_options *options)
{
	struct dictionary *names = dictionary_new();
	uint32_t seen = 1, id;
	int status = names ? 0 : -ENOMEM;

	for (size_t run = maker->layout->run_count; status == 0 && run-- > 0;) {
		const struct sheet *sheet = maker->layout->runs[run].sheet;

		for (size_t i = 0; status == 0 && i < sheet->columns.count; i++) {
			const struct metric *metric = sheet->columns.data[i].metric;

			status = dictionary_add(names, metric->name, strlen(metric->name), &id);
			if (status < 0 || id < seen)
				continue;
			seen = id + 1;
			status = make_column(maker, options, metric);
		}
	}
	dictionary_free(names);
	return status;
}

static bool is_wanted(enum sheet_id sheet, uint32_t sections)
{
	for (size_t i = 0; i < ARRAY_SIZE(placements); i++)
		if (placements[i].sheet == sheet && sections & 1u << placements[i].to)
			return true;
	return false;
}

static bool has_rows(enum sheet_id sheet, const struct compare_side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (side->snapshots[i]->sheets[sheet].row_count)
			return true;
	return false;
}

static int compare_sheet(enum sheet_id id, const struct compare_side *sides,
			 const struct compare_options *options, struct row_maker *maker)
{
	struct sheet_layout layout = { 0 };
	int status = sheet_layout_init(&layout, id, sides, options, maker->comparison);

	maker->sheet = &layout;
	if (status == 0)
		status = row_maker_init(maker, &layout.base);
	if (status == 0)
		status = make_columns(maker, options);
	row_maker_clear(maker);
	sheet_layout_clear(&layout);
	return status;
}

int compare_sheets(const struct compare_side *sides, const struct compare_options *options,
		   const struct rank_scale *scale, struct row_keeper *keeper,
		   struct comparison *comparison)
{
	int status = 0;

	for (int sheet = 0; status == 0 && sheet < SHEET_STATES; sheet++) {
		enum sheet_id id = (enum sheet_id)sheet;
		struct row_maker maker = { .scale = scale,
					   .keeper = keeper,
					   .comparison = comparison };

		if (is_wanted(id, options->sections) &&
		    (has_rows(id, &sides[0]) || has_rows(id, &sides[1])))
			status = compare_sheet(id, sides, options, &maker);
	}
	return status;
}
