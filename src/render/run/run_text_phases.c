/* SPDX-License-Identifier: MIT */
/* The table of phases: the scopes that programs using libtaskscope say they were in. */
#include <inttypes.h>

#include "render/run/run_text_tables.h"

/* Which columns are shown. */
struct shape {
	bool has_self;	 /* scopes were inside others */
	bool has_counts; /* a program counts */
};

static void add_phase(struct table *table, const struct phase *phase, const struct shape *shape)
{
	text_format(put_begin(table), "%s %" PRId32, phase->comm, phase->process.pid);
	put_end(table);
	put_string(table, phase->label[0] ? phase->label : "(other)");
	run_cell_known(table, phase->samples > 0, phase->threads);
	run_cell_known(table, phase->samples > 0, phase->wall_ns);
	run_cell_known(table, phase->has_cpu, phase->cpu_ns);
	run_cell_known(table, phase_has_off_cpu(phase), phase->off_cpu_ns);
	if (shape->has_self) {
		run_cell_known(table, phase->has_self && phase->samples > 0, phase->self_wall_ns);
		run_cell_known(table, phase->has_self && phase->has_cpu, phase->self_cpu_ns);
		run_cell_known(table, phase->has_self && phase_has_off_cpu(phase),
			       phase->self_off_cpu_ns);
	}
	if (shape->has_counts) {
		run_cell_known(table, phase->has_count, phase->count);
		run_cell_known(table, phase->has_count, phase->total_ns);
	}
}

/* clang-format off */
static const struct table_column columns[] = {
	{ "process", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "scope",   TABLE_NAME,  .unit = UNIT_TEXT },
	{ "threads", TABLE_RIGHT, 1, .unit = UNIT_COUNT },
	{ "wall",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "cpu",     TABLE_RIGHT, .unit = UNIT_NS },
	{ "off cpu", TABLE_RIGHT, 2, .unit = UNIT_NS },
};
static const struct table_column self_columns[] = {
	{ "self wall",    TABLE_RIGHT, 3, .unit = UNIT_NS },
	{ "self cpu",     TABLE_RIGHT, 4, .unit = UNIT_NS },
	{ "self off cpu", TABLE_RIGHT, 5, .unit = UNIT_NS },
};
static const struct table_column count_columns[] = {
	{ "count",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "total",   TABLE_RIGHT, 3, .unit = UNIT_NS },
};
/* clang-format on */

static bool has_inside(const struct phase *phase)
{
	return phase->has_self && (phase->self_wall_ns != phase->wall_ns ||
				   phase->self_off_cpu_ns != phase->off_cpu_ns);
}

static struct shape shape_of(const struct phases *phases)
{
	struct shape shape = { 0 };

	for (size_t i = 0; i < phases->list.count; i++) {
		shape.has_self |= has_inside(&phases->list.data[i]);
		shape.has_counts |= phases->list.data[i].has_count;
	}
	return shape;
}

/* Whether all times off the CPU that are known are exact. */
static bool is_exact(const struct phases *phases)
{
	bool has_any = false;

	for (size_t i = 0; i < phases->list.count; i++) {
		if (!phase_has_off_cpu(&phases->list.data[i]))
			continue;
		if (!phases->list.data[i].is_off_cpu_exact)
			return false;
		has_any = true;
	}
	return has_any;
}

static void write_heading(FILE *out, const struct phases *phases, const struct shape *shape,
			  const struct run_text_options *options)
{
	const char *sampled = shape->has_counts ? "wall, cpu, off cpu: sampled" : "sampled";
	char text[128];

	snprintf(text, sizeof(text), "phases (%s%s)",
		 is_exact(phases) ? "wall, cpu: sampled; off cpu: exact" : sampled,
		 shape->has_counts ? "; count, total: the program's own" : "");
	run_text_heading(out, options, text);
}

void run_text_phases(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct phases *phases = &run->phases;
	size_t shown = run_text_shown(options, phases->list.count);
	struct shape shape = shape_of(phases);
	struct table table = { 0 };

	if (!phases->known || !phases->list.count)
		return;
	write_heading(out, phases, &shape, options);
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	if (shape.has_self)
		table_add_columns(&table, self_columns, ARRAY_SIZE(self_columns));
	if (shape.has_counts)
		table_add_columns(&table, count_columns, ARRAY_SIZE(count_columns));
	for (size_t i = 0; i < shown; i++)
		add_phase(&table, &phases->list.data[i], &shape);
	run_text_table(out, &table, options, shown, phases->list.count);
	if (phases->omitted)
		fprintf(out, "without %" PRIu64 " sample%s of labels that were too many\n",
			phases->omitted, phases->omitted == 1 ? "" : "s");
}
