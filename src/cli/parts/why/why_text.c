/* SPDX-License-Identifier: MIT */
#include "cli/parts/why/why_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "render/page.h"
#include "render/table/table.h"
#include "session/why/why.h"

/* An answer fits on part of a screen; all of it is for those that ask for it. */
#define LINES 12

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

/* The first members of a deadlock, and how many there are besides. */
static void print_circle(FILE *out, const struct wait_deadlock *deadlock, size_t shown)
{
	for (size_t i = 0; i < shown; i++) {
		CLEANUP(text_free) struct text line = { 0 };

		why_describe_member(&deadlock->members[i], &line);
		fprintf(out, "  - %s\n", text_string(&line));
	}
	if (deadlock->count > shown)
		fprintf(out, "  - and %zu more (-v shows all)\n", deadlock->count - shown);
}

static void print_verdict(FILE *out, const struct why *why, size_t members, size_t evidence)
{
	const struct verdict *verdict = &why->diagnosis.verdict;

	if (!why->judged)
		return;
	fprintf(out, "  %s, by %s (%.0f %% sure)\n", class_names[verdict->class],
		causes[verdict->cause].name, verdict->confidence * 100);
	print_circle(out, &why->deadlock, members);
	for (size_t i = 0; i < evidence && !why->deadlock.count; i++)
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
		fputs("  its calls, stacks or what they wait for could not all be read in time: it holds a lock that this takes, or there is too much\n",
		      out);
}

static void print_threads(FILE *out, const struct terminal *terminal, const struct why *why,
			  size_t rows)
{
	CLEANUP(table_clear) struct table table = { 0 };

	why_table_columns(&table);
	for (size_t i = 0; i < rows; i++)
		why_table_row(&table, why, &why->threads.data[i]);
	if (rows) {
		fputc('\n', out);
		table_print(&table, terminal, out);
	}
	if (why->after.thread_count > rows)
		fprintf(out, "%s%" PRIu64 "%s thread%s%s\n", rows ? "and " : "  ",
			why->after.thread_count - rows, rows ? " more" : "",
			why->after.thread_count == rows + 1 ? "" : "s",
			why->threads.count > rows ? " (-v shows all)" : "");
}

/* The kernel stack of a thread that is stuck, or of a kernel thread, the innermost frame first. */
static void print_stack(FILE *out, const struct task_state *found)
{
	fprintf(out, "  %" PRId32 " in the kernel:", found->tid);
	for (size_t i = 0; i < found->frames; i++) {
		fputs(i ? ", " : " ", out);
		print_escaped(out, found->stack[i]);
	}
	fputc('\n', out);
}

/* What of the answer may be left out: kernel stacks, threads, members of a deadlock, weaker evidence. */
struct extent {
	size_t stacks, rows, members, evidence;
};

static void print_answer(FILE *out, const struct terminal *terminal, const struct why *why,
			 struct extent extent)
{
	print_head(out, why);
	print_verdict(out, why, extent.members, extent.evidence);
	print_missing(out, why);
	if (why->threads.count == 0 || why->after.is_dead)
		return;
	for (size_t i = 0; i < why->threads.count && extent.stacks; i++) {
		if (why->threads.data[i].found->frames == 0)
			continue;
		print_stack(out, why->threads.data[i].found);
		extent.stacks--;
	}
	print_threads(out, terminal, why, extent.rows);
}

/* Whether it fits, on a terminal that breaks its lines. */
static bool fits(const struct terminal *terminal, const struct why *why, struct extent extent)
{
	CLEANUP(free_pointer) char *bytes = NULL;
	size_t length = 0, lines = 0;
	FILE *out = memory_stream_open(&bytes, &length);
	struct page page;
	bool failed;

	if (!out)
		return false;
	page_open_for(&page, *terminal, out);
	print_answer(page.out, terminal, why, extent);
	failed = page_close(&page) < 0;
	if (fclose(out) != 0 || failed)
		return false;
	for (size_t i = 0; i < length; i++)
		lines += bytes[i] == '\n';
	return lines <= LINES;
}

void why_print_text(FILE *out, const struct terminal *terminal, const struct why *why, bool all)
{
	struct extent extent = { why->threads.count, why->threads.count, why->deadlock.count,
				 why->diagnosis.verdict.evidence_count };

	if (!all) {
		extent.stacks = 1;
		extent.rows = extent.rows < LINES ? extent.rows : LINES;
		while (extent.rows && !fits(terminal, why, extent))
			extent.rows--;
		extent.stacks = extent.rows || fits(terminal, why, extent);
		while (extent.members && !fits(terminal, why, extent))
			extent.members--;
		while (extent.evidence > 1 && !fits(terminal, why, extent))
			extent.evidence--;
	}
	print_answer(out, terminal, why, extent);
}
