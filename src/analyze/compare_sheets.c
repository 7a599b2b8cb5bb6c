/* SPDX-License-Identifier: MIT */
#include "analyze/compare_sheets.h"

#include <errno.h>
#include <string.h>

#include "analyze/compare_rows.h"
#include "analyze/comparison.h"
#include "analyze/sheet_row.h"
#include "analyze/sheet_work.h"
#include "base/dictionary.h"

/* Where readings are shown, and which source of a capture has them: the first that fits. */
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
	{ SHEET_HOST,      SECTION_COUNT,         "",           COMPARE_HOST,            "host_context" },
	{ SHEET_CAPTURE,   SECTION_HEAP,          "",           COMPARE_HEAP,            "jemalloc" },
	/* clang-format on */
};

static const struct placement *placement_of(enum sheet_id sheet, const char *name)
{
	enum metric_section section = reading_find(name)->section;

	for (size_t i = 0; i < ARRAY_SIZE(placements); i++) {
		const struct placement *placement = &placements[i];

		if (placement->sheet == sheet &&
		    (placement->from == SECTION_COUNT || placement->from == section) &&
		    strncmp(name, placement->prefix, strlen(placement->prefix)) == 0)
			return placement;
	}
	return NULL;
}

static int make_row(struct sheet_work *work, const struct placement *placement, uint32_t key)
{
	struct comparison *comparison = work->comparison;
	struct comparison_row row = { .section = placement->to };

	if (sheet_row_fill(work, key, placement->source, &row) < 0)
		return -ENOMEM;
	if (!work->options->unchanged && row_is_quiet(&row)) {
		comparison->tallies[row.section].unchanged++;
		return 0;
	}
	if (sheet_layout_group(&work->layout, key, comparison, &row.group) < 0)
		return -ENOMEM;
	return array_append(&comparison->rows, row);
}

/* All rows of one reading. */
static int make_column(struct sheet_work *work, const char *name, const struct reading_taker *taker)
{
	const struct placement *placement = placement_of(work->layout.sheet, name);
	size_t first = work->comparison->rows.count;
	int status = 0;

	if (!placement || !(work->options->sections & 1u << placement->to))
		return 0;
	sheet_work_fold(work, name);
	for (uint32_t key = 0; status == 0 && key < work->layout.key_count; key++)
		if (sheet_work_measured(work, key))
			status = make_row(work, placement, key);
	return status < 0 || !taker ? status : taker->take(taker->context, first);
}

/* Every name that any snapshot has, once. */
static int make_columns(struct sheet_work *work, const struct reading_taker *taker)
{
	struct dictionary *names = dictionary_new();
	uint32_t seen = 1, id;
	int status = names ? 0 : -ENOMEM;

	for (size_t run = work->layout.run_count; status == 0 && run-- > 0;) {
		const struct sheet *sheet = work->layout.runs[run].sheet;

		for (size_t i = 0; status == 0 && i < sheet->columns.count; i++) {
			const char *name = sheet->columns.data[i].name;

			status = dictionary_add(names, name, strlen(name), &id);
			if (status < 0 || id < seen)
				continue;
			seen = id + 1;
			status = make_column(work, name, taker);
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

int compare_sheets(struct comparison *comparison, const struct compare_side *before,
		   const struct compare_side *after, const struct compare_options *options,
		   const struct reading_taker *taker)
{
	int status = 0;

	for (int sheet = 0; status == 0 && sheet < SHEET_COUNT; sheet++) {
		struct sheet_work work = { .comparison = comparison, .options = options };
		enum sheet_id id = (enum sheet_id)sheet;

		if (!is_wanted(id, options->sections) ||
		    (!has_rows(id, before) && !has_rows(id, after)))
			continue;
		status = sheet_work_init(&work, id, before, after);
		if (status == 0)
			status = make_columns(&work, taker);
		sheet_work_clear(&work);
	}
	return status;
}
