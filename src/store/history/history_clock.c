/* SPDX-License-Identifier: MIT */
/*
 * Times are those of the wall clock, which can be set back.  Ticks have ids in the order in which
 * they were taken; the table `meta` has, as `clock_set_back`, the ids of those whose time is before
 * that of the tick before.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"

static int64_t first_tick(struct history *history)
{
	return database_number(&history->database, "SELECT min(id) FROM ticks", 0);
}

void clock_steps_read(struct history *history, struct clock_steps *ret)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database, "SELECT value FROM meta WHERE key='clock_set_back'");
	int64_t first = first_tick(history);
	const char *next = NULL;
	uint64_t tick;

	ret->count = 0;
	if (statement && sqlite3_step(statement) == SQLITE_ROW)
		next = column_text(statement, 0);
	while (next && ret->count < CLOCK_STEPS && scan_u64(&next, &tick)) {
		if (tick <= INT64_MAX && (int64_t)tick > first)
			ret->ticks[ret->count++] = (int64_t)tick;
		next += *next == ',';
	}
}

int clock_steps_note(struct history *history, int64_t tick, uint64_t unix_ns, struct error *error)
{
	CLEANUP(text_free) struct text list = { 0 };
	struct clock_steps steps;

	if (unix_ns >= history->last_unix_ns)
		return 0;
	clock_steps_read(history, &steps);
	/* Beyond this many, the oldest are forgotten. */
	for (size_t i = steps.count == CLOCK_STEPS; i < steps.count; i++)
		text_format(&list, "%" PRId64 ",", steps.ticks[i]);
	text_format(&list, "%" PRId64, tick);
	return history_set_meta(history, "clock_set_back", text_string(&list), error);
}
