/* SPDX-License-Identifier: MIT */
#include "cli/why_print.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/verdict_evidence.h"
#include "base/cleanup.h"
#include "render/table.h"
#include "session/why.h"

#define ROWS 12

static void print_escaped(FILE *out, const char *text)
{
	CLEANUP(text_free) struct text shown = { 0 };

	text_append_escaped(&shown, text, strlen(text));
	fputs(text_string(&shown), out);
}

static void print_head(FILE *out, const struct why *why)
{
	fprintf(out, "%" PRId32 " ", why->before.pid);
	print_escaped(out, why->before.comm);
	fprintf(out, ": %s\n", why->answer);
	if (why->before.asked != why->before.pid)
		fprintf(out, "  %" PRId32 " is a thread of it\n", why->before.asked);
}

static void print_verdict(FILE *out, const struct why *why)
{
	const struct verdict *verdict = &why->diagnosis.verdict;

	if (!why->judged)
		return;
	fprintf(out, "  %s, by %s (%.0f %% sure)\n", class_names[verdict->class],
		causes[verdict->cause].name, verdict->confidence * 100);
	for (size_t i = 0; i < verdict->evidence_count; i++)
		fprintf(out, "  - %s\n", verdict->evidence[i]);
	if (verdict->cause != CAUSE_NONE)
		fprintf(out, "  first: %s\n", verdict->hint);
}

static void print_missing(FILE *out, const struct why *why)
{
	if (why->problem.message[0]) {
		fputs("  not watched: ", out);
		print_escaped(out, why->problem.message);
		fputc('\n', out);
	}
	if (why->after.denied)
		fputs("  its calls and wait channels may not be read here: that takes CAP_SYS_PTRACE, or its owner\n",
		      out);
}

static void cell_percent(struct table *table, const struct why *why, bool known, uint64_t ns)
{
	if (known && why->watched_ns)
		text_format(table_cell(table), "%.1f",
			    100.0 * (double)ns / (double)why->watched_ns);
	else
		text_append_string(table_cell(table), "-");
	table_end_cell(table);
}

static void cell_text(struct table *table, const char *text)
{
	struct text *cell = table_cell(table);

	if (text && text[0])
		text_append_escaped(cell, text, strlen(text));
	else
		text_append_string(cell, "-");
	table_end_cell(table);
}

static void cell_since(struct table *table, const struct why_thread *thread)
{
	struct text *cell = table_cell(table);

	if (thread->has_since) {
		text_append_string(cell, thread->at_least ? ">" : "");
		evidence_time(cell, (double)thread->since_ns);
	} else {
		text_append_string(cell, "-");
	}
	table_end_cell(table);
}

static void cell_waker(struct table *table, const struct why_thread *thread)
{
	struct text *cell = table_cell(table);
	const struct tree_waker *waker = &thread->waker;

	if (!thread->has_waker) {
		text_append_string(cell, "-");
	} else if (waker->waker_tid == 0) {
		text_append_string(cell, "the kernel");
	} else {
		text_append_escaped(cell, waker->waker_comm, strlen(waker->waker_comm));
		text_format(cell, " (%" PRId32 ")", waker->waker_tid);
	}
	table_end_cell(table);
}

/* Where it waits: what its call is about, else the place in the kernel. */
static const char *place_of(const struct why_thread *thread)
{
	const struct standing_thread *standing = thread->standing;

	return standing->object[0] ? standing->object : standing->channel;
}

static void add_row(struct table *table, const struct why *why, const struct why_thread *thread)
{
	const char state[2] = { thread->state, '\0' };
	bool has_queue = thread->has_ledger && thread->ledger.present & LEDGER_RUN_QUEUE;

	text_format(table_cell(table), "%" PRId32, thread->tid);
	table_end_cell(table);
	cell_text(table, thread->comm);
	cell_text(table, state);
	cell_percent(table, why, thread->has_ledger, thread->ledger.on_cpu_ns);
	cell_percent(table, why, has_queue, thread->ledger.run_queue_ns);
	cell_text(table, thread->reason >= 0 ? waits[thread->reason].name : NULL);
	cell_text(table, thread->call);
	cell_text(table, place_of(thread));
	cell_since(table, thread);
	cell_waker(table, thread);
}

static void print_threads(FILE *out, const struct why *why)
{
	static const struct table_column columns[] = {
		{ "tid", TABLE_RIGHT },	    { "thread", TABLE_NAME },	{ "state", TABLE_LEFT },
		{ "cpu %", TABLE_RIGHT },   { "ready %", TABLE_RIGHT }, { "waits for", TABLE_LEFT },
		{ "in", TABLE_LEFT },	    { "at", TABLE_NAME },	{ "since", TABLE_RIGHT },
		{ "woken by", TABLE_LEFT },
	};
	CLEANUP(table_clear) struct table table = { 0 };
	struct terminal terminal = terminal_of(out);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_add_column(&table, columns[i].header, columns[i].alignment);
	for (size_t i = 0; i < why->threads.count && i < ROWS; i++)
		add_row(&table, why, &why->threads.data[i]);
	fputc('\n', out);
	table_print(&table, &terminal, out);
	if (why->after.thread_count > ROWS)
		fprintf(out, "and %" PRIu64 " more thread%s\n", why->after.thread_count - ROWS,
			why->after.thread_count == ROWS + 1 ? "" : "s");
}

/* The kernel stacks of those that are stuck, or of a kernel thread. */
static void print_stacks(FILE *out, const struct why *why)
{
	for (size_t i = 0; i < why->threads.count && i < ROWS; i++) {
		const struct standing_thread *standing = why->threads.data[i].standing;

		if (standing->frames == 0)
			continue;
		fprintf(out, "\n%" PRId32 " in the kernel:\n", standing->tid);
		for (size_t k = 0; k < standing->frames; k++) {
			fputs("  ", out);
			print_escaped(out, standing->stack[k]);
			fputc('\n', out);
		}
	}
}

void why_print_text(FILE *out, const struct why *why)
{
	print_head(out, why);
	print_verdict(out, why);
	print_missing(out, why);
	if (why->threads.count == 0 || why->after.is_dead)
		return;
	print_threads(out, why);
	print_stacks(out, why);
}
