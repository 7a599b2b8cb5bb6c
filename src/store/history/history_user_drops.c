/* SPDX-License-Identifier: MIT */
/*
 * No user takes the room of others.  Events, processes with their minutes, their system calls, anomalies, jobs and whole
 * runs each have a part of the file.  When a part is full, the user who has most of it loses the oldest rows.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_users.h"

/* How much of a part is left after some had to go. */
#define ROOM_SHARE 0.9
/* Two who have the same lose one part in so many in turn. */
#define SOME 16
/* Rows that go in one transaction: fewer in a small file, whose WAL must be small as well. */
#define ROWS_MOST 2000
#define ROWS_LEAST 100
#define ROW_STEP_BYTES 8192
#define MINUTE_NS (INT64_C(60) * 1000000000)

struct deleted {
	size_t count;
	int64_t bytes, last_id;
	int64_t begin_ns, end_ns; /* of what was deleted, together */
};

static void sum_up(struct deleted *sum, const struct deleted *one)
{
	if (!sum->count || one->begin_ns < sum->begin_ns)
		sum->begin_ns = one->begin_ns;
	if (!sum->count || one->end_ns > sum->end_ns)
		sum->end_ns = one->end_ns;
	if (one->last_id > sum->last_id)
		sum->last_id = one->last_id;
	sum->count++;
	sum->bytes += one->bytes;
}

/*
 * Runs a statement that deletes rows of the part, and returns whose they were.  0 or an error.  Where it
 * finds none, the walk stays where it was (last_id).
 */
static int delete_some(struct history *history, sqlite3_stmt *statement, enum user_part part,
		       struct deleted *ret, struct error *error)
{
	int code = SQLITE_DONE, status = history_begin(history, error);

	*ret = (struct deleted){ .last_id = ret->last_id };
	while (status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const struct deleted one = {
			.bytes = sqlite3_column_int64(statement, 1),
			.last_id = sqlite3_column_int64(statement, 2),
			.begin_ns = sqlite3_column_int64(statement, 3),
			.end_ns = sqlite3_column_int64(statement, 4),
		};
		const struct user_room room = {
			part,
			sqlite3_column_int64(statement, 0),
			-1,
			-one.bytes,
			history->is_making_room,
		};

		sum_up(ret, &one);
		status = user_rooms_note(history, &room, error);
	}
	history->dropped_rows += history->is_making_room ? ret->count : 0;
	if (status == 0 && code != SQLITE_DONE)
		status = history_drop(history, database_fail(&history->database, "write", error),
				      error);
	sqlite3_reset(statement);
	return status;
}

static sqlite3_stmt *prepare_delete(struct history *history, const struct user_table *table,
				    const char *which)
{
	CLEANUP(text_free) struct text sql = { 0 };

	text_format(&sql,
		    "DELETE FROM %s WHERE rowid IN (SELECT rowid FROM %s WHERE %s LIMIT ?3) "
		    "RETURNING %s, %s, rowid, %s, %s",
		    table->table, table->table, which, table->user, table->bytes, table->begin,
		    table->end);
	return sql.failed ? NULL : database_prepare(&history->database, text_string(&sql));
}

static int64_t rows_per_step(const struct history *history)
{
	uint64_t rows = history->retention.bytes / ROW_STEP_BYTES;

	if (rows > ROWS_MOST)
		return ROWS_MOST;
	return rows < ROWS_LEAST ? ROWS_LEAST : (int64_t)rows;
}

static int drop_before(struct history *history, const struct user_table *table, enum user_part part,
		       uint64_t before, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	CLEANUP(text_free) struct text which = { 0 };
	struct deleted deleted = { .count = 1 };
	int status = 0;

	text_format(&which, "%s < ?1 AND %s < ?1", table->begin, table->end);
	statement = which.failed ? NULL : prepare_delete(history, table, text_string(&which));
	if (!statement)
		return database_fail(&history->database, "write", error);
	while (status == 0 && deleted.count) {
		sqlite3_bind_int64(statement, 1, (int64_t)before);
		sqlite3_bind_int64(statement, 3, rows_per_step(history));
		status = delete_some(history, statement, part, &deleted, error);
		if (status == 0)
			status = history_commit_rows(history, error);
	}
	return status;
}

int history_drop_events(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_EVENTS].first, USER_EVENTS, before, error);
}

int history_drop_anomalies(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_ANOMALIES].first, USER_ANOMALIES, before,
			   error);
}

int history_drop_job_events(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_JOBS].first, USER_JOBS, before, error);
}

int history_drop_jobs(struct history *history, uint64_t before, struct error *error)
{
	int status = drop_before(history, user_parts[USER_JOBS].second, USER_JOBS, before, error);

	return status < 0 ? status : history_drop_of_no_job(&history->database, error);
}

int history_drop_job_runs(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_JOB_RUNS].first, USER_JOB_RUNS, before, error);
}

int history_drop_calls(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_CALLS].first, USER_CALLS, before, error);
}

int history_drop_minutes(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_PROCESSES].first, USER_PROCESSES, before,
			   error);
}

int history_drop_processes(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, user_parts[USER_PROCESSES].second, USER_PROCESSES, before,
			   error);
}

struct heaviest {
	enum user_part part;
	int64_t uid, bytes, next_bytes; /* who has most, and what the one after has */
	int64_t row_bytes;		/* of one of the user's rows, about */
};

static bool find_heaviest(struct history *history, enum user_part part, struct heaviest *ret)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		"SELECT uid, bytes, bytes / kept FROM user_rows WHERE part = ? AND kept > 0 "
		"ORDER BY bytes DESC LIMIT 2");
	int index = 0;

	*ret = (struct heaviest){ .part = part };
	bind_text(statement, &index, user_parts[part].name);
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return false;
	ret->uid = sqlite3_column_int64(statement, 0);
	ret->bytes = sqlite3_column_int64(statement, 1);
	ret->row_bytes = sqlite3_column_int64(statement, 2);
	if (ret->row_bytes < user_parts[part].row_bytes)
		ret->row_bytes = user_parts[part].row_bytes;
	if (sqlite3_step(statement) == SQLITE_ROW)
		ret->next_bytes = sqlite3_column_int64(statement, 1);
	return true;
}

/* Deletes some of the user's oldest rows, after those that the walk has passed (`deleted`). */
static int drop_rows(struct history *history, sqlite3_stmt *statement, const struct heaviest *user,
		     int64_t rows, int64_t before, struct deleted *deleted, struct error *error)
{
	int64_t most = rows_per_step(history);

	if (!statement)
		return database_fail(&history->database, "write", error);
	sqlite3_bind_int64(statement, 1, deleted->last_id);
	sqlite3_bind_int64(statement, 2, user->uid);
	sqlite3_bind_int64(statement, 3, rows < most ? rows : most);
	sqlite3_bind_int64(statement, 4, before);
	return delete_some(history, statement, user->part, deleted, error);
}

/* A look at activity may have seen the process a little after its row says. */
static int drop_activity_of_none(struct history *history, const struct deleted *gone,
				 struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };
	int status;

	if (!gone->count)
		return 0;
	text_format(&sql,
		    "DELETE FROM activity WHERE ts_ns BETWEEN %" PRId64 " AND %" PRId64
		    " AND process NOT IN (SELECT id FROM processes)",
		    gone->begin_ns - 2 * MINUTE_NS, gone->end_ns + 2 * MINUTE_NS);
	status = sql.failed ? error_set(error, -ENOMEM, "not enough memory") :
			      database_run(&history->database, text_string(&sql), error);
	if (status == 0)
		history->dropped_rows += (uint64_t)sqlite3_changes(history->database.handle);
	return status;
}

static sqlite3_stmt *prepare_drop(struct history *history, const struct user_table *table)
{
	CLEANUP(text_free) struct text which = { 0 };

	text_format(&which, "rowid > ?1 AND %s = ?2 AND %s ORDER BY rowid", table->user,
		    table->wanted);
	return which.failed ? NULL : prepare_delete(history, table, text_string(&which));
}

/*
 * Drops the user's oldest rows until so many bytes are gone, or the next user has more by some.  1: nothing
 * of the user was there.
 */
static int drop_of_user(struct history *history, const struct heaviest *user, int64_t excess,
			struct error *error)
{
	const struct user_table *second = user_parts[user->part].second;
	CLEANUP(statement_free)
	sqlite3_stmt *first_drop = prepare_drop(history, user_parts[user->part].first);
	CLEANUP(statement_free)
	sqlite3_stmt *second_drop = second ? prepare_drop(history, second) : NULL;
	int64_t wanted = user->bytes - user->next_bytes + user->bytes / SOME + 1, dropped = 0;
	struct deleted first = { .count = 1 }, gone = { 0 };
	int status = 0;

	if (wanted > excess)
		wanted = excess;
	while (status == 0 && first.count + gone.count && dropped < wanted) {
		int64_t rows = (wanted - dropped) / user->row_bytes + 1;

		status = drop_rows(history, first_drop, user, rows, INT64_MAX, &first, error);
		if (status == 0 && second)
			status = drop_rows(history, second_drop, user, rows,
					   first.count ? first.end_ns + MINUTE_NS : INT64_MAX,
					   &gone, error);
		if (status == 0 && user->part == USER_PROCESSES)
			status = drop_activity_of_none(history, &gone, error);
		if (status == 0 && user->part == USER_JOBS && gone.count)
			status = history_drop_of_no_job(&history->database, error);
		if (status == 0)
			status = history_commit_rows(history, error);
		dropped += first.bytes + gone.bytes;
	}
	return status < 0 ? status : dropped == 0;
}

static int limit_to(struct history *history, enum user_part part, uint64_t most,
		    struct error *error)
{
	struct heaviest user;
	int64_t excess = user_part_bytes(history, part) - (int64_t)most;
	int status = 0;

	while (status == 0 && excess > 0 && find_heaviest(history, part, &user)) {
		status = drop_of_user(history, &user, excess, error);
		excess = user_part_bytes(history, part) - (int64_t)most;
	}
	if (part == USER_PROCESSES)
		minutes_forget_dropped(history);
	if (status < 1)
		return status;
	/* The sums say more than there is: they are made anew. */
	user_rooms_forget(history);
	return user_rooms_recount(&history->database, error);
}

int history_drop_heaviest(struct history *history, enum user_part part, struct error *error)
{
	int64_t bytes = user_part_bytes(history, part);

	return bytes > 0 ? limit_to(history, part, (uint64_t)((double)bytes * ROOM_SHARE), error) :
			   0;
}

uint64_t user_part_most(const struct history *history, enum user_part part)
{
	return history->retention.bytes / user_parts[part].part;
}

static bool exceeds_share(struct history *history, enum user_part part)
{
	return history->retention.bytes != UINT64_MAX &&
	       user_part_bytes(history, part) > (int64_t)user_part_most(history, part);
}

bool history_exceeds_shares(struct history *history)
{
	for (int part = 0; part < USER_PARTS; part++)
		if (exceeds_share(history, (enum user_part)part))
			return true;
	return false;
}

int history_limit_users(struct history *history, struct error *error)
{
	int status = 0;

	for (int part = 0; part < USER_PARTS && status == 0; part++)
		if (exceeds_share(history, (enum user_part)part))
			status = limit_to(
				history, (enum user_part)part,
				(uint64_t)((double)user_part_most(history, (enum user_part)part) *
					   ROOM_SHARE),
				error);
	return status;
}
