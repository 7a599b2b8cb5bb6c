/* SPDX-License-Identifier: MIT */
#include "cli/verb/why_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "render/table/table.h"
#include "session/why/why.h"

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
	if (why->after.late)
		fputs("  its calls and stacks could not be read in time: it holds a lock of its own that this takes\n",
		      out);
}

static void print_threads(FILE *out, const struct terminal *terminal, const struct why *why)
{
	CLEANUP(table_clear) struct table table = { 0 };

	why_table_columns(&table);
	for (size_t i = 0; i < why->threads.count && i < ROWS; i++)
		why_table_row(&table, why, &why->threads.data[i]);
	fputc('\n', out);
	table_print(&table, terminal, out);
	if (why->after.thread_count > ROWS)
		fprintf(out, "and %" PRIu64 " more thread%s\n", why->after.thread_count - ROWS,
			why->after.thread_count == ROWS + 1 ? "" : "s");
}

/* Prints the kernel stacks of threads that are stuck, or of a kernel thread. */
static void print_stacks(FILE *out, const struct why *why)
{
	for (size_t i = 0; i < why->threads.count && i < ROWS; i++) {
		const struct task_state *found = why->threads.data[i].found;

		if (found->frames == 0)
			continue;
		fprintf(out, "\n%" PRId32 " in the kernel:\n", found->tid);
		for (size_t k = 0; k < found->frames; k++) {
			fputs("  ", out);
			print_escaped(out, found->stack[k]);
			fputc('\n', out);
		}
	}
}

void why_print_text(FILE *out, const struct terminal *terminal, const struct why *why)
{
	print_head(out, why);
	print_verdict(out, why);
	print_missing(out, why);
	if (why->threads.count == 0 || why->after.is_dead)
		return;
	print_threads(out, terminal, why);
	print_stacks(out, why);
}
