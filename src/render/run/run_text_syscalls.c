/* SPDX-License-Identifier: MIT */
/* System calls, with the columns of strace -c -w. */
#include "base/cleanup.h"
#include "model/tree/run_order.h"
#include "render/run/run_text_tables.h"

static void add_row(struct table *table, const char *name, const struct syscall_stats *stats,
		    uint64_t whole)
{
	put_share(table, (double)stats->total_ns, (double)whole);
	put_number(table, stats->total_ns);
	put_number(table, stats->count ? stats->total_ns / stats->count : 0);
	put_number(table, syscall_stats_percentile(stats, 990));
	put_number(table, stats->max_ns);
	put_number(table, stats->count);
	if (stats->errors)
		put_number(table, stats->errors);
	else
		put_empty(table);
	put_string(table, name);
}

static const struct table_column columns[] = {
	/* clang-format off */
	{ "share",   TABLE_RIGHT, .unit = UNIT_RATIO },
	{ "time",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "a call",  TABLE_RIGHT, .unit = UNIT_NS },
	{ "p99",     TABLE_RIGHT, 2, .unit = UNIT_NS },
	{ "max",     TABLE_RIGHT, 1, .unit = UNIT_NS },
	{ "calls",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "errors",  TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "syscall", TABLE_NAME,  .unit = UNIT_TEXT },
	/* clang-format on */
};

static void add_rest(struct table *table, const struct tree *tree, struct syscall_stats *sum)
{
	struct syscall_stats unnamed = {
		.count = tree->unnamed_syscalls,
		.total_ns = tree->unnamed_ns,
	};

	if (!unnamed.count)
		return;
	add_row(table, "(unnamed)", &unnamed, sum->total_ns);
}

void run_text_syscalls(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct syscall_table *calls = &run->tree->syscalls;
	CLEANUP(free_pointer)
	const struct syscall_row **rows = run_syscalls_sorted(calls, run_syscalls_by_time);
	size_t shown = run_text_shown(options, calls->count);
	struct syscall_stats sum = {
		.count = run->tree->unnamed_syscalls,
		.total_ns = run->tree->unnamed_ns,
	};
	struct table table = { 0 };

	if (!rows || !calls->count)
		return;
	for (size_t i = 0; i < calls->count; i++)
		syscall_stats_add(&sum, &rows[i]->stats);
	run_text_heading(out, options, "system calls by wall time");
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < shown; i++)
		add_row(&table, rows[i]->name, &rows[i]->stats, sum.total_ns);
	add_rest(&table, run->tree, &sum);
	add_row(&table, "total", &sum, sum.total_ns);
	run_text_table(out, &table, options, shown, calls->count);
}
