/* SPDX-License-Identifier: MIT */
/* What each program used, and which processes failed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/memory.h"
#include "model/run/run_snapshot.h"
#include "model/tree/run_order.h"
#include "render/run/run_text_tables.h"

/* Processes that failed, one in a line; with -v as many as rows of a table. */
#define FAILED_SHOWN 5
/* Bytes of a command line that are worth showing. */
#define COMMAND_LEAST 16

/* "exit 1", "SIGKILL", "OOM kill" */
static void append_failure(struct text *out, const struct tree_process *process)
{
	char name[KERNEL_NAME_SIZE];
	int number;

	if (process->oom_killed)
		text_append_string(out, "OOM kill");
	else if (tree_process_signal(process, &number))
		text_append_string(out, signal_name(number, name));
	else if (tree_process_exit_code(process, &number))
		text_format(out, "exit %d", number);
}

/* Appends how the processes of a program failed; ", ..." when in several ways. */
static void append_ways(struct text *out, const struct tree *tree, const char *comm)
{
	CLEANUP(text_free) struct text way = { 0 };

	for (size_t i = 0; i < tree->count; i++) {
		CLEANUP(text_free) struct text other = { 0 };

		if (!tree_process_failed(tree->all[i]) || strcmp(tree->all[i]->comm, comm) != 0)
			continue;
		append_failure(&other, tree->all[i]);
		if (!way.length) {
			text_append_string(&way, text_string(&other));
		} else if (strcmp(text_string(&way), text_string(&other)) != 0) {
			text_append_string(&way, ", ...");
			break;
		}
	}
	if (way.length)
		text_format(out, " (%s)", text_string(&way));
}

/* Whether it is known how any of its processes ended, or that none did. */
static bool knows_ends(const struct tree *tree, const struct program_sums *program)
{
	uint64_t kept = 0, unknown = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_process *process = tree->all[i];

		if (strcmp(process->comm, program->comm) != 0)
			continue;
		kept++;
		unknown += process->exited && !(process->facts.present & TREE_PROCESS_STATUS);
	}
	return program->processes && (kept == 0 || unknown < program->processes);
}

static void cell_failed(struct table *table, const struct tree *tree,
			const struct program_sums *program)
{
	if (!knows_ends(tree, program)) {
		put_absent(table, NULL);
	} else if (!program->failures) {
		put_empty(table);
	} else {
		struct text *cell = put_begin(table);

		text_format(cell, "%" PRIu64, program->failures);
		append_ways(cell, tree, program->comm);
		put_end(table);
	}
}

static void add_program(struct table *table, const struct tree *tree,
			const struct program_sums *program)
{
	const struct amounts *amounts = &program->amounts;
	uint64_t cpu_ns;
	bool has_waits = amounts_has_waits(amounts), has_cpu = run_amounts_cpu(amounts, &cpu_ns);

	/* One kind of CPU time in all rows: they add up to the ledger. */
	if (amounts_has(&tree->amounts, AMOUNT_run_time_ns))
		has_cpu = amounts_has(amounts, AMOUNT_run_time_ns);

	put_string(table, program->comm[0] ? program->comm : RUN_OTHER_PROGRAMS);
	run_cell_known(table, program->processes > 0, program->processes);
	run_cell_known(table, has_cpu, cpu_ns);
	run_cell_known(table, has_waits, amounts_costly_ns(amounts));
	run_cell_known(table, has_waits, amounts_for_work_ns(amounts));
	run_cell_known(table, program->has_peak_rss, program->peak_rss_bytes);
	cell_failed(table, tree, program);
}

static const struct table_column columns[] = {
	/* clang-format off */
	{ "program",      TABLE_NAME,  .unit = UNIT_TEXT },
	{ "count",        TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "cpu",          TABLE_RIGHT, .unit = UNIT_NS },
	{ "costly waits", TABLE_RIGHT, .unit = UNIT_NS },
	{ "for work",     TABLE_RIGHT, .unit = UNIT_NS },
	{ "peak rss",     TABLE_RIGHT, .unit = UNIT_BYTES },
	{ "failed",       TABLE_LEFT,  .unit = UNIT_TEXT },
	/* clang-format on */
};

/* The only process whose end the first line of the report says. */
static const struct tree_process *named_above(const struct run *run)
{
	return run->pid_count > 1 || !run->has_status ? NULL : run->tree->root;
}

static int by_end(const void *a, const void *b)
{
	const struct tree_process *one = *(const struct tree_process *const *)a;
	const struct tree_process *other = *(const struct tree_process *const *)b;

	if (one->end_ns != other->end_ns)
		return one->end_ns < other->end_ns ? -1 : 1;
	return (one->key.pid > other->key.pid) - (one->key.pid < other->key.pid);
}

/* " exited 1", " was killed by SIGKILL" */
static void append_end(struct text *line, const struct tree_process *process)
{
	char name[KERNEL_NAME_SIZE];
	int number;

	if (process->oom_killed)
		text_append_string(line, " was killed for lack of memory");
	else if (tree_process_signal(process, &number))
		text_format(line, " was killed by %s", signal_name(number, name));
	else if (tree_process_exit_code(process, &number))
		text_format(line, " exited %d", number);
}

/* Where the first word's name begins, without the folder. */
static size_t folder_length(const struct tree_process *process)
{
	const char *word = process->arguments;
	const char *slash = memrchr(word, '/', strnlen(word, process->arguments_length));

	return slash ? (size_t)(slash + 1 - word) : 0;
}

static void print_one_failed(FILE *out, const struct run_text_options *options,
			     const struct tree_process *process)
{
	struct tree_process shown = *process;
	CLEANUP(text_free) struct text line = { 0 };
	size_t room = RUN_TEXT_COMMAND_MAX, rest = strlen(": ...)");

	text_append_string(&line, "failed: ");
	text_append_escaped(&line, process->comm, strlen(process->comm));
	append_end(&line, process);
	text_format(&line, " (pid %" PRId32, process->key.pid);
	if (options->width && options->width < line.length + room + rest)
		room = options->width > line.length + COMMAND_LEAST + rest ?
			       options->width - line.length - rest :
			       COMMAND_LEAST;
	if (process->arguments && process->arguments_length) {
		shown.arguments += folder_length(process);
		shown.arguments_length -= folder_length(process);
		text_append_string(&line, ": ");
		run_text_command(&line, &shown, room);
	}
	fprintf(out, "%s)\n", text_string(&line));
}

/* The first that failed comes first: others often failed because of it. */
static void print_failed(FILE *out, const struct run *run, const struct run_text_options *options,
			 uint64_t failures)
{
	const struct tree *tree = run->tree;
	const struct tree_process *above = named_above(run);
	CLEANUP(free_pointer)
	const struct tree_process **failed = calloc(tree->count + 1, sizeof(*failed));
	size_t count = 0, shown;

	if (!failed) {
		memory_note_missing();
		return;
	}
	for (size_t i = 0; i < tree->count; i++)
		if (tree_process_failed(tree->all[i]) && tree->all[i] != above)
			failed[count++] = tree->all[i];
	qsort(failed, count, sizeof(*failed), by_end);
	shown = run_text_shown(options, count);
	if (!options->is_verbose && shown > FAILED_SHOWN)
		shown = FAILED_SHOWN;
	for (size_t i = 0; i < shown; i++)
		print_one_failed(out, options, failed[i]);
	failures -= above && tree_process_failed(above);
	if (failures > shown)
		fprintf(out, "and %" PRIu64 " more failed\n", failures - shown);
}

void run_text_programs(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct table table = { 0 };
	uint64_t failures = 0;
	size_t count, shown;
	CLEANUP(free_pointer)
	struct program_sums *programs = run_programs_sorted(run->tree, &count);

	if (!count)
		return;
	run_text_heading(
		out, options,
		"programs by CPU time and costly waits (peak rss: of the largest process)");
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	shown = run_text_shown(options, count);
	for (size_t i = 0; i < count; i++) {
		if (i < shown)
			add_program(&table, run->tree, &programs[i]);
		failures += programs[i].failures;
	}
	run_text_table(out, &table, options, shown, count);
	print_failed(out, run, options, failures);
}
