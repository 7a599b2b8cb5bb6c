/* SPDX-License-Identifier: MIT */
#include "cli/parts/calls/call_summary_print.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "metric/unit.h"
#include "render/calls/calls_view.h"
#include "render/page.h"
#include "render/table/table.h"
#include "session/calls/call_summary.h"

#define LINES_IN_TEXT 40

static void print_json(const struct call_summary *summary, const int32_t *pids, size_t count,
		       const struct view_args *view)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json = json_writer(stdout);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-syscalls");
	json_member_u64(&json, "version", 1);
	json_member_string(&json, "kind", "syscalls");
	json_member_u64(&json, "duration_ns", summary->duration_ns);
	json_member_array(&json, "pids");
	for (size_t i = 0; i < count; i++)
		json_i64(&json, pids[i]);
	json_end_array(&json);
	json_member_array(&json, "syscalls");
	call_columns(&table);
	table_stream_json(&table, &json);
	put_call_lines(&table, &summary->lines, view_limit(view, 0));
	json_end_array(&json);
	json_member_u64(&json, "lost_calls", summary->losses.calls);
	json_member_u64(&json, "lost_ns", summary->losses.time_ns);
	json_member_u64(&json, "lost_threads", summary->losses.threads);
	json_member_u64(&json, "own_calls", summary->losses.own_calls);
	json_end_object(&json);
}

static int print_csv(const struct call_summary *summary, const struct view_args *view)
{
	CLEANUP(table_clear) struct table table = { 0 };

	call_columns(&table);
	table_stream_csv(&table, stdout);
	put_call_lines(&table, &summary->lines, view_limit(view, 0));
	return table.failed ? -ENOMEM : 0;
}

static void print_losses(FILE *out, const struct calls_losses *losses)
{
	if (losses->calls)
		fprintf(out, "%llu calls are not in the table: the kernel had no room for them\n",
			(unsigned long long)losses->calls);
	if (losses->threads)
		fprintf(out, "%llu threads were not watched: the kernel had no memory for them\n",
			(unsigned long long)losses->threads);
	if (losses->own_calls)
		fprintf(out, "%llu calls of taskscope itself were left out\n",
			(unsigned long long)losses->own_calls);
}

static int print_text(const struct call_summary *summary, const struct view_args *view)
{
	CLEANUP(table_clear) struct table table = { 0 };
	CLEANUP(text_free) struct text time = { 0 };
	struct page page;
	int status = 0;

	page_open(&page, stdout);
	unit_format(&time, UNIT_NS, summary->duration_ns);
	call_columns(&table);
	put_call_lines(&table, &summary->lines, view_limit(view, LINES_IN_TEXT));
	if (summary->lines.list.count)
		status = table_print(&table, &page.terminal, page.out);
	else
		fprintf(page.out, "no system call in %s, and none under way\n", text_string(&time));
	print_losses(page.out, &summary->losses);
	return page_close(&page) < 0 ? -ENOMEM : status;
}

int call_summary_print(const struct call_summary *summary, const int32_t *pids, size_t count,
		       const struct view_args *view, struct error *error)
{
	int status = 0;

	switch (view_format(view)) {
	case FORMAT_JSON:
		print_json(summary, pids, count, view);
		break;
	case FORMAT_CSV:
		status = print_csv(summary, view);
		break;
	case FORMAT_TEXT:
		status = print_text(summary, view);
		break;
	}
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}
