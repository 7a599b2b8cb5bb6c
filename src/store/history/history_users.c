/* SPDX-License-Identifier: MIT */
/*
 * How much room the events of each user take, and that no user takes the room of others: events have a
 * part of the file, and when that is full, the user who has most of it loses the oldest ones.
 *
 * The table `event_users` has the sums.  Additions and removals are gathered here and written with the
 * transaction that they belong to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"

/* Events have one part in so many of the file. */
#define EVENT_PART 4
/* How much of that is left after some had to go. */
#define ROOM_SHARE 0.9
/* Two who have the same lose one part in so many in turn. */
#define SOME 16
#define ROWS_PER_STEP 2000

int user_rooms_flush(struct history *history, struct error *error)
{
	struct user_rooms *rooms = &history->rooms;
	int status = 0;

	for (size_t i = 0; i < rooms->count && status == 0; i++) {
		sqlite3_stmt *statement = history_statement(history, STATEMENT_USER);
		const struct user_room *room = &rooms->list[i];
		int index = 0;

		bind_number(statement, &index, (uint64_t)room->uid);
		bind_number(statement, &index, (uint64_t)room->events);
		bind_number(statement, &index, (uint64_t)room->bytes);
		status = history_step(history, statement, error);
	}
	rooms->count = 0;
	return status;
}

static int note(struct history *history, int64_t uid, int64_t events, int64_t bytes,
		struct error *error)
{
	struct user_rooms *rooms = &history->rooms;
	size_t place = 0;
	int status = 0;

	while (place < rooms->count && rooms->list[place].uid != uid)
		place++;
	if (place == USER_ROOMS) {
		status = user_rooms_flush(history, error);
		place = 0;
	}
	if (place == rooms->count)
		rooms->list[rooms->count++] = (struct user_room){ .uid = uid };
	rooms->list[place].events += events;
	rooms->list[place].bytes += bytes;
	return status;
}

int user_rooms_add(struct history *history, const struct life_event *event, struct error *error)
{
	size_t texts = (event->cmd ? strlen(event->cmd) : 0) +
		       (event->details ? strlen(event->details) : 0);

	return note(history, event->present & LIFE_HAS_UID ? event->uid : USER_UNKNOWN, 1,
		    (int64_t)(EVENT_ROW_BYTES + texts), error);
}

struct deleted {
	size_t count;
	int64_t bytes, last_id;
};

/* Deletes events by a statement that returns whose they were, and how large.  0 or an error. */
static int delete_some(struct history *history, sqlite3_stmt *statement, struct deleted *ret,
		       struct error *error)
{
	int code = SQLITE_DONE, status = history_begin(history, error);

	*ret = (struct deleted){ 0 };
	while (status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t bytes = sqlite3_column_int64(statement, 1);
		int64_t id = sqlite3_column_int64(statement, 2);

		ret->count++;
		ret->bytes += bytes;
		if (id > ret->last_id)
			ret->last_id = id;
		status = note(history, sqlite3_column_int64(statement, 0), -1, -bytes, error);
	}
	if (status == 0 && code != SQLITE_DONE)
		status = history_drop(history, database_fail(&history->database, "write", error),
				      error);
	sqlite3_reset(statement);
	return status == 0 ? history_commit_rows(history, error) : status;
}

#define DELETE_EVENTS "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE "
#define RETURNING ") RETURNING " EVENT_USER_SQL ", " EVENT_BYTES_SQL ", id"

int history_drop_events(struct history *history, uint64_t before, struct error *error)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement =
		database_prepare(&history->database, DELETE_EVENTS "ts_ns < ?1 LIMIT ?2" RETURNING);
	struct deleted deleted = { .count = 1 };
	int status = 0;

	if (!statement)
		return database_fail(&history->database, "write", error);
	while (status == 0 && deleted.count) {
		sqlite3_bind_int64(statement, 1, (int64_t)before);
		sqlite3_bind_int64(statement, 2, ROWS_PER_STEP);
		status = delete_some(history, statement, &deleted, error);
	}
	return status;
}

struct heaviest {
	int64_t uid, bytes, next_bytes; /* who has most, and what the one after has */
};

static bool find_heaviest(struct history *history, struct heaviest *ret)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		"SELECT uid, bytes FROM event_users WHERE events > 0 ORDER BY bytes DESC LIMIT 2");

	*ret = (struct heaviest){ 0 };
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return false;
	ret->uid = sqlite3_column_int64(statement, 0);
	ret->bytes = sqlite3_column_int64(statement, 1);
	if (sqlite3_step(statement) == SQLITE_ROW)
		ret->next_bytes = sqlite3_column_int64(statement, 1);
	return true;
}

static int64_t event_bytes(struct history *history)
{
	return database_number(&history->database, "SELECT sum(bytes) FROM event_users", 0);
}

/*
 * Drops the user's oldest events until so many bytes are gone, or the next user has more by some.  The walk over
 * the rows goes on where it was.  1: nothing of the user was there.
 */
static int drop_of_user(struct history *history, const struct heaviest *user, int64_t excess,
			struct error *error)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(&history->database, DELETE_EVENTS
						   "id > ?1 AND " EVENT_USER_SQL
						   " = ?2 ORDER BY id LIMIT ?3" RETURNING);
	int64_t wanted = user->bytes - user->next_bytes + user->bytes / SOME + 1, dropped = 0;
	struct deleted deleted = { .count = 1 };
	int status = 0;

	if (!statement)
		return database_fail(&history->database, "write", error);
	if (wanted > excess)
		wanted = excess;
	while (status == 0 && deleted.count && dropped < wanted) {
		int64_t rows = (wanted - dropped) / EVENT_ROW_BYTES + 1;

		sqlite3_bind_int64(statement, 1, deleted.last_id);
		sqlite3_bind_int64(statement, 2, user->uid);
		sqlite3_bind_int64(statement, 3, rows < ROWS_PER_STEP ? rows : ROWS_PER_STEP);
		status = delete_some(history, statement, &deleted, error);
		dropped += deleted.bytes;
	}
	return status < 0 ? status : dropped == 0;
}

static int limit_to(struct history *history, uint64_t most, struct error *error)
{
	struct heaviest user;
	int64_t excess = event_bytes(history) - (int64_t)most;
	int status = 0;

	while (status == 0 && excess > 0 && find_heaviest(history, &user)) {
		status = drop_of_user(history, &user, excess, error);
		excess = event_bytes(history) - (int64_t)most;
	}
	/* The sums say more than there is: they are made anew. */
	return status == 1 ? user_rooms_recount(&history->database, error) : status;
}

int history_drop_heaviest(struct history *history, struct error *error)
{
	int64_t bytes = event_bytes(history);

	return bytes > 0 ? limit_to(history, (uint64_t)((double)bytes * ROOM_SHARE), error) : 0;
}

int history_limit_events(struct history *history, struct error *error)
{
	uint64_t share = history->retention.bytes / EVENT_PART;

	if (history->retention.bytes == UINT64_MAX || event_bytes(history) <= (int64_t)share)
		return 0;
	return limit_to(history, (uint64_t)((double)share * ROOM_SHARE), error);
}

int user_rooms_recount(struct database *database, struct error *error)
{
	return database_run(database,
			    "DELETE FROM event_users; INSERT INTO event_users(uid, events, bytes) "
			    "SELECT " EVENT_USER_SQL ", count(*), sum(" EVENT_BYTES_SQL
			    ") FROM events GROUP BY 1",
			    error);
}
