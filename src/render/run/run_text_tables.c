/* SPDX-License-Identifier: MIT */
#include "render/run/run_text_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/memory.h"
#include "metric/unit.h"
#include "model/tree/run_order.h"
#include "render/style.h"

/* A report without -v has a table of single threads or processes where there are at most so many. */
#define FEW_THREADS 8
#define FEW_PROCESSES 5

void run_text_heading(FILE *out, const struct run_text_options *options, const char *heading)
{
	fputc('\n', out);
	style_line(out, options->color, STYLE_HEADING, "%s", heading);
}

size_t run_text_shown(const struct run_text_options *options, size_t count)
{
	return options->rows && options->rows < count ? options->rows : count;
}

void run_text_table(FILE *out, struct table *table, const struct run_text_options *options,
		    size_t shown, size_t count)
{
	struct terminal terminal = { .colour = options->color, .width = options->width };

	if (table_print(table, &terminal, out) < 0) {
		fputs("not enough memory for this table\n", out);
		memory_note_missing();
	} else if (shown < count) {
		fprintf(out, "and %zu more\n", count - shown);
	}
	table_clear(table);
}

void run_cell_known(struct table *table, bool is_known, uint64_t number)
{
	if (is_known)
		put_number(table, number);
	else
		put_absent(table, NULL);
}

/* What it waited for most, and the share of its time. */
static void cell_mostly(struct table *table, const struct amounts *amounts)
{
	const char *name = "run_queue";
	uint64_t most = amounts_get(amounts, AMOUNT_wait_time_ns);
	struct text *cell = put_begin(table);

	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		if (amounts_waited(amounts, reason).ns <= most)
			continue;
		most = amounts_waited(amounts, reason).ns;
		name = waits[reason].name;
	}
	if (!most) {
		put_absent(table, NULL);
		return;
	}
	text_format(cell, "%s ", name);
	unit_format_share(cell,
			  amounts_get(amounts, AMOUNT_wall_time_ns) ?
				  (double)most / (double)amounts_get(amounts, AMOUNT_wall_time_ns) :
				  0);
	put_end(table);
}

static void add_thread(struct table *table, const struct tree_thread *thread)
{
	const struct amounts *amounts = &thread->amounts;

	put_signed(table, thread->key.pid);
	put_signed(table, thread->key.tid);
	put_string(table, thread->comm);
	run_cell_known(table, amounts_has(amounts, AMOUNT_wall_time_ns),
		       amounts_get(amounts, AMOUNT_wall_time_ns));
	run_cell_known(table, amounts_has(amounts, AMOUNT_run_time_ns),
		       amounts_get(amounts, AMOUNT_run_time_ns));
	run_cell_known(table, amounts_has_waits(amounts), amounts_costly_ns(amounts));
	cell_mostly(table, amounts);
}

static const struct table_column thread_columns[] = {
	/* clang-format off */
	{ "pid",             TABLE_RIGHT, 2, .unit = UNIT_ID },
	{ "tid",             TABLE_RIGHT, .unit = UNIT_ID },
	{ "thread",          TABLE_NAME,  .unit = UNIT_TEXT },
	{ "wall",            TABLE_RIGHT, 3, .unit = UNIT_NS },
	{ "on cpu",          TABLE_RIGHT, .unit = UNIT_NS },
	{ "costly",          TABLE_RIGHT, .unit = UNIT_NS },
	{ "waited most for", TABLE_LEFT,  1, .unit = UNIT_TEXT },
	/* clang-format on */
};

static void print_threads_heading(FILE *out, const struct run_text_options *options)
{
	CLEANUP(text_free) struct text heading = { 0 };

	text_append_string(&heading, "threads by costly waits (");
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		if (waits[reason].kind == WAIT_COST)
			text_format(&heading, "%s, ", waits[reason].name);
	text_append_string(&heading, "run queue)");
	run_text_heading(out, options, text_string(&heading));
}

void run_text_threads(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct table table = { 0 };
	size_t count, shown;
	CLEANUP(free_pointer)
	const struct tree_thread **threads =
		run_threads_sorted(run->tree, run_threads_by_cost, &count);

	/* With one thread the ledger has said it all. */
	if (count < 2 || !(amounts_has_waits(&run->tree->amounts)))
		return;
	/* With one thread in each process the table by program says most of it. */
	if (!options->is_verbose &&
	    (run->tree->threads > FEW_THREADS || run->tree->threads <= run->tree->processes))
		return;
	print_threads_heading(out, options);
	table_add_columns(&table, thread_columns, ARRAY_SIZE(thread_columns));
	shown = run_text_shown(options, count);
	for (size_t i = 0; i < shown; i++)
		add_thread(&table, threads[i]);
	run_text_table(out, &table, options, shown, count + run->tree->folded_threads);
}

static void append_task(struct text *cell, const char *comm, int32_t tid)
{
	text_append_escaped(cell, comm, strlen(comm));
	text_format(cell, " (%" PRId32 ")", tid);
}

static void cell_waker(struct table *table, const struct tree_wait *wait)
{
	const struct tree_waker *waker = &wait->waker;
	struct text *cell = put_begin(table);

	if (!waker->total_ns) {
		put_absent(table, NULL);
		return;
	}
	if (waker->waker_tid)
		append_task(cell, waker->waker_comm, waker->waker_tid);
	else
		text_append_string(cell, "interrupt");
	text_append_string(cell, " ");
	unit_format_share(cell, tree_wait_waker_share(wait));
	put_end(table);
}

static const struct table_column wait_columns[] = {
	/* clang-format off */
	{ "thread",   TABLE_NAME,  .unit = UNIT_TEXT },
	{ "for",      TABLE_LEFT,  .unit = UNIT_TEXT },
	{ "total",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "longest",  TABLE_RIGHT, 2, .unit = UNIT_NS },
	{ "count",    TABLE_RIGHT, 1, .unit = UNIT_COUNT },
	{ "ended by", TABLE_NAME,  .unit = UNIT_TEXT },
	/* clang-format on */
};

void run_text_waits(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct tree *tree = run->tree;
	size_t shown = run_text_shown(options, tree->top_wait_count);
	struct table table = { 0 };

	if (!tree->top_wait_count)
		return;
	run_text_heading(out, options, "longest waits");
	table_add_columns(&table, wait_columns, ARRAY_SIZE(wait_columns));
	for (size_t i = 0; i < shown; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		append_task(put_begin(&table), wait->comm, wait->thread.tid);
		put_end(&table);
		put_string(&table, waits[wait->reason].name);
		table_sign(&table, run_is_sampled(run) ? '~' : 0);
		put_number(&table, wait->total_ns);
		run_cell_known(&table, wait->count, wait->longest_ns);
		run_cell_known(&table, wait->count, wait->count);
		cell_waker(&table, wait);
	}
	run_text_table(out, &table, options, shown, shown);
}

/* Appends the words with blanks between them; at least the name. */
static void append_words(struct text *line, const struct tree_process *process)
{
	const char *at = process->arguments;
	size_t left = process->arguments ? process->arguments_length : 0;

	if (!left)
		text_append_escaped(line, process->comm, strlen(process->comm));
	while (left) {
		size_t length = strnlen(at, left);

		text_append_escaped(line, at, length);
		length += length < left;
		at += length;
		left -= length;
		text_append_string(line, left ? " " : "");
	}
}

/* Cut after escaping, since a file has the words escaped; never cuts a character in half. */
void run_text_command(struct text *out, const struct tree_process *process, size_t most)
{
	CLEANUP(text_free) struct text words = { 0 };
	bool cut = process->arguments_cut;

	append_words(&words, process);
	if (words.length > most) {
		cut = true;
		words.length = most;
		while (words.length && ((unsigned char)words.data[words.length] & 0xc0) == 0x80)
			words.length--;
	}
	text_append(out, text_string(&words), words.length);
	text_append_string(out, cut ? "..." : "");
}

static void cell_exit(struct table *table, const struct tree_process *process)
{
	struct text *cell = put_begin(table);
	char name[KERNEL_NAME_SIZE];
	int number;

	if (!process->exited)
		text_append_string(cell, "running");
	else if (process->oom_killed)
		text_append_string(cell, "OOM kill");
	else if (tree_process_exit_code(process, &number))
		text_format(cell, "%d", number);
	else if (tree_process_signal(process, &number))
		text_append_string(cell, signal_name(number, name));
	else
		text_append_string(cell, "-");
	put_end(table);
}

static void add_process(struct table *table, const struct run *run,
			const struct tree_process *process)
{
	uint64_t end = process->end_ns ? process->end_ns : run->end_ns;
	uint64_t cpu_ns = 0;
	bool has_cpu = run_process_cpu(process, &cpu_ns);

	put_signed(table, process->key.pid);
	put_signed(table, process->parent_pid);
	put_number(table, end > process->begin_ns ? end - process->begin_ns : 0);
	run_cell_known(table, has_cpu, cpu_ns);
	run_cell_known(table, process->facts.present & TREE_PROCESS_PEAK_RSS,
		       process->facts.peak_rss_bytes);
	cell_exit(table, process);
	run_text_command(put_begin(table), process, RUN_TEXT_COMMAND_MAX);
	put_end(table);
}

static const struct table_column process_columns[] = {
	/* clang-format off */
	{ "pid",      TABLE_RIGHT, .unit = UNIT_ID },
	{ "parent",   TABLE_RIGHT, 1, .unit = UNIT_ID },
	{ "wall",     TABLE_RIGHT, .unit = UNIT_NS },
	{ "cpu",      TABLE_RIGHT, .unit = UNIT_NS },
	{ "peak rss", TABLE_RIGHT, .unit = UNIT_BYTES },
	{ "exit",     TABLE_LEFT,  .unit = UNIT_TEXT },
	{ "command",  TABLE_NAME,  .unit = UNIT_TEXT },
	/* clang-format on */
};

/* Few, as far as that is known, and some of one program. */
static bool are_worth_a_table(const struct run *run)
{
	size_t count;
	CLEANUP(free_pointer)
	struct program_sums *programs = run_programs_sorted(run->tree, &count);

	if (run->tree->processes > FEW_PROCESSES || run_lower_bounds(run) & RUN_BOUND_PROCESSES)
		return false;
	for (size_t i = 0; i < count; i++)
		if (programs[i].processes > 1)
			return true;
	return false;
}

void run_text_processes(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct table table = { 0 };
	size_t count, shown;
	CLEANUP(free_pointer)
	const struct tree_process **processes = run_processes_sorted(run->tree, true, true, &count);

	if (!count || (!options->is_verbose && !are_worth_a_table(run)))
		return;
	run_text_heading(out, options, "processes by CPU time");
	table_add_columns(&table, process_columns, ARRAY_SIZE(process_columns));
	shown = run_text_shown(options, count);
	for (size_t i = 0; i < shown; i++)
		add_process(&table, run, processes[i]);
	run_text_table(out, &table, options, shown, count + run->tree->folded_processes);
}
