/* SPDX-License-Identifier: MIT */
/*
 * How much room the rows of each user take, and that no user takes the room of others.  Events,
 * processes with their minutes, and anomalies each have a part of the file.  When a part is full, the
 * user who has most of it loses the oldest rows.
 *
 * The table `user_rows` has the sums.  Additions and removals are gathered here and written with the
 * transaction that they belong to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"

/* How much of a part is left after some had to go. */
#define ROOM_SHARE 0.9
/* Two who have the same lose one part in so many in turn. */
#define SOME 16
/* Rows that go in one transaction: fewer in a small file, whose WAL must be small as well. */
#define ROWS_MOST 2000
#define ROWS_LEAST 100
#define ROW_STEP_BYTES 8192
#define MINUTE_NS (INT64_C(60) * 1000000000)

/* SQL of a row: whose it is (-1: not known), and about how many bytes it takes with its places in indexes. */
#define USER_SQL "CAST(coalesce(uid, -1) AS INTEGER)"
#define MINUTE_USER_SQL                                                                            \
	"coalesce((SELECT " USER_SQL " FROM processes AS p WHERE p.id = process), -1)"
#define TEXT_SQL(column) " + coalesce(length(CAST(" column " AS BLOB)), 0)"
#define EVENT_BYTES_SQL "(180" TEXT_SQL("cmd") TEXT_SQL("details") ")"
#define ANOMALY_BYTES_SQL "600"
#define MINUTE_BYTES_SQL "170"
#define PROCESS_BYTES_SQL                                                                          \
	"(110" TEXT_SQL("comm") TEXT_SQL("cmd") TEXT_SQL("exe") TEXT_SQL("user")                   \
		TEXT_SQL("cgroup") ")"
#define EVENT_BYTES 180
#define ANOMALY_BYTES 600
#define MINUTE_BYTES 170

/*
 * A table whose rows are of users.  `wanted` says which of a user's rows may go, the oldest first: ?1 is
 * the last id that was dropped, ?2 the user, ?4 a time before which they ended.
 */
struct user_table {
	const char *table, *user, *bytes, *begin, *end, *wanted;
};

static const struct user_table events = {
	"events", USER_SQL, EVENT_BYTES_SQL, "ts_ns", "ts_ns", "+ts_ns < ?4",
};
static const struct user_table anomalies = {
	"anomalies", USER_SQL, ANOMALY_BYTES_SQL, "begin_ns", "end_ns", "end_ns < ?4",
};
static const struct user_table minutes = {
	"process_minutes", MINUTE_USER_SQL, MINUTE_BYTES_SQL, "ts_ns", "ts_ns", "+ts_ns < ?4",
};
/* The last one stays: the next one must not get its number, which activity may refer to. */
static const struct user_table processes = {
	"processes",
	USER_SQL,
	PROCESS_BYTES_SQL,
	"first_ns",
	"last_ns",
	"last_ns < ?4 AND rowid < (SELECT max(rowid) FROM processes) AND NOT EXISTS "
	"(SELECT 1 FROM process_minutes WHERE process = processes.id)",
};

/*
 * The parts of the file: one in so many.  The rows of the first table go first, and then those of the
 * second that ended before them.
 */
static const struct {
	const char *name;
	uint64_t part;
	const struct user_table *first, *second;
	int64_t row_bytes;
} parts[USER_PARTS] = {
	[USER_EVENTS] = { "events", 4, &events, NULL, EVENT_BYTES },
	[USER_PROCESSES] = { "processes", 2, &minutes, &processes, MINUTE_BYTES },
	[USER_ANOMALIES] = { "anomalies", 16, &anomalies, NULL, ANOMALY_BYTES },
};

int user_rooms_flush(struct history *history, struct error *error)
{
	struct user_rooms *rooms = &history->rooms;
	int status = 0;

	for (size_t i = 0; i < rooms->count && status == 0; i++) {
		sqlite3_stmt *statement = history_statement(history, STATEMENT_USER);
		const struct user_room *room = &rooms->list[i];
		int index = 0;

		bind_text(statement, &index, parts[room->part].name);
		bind_number(statement, &index, (uint64_t)room->uid);
		bind_number(statement, &index, (uint64_t)room->kept);
		bind_number(statement, &index, (uint64_t)room->bytes);
		bind_number(statement, &index, (uint64_t)room->dropped);
		status = history_step(history, statement, error);
	}
	rooms->count = 0;
	return status;
}

static int note(struct history *history, const struct user_room *change, struct error *error)
{
	struct user_rooms *rooms = &history->rooms;
	struct user_room *room = rooms->list;
	int status = 0;

	while (room < rooms->list + rooms->count &&
	       (room->part != change->part || room->uid != change->uid))
		room++;
	if (room == rooms->list + USER_ROOMS) {
		status = user_rooms_flush(history, error);
		room = rooms->list;
	}
	if (room == rooms->list + rooms->count) {
		*room = (struct user_room){ .part = change->part, .uid = change->uid };
		rooms->count++;
	}
	room->kept += change->kept;
	room->bytes += change->bytes;
	room->dropped += change->dropped;
	rooms->bytes[change->part] += change->bytes;
	rooms->added_bytes += change->bytes > 0 ? change->bytes : 0;
	return status;
}

void user_rooms_forget(struct history *history)
{
	history->rooms.count = 0;
	history->rooms.is_known = false;
	history->rooms.added_bytes = 0;
}

int user_rooms_add_event(struct history *history, const struct life_event *event,
			 struct error *error)
{
	size_t texts = (event->cmd ? strlen(event->cmd) : 0) +
		       (event->details ? strlen(event->details) : 0);
	const struct user_room room = {
		.part = USER_EVENTS,
		.uid = event->present & LIFE_HAS_UID ? event->uid : USER_UNKNOWN,
		.kept = 1,
		.bytes = (int64_t)(EVENT_BYTES + texts),
	};

	return note(history, &room, error);
}

int user_rooms_add_row(struct history *history, enum user_part part, int64_t uid,
		       struct error *error)
{
	return note(history, &(struct user_room){ part, uid, 1, parts[part].row_bytes, 0 }, error);
}

const char user_process_sql[] = "SELECT " USER_SQL ", " PROCESS_BYTES_SQL
				", (SELECT count(*) FROM process_minutes WHERE process = ?1) FROM "
				"processes WHERE id = ?1";

int user_rooms_count_process(struct history *history, int64_t row, int sign, struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS_ROOM);
	struct user_room room = { .part = USER_PROCESSES };
	int64_t minute_rows;

	sqlite3_bind_int64(statement, 1, row);
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return history_drop(history, database_fail(&history->database, "write", error),
				    error);
	minute_rows = sqlite3_column_int64(statement, 2);
	room.uid = sqlite3_column_int64(statement, 0);
	room.kept = sign * (1 + minute_rows);
	room.bytes = sign * (sqlite3_column_int64(statement, 1) + minute_rows * MINUTE_BYTES);
	sqlite3_reset(statement);
	return note(history, &room, error);
}

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
		status = note(history, &room, error);
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
	return drop_before(history, &events, USER_EVENTS, before, error);
}

int history_drop_anomalies(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, &anomalies, USER_ANOMALIES, before, error);
}

int history_drop_minutes(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, &minutes, USER_PROCESSES, before, error);
}

int history_drop_processes(struct history *history, uint64_t before, struct error *error)
{
	return drop_before(history, &processes, USER_PROCESSES, before, error);
}

struct heaviest {
	enum user_part part;
	int64_t uid, bytes, next_bytes; /* who has most, and what the one after has */
};

static bool find_heaviest(struct history *history, enum user_part part, struct heaviest *ret)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database, "SELECT uid, bytes FROM user_rows WHERE part = ? AND kept > 0 "
				    "ORDER BY bytes DESC LIMIT 2");
	int index = 0;

	*ret = (struct heaviest){ .part = part };
	bind_text(statement, &index, parts[part].name);
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return false;
	ret->uid = sqlite3_column_int64(statement, 0);
	ret->bytes = sqlite3_column_int64(statement, 1);
	if (sqlite3_step(statement) == SQLITE_ROW)
		ret->next_bytes = sqlite3_column_int64(statement, 1);
	return true;
}

static void read_sums(struct history *history)
{
	for (int part = 0; part < USER_PARTS; part++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT sum(bytes) FROM user_rows WHERE part = '%s'",
			 parts[part].name);
		history->rooms.bytes[part] = database_number(&history->database, sql, 0);
	}
	history->rooms.is_known = true;
}

/* Call it when the transaction is over. */
static int64_t part_bytes(struct history *history, enum user_part part)
{
	if (!history->rooms.is_known)
		read_sums(history);
	return history->rooms.bytes[part];
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
	const struct user_table *second = parts[user->part].second;
	CLEANUP(statement_free)
	sqlite3_stmt *first_drop = prepare_drop(history, parts[user->part].first);
	CLEANUP(statement_free)
	sqlite3_stmt *second_drop = second ? prepare_drop(history, second) : NULL;
	int64_t wanted = user->bytes - user->next_bytes + user->bytes / SOME + 1, dropped = 0;
	struct deleted first = { .count = 1 }, gone = { 0 };
	int status = 0;

	if (wanted > excess)
		wanted = excess;
	while (status == 0 && first.count + gone.count && dropped < wanted) {
		int64_t rows = (wanted - dropped) / parts[user->part].row_bytes + 1;

		status = drop_rows(history, first_drop, user, rows, INT64_MAX, &first, error);
		if (status == 0 && second)
			status = drop_rows(history, second_drop, user, rows,
					   first.count ? first.end_ns + MINUTE_NS : INT64_MAX,
					   &gone, error);
		if (status == 0)
			status = drop_activity_of_none(history, &gone, error);
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
	int64_t excess = part_bytes(history, part) - (int64_t)most;
	int status = 0;

	while (status == 0 && excess > 0 && find_heaviest(history, part, &user)) {
		status = drop_of_user(history, &user, excess, error);
		excess = part_bytes(history, part) - (int64_t)most;
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
	int64_t bytes = part_bytes(history, part);

	return bytes > 0 ? limit_to(history, part, (uint64_t)((double)bytes * ROOM_SHARE), error) :
			   0;
}

static uint64_t share_of(const struct history *history, enum user_part part)
{
	return history->retention.bytes / parts[part].part;
}

static bool exceeds_share(struct history *history, enum user_part part)
{
	return history->retention.bytes != UINT64_MAX &&
	       part_bytes(history, part) > (int64_t)share_of(history, part);
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
				(uint64_t)((double)share_of(history, (enum user_part)part) *
					   ROOM_SHARE),
				error);
	return status;
}

int user_rooms_recount(struct database *database, struct error *error)
{
	static const char end[] = " ON CONFLICT DO UPDATE SET kept = excluded.kept, bytes = "
				  "excluded.bytes;";
	CLEANUP(text_free) struct text sql = { 0 };

	text_append_string(&sql, "UPDATE user_rows SET kept = 0, bytes = 0;");
	for (int part = 0; part < USER_PARTS; part++) {
		const struct user_table *tables[] = { parts[part].first, parts[part].second };

		text_format(
			&sql,
			"INSERT INTO user_rows(part, uid, kept, bytes, dropped) SELECT '%s', u, "
			"count(*), sum(b), 0 FROM (",
			parts[part].name);
		for (size_t i = 0; i < ARRAY_SIZE(tables) && tables[i]; i++)
			text_format(&sql, "%sSELECT %s AS u, %s AS b FROM %s",
				    i ? " UNION ALL " : "", tables[i]->user, tables[i]->bytes,
				    tables[i]->table);
		text_format(&sql, ") GROUP BY 2%s", end);
	}
	text_append_string(&sql, "DELETE FROM user_rows WHERE kept = 0 AND dropped = 0;");
	return sql.failed ? error_set(error, -ENOMEM, "not enough memory") :
			    database_run(database, text_string(&sql), error);
}
