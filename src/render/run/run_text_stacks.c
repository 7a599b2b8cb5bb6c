/* SPDX-License-Identifier: MIT */
/* Where in the code the time went: the functions that computed, and those that waited. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "metric/unit.h"
#include "model/profile/profile_top.h"
#include "render/run/function_name.h"
#include "render/run/run_text_tables.h"

#define ROWS 5 /* with -v as many as in other tables */
/*
 * Functions with a smaller share of the time have no row without -v, and what the stacks lack is
 * not said.
 */
#define LEAST 0.01

/* clang-format off */
static const struct table_column on_cpu_columns[] = {
	{ "function",  TABLE_NAME,  .unit = UNIT_TEXT },
	{ "called by", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "time",      TABLE_RIGHT, 1, .unit = UNIT_NS },
	{ "share",     TABLE_RIGHT, .unit = UNIT_COUNT },
};
static const struct table_column off_cpu_columns[] = {
	{ "function",  TABLE_NAME,  .unit = UNIT_TEXT },
	{ "called by", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "mostly for", TABLE_LEFT, .unit = UNIT_TEXT },
	{ "time",      TABLE_RIGHT, 1, .unit = UNIT_NS },
	{ "share",     TABLE_RIGHT, .unit = UNIT_COUNT },
};
/* clang-format on */

/* With -v in full, as lines are then as wide as they need. */
static void put_function(struct table *table, const struct profile *profile, uint32_t frame,
			 bool is_verbose)
{
	struct text *cell = put_begin(table);
	const char *function;

	if (frame == PROFILE_NO_FRAME) {
		put_absent(table, NULL);
		return;
	}
	function = profile_string(profile, profile->frames.data[frame].function);
	if (*function && !is_verbose)
		function_name_append(cell, function);
	else
		profile_append_name(profile, frame, cell);
	put_end(table);
}

static void print_heading(FILE *out, const struct run_text_options *options,
			  const struct profile *profile, enum profile_kind kind)
{
	CLEANUP(text_free) struct text heading = { 0 };
	struct profile_sum sum;

	profile_sum(profile, kind, &sum);
	text_append_string(&heading, kind == PROFILE_ON_CPU ? "functions on the CPU: " :
							      "functions that waited: ");
	unit_format(&heading, UNIT_NS, sum.ns);
	text_format(&heading, "%s, %" PRIu64 " stack%s",
		    kind == PROFILE_ON_CPU ? "" : " off the CPU", sum.count,
		    sum.count == 1 ? "" : "s");
	run_text_heading(out, options, text_string(&heading));
}

static size_t shown_of(const struct profile_tops *tops, const struct run_text_options *options)
{
	size_t shown = run_text_shown(options, tops->count);

	if (options->is_verbose)
		return shown;
	shown = shown < ROWS ? shown : ROWS;
	while (shown > 1 && (double)tops->rows[shown - 1].self_ns < LEAST * (double)tops->ns)
		shown--;
	return shown;
}

static void print_kind(FILE *out, const struct profile *profile, enum profile_kind kind,
		       const struct run_text_options *options)
{
	CLEANUP(profile_tops_free) struct profile_tops tops = { 0 };
	bool is_on_cpu = kind == PROFILE_ON_CPU;
	struct table table = { 0 };
	size_t shown;

	if (profile_tops(profile, kind, &tops) < 0)
		memory_note_missing();
	if (!tops.count)
		return;
	print_heading(out, options, profile, kind);
	shown = shown_of(&tops, options);
	table_add_columns(&table, is_on_cpu ? on_cpu_columns : off_cpu_columns,
			  is_on_cpu ? ARRAY_SIZE(on_cpu_columns) : ARRAY_SIZE(off_cpu_columns));
	for (size_t i = 0; i < shown; i++) {
		put_function(&table, profile, tops.rows[i].frame, options->is_verbose);
		put_function(&table, profile, tops.rows[i].caller, options->is_verbose);
		if (!is_on_cpu)
			put_string(&table, waits[tops.rows[i].reason].name);
		put_number(&table, tops.rows[i].self_ns);
		put_share(&table, (double)tops.rows[i].self_ns, (double)tops.ns);
	}
	run_text_table(out, &table, options, shown, options->is_verbose ? tops.count : shown);
}

static void append_lack(struct text *line, uint64_t part, uint64_t whole, const char *words,
			size_t start)
{
	if (!whole || (double)part <= LEAST * (double)whole)
		return;
	text_append_string(line, line->length > start ? ", " : "");
	unit_format_share(line, (double)part / (double)whole);
	text_append_string(line, words);
}

/* "stacks: on the CPU 3 % not captured; off the CPU 2 % without the outermost callers" */
static void print_lacks(FILE *out, const struct profile *profile)
{
	static const char *const where[] = {
		[PROFILE_ON_CPU] = "on the CPU ", [PROFILE_OFF_CPU] = "off the CPU "
	};
	CLEANUP(text_free) struct text line = { 0 };
	size_t begin;

	text_append_string(&line, "stacks: ");
	begin = line.length;
	for (int kind = PROFILE_ON_CPU; kind <= PROFILE_OFF_CPU; kind++) {
		size_t before = line.length, start;
		struct profile_sum sum;

		profile_sum(profile, (enum profile_kind)kind, &sum);
		text_format(&line, "%s%s", before > begin ? "; " : "", where[kind]);
		start = line.length;
		append_lack(&line, sum.missing_ns, sum.ns, " not captured", start);
		append_lack(&line, sum.ns - sum.complete_ns - sum.missing_ns, sum.ns,
			    " without the outermost callers", start);
		append_lack(&line, sum.inferred_ns, sum.ns, " inferred from a wait like it", start);
		if (line.length == start && !line.failed)
			line.length = before;
	}
	if (line.length > begin && !line.failed)
		fprintf(out, "%.*s\n", (int)line.length, text_string(&line));
}

void run_text_stacks(FILE *out, const struct run *run, const struct run_text_options *options)
{
	if (!run->profile)
		return;
	print_kind(out, run->profile, PROFILE_ON_CPU, options);
	print_kind(out, run->profile, PROFILE_OFF_CPU, options);
	print_lacks(out, run->profile);
}
