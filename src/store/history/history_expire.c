/* SPDX-License-Identifier: MIT */
/*
 * Drops what is too old or too much.  Deleting is done in small transactions, so that the WAL stays
 * small; then the file gives its free pages back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"

#define ROWS_PER_STEP 2000
#define PAGES_PER_STEP 2000
/* How much of what is allowed is left after the oldest had to go. */
#define ROOM_SHARE 0.9

/* A process may be in a look at activity, or in a minute, that comes so much later than its last tick. */
#define REFERENCE_NS (UINT64_C(86400) * 1000000000)

enum age { AGE_RAW, AGE_MINUTES, AGE_EVENTS, AGE_OUTCOMES };

static uint64_t kept_ns(const struct history_retention *retention, enum age age)
{
	const uint64_t ages[] = { retention->raw_ns, retention->minutes_ns, retention->events_ns,
				  retention->outcomes_ns };

	return ages[age];
}

/* Runs a statement with one time in it until it changes nothing more. */
static int run_until_done(struct history *history, const char *sql, uint64_t before,
			  struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = database_prepare(&history->database, sql);
	int changed = 1;

	while (statement && changed) {
		int index = 0;

		sqlite3_reset(statement);
		bind_number(statement, &index, before);
		if (sqlite3_step(statement) != SQLITE_DONE)
			return database_fail(&history->database, "write", error);
		changed = sqlite3_changes(history->database.handle);
		history->dropped_rows += history->is_making_room ? (uint64_t)changed : 0;
	}
	return statement ? 0 : database_fail(&history->database, "write", error);
}

/* The worst of a minute: the names are no order by themselves. */
#define WORST(column)                                                                              \
	"substr(max(printf('%02d', instr('unknown,none,low,medium,high,critical', " column         \
	")) || " column "), 3)"

/* Samples that go become means of whole minutes. */
static int roll_up_samples(struct history *history, uint64_t before, struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };

	text_append_string(&sql, "INSERT OR REPLACE INTO host_minutes(ts_ns, samples, "
				 "pressure_level, scope, scope_pressure_level,");
	schema_host_columns(&sql, "", "");
	text_append_string(
		&sql, ") SELECT ts_ns/60000000000*60000000000, count(*), " WORST(
			      "pressure_level") ", max(scope), " WORST("scope_pressure_level") ",");
	schema_host_columns(&sql, "avg(", ")");
	text_format(&sql,
		    " FROM host_samples WHERE ts_ns < %" PRIu64 "/60000000000*60000000000 "
		    "GROUP BY 1",
		    before);
	if (sql.failed)
		return error_set(error, -ENOMEM, "not enough memory");
	return database_run(&history->database, text_string(&sql), error);
}

/* Ticks go by whole chains: the first one that stays must have its key frame. */
static int drop_ticks(struct history *history, uint64_t before, struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };
	int64_t first;

	text_format(&sql, "SELECT min(chain) FROM ticks WHERE ts_ns >= %" PRIu64, before);
	first = database_number(&history->database, text_string(&sql), INT64_MAX);
	text_clear(&sql);
	text_format(&sql,
		    "DELETE FROM ticks WHERE id IN (SELECT id FROM ticks WHERE ts_ns < ? AND id < "
		    "%" PRId64 " AND chain <> %" PRId64 " ORDER BY id LIMIT %d)",
		    first, history->chain, ROWS_PER_STEP);
	return run_until_done(history, text_string(&sql), before, error);
}

/* Whole minutes go. */
static int drop_samples(struct history *history, uint64_t before, struct error *error)
{
	int status = roll_up_samples(history, before, error);

	if (status < 0)
		return status;
	return run_until_done(
		history,
		"DELETE FROM host_samples WHERE rowid IN (SELECT rowid FROM "
		"host_samples WHERE ts_ns < ? / 60000000000 * 60000000000 LIMIT 2000)",
		before, error);
}

/*
 * A process stays while a row may refer to it: minutes and activity are never much later than when it
 * was last seen.  To look for each of them would be to read all of activity.
 */
static int drop_processes(struct history *history, uint64_t before, struct error *error)
{
	static const char *const references[] = { "SELECT min(ts_ns) FROM process_minutes",
						  "SELECT min(ts_ns) FROM process_syscalls",
						  "SELECT min(ts_ns) FROM activity" };

	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		int64_t first = database_number(&history->database, references[i], INT64_MAX);
		uint64_t bound = first > (int64_t)REFERENCE_NS ? (uint64_t)first - REFERENCE_NS : 0;

		if (bound < before)
			before = bound;
	}
	return history_drop_processes(history, before, error);
}

/* Stacks that were last seen so long ago that they are not in activity any more. */
static int drop_stacks(struct history *history, uint64_t now_unix_ns, struct error *error)
{
	uint64_t kept = history->retention.raw_ns, before;
	CLEANUP(text_free) struct text sql = { 0 };

	if (kept > UINT64_MAX - 2 * STACK_NOTED_NS || kept + 2 * STACK_NOTED_NS > now_unix_ns)
		return 0;
	before = now_unix_ns - kept - 2 * STACK_NOTED_NS;

	text_format(&sql,
		    "UPDATE stacks SET last_ns = %" PRIu64 " WHERE last_ns IS NULL; "
		    "DELETE FROM stacks WHERE last_ns < %" PRIu64,
		    now_unix_ns, before);
	return database_run(&history->database, text_string(&sql), error);
}

/*
 * Tables whose rows go with their age, in the order in which they go when the file is too large.  Then
 * the rows of a part of the file go by user.
 */
static const struct aging {
	const char *table, *time;
	enum age age;
	int (*drop)(struct history *history, uint64_t before, struct error *error);
	enum user_part part; /* USER_PARTS: none */
} aging[] = {
	{ "activity", "ts_ns", AGE_RAW, NULL, USER_PARTS },
	{ "activity_walks", "ts_ns", AGE_RAW, NULL, USER_PARTS },
	{ "ticks", "ts_ns", AGE_RAW, drop_ticks, USER_PARTS },
	{ "host_samples", "ts_ns", AGE_RAW, drop_samples, USER_PARTS },
	{ "events", "ts_ns", AGE_EVENTS, history_drop_events, USER_EVENTS },
	{ "process_syscalls", "ts_ns", AGE_MINUTES, history_drop_calls, USER_CALLS },
	{ "process_minutes", "ts_ns", AGE_MINUTES, history_drop_minutes, USER_PROCESSES },
	{ "host_minutes", "ts_ns", AGE_MINUTES, NULL, USER_PARTS },
	{ "processes", "last_ns", AGE_EVENTS, drop_processes, USER_PROCESSES },
	{ "job_runs", "ts_ns", AGE_OUTCOMES, history_drop_job_runs, USER_JOB_RUNS },
	{ "job_events", "ts_ns", AGE_OUTCOMES, history_drop_job_events, USER_JOBS },
	{ "jobs", "begin_ns", AGE_OUTCOMES, history_drop_jobs, USER_JOBS },
	{ "anomalies", "begin_ns", AGE_OUTCOMES, history_drop_anomalies, USER_ANOMALIES },
	{ "patterns", "ts_ns", AGE_OUTCOMES, NULL, USER_PARTS },
};

static int drop_rows(struct history *history, const struct aging *rows, uint64_t before,
		     struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };

	if (rows->drop)
		return rows->drop(history, before, error);
	text_format(&sql,
		    "DELETE FROM %s WHERE rowid IN (SELECT rowid FROM %s WHERE %s < ? LIMIT %d)",
		    rows->table, rows->table, rows->time, ROWS_PER_STEP);
	return run_until_done(history, text_string(&sql), before, error);
}

/* Gives free pages back, a few at a time, and the WAL with them. */
static int shrink(struct history *history, struct error *error)
{
	char sql[64];
	int status = 0;
	int64_t left = database_number(&history->database, "PRAGMA freelist_count", 0);

	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", PAGES_PER_STEP);
	for (int64_t before = left + 1; left > 0 && left < before && status == 0;) {
		before = left;
		status = database_run(&history->database, sql, error);
		database_cut_wal(&history->database);
		left = database_number(&history->database, "PRAGMA freelist_count", 0);
	}
	database_cut_wal(&history->database);
	return status;
}

/* Bytes that are in use, whatever the file has in free pages. */
static uint64_t used_bytes(struct history *history)
{
	int64_t pages = database_number(&history->database, "PRAGMA page_count", 0) -
			database_number(&history->database, "PRAGMA freelist_count", 0);

	return (uint64_t)(pages * database_number(&history->database, "PRAGMA page_size", 0));
}

/* The time before which the oldest tenth of a table's rows is; 0 when there is nothing to drop. */
static uint64_t oldest_tenth(struct history *history, const struct aging *rows)
{
	CLEANUP(text_free) struct text sql = { 0 };
	int64_t least, most;

	text_format(&sql, "SELECT min(%s) FROM %s", rows->time, rows->table);
	least = database_number(&history->database, text_string(&sql), 0);
	text_clear(&sql);
	text_format(&sql, "SELECT max(%s) FROM %s", rows->time, rows->table);
	most = database_number(&history->database, text_string(&sql), 0);
	return most > least ? (uint64_t)(least + (most - least) / 10 + 1) : 0;
}

/* Ticks go by whole chains: when the second one began; 0 when there is none. */
static uint64_t second_chain(struct history *history)
{
	int64_t begin = database_number(
		&history->database,
		"SELECT ts_ns FROM ticks WHERE chain > (SELECT chain FROM ticks WHERE NOT is_burst "
		"ORDER BY id LIMIT 1) AND NOT is_burst ORDER BY id LIMIT 1",
		0);

	return begin > 0 ? (uint64_t)begin : 0;
}

/* Drops the oldest rows of a table, or those of the users who have most; a tenth of them, about. */
static int drop_tenth(struct history *history, const struct aging *rows, struct error *error)
{
	uint64_t before = oldest_tenth(history, rows);

	if (rows->part != USER_PARTS)
		return history_drop_heaviest(history, rows->part, error);
	if (rows->drop == drop_ticks && before < second_chain(history))
		before = second_chain(history);
	return before ? drop_rows(history, rows, before, error) : 0;
}

static int drop_oldest(struct history *history, struct error *error)
{
	uint64_t wanted = (uint64_t)((double)history->retention.bytes * ROOM_SHARE);
	uint64_t used = used_bytes(history);
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(aging) && status == 0; i++) {
		uint64_t last = UINT64_MAX;

		while (status == 0 && used > wanted && used < last) {
			last = used;
			status = drop_tenth(history, &aging[i], error);
			used = used_bytes(history);
		}
	}
	return status;
}

static int limit_size(struct history *history, struct error *error)
{
	int status = history_limit_users(history, error);

	if (status < 0 || history->retention.bytes == UINT64_MAX ||
	    database_size(&history->database) <= history->retention.bytes)
		return status;
	/* It may be the WAL alone, or free pages. */
	status = shrink(history, error);
	if (status < 0 || database_size(&history->database) <= history->retention.bytes)
		return status;
	status = drop_oldest(history, error);
	return status < 0 ? status : shrink(history, error);
}

/* Damage that is found here counts like that of a write. */
static int note_damage(struct history *history, int status)
{
	history->is_damaged |= status == -EBADMSG;
	return status;
}

int history_limit_size(struct history *history, struct error *error)
{
	int status;

	history->is_making_room = true;
	status = limit_size(history, error);
	history->is_making_room = false;
	return note_damage(history, status);
}

static int expire(struct history *history, uint64_t now_unix_ns, struct error *error)
{
	int status = history_commit(history, error);

	for (size_t i = 0; i < ARRAY_SIZE(aging) && status == 0; i++) {
		uint64_t kept = kept_ns(&history->retention, aging[i].age);

		if (kept < now_unix_ns)
			status = drop_rows(history, &aging[i], now_unix_ns - kept, error);
	}
	if (status == 0)
		status = drop_stacks(history, now_unix_ns, error);
	minutes_forget_dropped(history);
	if (status == 0)
		status = shrink(history, error);
	if (status == 0)
		status = history_limit_size(history, error);
	return status;
}

int history_expire(struct history *history, uint64_t now_unix_ns, struct error *error)
{
	return history->is_damaged ? 0 : note_damage(history, expire(history, now_unix_ns, error));
}
