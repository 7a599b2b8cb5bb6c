/* SPDX-License-Identifier: MIT */
/* Prints what the processors counted for the tree, what GPUs did, and the energy that the host used meanwhile. */
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "metric/unit.h"
#include "render/run/run_text_tables.h"

/* An amount, after ", " if something came before. */
static bool append_count(struct text *line, size_t start, const struct run_number *number,
			 const char *what)
{
	if (!number->present)
		return false;
	text_append_string(line, line->length > start ? ", " : "");
	unit_format(line, UNIT_COUNT, number->value);
	text_append_string(line, what);
	return true;
}

static void append_ratio(struct text *line, const char *form, const struct run_number *part,
			 const struct run_number *whole, double factor)
{
	if (part->present && whole->present && whole->value)
		text_format(line, form, factor * (double)part->value / (double)whole->value);
}

static void print_counters(FILE *out, const struct run_hardware *hardware)
{
	const struct run_number *cycles = &hardware->cycles;
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "hardware: ");
	start = line.length;
	append_count(&line, start, cycles, " cycles");
	if (append_count(&line, start, &hardware->instructions, " instructions"))
		append_ratio(&line, " (%.2f a cycle)", &hardware->instructions, cycles, 1);
	if (append_count(&line, start, &hardware->cache_misses, " cache misses"))
		append_ratio(&line, " (%.1f %% of references)", &hardware->cache_misses,
			     &hardware->cache_references, 100);
	append_count(&line, start, &hardware->branch_misses, " branch misses");
	if (append_count(&line, start, &hardware->stalled_frontend, " front-end stalls"))
		append_ratio(&line, " (%.1f %% of cycles)", &hardware->stalled_frontend, cycles,
			     100);
	if (append_count(&line, start, &hardware->stalled_backend, " back-end stalls"))
		append_ratio(&line, " (%.1f %% of cycles)", &hardware->stalled_backend, cycles,
			     100);
	if (line.length == start)
		return;
	if (hardware->running_ns.value < hardware->enabled_ns.value)
		append_ratio(&line, "; counted %.0f %% of the time, and scaled",
			     &hardware->running_ns, &hardware->enabled_ns, 100);
	fprintf(out, "%s\n", text_string(&line));
}

/* First what the tree used, then what all of the host did. */
static void print_gpus(FILE *out, const struct run_gpu *gpu)
{
	const struct {
		const struct run_number *number;
		enum metric_unit unit;
		double factor;
		const char *before, *after;
	} all[] = {
		{ &gpu->tree_memory_peak_bytes, UNIT_BYTES, 1, "this held at most ", "" },
		{ &gpu->tree_busy_peak_percent, UNIT_RATIO, 0.01, "used at most ", " of one" },
		{ &gpu->tree_time_ns, UNIT_NS, 1, "engines worked ", " for it" },
		{ &gpu->lost_users, UNIT_COUNT, 1, "without ", " readings of too many processes" },
		{ &gpu->busy_peak_percent, UNIT_RATIO, 0.01, "the busiest was at most ", " busy" },
		{ &gpu->memory_used_peak_bytes, UNIT_BYTES, 1, "all held at most ", "" },
		{ &gpu->memory_total_bytes, UNIT_BYTES, 1, " of ", "" },
		{ &gpu->temperature_peak_celsius, UNIT_LEVEL, 1, "", " °C" },
		{ &gpu->power_peak_milliwatts, UNIT_LEVEL, 0.001, "", " W" },
	};
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "gpu: ");
	start = line.length;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!all[i].number->present)
			continue;
		text_append_string(&line,
				   line.length > start && all[i].before[0] != ' ' ? ", " : "");
		text_append_string(&line, all[i].before);
		if (all[i].unit == UNIT_RATIO)
			unit_format_share(&line, all[i].factor * (double)all[i].number->value);
		else
			unit_format_real(&line, all[i].unit,
					 all[i].factor * (double)all[i].number->value);
		text_append_string(&line, all[i].after);
	}
	if (line.length > start)
		fprintf(out, "%s\n", text_string(&line));
}

static const struct table_column user_columns[] = {
	/* clang-format off */
	{ "pid",     TABLE_RIGHT, .unit = UNIT_ID },
	{ "process", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "held",    TABLE_RIGHT, .unit = UNIT_BYTES },
	{ "of one",  TABLE_RIGHT, .unit = UNIT_RATIO },
	{ "engines", TABLE_RIGHT, .unit = UNIT_NS },
	/* clang-format on */
};

void run_text_gpu_users(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct run_gpu_users *users = &run->gpu_users;
	size_t shown = run_text_shown(options, users->count);
	struct table table = { 0 };

	if (!users->count)
		return;
	run_text_heading(out, options, "GPUs, by process: the most held and used, time of engines");
	table_add_columns(&table, user_columns, ARRAY_SIZE(user_columns));
	for (size_t i = 0; i < shown; i++) {
		const struct run_gpu_user *user = &users->list[i];

		put_number(&table, (uint64_t)user->pid);
		put_string(&table, user->comm);
		run_cell_known(&table, user->memory_peak_bytes.present,
			       user->memory_peak_bytes.value);
		if (user->busy_peak_percent.present)
			put_share(&table, (double)user->busy_peak_percent.value, 100);
		else
			put_absent(&table, NULL);
		run_cell_known(&table, user->time_ns.present, user->time_ns.value);
	}
	run_text_table(out, &table, options, shown,
		       users->count + (size_t)run->gpu.processes_omitted.value);
}

static void print_energy(FILE *out, const struct run_hardware *hardware)
{
	const struct {
		const struct run_number *number;
		const char *what;
	} all[] = { { &hardware->package_uj, "the processors" },
		    { &hardware->dram_uj, "memory" },
		    { &hardware->platform_uj, "the whole machine" } };
	const char *before = "energy of the host meanwhile: ";

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!all[i].number->present)
			continue;
		fprintf(out, "%s%.3g J in %s", before, (double)all[i].number->value / 1e6,
			all[i].what);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

void run_text_hardware(FILE *out, const struct run *run, const struct run_text_options *options)
{
	print_counters(out, &run->hardware);
	print_gpus(out, &run->gpu);
	if (options->is_verbose)
		print_energy(out, &run->hardware);
}
