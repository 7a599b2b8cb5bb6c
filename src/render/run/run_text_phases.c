/* SPDX-License-Identifier: MIT */
/* The table of phases: the scopes that programs using libtaskscope say they were in. */
#include <inttypes.h>

#include "render/run/run_text_tables.h"

static void add_phase(struct table *table, const struct phase *phase, bool counts)
{
	text_format(put_begin(table), "%s %" PRId32, phase->comm, phase->process.pid);
	put_end(table);
	put_string(table, phase->label[0] ? phase->label : "(other)");
	run_cell_known(table, phase->samples > 0, phase->threads);
	run_cell_known(table, phase->samples > 0, phase->wall_ns);
	run_cell_known(table, phase->has_cpu, phase->cpu_ns);
	run_cell_known(table, phase->has_cpu, phase->off_cpu_ns);
	if (!counts)
		return;
	run_cell_known(table, phase->has_count, phase->count);
	run_cell_known(table, phase->has_count, phase->total_ns);
}

/* The last two are shown when a program counts. */
static const struct table_column columns[] = {
	/* clang-format off */
	{ "process", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "scope",   TABLE_NAME,  .unit = UNIT_TEXT },
	{ "threads", TABLE_RIGHT, 1, .unit = UNIT_COUNT },
	{ "wall",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "cpu",     TABLE_RIGHT, .unit = UNIT_NS },
	{ "off cpu", TABLE_RIGHT, 2, .unit = UNIT_NS },
	{ "count",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "total",   TABLE_RIGHT, 3, .unit = UNIT_NS },
	/* clang-format on */
};

static bool has_counts(const struct phases *phases)
{
	for (size_t i = 0; i < phases->list.count; i++)
		if (phases->list.data[i].has_count)
			return true;
	return false;
}

void run_text_phases(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct phases *phases = &run->phases;
	size_t shown = run_text_shown(options, phases->list.count);
	bool counts = has_counts(phases);
	struct table table = { 0 };

	if (!phases->known || !phases->list.count)
		return;
	run_text_heading(out, options,
			 counts ? "phases (wall, cpu and off cpu are sampled; count and total are "
				  "the program's own)" :
				  "phases (sampled)");
	table_add_columns(&table, columns, ARRAY_SIZE(columns) - (counts ? 0 : 2));
	for (size_t i = 0; i < shown; i++)
		add_phase(&table, &phases->list.data[i], counts);
	run_text_table(out, &table, options, shown, phases->list.count);
	if (phases->omitted)
		fprintf(out, "without %" PRIu64 " sample%s of labels that were too many\n",
			phases->omitted, phases->omitted == 1 ? "" : "s");
}
