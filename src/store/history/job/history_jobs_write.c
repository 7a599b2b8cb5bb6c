/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history_parts.h"
#include "store/history/job/history_jobs.h"
#include "store/history/database/schema.h"

/* Columns that are written each time, in the order in which they are bound; then the figures. */
static const char *const job_columns[] = {
	"name",		 "begin_ns", "end_ns",	"outcome", "exit_status", "pid",
	"start_time_ns", "cgroup",   "uid",	"cmd",	   "boot",	  "begin_boottime_ns",
	"duration_ns",	 "steps",    "watched", "absent",
};
static const char *const step_columns[] = {
	"begin_ns", "end_ns", "outcome", "begin_boottime_ns", "duration_ns", "pid", "start_time_ns",
};

static void append_insert(struct text *sql, const char *table, const char *const *columns,
			  size_t count)
{
	text_format(sql, "INSERT INTO %s(", table);
	for (size_t i = 0; i < count; i++)
		text_format(sql, "%s, ", columns[i]);
	text_append_string(sql, "details, memory");
	schema_job_columns(NULL, table, "", sql);
}

static void append_places(struct text *sql, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_append_string(sql, i ? ",?" : "?");
}

static void append_update(struct text *sql, const char *table, const char *const *columns,
			  size_t count)
{
	text_format(sql, "UPDATE %s SET ", table);
	for (size_t i = 0; i < count; i++)
		text_format(sql, "%s=?, ", columns[i]);
	text_append_string(sql, "details=coalesce(?, details), memory=coalesce(?, memory)");
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		text_format(sql, ", %s=coalesce(?, %s)", job_values[i].name, job_values[i].name);
}

bool history_job_sql(enum statement_id id, struct text *sql)
{
	switch (id) {
	case STATEMENT_JOB:
		append_insert(sql, "jobs", job_columns, ARRAY_SIZE(job_columns));
		text_append_string(sql, ") VALUES(");
		append_places(sql, ARRAY_SIZE(job_columns) + 2 + JOB_VALUE_COUNT);
		text_append_string(sql, ")");
		return true;
	case STATEMENT_JOB_CHANGE:
		append_update(sql, "jobs", job_columns, ARRAY_SIZE(job_columns));
		text_append_string(sql, " WHERE id=?");
		return true;
	case STATEMENT_STEP:
		append_insert(sql, "job_steps", step_columns, ARRAY_SIZE(step_columns));
		text_append_string(sql, ", job, step) VALUES(");
		append_places(sql, ARRAY_SIZE(step_columns) + 2 + JOB_VALUE_COUNT + 2);
		text_append_string(sql, ")");
		return true;
	case STATEMENT_STEP_CHANGE:
		append_update(sql, "job_steps", step_columns, ARRAY_SIZE(step_columns));
		text_append_string(sql, " WHERE job=? AND step=?");
		return true;
	case STATEMENT_JOB_USER:
		text_append_string(sql, "SELECT uid FROM jobs WHERE id=?");
		return true;
	case STATEMENT_JOB_EVENT:
		text_append_string(sql, "INSERT INTO job_events(job, step, ts_ns, kind, pid, "
					"start_time_ns, comm, details, context, count) "
					"VALUES(?,?,?,?,?,?,?,?,?,?)");
		return true;
	case STATEMENT_PROCESS_JOB:
		text_append_string(sql, "UPDATE processes SET job=?, job_step=? WHERE boot=? AND "
					"pid=? AND start_time_ns=?");
		return true;
	default:
		return false;
	}
}

static void bind_outcome(sqlite3_stmt *statement, int *index, enum job_outcome outcome)
{
	bind_text(statement, index, outcome == JOB_RUNNING ? NULL : job_outcome_names[outcome]);
}

static void bind_figures(sqlite3_stmt *statement, int *index, enum job_memory memory,
			 const struct job_figures *figures)
{
	bind_text(statement, index, memory == JOB_MEMORY_UNKNOWN ? NULL : job_memory_names[memory]);
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		bind_real(statement, index, job_has(figures, (enum job_value)i),
			  figures->values[i]);
}

static void bind_job(sqlite3_stmt *statement, int *index, const struct job *job, int64_t boot)
{
	bool has_root = job->root.pid != 0;

	bind_text(statement, index, job->name);
	bind_number(statement, index, job->begin_unix_ns);
	bind_optional(statement, index, job->end_unix_ns != 0, job->end_unix_ns);
	bind_outcome(statement, index, job->outcome);
	bind_optional(statement, index, job->has_status, (uint64_t)(int64_t)job->status);
	bind_optional(statement, index, has_root, (uint64_t)job->root.pid);
	bind_optional(statement, index, has_root, job->root.start_ns);
	bind_text(statement, index, job->cgroup);
	bind_number(statement, index, job->uid);
	bind_text(statement, index, job->cmd);
	bind_optional(statement, index, boot != 0, (uint64_t)boot);
	bind_optional(statement, index, job->begin_boottime_ns != 0, job->begin_boottime_ns);
	bind_optional(statement, index, job->duration_ns != 0, job->duration_ns);
	bind_optional(statement, index, job->steps != 0, job->steps);
	bind_text(statement, index, job->watched);
	bind_text(statement, index, job->absent);
	bind_text(statement, index, job->details);
	bind_figures(statement, index, job->memory, &job->figures);
}

static size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

int history_put_job(struct history *history, struct job *job, struct error *error)
{
	int status = history_begin(history, error), index = 0;
	sqlite3_stmt *statement;
	int64_t boot;

	if (status < 0)
		return status;
	boot = job->boot_id ? history_boot(history, job->boot_id, 0) : 0;
	statement = history_statement(history, job->id ? STATEMENT_JOB_CHANGE : STATEMENT_JOB);
	bind_job(statement, &index, job, boot);
	if (job->id)
		bind_number(statement, &index, job->id);
	status = history_step(history, statement, error);
	if (status < 0 || job->id)
		return status;
	job->id = (uint64_t)sqlite3_last_insert_rowid(history->database.handle);
	return user_rooms_note(
		history,
		&(struct user_room){
			.part = USER_JOBS,
			.uid = job->uid,
			.kept = 1,
			.bytes = (int64_t)(JOB_BYTES + length_of(job->name) + length_of(job->cmd) +
					   length_of(job->cgroup) + length_of(job->watched) +
					   length_of(job->details)),
		},
		error);
}

/* Adds to the room of whoever the job belongs to. */
static int note_room(struct history *history, uint64_t job, int64_t rows, int64_t bytes,
		     struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_JOB_USER);
	struct user_room room = { USER_JOBS, USER_UNKNOWN, rows, bytes, 0 };
	uint64_t uid;
	int index = 0;

	bind_number(statement, &index, job);
	if (statement && sqlite3_step(statement) == SQLITE_ROW && column_number(statement, 0, &uid))
		room.uid = (int64_t)uid;
	if (statement)
		sqlite3_reset(statement);
	return user_rooms_note(history, &room, error);
}

static int write_step(struct history *history, enum statement_id id, const struct job_step *step,
		      struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, id);
	int index = 0;

	bind_number(statement, &index, step->begin_unix_ns);
	bind_optional(statement, &index, step->end_unix_ns != 0, step->end_unix_ns);
	bind_outcome(statement, &index, step->outcome);
	bind_optional(statement, &index, step->begin_boottime_ns != 0, step->begin_boottime_ns);
	bind_optional(statement, &index, step->duration_ns != 0, step->duration_ns);
	bind_optional(statement, &index, step->root.pid != 0, (uint64_t)step->root.pid);
	bind_optional(statement, &index, step->root.pid != 0, step->root.start_ns);
	bind_text(statement, &index, step->details);
	bind_figures(statement, &index, step->memory, &step->figures);
	bind_number(statement, &index, step->job);
	bind_text(statement, &index, step->name);
	return history_step(history, statement, error);
}

int history_put_step(struct history *history, const struct job_step *step, struct error *error)
{
	int status = history_begin(history, error);

	if (status == 0)
		status = write_step(history, STATEMENT_STEP_CHANGE, step, error);
	if (status < 0 || sqlite3_changes(history->database.handle) > 0)
		return status;
	status = write_step(history, STATEMENT_STEP, step, error);
	return status < 0 ? status :
			    note_room(history, step->job, 0,
				      JOB_STEP_BYTES + (int64_t)length_of(step->details), error);
}

int history_add_job_event(struct history *history, const struct job_event *event,
			  struct error *error)
{
	int status = history_begin(history, error), index = 0;
	bool has_task = event->task.pid != 0;
	sqlite3_stmt *statement;

	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_JOB_EVENT);
	bind_number(statement, &index, event->job);
	bind_text(statement, &index, event->step);
	bind_number(statement, &index, event->unix_ns);
	bind_text(statement, &index, job_event_names[event->kind]);
	bind_optional(statement, &index, has_task, (uint64_t)event->task.pid);
	bind_optional(statement, &index, has_task, event->task.start_ns);
	bind_text(statement, &index, event->comm);
	bind_text(statement, &index, event->details);
	bind_text(statement, &index, event->context);
	bind_number(statement, &index, event->count ? event->count : 1);
	status = history_step(history, statement, error);
	return status < 0 ? status :
			    note_room(history, event->job, 1,
				      (int64_t)(JOB_EVENT_BYTES + length_of(event->details) +
						length_of(event->context)),
				      error);
}

/* Runs a statement once that has the job and the step as its first parameters; returns its changes. */
static int change_rows(struct history *history, const char *sql, uint64_t job, const char *step,
		       struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = database_prepare(&history->database, sql);
	int index = 0, status;

	bind_number(statement, &index, job);
	bind_text(statement, &index, step);
	status = history_step(history, statement, error);
	return status < 0 ? status : sqlite3_changes(history->database.handle);
}

int history_put_job_syscalls(struct history *history, uint64_t job, const char *step,
			     const struct job_syscall *syscalls, size_t count, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	int status = history_begin(history, error), dropped;

	if (status == 0)
		status = change_rows(history, "DELETE FROM job_syscalls WHERE job=? AND step IS ?",
				     job, step, error);
	if (status < 0)
		return status;
	dropped = status;
	statement = database_prepare(&history->database,
				     "INSERT INTO job_syscalls(job, step, name, calls, errors, "
				     "time_ns) VALUES(?,?,?,?,?,?)");
	status = 0;
	for (size_t i = 0; i < count && status == 0; i++) {
		int index = 0;

		sqlite3_reset(statement);
		bind_number(statement, &index, job);
		bind_text(statement, &index, step);
		bind_text(statement, &index, syscalls[i].name);
		bind_number(statement, &index, syscalls[i].calls);
		bind_number(statement, &index, syscalls[i].errors);
		bind_number(statement, &index, syscalls[i].time_ns);
		status = history_step(history, statement, error);
	}
	if (status < 0)
		return status;
	return note_room(history, job, 0, JOB_SYSCALL_BYTES * ((int64_t)count - dropped), error);
}

int history_put_job_run(struct history *history, uint64_t job, const char *step, const void *bytes,
			size_t size, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	uint64_t most = user_part_most(history, USER_JOB_RUNS);
	int status, index = 0;
	uint64_t uid;

	if (size > most)
		return error_set(error, -EFBIG,
				 "the run is not kept: it has more than the %" PRIu64
				 " bytes that runs may have in %s",
				 most, history->path);
	status = history_begin(history, error);
	if (status < 0)
		return status;
	statement = database_prepare(
		&history->database,
		"INSERT INTO job_runs(job, step, ts_ns, uid, run) SELECT ?1, ?2, begin_ns, uid, ?3 "
		"FROM jobs WHERE id=?1 RETURNING uid");
	bind_number(statement, &index, job);
	bind_text(statement, &index, step);
	bind_blob(statement, &index, bytes, size);
	if (!statement || sqlite3_step(statement) != SQLITE_ROW ||
	    !column_number(statement, 0, &uid))
		return history_drop(history, database_fail(&history->database, "write", error),
				    error);
	sqlite3_step(statement);
	return user_rooms_note(history,
			       &(struct user_room){ USER_JOB_RUNS, (int64_t)uid, 1,
						    JOB_RUN_BYTES + (int64_t)size, 0 },
			       error);
}

int history_put_pattern(struct history *history, const struct pattern *pattern, struct error *error)
{
	static const char *const sql[] = {
		"UPDATE patterns SET ts_ns=?1, failures=?5, rate=?6, p_value=?7, details=?8, "
		"jobs=CASE WHEN ?9 THEN jobs + ?4 ELSE ?4 END "
		"WHERE kind=?2 AND name=?3",
		"INSERT INTO patterns(ts_ns, kind, name, jobs, failures, rate, p_value, details) "
		"VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
	};
	bool is_done = false, is_tested = pattern->kind == PATTERN_CORRELATION;
	int status = history_begin(history, error);

	for (size_t i = 0; i < ARRAY_SIZE(sql) && status == 0 && !is_done; i++) {
		CLEANUP(statement_free)
		sqlite3_stmt *statement = database_prepare(&history->database, sql[i]);
		int index = 0;

		bind_number(statement, &index, pattern->unix_ns);
		bind_text(statement, &index, pattern_kind_names[pattern->kind]);
		bind_text(statement, &index, pattern->name);
		bind_number(statement, &index, pattern->jobs);
		bind_optional(statement, &index, is_tested, pattern->failures);
		bind_real(statement, &index, is_tested, pattern->rate);
		bind_real(statement, &index, is_tested, pattern->p_value);
		bind_text(statement, &index, pattern->details);
		if (i == 0)
			bind_number(statement, &index, pattern->adds);
		status = history_step(history, statement, error);
		is_done = status == 0 && sqlite3_changes(history->database.handle) > 0;
	}
	return status;
}

int history_put_process_job(struct history *history, const char *boot_id,
			    const struct task_key *process, uint64_t job, const char *step,
			    struct error *error)
{
	int status = history_begin(history, error), index = 0;
	sqlite3_stmt *statement;

	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_PROCESS_JOB);
	bind_number(statement, &index, job);
	bind_text(statement, &index, step);
	bind_number(statement, &index, (uint64_t)history_boot(history, boot_id, 0));
	bind_number(statement, &index, (uint64_t)process->pid);
	bind_number(statement, &index, process->start_ns);
	return history_step(history, statement, error);
}

/* How long the details of a job or step are so far. */
static int64_t details_length(struct history *history, uint64_t job, const char *step)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&history->database,
		step ? "SELECT length(details) FROM job_steps WHERE job=? AND step=?" :
		       "SELECT length(details) FROM jobs WHERE id=? AND ? IS NULL");
	int index = 0;

	bind_number(statement, &index, job);
	bind_text(statement, &index, step);
	return statement && sqlite3_step(statement) == SQLITE_ROW ?
		       (int64_t)column_number_or(statement, 0, 0) :
		       0;
}

int history_put_job_details(struct history *history, uint64_t job, const char *step,
			    const char *details, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	int status = history_begin(history, error), index = 0;
	int64_t before;

	if (status < 0)
		return status;
	before = details_length(history, job, step);
	statement = database_prepare(
		&history->database, step ? "UPDATE job_steps SET details=? WHERE job=? AND step=?" :
					   "UPDATE jobs SET details=? WHERE id=? AND ? IS NULL");
	bind_text(statement, &index, details);
	bind_number(statement, &index, job);
	bind_text(statement, &index, step);
	status = history_step(history, statement, error);
	if (status < 0 || !sqlite3_changes(history->database.handle))
		return status;
	return note_room(history, job, 0, (int64_t)length_of(details) - before, error);
}

struct lost_jobs {
	job_lives *lives;
	void *context;
	ARRAY_OF(uint64_t) ids;
};

static int note_lost(void *context, const struct job *job)
{
	struct lost_jobs *lost = context;

	return lost->lives(lost->context, job) ? 0 : array_append(&lost->ids, job->id);
}

int history_close_lost_jobs(struct history *history, job_lives *lives, void *context,
			    struct error *error)
{
	struct lost_jobs lost = { .lives = lives, .context = context };
	const struct job_query query = { .span = { 0, UINT64_MAX }, .running_only = true };
	int status = history_jobs(history, &query, note_lost, &lost, error);

	if (status == 0 && lost.ids.count)
		status = history_begin(history, error);
	for (size_t i = 0; i < lost.ids.count && status >= 0; i++) {
		status = change_rows(history,
				     "UPDATE jobs SET outcome='unknown' WHERE id=? AND ? IS NULL",
				     lost.ids.data[i], NULL, error);
		if (status >= 0)
			status = change_rows(
				history,
				"UPDATE job_steps SET outcome='unknown' WHERE job=? AND "
				"outcome IS NULL AND ? IS NULL",
				lost.ids.data[i], NULL, error);
	}
	array_free(&lost.ids);
	return status < 0 ? status : 0;
}

int history_drop_of_no_job(struct database *database, struct error *error)
{
	static const char *const tables[] = { "job_steps", "job_events", "job_syscalls",
					      "job_runs" };
	CLEANUP(text_free) struct text sql = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		text_format(&sql, "DELETE FROM %s WHERE job NOT IN (SELECT id FROM jobs);",
			    tables[i]);
	return sql.failed ? error_set(error, -ENOMEM, "not enough memory") :
			    database_run(database, text_string(&sql), error);
}
