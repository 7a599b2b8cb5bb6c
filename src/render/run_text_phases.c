/* SPDX-License-Identifier: MIT */
/* The table of phases: where programs that use libtaskscope were, by their own words. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/run_amount.h"
#include "render/run_text_tables.h"

static void cell_time(struct table *table, bool present, uint64_t ns)
{
	if (present)
		run_cell_time(table, ns);
	else
		run_cell_name(table, "-");
}

static void cell_number(struct table *table, bool present, uint64_t number)
{
	if (present)
		run_cell_number(table, number);
	else
		run_cell_name(table, "-");
}

static void add_phase(struct table *table, const struct phase *phase, bool counts)
{
	struct text *cell = table_cell(table);

	text_append_escaped(cell, phase->comm, strlen(phase->comm));
	text_format(cell, " %" PRId32, phase->process.pid);
	table_end_cell(table);
	run_cell_name(table, phase->label[0] ? phase->label : "(other)");
	cell_number(table, phase->samples > 0, phase->threads);
	cell_time(table, phase->samples > 0, phase->wall_ns);
	cell_time(table, phase->has_cpu, phase->cpu_ns);
	cell_time(table, phase->has_cpu, phase->off_cpu_ns);
	if (!counts)
		return;
	cell_number(table, phase->has_count, phase->count);
	cell_time(table, phase->has_count, phase->total_ns);
}

static bool has_counts(const struct phases *phases)
{
	for (size_t i = 0; i < phases->list.count; i++)
		if (phases->list.data[i].has_count)
			return true;
	return false;
}

static void add_columns(struct table *table, bool counts)
{
	table_add_column(table, "process", TABLE_NAME);
	table_add_column(table, "scope", TABLE_NAME);
	table_add_column(table, "threads", TABLE_RIGHT);
	table_add_column(table, "wall", TABLE_RIGHT);
	table_add_column(table, "cpu", TABLE_RIGHT);
	table_add_column(table, "off cpu", TABLE_RIGHT);
	if (!counts)
		return;
	table_add_column(table, "count", TABLE_RIGHT);
	table_add_column(table, "total", TABLE_RIGHT);
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
	add_columns(&table, counts);
	for (size_t i = 0; i < shown; i++)
		add_phase(&table, &phases->list.data[i], counts);
	run_text_table(out, &table, options, shown, phases->list.count);
	if (phases->omitted)
		fprintf(out, "without %" PRIu64 " sample%s of labels that were too many\n",
			phases->omitted, phases->omitted == 1 ? "" : "s");
}
