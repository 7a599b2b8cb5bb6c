/* SPDX-License-Identifier: MIT */
/* System calls as JSON. */
#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "store/run/run_json_parts.h"
#include "model/tree/run_order.h"

#define TOP_SYSCALLS 10

static void write_errors(struct json *json, const struct syscall_stats *stats)
{
	char name[KERNEL_NAME_SIZE];

	json_member_u64(json, "errors", stats->errors);
	if (!stats->errors)
		return;
	json_member_object(json, "errnos");
	for (size_t i = 0; i <= SYSCALL_ERRORS; i++) {
		const struct syscall_error *error = &stats->by_error[i];

		if (error->count)
			json_member_u64(json,
					error->number ? error_name(error->number, name) : "other",
					error->count);
	}
	json_end_object(json);
}

/* The upper end of a bucket; for the last one, which has none, the largest value seen. */
static uint64_t bucket_end(const struct syscall_stats *stats, size_t bucket)
{
	uint64_t end = (uint64_t)128 << bucket;

	return bucket == SYSCALL_BUCKETS - 1 && stats->max_ns > end ? stats->max_ns : end;
}

static void write_histogram(struct json *json, const struct syscall_stats *stats)
{
	json_member_array(json, "histogram");
	for (size_t i = 0; i < SYSCALL_BUCKETS; i++) {
		if (!stats->buckets[i])
			continue;
		json_begin_array(json);
		json_u64(json, bucket_end(stats, i));
		json_u64(json, stats->buckets[i]);
		json_end_array(json);
	}
	json_end_array(json);
}

static void write_row(struct json *json, const struct syscall_row *row, bool summary)
{
	json_begin_object(json);
	json_member_string(json, "name", row->name);
	if (summary)
		json_member_string(json, "category", syscall_category_names[row->category]);
	json_member_u64(json, "count", row->stats.count);
	write_errors(json, &row->stats);
	json_member_u64(json, "total_ns", row->stats.total_ns);
	json_member_u64(json, "max_ns", row->stats.max_ns);
	if (summary) {
		json_member_u64(json, "p50_ns", syscall_stats_percentile(&row->stats, 500));
		json_member_u64(json, "p99_ns", syscall_stats_percentile(&row->stats, 990));
	}
	write_histogram(json, &row->stats);
	json_end_object(json);
}

void run_json_syscall_table(struct json *json, const struct syscall_table *table, bool summary)
{
	CLEANUP(free_pointer)
	const struct syscall_row **rows = run_syscalls_sorted(table, run_syscalls_by_time);

	json_member_array(json, "table");
	for (size_t i = 0; rows && i < table->count; i++)
		write_row(json, rows[i], summary);
	json_end_array(json);
}

static void write_categories(struct json *json, const char *key, const uint64_t *values)
{
	json_member_object(json, key);
	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++)
		json_member_u64(json, syscall_category_names[i], values[i]);
	json_end_object(json);
}

static void write_top(struct json *json, const struct syscall_table *table)
{
	CLEANUP(free_pointer)
	const struct syscall_row **rows = run_syscalls_sorted(table, run_syscalls_by_count);

	json_member_array(json, "top_syscalls");
	for (size_t i = 0; rows && i < table->count && i < TOP_SYSCALLS; i++) {
		json_begin_object(json);
		json_member_string(json, "name", rows[i]->name);
		json_member_u64(json, "count", rows[i]->stats.count);
		json_end_object(json);
	}
	json_end_array(json);
}

void run_json_syscalls(struct json *json, const struct run *run)
{
	const struct tree *tree = run->tree;
	const struct syscall_table *table = &tree->syscalls;

	if (!table->count && !run_source_works(run_source(run, "syscalls")))
		return;
	json_member_object(json, "syscalls");
	json_member_u64(json, "total", syscall_table_total(table) + tree->unnamed_syscalls);
	write_categories(json, "by_category", table->by_category);
	write_categories(json, "category_ns", table->category_ns);
	write_top(json, table);
	json_member_u64(json, "unnamed", tree->unnamed_syscalls);
	json_member_u64(json, "unnamed_ns", tree->unnamed_ns);
	run_json_syscall_table(json, table, true);
	json_end_object(json);
}
