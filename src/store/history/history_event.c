/* SPDX-License-Identifier: MIT */
/* Writes and reads events and anomalies. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"
#include "store/json_parse.h"

/* The amounts that an exit has as columns, last in the list of columns. */
static const struct {
	enum amount_id amount;
} event_amounts[] = {
	{ AMOUNT_run_time_ns },	  { AMOUNT_wait_time_ns },     { AMOUNT_utime_ns },
	{ AMOUNT_stime_ns },	  { AMOUNT_minflt },	       { AMOUNT_majflt },
	{ AMOUNT_voluntary_csw }, { AMOUNT_nonvoluntary_csw }, { AMOUNT_rchar },
	{ AMOUNT_wchar },	  { AMOUNT_read_bytes },       { AMOUNT_write_bytes },
};

#define EVENT_COLUMNS                                                                              \
	"ts_ns, kind, pid, start_time_ns, ppid, uid, comm, cmd, exit_code, signal, status, "       \
	"sender_pid, details, lost, hiwater_rss_bytes, run_time_ns, wait_time_ns, utime_ns, "      \
	"stime_ns, minflt, majflt, voluntary_csw, nonvoluntary_csw, rchar, wchar, read_bytes, "    \
	"write_bytes"
#define ANOMALY_COLUMNS                                                                            \
	"rule, severity, begin_ns, end_ns, pid, start_time_ns, comm, uid, value, peak, "           \
	"threshold, unit, tasks, job, details"

const char *history_event_sql(enum statement_id id)
{
	if (id == STATEMENT_EVENT)
		return "INSERT INTO events(" EVENT_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		       "?,?,?,?,?,?,?,?,?,?,?,?)";
	if (id == STATEMENT_ANOMALY)
		return "INSERT INTO anomalies(" ANOMALY_COLUMNS
		       ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
	return "UPDATE anomalies SET rule=?, severity=?, begin_ns=?, end_ns=?, pid=?, "
	       "start_time_ns=?, comm=?, uid=?, value=?, peak=?, threshold=?, unit=?, tasks=?, "
	       "job=?, details=? WHERE id=?";
}

/* A program is executed once; what it does later need not repeat all of its words. */
size_t history_event_command(const struct life_event *event)
{
	if (!event->cmd)
		return 0;
	return event->kind == LIFE_EXEC ? strlen(event->cmd) : strnlen(event->cmd, COMMAND_BYTES);
}

static void bind_event(sqlite3_stmt *statement, const struct life_event *event)
{
	bool has_task = event->task.pid != 0, ended = event->present & LIFE_HAS_STATUS;
	bool was_killed = ended && WIFSIGNALED(event->status);
	int signal =
		event->kind == LIFE_EXIT && was_killed ? WTERMSIG(event->status) : event->signal;
	int index = 0;

	bind_number(statement, &index, event->unix_ns);
	bind_text(statement, &index, life_kind_names[event->kind]);
	bind_optional(statement, &index, has_task, (uint64_t)event->task.pid);
	bind_optional(statement, &index, has_task, event->task.start_ns);
	bind_optional(statement, &index, event->parent_pid != 0, (uint64_t)event->parent_pid);
	bind_optional(statement, &index, event->present & LIFE_HAS_UID, event->uid);
	bind_text(statement, &index, event->comm[0] ? event->comm : NULL);
	bind_command(statement, &index, event->cmd, history_event_command(event));
	bind_optional(statement, &index, ended && WIFEXITED(event->status),
		      (uint64_t)WEXITSTATUS(event->status));
	bind_optional(statement, &index, signal != 0, (uint64_t)signal);
	bind_optional(statement, &index, ended, (uint64_t)(int64_t)event->status);
	bind_optional(statement, &index, event->present & LIFE_HAS_SENDER,
		      (uint64_t)(int64_t)event->sender_pid);
	bind_text(statement, &index, event->details);
	bind_optional(statement, &index, event->kind == LIFE_LOST, event->lost);
	bind_optional(statement, &index, event->present & LIFE_HAS_PEAK, event->peak_rss_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(event_amounts); i++)
		bind_optional(statement, &index,
			      amounts_has(&event->amounts, event_amounts[i].amount),
			      amounts_get(&event->amounts, event_amounts[i].amount));
}

/* The row of a process that a tick has seen gets its status. */
static int note_exit(struct history *history, const struct life_event *event, struct error *error)
{
	sqlite3_stmt *statement;
	int index = 0;

	if (event->kind != LIFE_EXIT || !(event->present & LIFE_HAS_STATUS) || !history->boot)
		return 0;
	statement = history_statement(history, STATEMENT_PROCESS_EXIT);
	bind_number(statement, &index, (uint64_t)(int64_t)event->status);
	bind_number(statement, &index, event->unix_ns);
	bind_number(statement, &index, (uint64_t)history->boot);
	bind_number(statement, &index, (uint64_t)event->task.pid);
	bind_number(statement, &index, event->task.start_ns);
	return history_step(history, statement, error);
}

int history_add_event(struct history *history, const struct life_event *event, struct error *error)
{
	int status = history_begin(history, error);
	sqlite3_stmt *statement;

	if (status == 0) {
		statement = history_statement(history, STATEMENT_EVENT);
		if (statement)
			bind_event(statement, event);
		status = history_step(history, statement, error);
	}
	if (status == 0)
		status = note_exit(history, event, error);
	if (status == 0)
		status = user_rooms_add_event(history, event, error);
	*(status == 0 ? &history->added_events : &history->lost_events) +=
		event->kind == LIFE_LOST ? event->lost : 1;
	return status < 0 ? status : history_commit_large(history, error);
}

static void append_tasks(struct text *text, const struct anomaly *anomaly)
{
	for (size_t i = 0; i < anomaly->task_count; i++)
		text_format(text,
			    "%s{\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"start_time_ns\":%" PRIu64
			    "}",
			    i ? "," : "[", anomaly->tasks[i].pid, anomaly->tasks[i].tid,
			    anomaly->tasks[i].start_ns);
	if (anomaly->task_count)
		text_append_string(text, "]");
}

static int write_anomaly(struct history *history, sqlite3_stmt *statement, int64_t row,
			 const struct anomaly *anomaly, struct error *error)
{
	CLEANUP(text_free) struct text tasks = { 0 };
	bool has_task = anomaly->task.pid != 0;
	int index = 0;

	append_tasks(&tasks, anomaly);
	bind_text(statement, &index, anomaly_rules[anomaly->rule].name);
	bind_text(statement, &index, severity_names[anomaly->severity]);
	bind_number(statement, &index, anomaly->begin_unix_ns);
	bind_optional(statement, &index, anomaly->end_unix_ns != 0, anomaly->end_unix_ns);
	bind_optional(statement, &index, has_task, (uint64_t)anomaly->task.pid);
	bind_optional(statement, &index, has_task, anomaly->task.start_ns);
	bind_text(statement, &index, anomaly->comm[0] ? anomaly->comm : NULL);
	bind_optional(statement, &index, anomaly->has_uid, anomaly->uid);
	bind_real(statement, &index, true, anomaly->value);
	bind_real(statement, &index, true, anomaly->peak);
	bind_real(statement, &index, true, anomaly->threshold);
	bind_text(statement, &index, metric_unit_name(anomaly_rules[anomaly->rule].unit));
	bind_text(statement, &index, tasks.length ? text_string(&tasks) : NULL);
	bind_text(statement, &index, anomaly->job[0] ? anomaly->job : NULL);
	bind_text(statement, &index, anomaly->details[0] ? anomaly->details : NULL);
	if (row)
		bind_number(statement, &index, (uint64_t)row);
	return history_step(history, statement, error);
}

static struct episode *find_episode(struct history *history, uint64_t id)
{
	for (size_t i = 0; i < history->episodes.count; i++)
		if (history->episodes.data[i].id == id)
			return &history->episodes.data[i];
	return NULL;
}

/*
 * An episode whose opening could not be written, or was lost with its transaction, gets its row when
 * it grows or closes.
 */
int history_put_anomaly(struct history *history, enum anomaly_change change,
			const struct anomaly *anomaly, struct error *error)
{
	int status = history_begin(history, error);
	struct episode *episode = find_episode(history, anomaly->id);
	int64_t row = episode ? episode->row : 0;
	struct episode opened = { .id = anomaly->id };

	if (status == 0)
		status = write_anomaly(history,
				       history_statement(history, row ? STATEMENT_ANOMALY_CHANGE :
									STATEMENT_ANOMALY),
				       row, anomaly, error);
	*(status == 0 ? &history->added_events : &history->lost_events) += 1;
	if (status < 0)
		return status;
	opened.row = sqlite3_last_insert_rowid(history->database.handle);
	if (!row)
		status = user_rooms_add_row(history, USER_ANOMALIES,
					    anomaly->has_uid ? anomaly->uid : USER_UNKNOWN, error);
	if (status < 0)
		return status;
	if (episode && !row)
		*episode = opened;
	if (!episode && change != ANOMALY_CLOSED && array_append(&history->episodes, opened) < 0)
		return error_set(error, -ENOMEM, "not enough memory");
	if (episode && change == ANOMALY_CLOSED)
		*episode = history->episodes.data[--history->episodes.count];
	return 0;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/* The columns after `id`, in the order of EVENT_COLUMNS. */
static void read_event(sqlite3_stmt *row, enum life_kind kind, struct life_event *ret)
{
	uint64_t number;

	*ret = (struct life_event){ .kind = kind, .unix_ns = column_number_or(row, 1, 0) };
	ret->task.pid = ret->task.tid = (int32_t)column_number_or(row, 3, 0);
	ret->task.start_ns = column_number_or(row, 4, 0);
	ret->parent_pid = (int32_t)column_number_or(row, 5, 0);
	if (column_number(row, 6, &number)) {
		ret->uid = (uint32_t)number;
		ret->present |= LIFE_HAS_UID;
	}
	copy_text(ret->comm, sizeof(ret->comm), column_text(row, 7));
	ret->cmd = column_text(row, 8);
	ret->signal = (int)column_number_or(row, 10, 0);
	if (column_number(row, 11, &number)) {
		ret->status = (int)number;
		ret->present |= LIFE_HAS_STATUS;
	}
	if (column_number(row, 12, &number)) {
		ret->sender_pid = (int32_t)number;
		ret->present |= LIFE_HAS_SENDER;
	}
	ret->details = column_text(row, 13);
	ret->lost = column_number_or(row, 14, 0);
	if (column_number(row, 15, &ret->peak_rss_bytes))
		ret->present |= LIFE_HAS_PEAK;
	for (size_t i = 0; i < ARRAY_SIZE(event_amounts); i++)
		if (column_number(row, 16 + (int)i, &number))
			amounts_set(&ret->amounts, event_amounts[i].amount, number);
}

static void append_kinds(struct text *sql, uint32_t kinds)
{
	const char *before = " AND kind IN (";

	for (int i = 0; i < LIFE_KIND_COUNT; i++) {
		if (!(kinds >> i & 1))
			continue;
		text_format(sql, "%s'%s'", before, life_kind_names[i]);
		before = ",";
	}
	if (kinds)
		text_append_string(sql, ")");
}

static sqlite3_stmt *prepare_events(struct history *history, const struct event_query *query)
{
	CLEANUP(text_free) struct text sql = { 0 };
	sqlite3_stmt *statement;
	int index = 0;

	text_append_string(&sql,
			   "SELECT id, " EVENT_COLUMNS " FROM events WHERE ts_ns BETWEEN ? AND ?");
	append_kinds(&sql, query->kinds);
	if (query->pid)
		text_format(&sql, " AND pid = %" PRId32, query->pid);
	if (query->after_id)
		text_format(&sql, " AND id > %" PRId64 " ORDER BY id", (int64_t)query->after_id);
	else
		text_append_string(&sql, " ORDER BY ts_ns DESC, id DESC");
	text_append_string(&sql, " LIMIT ?");
	if (sql.failed)
		return NULL;
	statement = database_prepare(&history->database, text_string(&sql));
	if (!statement)
		return NULL;
	bind_number(statement, &index, query->span.from_unix_ns);
	bind_number(statement, &index,
		    query->span.to_unix_ns > INT64_MAX ? INT64_MAX : query->span.to_unix_ns);
	bind_number(statement, &index, query->limit ? query->limit : (uint64_t)-1);
	return statement;
}

int history_events(struct history *history, const struct event_query *query, life_event_sink *sink,
		   void *context, uint64_t *ret_last_id, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	uint64_t last = query->after_id;
	int code = SQLITE_ERROR, status = database_refresh(&history->database, error);

	if (status == 0)
		statement = prepare_events(history, query);
	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = column_text(statement, 2);
		int kind = name ? life_kind_find(name) : -1;
		struct life_event event;

		if (column_number_or(statement, 0, 0) > last)
			last = column_number_or(statement, 0, 0);
		if (kind < 0) /* of a newer version */
			continue;
		read_event(statement, (enum life_kind)kind, &event);
		status = sink(context, &event);
	}
	if (ret_last_id)
		*ret_last_id = last;
	if (status == 0 && code != SQLITE_DONE)
		return database_fail(&history->database, "read", error);
	return status;
}

static void read_tasks(const char *text, struct anomaly *ret)
{
	json_error_t ignored;
	json_t *list, *item;
	size_t i;

	if (!text || json_parse(text, strlen(text), 0, &list, &ignored) < 0)
		return;
	json_array_foreach(list, i, item)
	{
		if (i == ANOMALY_TASKS)
			break;
		ret->tasks[ret->task_count++] = (struct task_key){
			.pid = (int32_t)json_integer_value(json_object_get(item, "pid")),
			.tid = (int32_t)json_integer_value(json_object_get(item, "tid")),
			.start_ns = (uint64_t)json_integer_value(
				json_object_get(item, "start_time_ns")),
		};
	}
	json_decref(list);
}

static enum anomaly_severity find_severity(const char *name)
{
	int severity = 0;

	while (name && severity < SEVERITY_COUNT - 1 && strcmp(severity_names[severity], name))
		severity++;
	return (enum anomaly_severity)severity;
}

static void read_anomaly(sqlite3_stmt *row, enum anomaly_rule rule, struct anomaly *ret)
{
	uint64_t uid;

	*ret = (struct anomaly){ .id = column_number_or(row, 0, 0), .rule = rule };
	ret->severity = find_severity(column_text(row, 2));
	ret->begin_unix_ns = column_number_or(row, 3, 0);
	ret->end_unix_ns = column_number_or(row, 4, 0);
	ret->task.pid = ret->task.tid = (int32_t)column_number_or(row, 5, 0);
	ret->task.start_ns = column_number_or(row, 6, 0);
	copy_text(ret->comm, sizeof(ret->comm), column_text(row, 7));
	ret->has_uid = column_number(row, 8, &uid);
	ret->uid = ret->has_uid ? (uint32_t)uid : 0;
	column_real(row, 9, &ret->value);
	column_real(row, 10, &ret->peak);
	column_real(row, 11, &ret->threshold);
	read_tasks(column_text(row, 13), ret);
	copy_text(ret->job, sizeof(ret->job), column_text(row, 14));
	copy_text(ret->details, sizeof(ret->details), column_text(row, 15));
}

static sqlite3_stmt *prepare_anomalies(struct history *history, const struct anomaly_query *query)
{
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		"SELECT id, " ANOMALY_COLUMNS " FROM anomalies WHERE begin_ns <= ? AND "
		"(end_ns IS NULL OR (end_ns >= ? AND NOT ?)) ORDER BY begin_ns DESC, id DESC");
	int index = 0;

	if (!statement)
		return NULL;
	bind_number(statement, &index,
		    query->span.to_unix_ns > INT64_MAX ? INT64_MAX : query->span.to_unix_ns);
	bind_number(statement, &index, query->span.from_unix_ns);
	bind_number(statement, &index, query->open_only);
	return statement;
}

int history_anomalies(struct history *history, const struct anomaly_query *query,
		      anomaly_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	size_t count = 0;
	int code = SQLITE_ERROR, status = database_refresh(&history->database, error);

	if (status == 0)
		statement = prepare_anomalies(history, query);
	while (statement && status == 0 && (!query->limit || count < query->limit) &&
	       (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = column_text(statement, 1);
		int rule = name ? anomaly_rule_find(name) : -1;
		struct anomaly anomaly;

		if (rule < 0 || (query->rules && !(query->rules >> rule & 1)))
			continue;
		read_anomaly(statement, (enum anomaly_rule)rule, &anomaly);
		status = sink(context, anomaly.end_unix_ns ? ANOMALY_CLOSED : ANOMALY_OPENED,
			      &anomaly);
		count++;
	}
	if (status == 0 && code != SQLITE_DONE && code != SQLITE_ROW)
		return database_fail(&history->database, "read", error);
	return status;
}
