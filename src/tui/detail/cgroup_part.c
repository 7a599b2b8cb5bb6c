/* SPDX-License-Identifier: MIT */
#include "tui/detail/cgroup_part.h"

#include <fnmatch.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "tui/screen/top_state.h"

/* What says how near its limits the cgroup is, unless it has no limit or nothing was counted. */
static const struct {
	const char *pattern;
	bool also_zero; /* a limit of 0 is one */
} telling[] = {
	{ "cpu.max quota_usec", true },
	{ "memory.max", true },
	{ "memory.high", true },
	{ "memory.swap.max", true },
	{ "pids.max", true },
	{ "cpu.stat nr_throttled", false },
	{ "cpu.stat throttled_usec", false },
	{ "memory.current", false },
	{ "memory.swap.current", false },
	{ "pids.current", false },
	{ "*.pressure * avg10", false },
};

static bool is_telling(const struct metric *metric, enum cell_state state, uint64_t number)
{
	for (size_t i = 0; state == CELL_NUMBER && i < ARRAY_SIZE(telling); i++)
		if (fnmatch(telling[i].pattern, metric->name, 0) == 0)
			return number || telling[i].also_zero;
	return false;
}

static bool is_of_cgroup(enum metric_section section)
{
	return section == SECTION_CGROUPS || section == SECTION_LIMITS ||
	       section == SECTION_PRESSURE;
}

static void add_value(struct top *top, const struct metric *metric, enum cell_state state,
		      uint64_t number)
{
	CLEANUP(text_free) struct text value = { 0 };

	if (state == CELL_UNLIMITED)
		text_append_string(&value, UNLIMITED);
	else if (state == CELL_TEXT)
		text_append_string(&value, snapshot_text(top->moment.read, (uint32_t)number));
	else
		unit_format(&value, metric->unit, number);
	top_text_line(&top->text, "  %-32s %s", metric->name, text_string(&value));
}

/* Those that are telling, or those that are not; the latter are only counted while they are folded. */
static size_t add_values(struct top *top, const struct sheet *sheet, uint32_t row, bool tells)
{
	size_t count = 0;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];
		uint64_t number = 0;
		enum cell_state state = column_get(column, row, &number);

		if (state == CELL_ABSENT || !is_of_cgroup(column->metric->section) ||
		    is_telling(column->metric, state, number) != tells)
			continue;
		count++;
		if (tells || top->cgroup_unfolded)
			add_value(top, column->metric, state, number);
	}
	return count;
}

void cgroup_part_add(struct top *top, const char *path)
{
	const struct snapshot *read = top->moment.read;
	const struct sheet *sheet = &read->sheets[SHEET_CGROUPS];
	size_t rest;

	for (uint32_t row = 0; row < sheet->row_count; row++) {
		if (strcmp(snapshot_text(read, sheet->keys[row]), path) != 0)
			continue;
		top_text_line(&top->text, "%s", "");
		top_text_line(&top->text, "Cgroup %s:", path);
		(void)add_values(top, sheet, row, true);
		rest = add_values(top, sheet, row, false);
		if (rest && !top->cgroup_unfolded)
			top_text_line(&top->text, "  and %zu more (%s shows them)", rest,
				      key_table[KEY_OF_TIMELINE].keys);
		return;
	}
}

void cgroup_part_switch(struct top *top)
{
	top->cgroup_unfolded = !top->cgroup_unfolded;
	top_show_detail(top);
}
