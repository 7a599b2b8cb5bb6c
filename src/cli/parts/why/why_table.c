/* SPDX-License-Identifier: MIT */
/* The threads of an answer, a row each, for people and for programs. */
#include <inttypes.h>

#include "cli/parts/why/why_print.h"
#include "render/table/table.h"
#include "session/why/why.h"

static const struct table_column columns[] = {
	/* clang-format off */
	{ "tid",       TABLE_RIGHT, .id = "tid", .unit = UNIT_ID },
	{ "thread",    TABLE_NAME,  .id = "comm" },
	{ "state",     TABLE_LEFT,  3, .id = "state" },
	{ "cpu",       TABLE_RIGHT, 1, .id = NULL },
	{ "ready",     TABLE_RIGHT, 5, .id = NULL },
	{ "blocked",   TABLE_LEFT,  4, .id = NULL },
	{ "waits for", TABLE_LEFT,  .id = "reason" },
	{ "in",        TABLE_LEFT,  2, .id = "syscall" },
	{ "at",        TABLE_NAME,  .id = NULL },
	{ "since",     TABLE_RIGHT, 4, .id = "blocked_for_ns", .unit = UNIT_NS },
	{ "woken by",  TABLE_NAME,  6, .id = NULL },
	{ .id = "blocked_before" },
	{ .id = "wait_channel" },
	{ .id = "kernel_stack" },
	/* clang-format on */
};

static const struct table_column object_columns[] = {
	{ .id = "kind", .inside = "object" },	     { .id = "name", .inside = "object" },
	{ .id = "address", .inside = "object" },     { .id = "file", .inside = "object" },
	{ .id = "pid", .inside = "object holder" },  { .id = "tid", .inside = "object holder" },
	{ .id = "comm", .inside = "object holder" }, { .id = "pid", .inside = "object peer" },
	{ .id = "comm", .inside = "object peer" },   { .id = "peer_count", .inside = "object" },
};

static const struct table_column waker_columns[] = {
	{ .id = "pid", .inside = "waker" },   { .id = "tid", .inside = "waker" },
	{ .id = "comm", .inside = "waker" },  { .id = "reason", .inside = "waker" },
	{ .id = "share", .inside = "waker" },
};

static const struct table_column member_columns[] = {
	{ .id = "pid" },
	{ .id = "tid" },
	{ .id = "comm" },
};

void why_member_columns(struct table *table)
{
	table_add_columns(table, member_columns, ARRAY_SIZE(member_columns));
	table_add_columns(table, object_columns, ARRAY_SIZE(object_columns));
}

void why_table_columns(struct table *table)
{
	table_add_columns(table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < AMOUNT_COUNT; i++)
		table_add_column(table,
				 (struct table_column){ .id = metrics[amount_metrics[i]].name });
	table_add_columns(table, waker_columns, ARRAY_SIZE(waker_columns));
	table_add_columns(table, object_columns, ARRAY_SIZE(object_columns));
}

static void cell_since(struct table *table, const struct why_thread *thread)
{
	table_sign(table, thread->at_least ? '>' : 0);
	put_known(table, thread->has_since, thread->since_ns);
}

static void cell_waker(struct table *table, const struct why_thread *thread)
{
	const struct tree_waker *waker = &thread->waker;

	if (!thread->has_waker) {
		put_absent(table, NULL);
	} else if (waker->waker_tid == 0) {
		put_string(table, "the kernel");
	} else {
		text_format(put_begin(table), "%s (%" PRId32 ")", waker->waker_comm,
			    waker->waker_tid);
		put_end(table);
	}
}

static void add_amounts(struct table *table, const struct amounts *amounts)
{
	for (int i = 0; i < AMOUNT_COUNT; i++)
		put_known(table, amounts_has(amounts, i), amounts_get(amounts, i));
}

static void add_waker(struct table *table, const struct why_thread *thread)
{
	const struct tree_waker *waker = &thread->waker;

	if (!thread->has_waker) {
		for (size_t i = 0; i < ARRAY_SIZE(waker_columns); i++)
			put_absent(table, NULL);
		return;
	}
	put_signed(table, waker->waker_pid);
	put_signed(table, waker->waker_tid);
	put_string(table, waker->waker_comm);
	put_string(table, waits[waker->reason].name);
	put_real(table, thread->waker_share);
}

static void put_party(struct table *table, bool is_known, const struct wait_party *party,
		      bool has_thread)
{
	put_known(table, is_known, (uint64_t)party->pid);
	if (has_thread)
		put_known(table, is_known && party->tid, (uint64_t)party->tid);
	put_string(table, is_known ? party->comm : NULL);
}

static void add_object(struct table *table, const struct wait_object *object)
{
	put_string(table, object->kind);
	put_string(table, object->address ? NULL : object->name);
	put_string(table, object->address ? object->name : NULL);
	put_string(table, object->file);
	put_party(table, object->has_holder, &object->holder, true);
	put_party(table, object->peer_count > 0, &object->peers[0], false);
	put_known(table, object->peer_count > 0, object->peer_count);
}

void why_member_row(struct table *table, const struct wait_member *member)
{
	put_signed(table, member->who.pid);
	put_signed(table, member->who.tid);
	put_string(table, member->who.comm);
	add_object(table, &member->object);
}

#define KINDS_MOST 3

/* "disk 22 %, lock 3 %": what its blocked time was of, the most first, as shares of the time. */
static void cell_blocked(struct table *table, const struct why *why, const struct amounts *amounts)
{
	uint64_t least_ns = why->watched_ns / 100, below_ns = UINT64_MAX;
	struct text *out;

	if (!amounts_has_waits(amounts) || !why->watched_ns) {
		put_absent(table, NULL);
		return;
	}
	out = put_begin(table);
	for (int i = 0; i < KINDS_MOST; i++) {
		uint64_t most_ns = 0;
		int most = 0;

		for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
			uint64_t ns = amounts_waited(amounts, (enum wait_reason)reason).ns;

			if (ns > most_ns && ns < below_ns) {
				most_ns = ns;
				most = reason;
			}
		}
		if (most_ns <= least_ns)
			break;
		text_format(out, "%s%s %.0f %%", i ? ", " : "", waits[most].name,
			    100 * (double)most_ns / (double)why->watched_ns);
		below_ns = most_ns;
	}
	put_end(table);
}

/* What it waits for, else the place in the kernel. */
static void cell_place(struct table *table, const struct why_thread *thread)
{
	if (!thread->object.kind) {
		put_string(table, thread->found->channel);
		return;
	}
	wait_object_describe(&thread->object, put_begin(table));
	put_end(table);
}

/* Adds the columns that only programs get. */
static void add_detail(struct table *table, const struct why_thread *thread)
{
	const struct task_state *found = thread->found;

	if (thread->has_since)
		put_flag(table, thread->at_least);
	else
		put_absent(table, NULL);
	put_string(table, found->channel);
	for (size_t i = 0; i < found->frames; i++)
		text_format(put_begin(table), "%s\n", found->stack[i]);
	if (found->frames)
		put_end_list(table);
	else
		put_absent(table, NULL);
	add_amounts(table, &thread->amounts);
	add_waker(table, thread);
	add_object(table, &thread->object);
}

void why_table_row(struct table *table, const struct why *why, const struct why_thread *thread)
{
	const char state[2] = { thread->state, '\0' };
	bool has_queue = amounts_has(&thread->amounts, AMOUNT_wait_time_ns);
	double watched = (double)why->watched_ns;

	put_signed(table, thread->tid);
	put_text(table, thread->comm);
	put_string(table, state);
	put_share(table, (double)amounts_get(&thread->amounts, AMOUNT_run_time_ns),
		  why_has_times(thread) ? watched : 0);
	put_share(table, (double)amounts_get(&thread->amounts, AMOUNT_wait_time_ns),
		  has_queue ? watched : 0);
	cell_blocked(table, why, &thread->amounts);
	put_string(table, thread->reason >= 0 ? waits[thread->reason].name : NULL);
	put_string(table, thread->call);
	cell_place(table, thread);
	cell_since(table, thread);
	cell_waker(table, thread);
	add_detail(table, thread);
}
