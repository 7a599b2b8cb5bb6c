/* SPDX-License-Identifier: MIT */
/* Threads that waited for each other when we stopped watching. */
#include "base/collection/array.h"
#include "render/run/run_text_tables.h"

static const struct table_column columns[] = {
	/* clang-format off */
	{ "pid",       TABLE_RIGHT, .unit = UNIT_ID },
	{ "tid",       TABLE_RIGHT, .unit = UNIT_ID },
	{ "thread",    TABLE_NAME,  .unit = UNIT_TEXT },
	{ "waits for", TABLE_LEFT,  .unit = UNIT_TEXT },
	/* clang-format on */
};

void run_text_deadlock(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct run_deadlock *deadlock = &run->deadlock;
	struct table table = { 0 };

	if (!deadlock->count)
		return;
	run_text_heading(out, options, "deadlock: each waits for the next, the last for the first");
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < deadlock->count; i++) {
		const struct run_waiter *waiter = &deadlock->waiters[i];

		put_number(&table, (uint64_t)waiter->pid);
		put_number(&table, (uint64_t)waiter->tid);
		put_string(&table, waiter->comm);
		put_string(&table, waiter->object);
	}
	run_text_table(out, &table, options, deadlock->count, deadlock->count);
}
