/* SPDX-License-Identifier: MIT */
/* Where the time of all threads went. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "render/run_amount.h"
#include "render/run_order.h"
#include "render/run_text_tables.h"

/* A ledger that closes worse than that says so. */
#define GAP_SHOWN 0.01

struct row {
	const char *name;
	uint64_t ns, count, longest_ns;
	bool is_estimate;
};

static void add_row(struct table *table, uint64_t whole, const char *indent, const struct row *row)
{
	text_format(table_cell(table), "%s%s", indent, row->name);
	table_end_cell(table);
	text_append_string(table_cell(table), row->is_estimate ? "~" : "");
	run_cell_time(table, row->ns);
	run_cell_share(table, row->ns, whole);
	if (row->count)
		run_cell_number(table, row->count);
	else
		run_cell_name(table, "");
	if (row->longest_ns)
		run_cell_time(table, row->longest_ns);
	else
		run_cell_name(table, "");
}

static int by_time(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

/* The reasons of a kind that took time, the longest first; with the queue among what costs. */
static size_t gather(const struct ledger *ledger, enum wait_kind kind, struct row *rows)
{
	size_t count = 0;

	if (kind == WAIT_COST && ledger->run_queue_ns)
		rows[count++] =
			(struct row){ "run queue", ledger->run_queue_ns, ledger->run_queue_count,
				      ledger->run_queue_longest, false };
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		const struct ledger_wait *wait = &ledger->blocked[reason];

		if (waits[reason].kind == kind && wait->ns)
			rows[count++] = (struct row){ waits[reason].name, wait->ns, wait->count,
						      wait->longest_ns, false };
	}
	qsort(rows, count, sizeof(*rows), by_time);
	return count;
}

static void add_kind(struct table *table, const struct ledger *ledger, const char *name,
		     enum wait_kind kind)
{
	struct row rows[WAIT_REASON_COUNT + 1];
	size_t count = gather(ledger, kind, rows);
	struct row sum = { .name = name };

	for (size_t i = 0; i < count; i++) {
		sum.ns += rows[i].ns;
		sum.count += rows[i].count;
		if (rows[i].longest_ns > sum.longest_ns)
			sum.longest_ns = rows[i].longest_ns;
	}
	if (!count)
		return;
	add_row(table, ledger->wall_ns, "", &sum);
	for (size_t i = 0; i < count; i++)
		add_row(table, ledger->wall_ns, "  ", &rows[i]);
}

/* The kernel samples at its tick whether a thread is in user mode: that is an estimate. */
static void add_cpu(struct table *table, const struct run *run)
{
	const struct ledger *ledger = &run->tree->ledger;
	struct row user = { .name = "user", .is_estimate = true };
	struct row kernel = { .name = "kernel", .is_estimate = true };
	struct row cpu = { .name = "on cpu", .ns = run_seen_cpu_ns(run) };
	struct row unseen = { .name = "not seen", .ns = run_unseen_cpu_ns(run) };
	struct usage split;

	run_cpu_split(run, &split);
	user.ns = split.values[USAGE_USER];
	kernel.ns = split.values[USAGE_SYSTEM];
	add_row(table, ledger->wall_ns, "", &cpu);
	if (usage_has(&split, USAGE_USER))
		add_row(table, ledger->wall_ns, "  ", &user);
	if (usage_has(&split, USAGE_SYSTEM))
		add_row(table, ledger->wall_ns, "  ", &kernel);
	/* In no thread's time, so a share of none. */
	if (unseen.ns)
		add_row(table, 0, "", &unseen);
}

/* A source that does not know why threads were blocked still knows that they were. */
static void add_rest(struct table *table, const struct ledger *ledger)
{
	const unsigned needed = LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE;
	bool knows_why = ledger->present & LEDGER_BLOCKED;
	int64_t gap = ledger_gap_ns(ledger);
	struct row row = {
		.name = knows_why ? "not accounted for" : "blocked, not known why",
		.ns = gap > 0 ? (uint64_t)gap : 0,
	};

	if ((ledger->present & needed) == needed &&
	    (double)gap > (double)ledger->wall_ns * GAP_SHOWN)
		add_row(table, ledger->wall_ns, "", &row);
}

static void print_heading(FILE *out, const struct run *run, const struct run_text_options *options)
{
	CLEANUP(text_free) struct text heading = { 0 };
	uint64_t threads = run->tree->threads;

	text_append_string(&heading, "where the time went: ");
	if (run->tree->ledger.present & LEDGER_WALL) {
		amount_time(&heading, run->tree->ledger.wall_ns);
		text_append_string(&heading, " of ");
	}
	text_format(&heading, "%llu thread%s", (unsigned long long)threads,
		    threads == 1 ? "" : "s");
	run_text_heading(out, options, text_string(&heading));
}

void run_text_ledger(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct tree *tree = run->tree;
	struct table table = { 0 };

	if (!tree->ledger.present && !usage_has(&tree->usage, USAGE_CPU))
		return;
	print_heading(out, run, options);
	table_add_column(&table, "", TABLE_LEFT);
	table_add_column(&table, "time", TABLE_RIGHT);
	table_add_column(&table, "%", TABLE_RIGHT);
	table_add_column(&table, "count", TABLE_RIGHT);
	table_add_column(&table, "longest", TABLE_RIGHT);
	add_cpu(&table, run);
	add_kind(&table, &tree->ledger, "costly waits", WAIT_COST);
	add_kind(&table, &tree->ledger, "waiting for work", WAIT_WORK);
	add_kind(&table, &tree->ledger, "other waits", WAIT_UNSURE);
	add_rest(&table, &tree->ledger);
	run_text_table(out, &table, options, 0, 0);
}
