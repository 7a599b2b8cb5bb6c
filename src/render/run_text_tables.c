/* SPDX-License-Identifier: MIT */
#include "render/run_text_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/memory.h"
#include "render/run_amount.h"
#include "render/run_order.h"

/* Of a command line, however wide the terminal is. */
#define COMMAND_MAX 160

void run_text_heading(FILE *out, const struct run_text_options *options, const char *heading)
{
	fprintf(out, "\n%s%s%s\n", options->color ? "\033[1m" : "", heading,
		options->color ? "\033[0m" : "");
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

void run_cell_time(struct table *table, uint64_t ns)
{
	amount_time(table_cell(table), ns);
	table_end_cell(table);
}

void run_cell_share(struct table *table, uint64_t part, uint64_t whole)
{
	if (whole)
		text_format(table_cell(table), "%.1f", 100.0 * (double)part / (double)whole);
	else
		text_append_string(table_cell(table), "-");
	table_end_cell(table);
}

void run_cell_number(struct table *table, uint64_t number)
{
	text_format(table_cell(table), "%" PRIu64, number);
	table_end_cell(table);
}

void run_cell_name(struct table *table, const char *name)
{
	text_append_escaped(table_cell(table), name, strlen(name));
	table_end_cell(table);
}

static void cell_task(struct table *table, int32_t number)
{
	text_format(table_cell(table), "%" PRId32, number);
	table_end_cell(table);
}

/* A time that may not be measured. */
static void cell_part(struct table *table, bool present, uint64_t ns)
{
	if (present)
		amount_time(table_cell(table), ns);
	else
		text_append_string(table_cell(table), "-");
	table_end_cell(table);
}

/* What it waited for most, and how much of its time that is. */
static void cell_mostly(struct table *table, const struct ledger *ledger)
{
	const char *name = "run_queue";
	uint64_t most = ledger->run_queue_ns;
	struct text *cell = table_cell(table);

	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		if (ledger->blocked[reason].ns <= most)
			continue;
		most = ledger->blocked[reason].ns;
		name = waits[reason].name;
	}
	if (most) {
		text_format(cell, "%s ", name);
		amount_percent(cell, ledger->wall_ns ? (double)most / (double)ledger->wall_ns : 0);
	} else {
		text_append_string(cell, "-");
	}
	table_end_cell(table);
}

static void add_thread(struct table *table, const struct tree_thread *thread)
{
	const struct ledger *ledger = &thread->ledger;

	cell_task(table, thread->key.pid);
	cell_task(table, thread->key.tid);
	run_cell_name(table, thread->comm);
	cell_part(table, ledger->present & LEDGER_WALL, ledger->wall_ns);
	cell_part(table, ledger->present & LEDGER_ON_CPU, ledger->on_cpu_ns);
	cell_part(table, ledger->present & LEDGER_BLOCKED, ledger_costly_ns(ledger));
	cell_mostly(table, ledger);
}

static const struct table_column thread_columns[] = {
	{ "pid", TABLE_RIGHT },
	{ "tid", TABLE_RIGHT },
	{ "thread", TABLE_NAME },
	{ "wall", TABLE_RIGHT },
	{ "on cpu", TABLE_RIGHT },
	{ "costly", TABLE_RIGHT },
	{ "waited most for", TABLE_LEFT },
};

void run_text_threads(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct table table = { 0 };
	size_t count, shown;
	CLEANUP(free_pointer)
	const struct tree_thread **threads =
		run_threads_sorted(run->tree, run_threads_by_cost, &count);

	/* One thread has said it all in the ledger. */
	if (count < 2 || !(run->tree->ledger.present & LEDGER_BLOCKED))
		return;
	run_text_heading(out, options,
			 "threads by costly waits (disk, lock, network, pipe, "
			 "memory, run queue)");
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
	struct text *cell = table_cell(table);

	if (!waker->total_ns) {
		text_append_string(cell, "-");
	} else {
		if (waker->waker_tid)
			append_task(cell, waker->waker_comm, waker->waker_tid);
		else
			text_append_string(cell, "interrupt");
		text_append_string(cell, " ");
		amount_percent(cell, tree_wait_waker_share(wait));
	}
	table_end_cell(table);
}

static const struct table_column wait_columns[] = {
	{ "thread", TABLE_NAME },   { "for", TABLE_LEFT },    { "total", TABLE_RIGHT },
	{ "longest", TABLE_RIGHT }, { "count", TABLE_RIGHT }, { "ended by", TABLE_NAME },
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

		append_task(table_cell(&table), wait->comm, wait->thread.tid);
		table_end_cell(&table);
		run_cell_name(&table, waits[wait->reason].name);
		run_cell_time(&table, wait->total_ns);
		run_cell_time(&table, wait->longest_ns);
		run_cell_number(&table, wait->count);
		cell_waker(&table, wait);
	}
	run_text_table(out, &table, options, shown, shown);
}

/* The words with blanks between them; at least the name. */
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

/* Cut after escaping, since a file has the words escaped, and without half a character. */
static void cell_command(struct table *table, const struct tree_process *process)
{
	CLEANUP(text_free) struct text words = { 0 };
	struct text *cell = table_cell(table);
	bool cut = process->arguments_cut;

	append_words(&words, process);
	if (words.length > COMMAND_MAX) {
		cut = true;
		words.length = COMMAND_MAX;
		while (words.length && ((unsigned char)words.data[words.length] & 0xc0) == 0x80)
			words.length--;
	}
	text_append(cell, text_string(&words), words.length);
	text_append_string(cell, cut ? "..." : "");
	table_end_cell(table);
}

static void cell_exit(struct table *table, const struct tree_process *process)
{
	struct text *cell = table_cell(table);
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
	table_end_cell(table);
}

static void add_process(struct table *table, const struct run *run,
			const struct tree_process *process)
{
	uint64_t end = process->end_ns ? process->end_ns : run->end_ns;
	bool has_peak = process->facts.present & TREE_PROCESS_PEAK_RSS;
	uint64_t cpu_ns;
	bool has_cpu = run_process_cpu(process, &cpu_ns);

	cell_task(table, process->key.pid);
	cell_task(table, process->parent_pid);
	run_cell_time(table, end > process->begin_ns ? end - process->begin_ns : 0);
	cell_part(table, has_cpu, cpu_ns);
	if (has_peak)
		amount_bytes(table_cell(table), process->facts.peak_rss_bytes);
	else
		text_append_string(table_cell(table), "-");
	table_end_cell(table);
	cell_exit(table, process);
	cell_command(table, process);
}

static const struct table_column process_columns[] = {
	{ "pid", TABLE_RIGHT },	   { "parent", TABLE_RIGHT },	{ "wall", TABLE_RIGHT },
	{ "cpu", TABLE_RIGHT },	   { "peak rss", TABLE_RIGHT }, { "exit", TABLE_LEFT },
	{ "command", TABLE_NAME },
};

void run_text_processes(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct table table = { 0 };
	size_t count, shown;
	CLEANUP(free_pointer)
	const struct tree_process **processes = run_processes_sorted(run->tree, true, true, &count);

	if (!count)
		return;
	run_text_heading(out, options, "processes by CPU time");
	table_add_columns(&table, process_columns, ARRAY_SIZE(process_columns));
	shown = run_text_shown(options, count);
	for (size_t i = 0; i < shown; i++)
		add_process(&table, run, processes[i]);
	run_text_table(out, &table, options, shown, count + run->tree->folded_processes);
}
