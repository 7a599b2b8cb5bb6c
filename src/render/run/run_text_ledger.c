/* SPDX-License-Identifier: MIT */
/* Where the time of all threads went. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/tree/run_order.h"
#include "render/run/run_text_tables.h"

/* Without -v, reasons with a smaller share are only in the sum of their kind. */
#define LEAST_SHARE 0.01

/* A ledger whose sums differ by more than this says so. */
#define GAP_SHOWN 0.01

struct row {
	const char *name;
	uint64_t ns, count, longest_ns;
	bool is_estimate;
};

static void cell_some(struct table *table, uint64_t number)
{
	if (number)
		put_number(table, number);
	else
		put_empty(table);
}

static void add_row(struct table *table, uint64_t whole, const char *indent, const struct row *row)
{
	text_format(put_begin(table), "%s%s", indent, row->name);
	put_end(table);
	table_sign(table, row->is_estimate ? '~' : 0);
	put_number(table, row->ns);
	if (whole)
		put_share(table, (double)row->ns, (double)whole);
	else
		put_empty(table);
	cell_some(table, row->count);
	cell_some(table, row->longest_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

/*
 * Collects the reasons of a kind that took time, the longest first; the CPU
 * queue is among those that cost.
 */
static size_t gather(const struct run *run, enum wait_kind kind, struct row *rows)
{
	const struct amounts *amounts = &run->tree->amounts;
	size_t count = 0;

	if (kind == WAIT_COST && amounts_get(amounts, AMOUNT_wait_time_ns))
		rows[count++] =
			(struct row){ "run queue", amounts_get(amounts, AMOUNT_wait_time_ns),
				      amounts_get(amounts, AMOUNT_wait_count),
				      amounts_get(amounts, AMOUNT_wait_max), false };
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		const struct waited wait = amounts_waited(amounts, reason);

		if (waits[reason].kind == kind && wait.ns)
			rows[count++] = (struct row){ waits[reason].name, wait.ns, wait.count,
						      wait.max_ns, run_is_sampled(run) };
	}
	qsort(rows, count, sizeof(*rows), by_time);
	return count;
}

static void add_kind(struct table *table, const struct run *run, const char *name,
		     enum wait_kind kind, double least)
{
	const struct amounts *amounts = &run->tree->amounts;
	uint64_t wall = amounts_get(amounts, AMOUNT_wall_time_ns);
	struct row rows[WAIT_REASON_COUNT + 1];
	size_t count = gather(run, kind, rows);
	struct row sum = { .name = name };

	for (size_t i = 0; i < count; i++) {
		sum.ns += rows[i].ns;
		sum.is_estimate |= rows[i].is_estimate;
		sum.count += rows[i].count;
		if (rows[i].longest_ns > sum.longest_ns)
			sum.longest_ns = rows[i].longest_ns;
	}
	if (!count)
		return;
	add_row(table, wall, "", &sum);
	for (size_t i = 0; i < count; i++)
		if ((double)rows[i].ns >= (double)wall * least)
			add_row(table, wall, "  ", &rows[i]);
}

/* User time is an estimate: the kernel samples at its tick whether a thread is in user mode. */
static void add_cpu(struct table *table, const struct run *run)
{
	const struct amounts *amounts = &run->tree->amounts;
	struct row user = { .name = "user", .is_estimate = true };
	struct row kernel = { .name = "kernel", .is_estimate = true };
	struct row cpu = { .name = "on cpu", .ns = run_seen_cpu_ns(run) };
	struct row unseen = { .name = "not seen", .ns = run_unseen_cpu_ns(run) };
	uint64_t wall = amounts_get(amounts, AMOUNT_wall_time_ns);

	add_row(table, wall, "", &cpu);
	if (run_cpu_split(run, &user.ns, &kernel.ns)) {
		add_row(table, wall, "  ", &user);
		add_row(table, wall, "  ", &kernel);
	}
	/* Unseen time is not part of any thread's time, so it has no share of it. */
	if (unseen.ns)
		add_row(table, 0, "", &unseen);
}

/* A source that does not know why threads were blocked still knows that they were. */
static void add_rest(struct table *table, const struct run *run)
{
	const struct amounts *amounts = &run->tree->amounts;
	bool knows_why = amounts_has_waits(amounts) && !run_is_sampled(run);
	int64_t gap = amounts_gap_ns(amounts);
	uint64_t wall = amounts_get(amounts, AMOUNT_wall_time_ns);
	struct row row = {
		.name = knows_why ? "not accounted for" : "blocked, not known why",
		.ns = gap > 0 ? (uint64_t)gap : 0,
	};

	if (amounts_has(amounts, AMOUNT_wall_time_ns) && amounts_has(amounts, AMOUNT_run_time_ns) &&
	    amounts_has(amounts, AMOUNT_wait_time_ns) && (double)gap > (double)wall * GAP_SHOWN)
		add_row(table, wall, "", &row);
}

static void print_heading(FILE *out, const struct run *run, const struct run_text_options *options)
{
	CLEANUP(text_free) struct text heading = { 0 };
	uint64_t threads = run->tree->threads;

	text_append_string(&heading, "where the time went: ");
	if (amounts_has(&run->tree->amounts, AMOUNT_wall_time_ns)) {
		unit_format(&heading, UNIT_NS,
			    amounts_get(&run->tree->amounts, AMOUNT_wall_time_ns));
		text_append_string(&heading, " of ");
	}
	text_format(&heading, "%llu thread%s", (unsigned long long)threads,
		    threads == 1 ? "" : "s");
	run_text_heading(out, options, text_string(&heading));
}

static const struct table_column columns[] = {
	/* clang-format off */
	{ "",        TABLE_NAME,  .unit = UNIT_TEXT },
	{ "time",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "share",   TABLE_RIGHT, .unit = UNIT_RATIO },
	{ "count",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "longest", TABLE_RIGHT, .unit = UNIT_NS },
	/* clang-format on */
};

void run_text_ledger(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct tree *tree = run->tree;
	double least = options->is_verbose ? 0 : LEAST_SHARE;
	struct table table = { 0 };

	if (!tree->amounts.present)
		return;
	print_heading(out, run, options);
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	add_cpu(&table, run);
	add_kind(&table, run, "costly waits", WAIT_COST, least);
	add_kind(&table, run, "waiting for work", WAIT_WORK, least);
	add_kind(&table, run, "other waits", WAIT_UNSURE, least);
	add_rest(&table, run);
	run_text_table(out, &table, options, 0, 0);
}
