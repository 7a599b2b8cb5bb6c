/* SPDX-License-Identifier: MIT */
#include "store/ctprof/ctprof_table.h"

#include <stdio.h>

#include "base/collection/array.h"

#define FAMILY(name) (1u << CTPROF_##name)

/*
 * One value of the sched file proves nothing about the others: each has its own
 * kernel options, and there is a switch that makes all of them 0.
 */
/* clang-format off */
const enum ctprof_proof ctprof_proofs[CTPROF_FAMILY_COUNT] = {
	[CTPROF_ALONE]     = CTPROF_UNPROVEN, [CTPROF_STAT]   = CTPROF_SIBLING,
	[CTPROF_STATUS]    = CTPROF_SIBLING,  [CTPROF_IO]     = CTPROF_SIBLING,
	[CTPROF_SCHEDSTAT] = CTPROF_SIBLING,  [CTPROF_DELAYS] = CTPROF_FLAGGED,
	[CTPROF_CPU_DELAY] = CTPROF_FLAGGED,  [CTPROF_PEAKS]  = CTPROF_FLAGGED,
	[CTPROF_JEMALLOC]  = CTPROF_FLAGGED,
};

const struct ctprof_field ctprof_fields[] = {
#define THREAD_MEMBER(key_, form_) { .key = #key_, .form = CTPROF_##form_, .metric = METRIC_STORED },
#define THREAD_METRIC(key_, form_, metric_, family_)                                               \
	{ .key = #key_, .form = CTPROF_##form_, .metric = METRIC_##metric_, .family = CTPROF_##family_ },
#define THREAD_EXTREME(metric_, events_, family_)                                                  \
	{ .key = #metric_, .form = CTPROF_EXTREME, .metric = METRIC_##metric_,                     \
	  .events = METRIC_##events_, .family = CTPROF_##family_ },
#define THREAD_FLAG(key_, families_)                                                               \
	{ .key = #key_, .form = CTPROF_FLAG, .metric = METRIC_STORED, .families = families_ },
#include "store/ctprof/ctprof_fields.def"
};

const struct ctprof_cell ctprof_cells[] = {
#define CELL(object_, key_, form_, name_)                                                          \
	{ CTPROF_OBJECT_##object_, #key_, CTPROF_CELL_##form_, name_ },
#include "store/ctprof/ctprof_fields.def"
};

const struct ctprof_place ctprof_objects[CTPROF_OBJECT_COUNT] = {
	[CTPROF_OBJECT_CPU]       = { "cpu",               SHEET_CGROUPS },
	[CTPROF_OBJECT_MEMORY]    = { "memory",            SHEET_CGROUPS },
	[CTPROF_OBJECT_PIDS]      = { "pids",              SHEET_CGROUPS },
	[CTPROF_OBJECT_SCHED_EXT] = { "sched_ext",         SHEET_HOST },
	[CTPROF_OBJECT_PROBE]     = { "probe_summary",     SHEET_CAPTURE },
	[CTPROF_OBJECT_TASKSTATS] = { "taskstats_summary", SHEET_CAPTURE },
	[CTPROF_OBJECT_HOST]      = { "host",              SHEET_HOST },
};

const struct ctprof_fact ctprof_facts[] = {
#define HOST_FACT(key_, form_, fact_) { #key_, CTPROF_FACT_##form_, FACT_##fact_ },
#include "store/ctprof/ctprof_fields.def"
};

const char *const ctprof_resources[CTPROF_RESOURCES] = { "cpu", "memory", "io", "irq" };
const char *const ctprof_lines[CTPROF_LINES] = { "some", "full" };
const struct ctprof_pressure ctprof_pressures[CTPROF_PRESSURES] = {
	{ "avg10", "avg10" }, { "avg60", "avg60" }, { "avg300", "avg300" }, { "total_usec", "total" },
};
/* clang-format on */

const size_t ctprof_field_count = ARRAY_SIZE(ctprof_fields);
const size_t ctprof_cell_count = ARRAY_SIZE(ctprof_cells);
const size_t ctprof_fact_count = ARRAY_SIZE(ctprof_facts);

_Static_assert(ARRAY_SIZE(ctprof_fields) <= CTPROF_FIELDS_MAX, "a thread has more fields than fit");

void ctprof_pressure_name(char name[SHEET_NAME_SIZE], enum sheet_id id, int resource, int line,
			  int key)
{
	snprintf(name, SHEET_NAME_SIZE,
		 id == SHEET_HOST ? "pressure %s %s %s" : "%s.pressure %s %s",
		 ctprof_resources[resource], ctprof_lines[line], ctprof_pressures[key].name);
}
