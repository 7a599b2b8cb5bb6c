/* SPDX-License-Identifier: MIT */
#include "store/history/calls/history_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/number_map.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"

#define MINUTE_NS (UINT64_C(60) * 1000000000)

struct call_process {
	struct task_key key;
	struct call_lines lines;
};

struct call_minutes {
	uint64_t minute; /* that is being added up */
	struct number_map by_pid;
	ARRAY_OF(struct call_process *) processes;
	struct call_lines others; /* of processes without rows of their own */
};

static void clear(struct call_minutes *minutes)
{
	for (size_t i = 0; i < minutes->processes.count; i++) {
		call_lines_clear(&minutes->processes.data[i]->lines);
		free(minutes->processes.data[i]);
	}
	minutes->processes.count = 0;
	minutes->others.list.count = 0;
	number_map_clear(&minutes->by_pid);
}

void call_minutes_free(struct call_minutes *minutes)
{
	if (!minutes)
		return;
	clear(minutes);
	array_free(&minutes->processes);
	call_lines_clear(&minutes->others);
	free(minutes);
}

static struct call_process *add_process(struct call_minutes *minutes, const struct task_key *key)
{
	struct call_process *process = calloc(1, sizeof(*process));

	if (!process || array_append(&minutes->processes, process) < 0) {
		free(process);
		return NULL;
	}
	process->key = *key;
	return number_map_set(&minutes->by_pid, key->pid, process) < 0 ? NULL : process;
}

/* The lines that calls of the process are added to; NULL when memory runs out. */
static struct call_lines *lines_of(struct call_minutes *minutes, const struct task_key *key)
{
	struct call_process *process = number_map_get(&minutes->by_pid, key->pid);

	if (process && process->key.start_ns == key->start_ns)
		return &process->lines;
	if (!key->pid || minutes->processes.count >= CALL_PROCESSES)
		return &minutes->others;
	process = add_process(minutes, key);
	return process ? &process->lines : NULL;
}

static int write_line(struct history *history, int64_t process, int64_t uid, uint64_t minute,
		      const struct call_line *line, struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_CALL);
	int index = 0, status;

	bind_number(statement, &index, (uint64_t)process);
	bind_number(statement, &index, minute * MINUTE_NS);
	bind_text(statement, &index, line->name[0] ? line->name : NULL);
	bind_number(statement, &index, line->calls);
	bind_number(statement, &index, line->errors);
	bind_number(statement, &index, line->time_ns);
	bind_number(statement, &index, line->max_ns);
	status = history_step(history, statement, error);
	return status < 0 ? status : user_rooms_add_row(history, USER_CALLS, uid, error);
}

static int write_lines(struct history *history, int64_t process, int64_t uid, uint64_t minute,
		       struct call_lines *lines, struct error *error)
{
	struct call_line rest = { 0 };
	int status = 0;

	call_lines_sort(lines);
	for (size_t i = 0; i < lines->list.count && status == 0; i++)
		if (i < CALLS_PER_PROCESS)
			status = write_line(history, process, uid, minute, &lines->list.data[i],
					    error);
		else
			call_line_add(&rest, &lines->list.data[i]);
	return status == 0 && rest.calls ? write_line(history, process, uid, minute, &rest, error) :
					   status;
}

/* Its row, or 0, and whose it is. */
static int64_t find_process(struct history *history, const struct task_key *key, int64_t *ret_uid)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS_USER);
	int64_t row = 0;
	int index = 0;

	bind_number(statement, &index, (uint64_t)history->boot);
	bind_number(statement, &index, (uint64_t)key->pid);
	bind_number(statement, &index, key->start_ns);
	if (statement && sqlite3_step(statement) == SQLITE_ROW) {
		row = sqlite3_column_int64(statement, 0);
		*ret_uid = sqlite3_column_int64(statement, 1);
	}
	sqlite3_reset(statement);
	return row;
}

static int write_process(struct history *history, struct call_process *process, struct error *error)
{
	struct call_minutes *minutes = history->calls;
	int64_t uid = USER_UNKNOWN, row = find_process(history, &process->key, &uid);
	int status = 0;

	if (row)
		return write_lines(history, row, uid, minutes->minute, &process->lines, error);
	for (size_t i = 0; i < process->lines.list.count && status == 0; i++)
		status = call_lines_add(&minutes->others, &process->lines.list.data[i]);
	return status < 0 ? error_set(error, status, "not enough memory") : 0;
}

int call_minutes_flush(struct history *history, struct error *error)
{
	struct call_minutes *minutes = history->calls;
	int status = 0;

	/* Before its first tick a recording knows no process; then the minute is written with the next one. */
	if (!minutes || !history->boot ||
	    (!minutes->processes.count && !minutes->others.list.count))
		return 0;
	status = history_begin(history, error);
	for (size_t i = 0; i < minutes->processes.count && status == 0; i++)
		status = write_process(history, minutes->processes.data[i], error);
	if (status == 0)
		status = write_lines(history, 0, USER_UNKNOWN, minutes->minute, &minutes->others,
				     error);
	clear(minutes);
	return status;
}

int history_add_calls(struct history *history, uint64_t unix_ns, const struct process_call *calls,
		      size_t count, struct error *error)
{
	struct call_minutes *minutes = history->calls;
	int status = 0;

	if (!minutes)
		minutes = history->calls = calloc(1, sizeof(*minutes));
	if (!minutes)
		return error_set(error, -ENOMEM, "not enough memory");
	if (minutes->minute != unix_ns / MINUTE_NS)
		status = call_minutes_flush(history, error);
	minutes->minute = unix_ns / MINUTE_NS;
	for (size_t i = 0; i < count; i++) {
		struct call_lines *lines = lines_of(minutes, &calls[i].process);

		if (!lines || call_lines_add(lines, &calls[i].line) < 0)
			return error_set(error, -ENOMEM, "not enough memory");
	}
	return status;
}

static void make_query(const struct call_query *query, struct text *sql)
{
	text_append_string(
		sql, "SELECT * FROM (SELECT c.ts_ns AS ts, p.pid AS pid, p.start_time_ns, p.comm, "
		     "c.syscall, c.calls, c.errors, c.time_ns AS time, c.max_ns FROM "
		     "process_syscalls AS c LEFT JOIN processes AS p ON p.id = c.process "
		     "WHERE c.ts_ns > ? - 60000000000 AND c.ts_ns <= ?");
	if (query->pid)
		text_format(sql, " AND p.pid = %" PRId32, query->pid);
	if (query->name)
		text_append_string(sql, " AND p.comm = ?");
	text_append_string(sql, " ORDER BY 1 DESC, 2 DESC, 8");
	if (query->limit)
		text_format(sql, " LIMIT %zu", query->limit);
	text_append_string(sql, ") ORDER BY ts, pid, time DESC");
}

static int send_row(sqlite3_stmt *row, call_point_sink *sink, void *context)
{
	int32_t pid = (int32_t)column_number_or(row, 1, 0);
	const char *name = column_text(row, 4);
	struct call_point point = {
		.unix_ns = column_number_or(row, 0, 0),
		.process = { pid, pid, column_number_or(row, 2, 0) },
		.comm = column_text(row, 3),
		.line = { .calls = column_number_or(row, 5, 0),
			  .errors = column_number_or(row, 6, 0),
			  .time_ns = column_number_or(row, 7, 0),
			  .max_ns = column_number_or(row, 8, 0) },
	};

	snprintf(point.line.name, sizeof(point.line.name), "%s", name ? name : "");
	return sink(context, &point);
}

int history_calls(struct history *history, const struct call_query *query, call_point_sink *sink,
		  void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	CLEANUP(text_free) struct text sql = { 0 };
	int code, index = 0, status = 0;

	/* An older recording has no such table. */
	if (!schema_has_column(&history->database, "process_syscalls", "calls"))
		return 0;
	make_query(query, &sql);
	statement = sql.failed ? NULL : database_prepare(&history->database, text_string(&sql));
	if (!statement)
		return database_fail(&history->database, "read", error);
	sqlite3_bind_int64(statement, ++index,
			   query->span.from_unix_ns > INT64_MAX ?
				   INT64_MAX :
				   (int64_t)query->span.from_unix_ns);
	sqlite3_bind_int64(statement, ++index,
			   query->span.to_unix_ns > INT64_MAX ? INT64_MAX :
								(int64_t)query->span.to_unix_ns);
	if (query->name)
		bind_text(statement, &index, query->name);
	while (status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		status = send_row(statement, sink, context);
	return status == 0 && code != SQLITE_DONE ?
		       database_fail(&history->database, "read", error) :
		       status;
}
