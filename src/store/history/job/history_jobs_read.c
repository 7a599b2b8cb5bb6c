/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"
#include "store/history/job/history_jobs.h"
#include "store/history/database/schema.h"

#define JOB_COLUMNS                                                                                \
	"j.id, name, j.begin_ns, end_ns, outcome, exit_status, pid, start_time_ns, cgroup, uid, "  \
	"cmd, boot_id, begin_boottime_ns, duration_ns, steps, watched, absent, details, memory"
#define STEP_COLUMNS                                                                               \
	"job, step, begin_ns, end_ns, outcome, begin_boottime_ns, duration_ns, pid, "              \
	"start_time_ns, details, memory"
#define EVENT_COLUMNS "job, step, ts_ns, kind, pid, start_time_ns, comm, details, context, count"
enum { JOB_COLUMN_COUNT = 19, STEP_COLUMN_COUNT = 11 };

/* The place of a text in a list of names, or `otherwise`. */
static int find_name(const char *const *names, int count, const char *name, int otherwise)
{
	for (int i = 0; name && i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return otherwise;
}

static enum job_outcome read_outcome(sqlite3_stmt *row, int column)
{
	const char *name = column_text(row, column);

	return name ? (enum job_outcome)find_name(job_outcome_names, JOB_OUTCOME_COUNT, name,
						  JOB_UNKNOWN) :
		      JOB_RUNNING;
}

static enum job_memory read_figures(sqlite3_stmt *row, int column, struct job_figures *ret)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++) {
		double number;

		if (column_real(row, column + 1 + i, &number))
			job_set_read(ret, (enum job_value)i, number);
	}
	return (enum job_memory)find_name(job_memory_names, JOB_MEMORY_COUNT,
					  column_text(row, column), JOB_MEMORY_UNKNOWN);
}

static struct task_key read_task(sqlite3_stmt *row, int column)
{
	int32_t pid = (int32_t)column_number_or(row, column, 0);

	return (struct task_key){ pid, pid, column_number_or(row, column + 1, 0) };
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static int read_job(sqlite3_stmt *row, job_sink *sink, void *context)
{
	struct job job = {
		.id = column_number_or(row, 0, 0),
		.name = text_or(column_text(row, 1), "?"),
		.begin_unix_ns = column_number_or(row, 2, 0),
		.end_unix_ns = column_number_or(row, 3, 0),
		.outcome = read_outcome(row, 4),
		.root = read_task(row, 6),
		.cgroup = column_text(row, 8),
		.uid = (uint32_t)column_number_or(row, 9, 0),
		.cmd = column_text(row, 10),
		.boot_id = column_text(row, 11),
		.begin_boottime_ns = column_number_or(row, 12, 0),
		.duration_ns = column_number_or(row, 13, 0),
		.steps = column_number_or(row, 14, 0),
		.watched = column_text(row, 15),
		.absent = column_text(row, 16),
		.details = column_text(row, 17),
	};
	uint64_t status;

	job.has_status = column_number(row, 5, &status);
	job.status = job.has_status ? (int)(int64_t)status : 0;
	job.memory = read_figures(row, JOB_COLUMN_COUNT - 1, &job.figures);
	return sink(context, &job);
}

/* Whether there is one more row; else *status is 0, an error, or what a sink returned. */
static bool next_row(struct history *history, sqlite3_stmt *statement, int *status,
		     struct error *error)
{
	int code;

	if (*status != 0)
		return false;
	code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		*status = database_fail(&history->database, "read", error);
	return code == SQLITE_ROW;
}

/* Ready to be read; an earlier version has no jobs (*ret_has). */
static int begin_reading(struct history *history, const char *table, const char *column,
			 bool *ret_has, struct error *error)
{
	int status = database_refresh(&history->database, error);

	*ret_has = status == 0 && schema_has_column(&history->database, table, column);
	return status;
}

static sqlite3_stmt *prepare_jobs(struct history *history, const struct job_query *query)
{
	CLEANUP(text_free) struct text sql = { 0 };
	sqlite3_stmt *statement;

	text_append_string(&sql, "SELECT " JOB_COLUMNS);
	schema_job_columns(&history->database, "jobs", "", &sql);
	text_append_string(&sql,
			   " FROM jobs AS j LEFT JOIN boots AS b ON b.id = j.boot WHERE "
			   "j.begin_ns <= ?1 AND (outcome IS NULL OR max(coalesce(end_ns, 0), "
			   "j.begin_ns) >= ?2)");
	text_append_string(&sql, query->id ? " AND j.id = ?3" : " AND ?3 = 0");
	text_append_string(&sql, query->name ? " AND name = ?4" : " AND ?4 IS NULL");
	if (query->has_uid)
		text_format(&sql, " AND uid = %" PRIu32, query->uid);
	if (query->below_id)
		text_format(&sql, " AND j.id < %" PRIu64, query->below_id);
	if (query->running_only)
		text_append_string(&sql, " AND outcome IS NULL");
	if (query->ended_only)
		text_append_string(&sql, " AND outcome IS NOT NULL");
	text_append_string(&sql, " ORDER BY j.id DESC LIMIT ?5");
	if (sql.failed)
		return NULL;
	statement = database_prepare(&history->database, text_string(&sql));
	sqlite3_bind_int64(statement, 1,
			   query->span.to_unix_ns > INT64_MAX ? INT64_MAX :
								(int64_t)query->span.to_unix_ns);
	sqlite3_bind_int64(statement, 2, (int64_t)query->span.from_unix_ns);
	sqlite3_bind_int64(statement, 3, (int64_t)query->id);
	sqlite3_bind_text(statement, 4, query->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 5, query->limit ? (int64_t)query->limit : -1);
	return statement;
}

int history_jobs(struct history *history, const struct job_query *query, job_sink *sink,
		 void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	bool has_jobs;
	int status = begin_reading(history, "jobs", "boot", &has_jobs, error);

	if (!has_jobs)
		return status;
	statement = prepare_jobs(history, query);
	while (next_row(history, statement, &status, error))
		status = read_job(statement, sink, context);
	return status;
}

int history_job_steps(struct history *history, uint64_t job, job_step_sink *sink, void *context,
		      struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	CLEANUP(text_free) struct text sql = { 0 };
	bool has_steps;
	int status = begin_reading(history, "job_steps", "pid", &has_steps, error);

	if (!has_steps)
		return status;
	text_append_string(&sql, "SELECT " STEP_COLUMNS);
	schema_job_columns(&history->database, "job_steps", "", &sql);
	text_append_string(&sql, " FROM job_steps WHERE job=? ORDER BY id");
	row = sql.failed ? NULL : database_prepare(&history->database, text_string(&sql));
	sqlite3_bind_int64(row, 1, (int64_t)job);
	while (next_row(history, row, &status, error)) {
		struct job_step step = {
			.job = column_number_or(row, 0, 0),
			.name = text_or(column_text(row, 1), "?"),
			.begin_unix_ns = column_number_or(row, 2, 0),
			.end_unix_ns = column_number_or(row, 3, 0),
			.outcome = read_outcome(row, 4),
			.begin_boottime_ns = column_number_or(row, 5, 0),
			.duration_ns = column_number_or(row, 6, 0),
			.root = read_task(row, 7),
			.details = column_text(row, 9),
		};

		step.memory = read_figures(row, STEP_COLUMN_COUNT - 1, &step.figures);
		status = sink(context, &step);
	}
	return status;
}

int history_job_processes(struct history *history, uint64_t job, const char *boot_id,
			  job_process_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	bool has_jobs;
	int status = begin_reading(history, "processes", "job_step", &has_jobs, error);

	if (!has_jobs)
		return status;
	row = database_prepare(&history->database,
			       "SELECT pid, start_time_ns, job_step FROM processes WHERE job=? AND "
			       "boot IN (SELECT id FROM boots WHERE boot_id=?)");
	sqlite3_bind_int64(row, 1, (int64_t)job);
	sqlite3_bind_text(row, 2, boot_id, -1, SQLITE_STATIC);
	while (next_row(history, row, &status, error)) {
		struct task_key process = read_task(row, 0);

		status = sink(context, &process, column_text(row, 2));
	}
	return status;
}

int history_job_events(struct history *history, uint64_t job, size_t limit, job_event_sink *sink,
		       void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	bool has_events;
	int status = begin_reading(history, "job_events", "job", &has_events, error);

	if (!has_events)
		return status;
	row = database_prepare(&history->database, "SELECT " EVENT_COLUMNS " FROM job_events WHERE "
						   "job=? ORDER BY id LIMIT ?");
	sqlite3_bind_int64(row, 1, (int64_t)job);
	sqlite3_bind_int64(row, 2, limit ? (int64_t)limit : -1);
	while (next_row(history, row, &status, error)) {
		int kind =
			find_name(job_event_names, JOB_EVENT_KIND_COUNT, column_text(row, 3), -1);
		const struct job_event event = {
			.job = column_number_or(row, 0, 0),
			.step = column_text(row, 1),
			.unix_ns = column_number_or(row, 2, 0),
			.kind = (enum job_event_kind)kind,
			.task = read_task(row, 4),
			.comm = column_text(row, 6),
			.details = column_text(row, 7),
			.context = column_text(row, 8),
			.count = column_number_or(row, 9, 1),
		};

		if (kind >= 0) /* else it is of a newer version */
			status = sink(context, &event);
	}
	return status;
}

int history_job_syscalls(struct history *history, uint64_t job, const char *step, size_t limit,
			 job_syscall_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	bool has_syscalls;
	int status = begin_reading(history, "job_syscalls", "job", &has_syscalls, error);

	if (!has_syscalls)
		return status;
	row = database_prepare(&history->database,
			       "SELECT name, calls, errors, time_ns FROM job_syscalls WHERE job=? "
			       "AND step IS ? ORDER BY time_ns DESC, name LIMIT ?");
	sqlite3_bind_int64(row, 1, (int64_t)job);
	sqlite3_bind_text(row, 2, step, -1, SQLITE_STATIC);
	sqlite3_bind_int64(row, 3, limit ? (int64_t)limit : -1);
	while (next_row(history, row, &status, error)) {
		const struct job_syscall syscall = {
			.name = text_or(column_text(row, 0), "?"),
			.calls = column_number_or(row, 1, 0),
			.errors = column_number_or(row, 2, 0),
			.time_ns = column_number_or(row, 3, 0),
		};

		status = sink(context, &syscall);
	}
	return status;
}

int history_job_run(struct history *history, uint64_t job, const char *step, void **ret,
		    size_t *ret_size, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	bool has_runs;
	int status = begin_reading(history, "job_runs", "job", &has_runs, error);

	if (status < 0)
		return status;
	if (has_runs)
		row = database_prepare(
			&history->database,
			ret ? "SELECT run FROM job_runs WHERE job=? AND step IS ? ORDER BY "
			      "id DESC LIMIT 1" :
			      "SELECT length(run) FROM job_runs WHERE job=? AND step IS ? ORDER BY "
			      "id DESC LIMIT 1");
	sqlite3_bind_int64(row, 1, (int64_t)job);
	sqlite3_bind_text(row, 2, step, -1, SQLITE_STATIC);
	if (!has_runs || !next_row(history, row, &status, error))
		return status < 0 ? status :
				    error_set(error, -ENODATA, "job %" PRIu64 " has no run", job);
	if (!ret) {
		*ret_size = (size_t)column_number_or(row, 0, 0);
		return 0;
	}
	*ret_size = (size_t)sqlite3_column_bytes(row, 0);
	*ret = malloc(*ret_size ? *ret_size : 1);
	if (!*ret)
		return error_set(error, -ENOMEM, "not enough memory");
	if (*ret_size)
		memcpy(*ret, sqlite3_column_blob(row, 0), *ret_size);
	return 0;
}

int history_patterns(struct history *history, const struct history_span *span, size_t limit,
		     pattern_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	bool has_patterns;
	int status = begin_reading(history, "patterns", "kind", &has_patterns, error);

	if (!has_patterns)
		return status;
	row = database_prepare(&history->database,
			       "SELECT ts_ns, kind, name, jobs, failures, rate, p_value, details "
			       "FROM patterns WHERE ts_ns BETWEEN ? AND ? ORDER BY ts_ns DESC, id "
			       "DESC LIMIT ?");
	sqlite3_bind_int64(row, 1, (int64_t)span->from_unix_ns);
	sqlite3_bind_int64(row, 2,
			   span->to_unix_ns > INT64_MAX ? INT64_MAX : (int64_t)span->to_unix_ns);
	sqlite3_bind_int64(row, 3, limit ? (int64_t)limit : -1);
	while (next_row(history, row, &status, error)) {
		int kind =
			find_name(pattern_kind_names, PATTERN_KIND_COUNT, column_text(row, 1), -1);
		struct pattern pattern = {
			.unix_ns = column_number_or(row, 0, 0),
			.kind = (enum pattern_kind)kind,
			.name = text_or(column_text(row, 2), "?"),
			.jobs = column_number_or(row, 3, 0),
			.failures = column_number_or(row, 4, 0),
			.details = column_text(row, 7),
		};

		column_real(row, 5, &pattern.rate);
		column_real(row, 6, &pattern.p_value);
		if (kind >= 0)
			status = sink(context, &pattern);
	}
	return status;
}
