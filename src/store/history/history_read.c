/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"
#include "store/json_parse.h"
#include "store/snapshot_file.h"

bool history_extent(struct history *history, struct history_span *ret)
{
	struct error ignored = { 0 };
	int64_t first, last, minute;

	if (database_refresh(&history->database, &ignored) < 0)
		return false;
	first = database_number(&history->database, "SELECT min(ts_ns) FROM ticks", -1);
	last = database_number(&history->database,
			       "SELECT ts_ns FROM ticks ORDER BY id DESC LIMIT 1", -1);
	minute = database_number(&history->database, "SELECT min(ts_ns) FROM process_minutes", -1);

	if (last < 0)
		return false;
	if (minute >= 0 && minute < first)
		first = minute;
	*ret = (struct history_span){ (uint64_t)first, (uint64_t)last };
	return true;
}

uint64_t history_end(struct history *history)
{
	static const char *const newest[] = {
		"SELECT ts_ns FROM ticks ORDER BY id DESC LIMIT 1",
		"SELECT ts_ns FROM events ORDER BY id DESC LIMIT 1",
		"SELECT max(ts_ns) FROM activity_walks",
		"SELECT max(coalesce(end_ns, 0), begin_ns) FROM jobs ORDER BY id DESC LIMIT 1",
	};
	struct error ignored = { 0 };
	int64_t end = 0;

	if (database_refresh(&history->database, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(newest); i++) {
		int64_t found = database_number(&history->database, newest[i], 0);

		end = found > end ? found : end;
	}
	return (uint64_t)end;
}

void history_name_time(uint64_t unix_ns, char *name, size_t size)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(name, size, "%Y-%m-%d %H:%M:%S", &local))
		snprintf(name, size, "?");
}

void history_name_tick(const struct history *history, uint64_t unix_ns, char *name, size_t size)
{
	char when[32];

	history_name_time(unix_ns, when, sizeof(when));
	snprintf(name, size, "the tick of %s in %s", when, history->database.path);
}

static int read_frame(struct history *history, sqlite3_stmt *row, bool is_key, const char *name,
		      struct error *error)
{
	const void *bytes = sqlite3_column_blob(row, 1);
	size_t size = (size_t)sqlite3_column_bytes(row, 1);

	if (!bytes)
		bytes = "";
	return (is_key ? frame_read_key : frame_read_change)(history->reader, name, bytes, size,
							     error);
}

static int read_chain(struct history *history, const struct tick_place *tick, const char *name,
		      struct error *error)
{
	bool goes_on = history->read_chain == tick->chain && history->read_tick <= tick->id;
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		"SELECT id, frame FROM ticks WHERE chain=? AND id>? AND id<=? ORDER BY id");
	int index = 0, status = 0, code = SQLITE_ERROR;

	if (!statement)
		return database_fail(&history->database, "read", error);
	bind_number(statement, &index, (uint64_t)tick->chain);
	bind_number(statement, &index, goes_on ? (uint64_t)history->read_tick : 0);
	bind_number(statement, &index, (uint64_t)tick->id);
	if (!goes_on)
		history->read_tick = 0;
	history->read_chain = 0;
	while (status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);

		status = read_frame(history, statement, id == tick->chain, name, error);
		history->read_tick = id;
	}
	if (status == 0 && code != SQLITE_DONE)
		return database_fail(&history->database, "read", error);
	if (status == 0 && history->read_tick != tick->id)
		return error_set(error, -EBADMSG, "%s is damaged: it is not there", name);
	if (status == 0)
		history->read_chain = tick->chain;
	return status;
}

int history_read_tick(struct history *history, const struct tick_place *tick, struct snapshot **ret,
		      struct error *error)
{
	char name[4096 + 64];
	int status;

	history_name_tick(history, tick->unix_ns, name, sizeof(name));
	status = read_chain(history, tick, name, error);
	return status < 0 ? status : frame_reader_snapshot(history->reader, name, ret, error);
}

/*
 * Finds the newest tick at or before the time among those with ids from `from` to before `to`.  1, 0
 * when there is none, or an error.
 */
static int find_tick(struct history *history, uint64_t at_unix_ns, int64_t from, int64_t to,
		     struct tick_place *ret, struct error *error)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		"SELECT id, chain, ts_ns FROM ticks WHERE ts_ns <= ? AND id >= ? AND id < ? AND "
		"NOT is_burst ORDER BY ts_ns DESC, id DESC LIMIT 1");
	int index = 0, code;

	if (!statement)
		return database_fail(&history->database, "read", error);
	bind_number(statement, &index, at_unix_ns > INT64_MAX ? INT64_MAX : at_unix_ns);
	bind_number(statement, &index, (uint64_t)from);
	bind_number(statement, &index, (uint64_t)to);
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? 0 : database_fail(&history->database, "read", error);
	*ret = (struct tick_place){ sqlite3_column_int64(statement, 0),
				    sqlite3_column_int64(statement, 1),
				    column_number_or(statement, 2, 0) };
	return 1;
}

/*
 * Where the clock was set back, a time may have come more than once: the newest stretch that reaches
 * beyond it has it; when none does, it is the end of the newest that begins before it.
 */
static int find_newest(struct history *history, uint64_t at_unix_ns, struct tick_place *ret,
		       struct error *error)
{
	struct clock_steps steps;
	int64_t to = INT64_MAX;
	int found = 0;

	clock_steps_read(history, &steps);
	for (size_t i = steps.count + 1; i-- > 0;) {
		int64_t from = i ? steps.ticks[i - 1] : 0;
		struct tick_place tick, last;
		int status = find_tick(history, at_unix_ns, from, to, &tick, error);

		if (status < 0)
			return status;
		if (status && !found)
			*ret = tick;
		found |= status;
		if (status && find_tick(history, UINT64_MAX, from, to, &last, error) == 1 &&
		    at_unix_ns <= last.unix_ns) {
			*ret = tick;
			return 1;
		}
		to = from;
	}
	return found;
}

int history_snapshot(struct history *history, uint64_t at_unix_ns, struct snapshot **ret,
		     struct error *error)
{
	struct tick_place tick;
	int status = database_refresh(&history->database, error);

	if (status == 0)
		status = find_newest(history, at_unix_ns, &tick, error);
	if (status < 0)
		return status;
	return status ? history_read_tick(history, &tick, ret, error) :
			history_minute_snapshot(history, at_unix_ns, ret, error);
}

static enum pressure_level read_level(sqlite3_stmt *row, int column)
{
	const char *name = column_text(row, column);

	for (int i = 0; name && i < PRESSURE_LEVEL_COUNT; i++)
		if (strcmp(name, pressure_level_names[i]) == 0)
			return (enum pressure_level)i;
	return PRESSURE_UNKNOWN;
}

/* Printed as it is, so it must be JSON, and on one line. */
static const char *read_json(sqlite3_stmt *row, int column)
{
	const char *text = column_text(row, column);
	json_t *value;
	json_error_t ignored;

	if (!text || strchr(text, '\n') || json_parse(text, strlen(text), 0, &value, &ignored) < 0)
		return NULL;
	json_decref(value);
	return text;
}

#define SAMPLE_VALUES 7 /* the columns from here on are values */

/* Reads the columns of host_samples or host_minutes: ts_ns, pressure_level, ..., then values. */
static void read_sample(sqlite3_stmt *row, struct host_sample *ret)
{
	const char *zombies = column_text(row, 2), *scope = column_text(row, 4);
	double value;

	*ret = (struct host_sample){ .unix_ns = column_number_or(row, 0, 0),
				     .pressure_level = read_level(row, 1),
				     .scope_pressure_level = read_level(row, 5),
				     .recorder_pid = (int32_t)column_number_or(row, 3, 0) };
	snprintf(ret->scope, sizeof(ret->scope), "%s", scope ? scope : "");
	ret->jobs = read_json(row, 6);
	while (zombies && *zombies && ret->zombie_pid_count < HOST_SAMPLE_ZOMBIES) {
		uint64_t pid;

		if (!scan_u64(&zombies, &pid))
			break;
		ret->zombie_pids[ret->zombie_pid_count++] = (int32_t)pid;
		zombies += *zombies == ',';
	}
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		if (column_real(row, SAMPLE_VALUES + i, &value))
			host_sample_set(ret, (enum host_value)i, value);
}

/* A file of an older version lacks columns: they are NULL. */
static void append_column(struct history *history, const char *table, const char *name,
			  struct text *sql)
{
	text_format(sql, ", %s",
		    schema_has_column(&history->database, table, name) ? name : "NULL");
}

static void append_values(struct history *history, const char *table, struct text *sql)
{
	append_column(history, table, "scope", sql);
	append_column(history, table, "scope_pressure_level", sql);
	append_column(history, table, "jobs", sql);
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		append_column(history, table, host_values[i].name, sql);
}

static sqlite3_stmt *prepare_samples(struct history *history, const struct history_span *span,
				     size_t limit)
{
	CLEANUP(text_free) struct text sql = { 0 };
	sqlite3_stmt *statement;
	int index = 0;

	text_append_string(&sql, "SELECT * FROM (SELECT ts_ns, pressure_level, zombie_pids, "
				 "recorder_pid");
	append_values(history, "host_samples", &sql);
	text_append_string(&sql,
			   " FROM host_samples WHERE ts_ns BETWEEN ?1 AND ?2 UNION ALL SELECT "
			   "ts_ns, pressure_level, NULL, NULL");
	append_values(history, "host_minutes", &sql);
	text_append_string(&sql, " FROM host_minutes WHERE ts_ns BETWEEN ?1 AND ?2) ORDER BY ts_ns "
				 "DESC LIMIT ?3");
	statement = sql.failed ? NULL : database_prepare(&history->database, text_string(&sql));
	if (!statement)
		return NULL;
	bind_number(statement, &index, span->from_unix_ns);
	bind_number(statement, &index, span->to_unix_ns > INT64_MAX ? INT64_MAX : span->to_unix_ns);
	bind_number(statement, &index, limit ? limit : (uint64_t)-1);
	return statement;
}

int history_samples(struct history *history, const struct history_span *span, size_t limit,
		    host_sample_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	int code = SQLITE_ERROR, status = database_refresh(&history->database, error);

	if (status == 0)
		statement = prepare_samples(history, span, limit);
	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct host_sample sample;

		read_sample(statement, &sample);
		status = sink(context, &sample);
	}
	if (status == 0 && code != SQLITE_DONE)
		return database_fail(&history->database, "read", error);
	return status;
}
