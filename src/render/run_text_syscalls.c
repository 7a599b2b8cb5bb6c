/* SPDX-License-Identifier: MIT */
/* System calls with the columns that people know from strace -c -w. */
#include "base/cleanup.h"
#include "render/run_order.h"
#include "render/run_text_tables.h"

static void cell_real(struct table *table, int places, double value)
{
	text_format(table_cell(table), "%.*f", places, value);
	table_end_cell(table);
}

/* Microseconds; whole ones where there are many. */
static void cell_us(struct table *table, double ns)
{
	cell_real(table, ns < 99950 ? 1 : 0, ns / 1000);
}

static void cell_errors(struct table *table, uint64_t errors)
{
	if (errors)
		run_cell_number(table, errors);
	else
		run_cell_name(table, "");
}

static void add_row(struct table *table, const char *name, const struct syscall_stats *stats,
		    uint64_t whole)
{
	cell_real(table, 2, whole ? 100.0 * (double)stats->total_ns / (double)whole : 0);
	cell_real(table, 6, (double)stats->total_ns / 1e9);
	cell_us(table, stats->count ? (double)stats->total_ns / (double)stats->count : 0);
	cell_us(table, (double)syscall_stats_percentile(stats, 990));
	cell_us(table, (double)stats->max_ns);
	run_cell_number(table, stats->count);
	cell_errors(table, stats->errors);
	run_cell_name(table, name);
}

static const struct table_column columns[] = {
	{ "% time", TABLE_RIGHT }, { "seconds", TABLE_RIGHT }, { "usecs/call", TABLE_RIGHT },
	{ "p99", TABLE_RIGHT },	   { "max", TABLE_RIGHT },     { "calls", TABLE_RIGHT },
	{ "errors", TABLE_RIGHT }, { "syscall", TABLE_LEFT },
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
	run_text_heading(out, options, "system calls by wall time (p99 and max in usecs)");
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < shown; i++)
		add_row(&table, rows[i]->name, &rows[i]->stats, sum.total_ns);
	add_rest(&table, run->tree, &sum);
	add_row(&table, "total", &sum, sum.total_ns);
	run_text_table(out, &table, options, shown, calls->count);
}
