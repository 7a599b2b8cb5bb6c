/* SPDX-License-Identifier: MIT */
/*
 * How much room the rows of each user take.  The table `user_rows` has the sums.  Additions and removals
 * are gathered here and written with the transaction that they belong to.
 */
#include "store/history/history_users.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"

/* SQL of a row: whose it is (-1: not known), and about how many bytes it takes with its places in indexes. */
#define USER_SQL "CAST(coalesce(uid, -1) AS INTEGER)"
#define MINUTE_USER_SQL                                                                            \
	"coalesce((SELECT " USER_SQL " FROM processes AS p WHERE p.id = process), -1)"
#define TEXT_SQL(column) " + coalesce(length(CAST(" column " AS BLOB)), 0)"
#define EVENT_BYTES_SQL "(180" TEXT_SQL("cmd") TEXT_SQL("details") ")"
#define ANOMALY_BYTES_SQL "600"
#define MINUTE_BYTES_SQL "170"
#define CALL_BYTES_SQL "90"
#define PROCESS_BYTES_SQL                                                                          \
	"(110" TEXT_SQL("comm") TEXT_SQL("cmd") TEXT_SQL("exe") TEXT_SQL("user")                   \
		TEXT_SQL("cgroup") ")"
#define NUMBER_SQL(number) NUMBER_SQL_OF(number)
#define NUMBER_SQL_OF(number) #number
#define JOB_USER_SQL "coalesce((SELECT " USER_SQL " FROM jobs AS j WHERE j.id = job), -1)"
#define JOB_ROWS_SQL(table, bytes)                                                                 \
	" + " NUMBER_SQL(bytes) " * (SELECT count(*) FROM " table " AS r WHERE r.job = jobs.id)"
#define STEP_DETAILS_SQL                                                                           \
	" + coalesce((SELECT sum(length(coalesce(r.details, ''))) FROM job_steps AS r WHERE "      \
	"r.job = jobs.id), 0)"
/* clang-format off */
#define JOB_BYTES_SQL                                                                              \
	"(" NUMBER_SQL(JOB_BYTES) TEXT_SQL("name") TEXT_SQL("cmd") TEXT_SQL("cgroup")              \
	TEXT_SQL("watched") TEXT_SQL("details") STEP_DETAILS_SQL                                   \
	JOB_ROWS_SQL("job_steps", JOB_STEP_BYTES) JOB_ROWS_SQL("job_syscalls", JOB_SYSCALL_BYTES) ")"
/* clang-format on */
#define JOB_EVENT_BYTES_SQL                                                                        \
	"(" NUMBER_SQL(JOB_EVENT_BYTES) TEXT_SQL("details") TEXT_SQL("context") ")"
#define JOB_RUN_BYTES_SQL "(" NUMBER_SQL(JOB_RUN_BYTES) " + length(run))"
#define EVENT_BYTES 180
#define ANOMALY_BYTES 600
#define MINUTE_BYTES 170
#define CALL_BYTES 90

static const struct user_table events = {
	"events", USER_SQL, EVENT_BYTES_SQL, "ts_ns", "ts_ns", "+ts_ns < ?4",
};
static const struct user_table anomalies = {
	"anomalies", USER_SQL, ANOMALY_BYTES_SQL, "begin_ns", "end_ns", "end_ns < ?4",
};
static const struct user_table minutes = {
	"process_minutes", MINUTE_USER_SQL, MINUTE_BYTES_SQL, "ts_ns", "ts_ns", "+ts_ns < ?4",
};
static const struct user_table calls = {
	"process_syscalls", MINUTE_USER_SQL, CALL_BYTES_SQL, "ts_ns", "ts_ns", "+ts_ns < ?4",
};
/* The last one stays: the next one must not get its number, which activity may refer to. */
static const struct user_table processes = {
	"processes",
	USER_SQL,
	PROCESS_BYTES_SQL,
	"first_ns",
	"last_ns",
	"last_ns < ?4 AND rowid < (SELECT max(rowid) FROM processes) AND NOT EXISTS "
	"(SELECT 1 FROM process_minutes WHERE process = processes.id) AND NOT EXISTS "
	"(SELECT 1 FROM process_syscalls WHERE process = processes.id)",
};
/* One that runs has no end; one whose end nobody saw ended when it began, for all that is known. */
static const struct user_table jobs = {
	"jobs",
	USER_SQL,
	JOB_BYTES_SQL,
	"begin_ns",
	"CASE WHEN outcome IS NOT NULL THEN coalesce(end_ns, begin_ns) END",
	"outcome IS NOT NULL AND coalesce(end_ns, begin_ns) < ?4",
};
static const struct user_table job_events = {
	"job_events", JOB_USER_SQL, JOB_EVENT_BYTES_SQL, "ts_ns", "ts_ns", "ts_ns < ?4",
};
static const struct user_table job_runs = {
	"job_runs", USER_SQL, JOB_RUN_BYTES_SQL, "ts_ns", "ts_ns", "ts_ns < ?4",
};

const struct user_part_info user_parts[USER_PARTS] = {
	[USER_EVENTS] = { "events", 4, &events, NULL, EVENT_BYTES },
	[USER_PROCESSES] = { "processes", 2, &minutes, &processes, MINUTE_BYTES },
	[USER_ANOMALIES] = { "anomalies", 16, &anomalies, NULL, ANOMALY_BYTES },
	[USER_JOBS] = { "jobs", 8, &job_events, &jobs, JOB_EVENT_BYTES },
	[USER_JOB_RUNS] = { "job_runs", 5, &job_runs, NULL, JOB_RUN_BYTES },
	[USER_CALLS] = { "syscalls", 8, &calls, NULL, CALL_BYTES },
};

int user_rooms_flush(struct history *history, struct error *error)
{
	struct user_rooms *rooms = &history->rooms;
	int status = 0;

	for (size_t i = 0; i < rooms->count && status == 0; i++) {
		sqlite3_stmt *statement = history_statement(history, STATEMENT_USER);
		const struct user_room *room = &rooms->list[i];
		int index = 0;

		bind_text(statement, &index, user_parts[room->part].name);
		bind_number(statement, &index, (uint64_t)room->uid);
		bind_number(statement, &index, (uint64_t)room->kept);
		bind_number(statement, &index, (uint64_t)room->bytes);
		bind_number(statement, &index, (uint64_t)room->dropped);
		status = history_step(history, statement, error);
	}
	rooms->count = 0;
	return status;
}

int user_rooms_note(struct history *history, const struct user_room *change, struct error *error)
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
	size_t texts = history_event_command(event) + (event->details ? strlen(event->details) : 0);
	const struct user_room room = {
		.part = USER_EVENTS,
		.uid = event->present & LIFE_HAS_UID ? event->uid : USER_UNKNOWN,
		.kept = 1,
		.bytes = (int64_t)(EVENT_BYTES + texts),
	};

	return user_rooms_note(history, &room, error);
}

int user_rooms_add_row(struct history *history, enum user_part part, int64_t uid,
		       struct error *error)
{
	return user_rooms_note(
		history, &(struct user_room){ part, uid, 1, user_parts[part].row_bytes, 0 }, error);
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
	return user_rooms_note(history, &room, error);
}

static void read_sums(struct history *history)
{
	for (int part = 0; part < USER_PARTS; part++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT sum(bytes) FROM user_rows WHERE part = '%s'",
			 user_parts[part].name);
		history->rooms.bytes[part] = database_number(&history->database, sql, 0);
	}
	history->rooms.is_known = true;
}

int64_t user_part_bytes(struct history *history, enum user_part part)
{
	if (!history->rooms.is_known)
		read_sums(history);
	return history->rooms.bytes[part];
}

int user_rooms_recount(struct database *database, struct error *error)
{
	static const char end[] = " ON CONFLICT DO UPDATE SET kept = excluded.kept, bytes = "
				  "excluded.bytes;";
	CLEANUP(text_free) struct text sql = { 0 };

	text_append_string(&sql, "UPDATE user_rows SET kept = 0, bytes = 0;");
	for (int part = 0; part < USER_PARTS; part++) {
		const struct user_table *tables[] = { user_parts[part].first,
						      user_parts[part].second };

		text_format(
			&sql,
			"INSERT INTO user_rows(part, uid, kept, bytes, dropped) SELECT '%s', u, "
			"count(*), sum(b), 0 FROM (",
			user_parts[part].name);
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
