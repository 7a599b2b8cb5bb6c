/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"
#include "store/snapshot_file.h"

/* Commits between two attempts to make a file smaller that stays too large. */
#define COMMITS_PER_ATTEMPT 64
/* Events are committed early when they have one part in so many of the file. */
#define COMMIT_PART 32
/* A chain of frames has at most one part in so many of the file: it is dropped as a whole. */
#define CHAIN_PART 16

static const char *const statements[STATEMENT_COUNT] = {
	[STATEMENT_TICK] = "INSERT INTO ticks(ts_ns, boot, boottime_ns, chain, is_burst, missed, "
			   "cost_ns, shed, processes, threads, frame) "
			   "VALUES(?,?,?,?,?,?,?,?,?,?,?)",
	[STATEMENT_PROCESS] =
		"INSERT OR IGNORE INTO processes(boot, pid, start_time_ns, ppid, comm, "
		"cmd, exe, user, uid, cgroup, first_ns, last_ns) "
		"VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[STATEMENT_PROCESS_FIND] = "SELECT id FROM processes WHERE boot=? AND pid=? AND "
				   "start_time_ns=?",
	[STATEMENT_PROCESS_SEEN] = "UPDATE processes SET last_ns=? WHERE id=?",
	[STATEMENT_PROCESS_RENAMED] = "UPDATE processes SET ppid=?, comm=?, cmd=?, exe=?, user=?, "
				      "uid=?, cgroup=? WHERE id=?",
	[STATEMENT_PROCESS_EXIT] = "UPDATE processes SET exit_status=?, last_ns=? WHERE boot=? AND "
				   "pid=? AND start_time_ns=?",
	[STATEMENT_MINUTE_LONGER] = "UPDATE process_minutes SET minutes=minutes+1, "
				    "samples=samples+? WHERE rowid=?",
	[STATEMENT_CALL] = "INSERT INTO process_syscalls(process, ts_ns, syscall, calls, errors, "
			   "time_ns, max_ns) VALUES(?,?,?,?,?,?,?)",
	[STATEMENT_PROCESS_USER] = "SELECT id, CAST(coalesce(uid, -1) AS INTEGER) FROM processes "
				   "WHERE boot=? AND pid=? AND start_time_ns=?",
	[STATEMENT_WALK] = "INSERT OR REPLACE INTO activity_walks(ts_ns, missed, threads, "
			   "stacks_left_out, threads_left_out, cost_ns) VALUES(?,?,?,?,?,?)",
	[STATEMENT_STACK] =
		"INSERT INTO stacks(hash, frames, last_ns) VALUES(?,?,?) ON CONFLICT DO "
		"UPDATE SET last_ns=excluded.last_ns",
	[STATEMENT_ACTIVITY] = "INSERT INTO activity(ts_ns, process, tid, comm, state, syscall, "
			       "wait, stack, scope) VALUES(?,?,?,?,?,?,?,?,?)",
	[STATEMENT_USER] =
		"INSERT INTO user_rows(part, uid, kept, bytes, dropped) VALUES(?,?,?,?,?) ON "
		"CONFLICT DO UPDATE SET kept=kept+excluded.kept, bytes=bytes+excluded.bytes, "
		"dropped=dropped+excluded.dropped",
	[STATEMENT_PROCESS_ROOM] = user_process_sql,
	[STATEMENT_META] = "INSERT OR REPLACE INTO meta(key, value) VALUES(?,?)",
};

/* Statements whose columns come from tables. */
static void make_sql(enum statement_id id, struct text *sql)
{
	if (id == STATEMENT_SAMPLE) {
		text_append_string(sql, "INSERT OR REPLACE INTO host_samples(");
		schema_host_columns(sql, "", "");
		text_append_string(sql, ",ts_ns,pressure_level,zombie_pids,recorder_pid,scope,"
					"scope_pressure_level,jobs) VALUES(");
		for (int i = 0; i < HOST_VALUE_COUNT; i++)
			text_append_string(sql, "?,");
		text_append_string(sql, "?,?,?,?,?,?,?)");
	} else if (id == STATEMENT_MINUTE) {
		text_append_string(sql,
				   "INSERT INTO process_minutes(process,ts_ns,minutes,samples,");
		schema_minute_columns(sql);
		text_append_string(sql, ") VALUES(?,?,1,?");
#define LEVEL(name, metric) text_append_string(sql, ",?,?,?");
#define RATE(name, metric, scale) text_append_string(sql, ",?,?,?");
#include "store/history/minutes.def"
		text_append_string(sql, ")");
	} else if (id == STATEMENT_EVENT || id == STATEMENT_ANOMALY ||
		   id == STATEMENT_ANOMALY_CHANGE) {
		text_append_string(sql, history_event_sql(id));
	} else if (!history_job_sql(id, sql)) {
		text_append_string(sql, statements[id]);
	}
}

sqlite3_stmt *history_statement(struct history *history, enum statement_id id)
{
	CLEANUP(text_free) struct text sql = { 0 };
	sqlite3_stmt **statement = &history->statements[id];

	if (!*statement) {
		make_sql(id, &sql);
		if (!sql.failed)
			*statement = database_prepare(&history->database, text_string(&sql));
	}
	if (*statement)
		sqlite3_reset(*statement);
	return *statement;
}

static void settle_episodes(struct history *history, bool is_kept)
{
	for (size_t i = 0; i < history->episodes.count; i++) {
		struct episode *episode = &history->episodes.data[i];

		if (!is_kept && !episode->is_kept)
			episode->row = 0;
		episode->is_kept |= is_kept;
	}
}

int history_drop(struct history *history, int status, struct error *error)
{
	struct error ignored = { 0 };
	const char *reason = strrchr(error->message, ':');

	for (int i = 0; i < STATEMENT_COUNT; i++)
		if (history->statements[i])
			sqlite3_reset(history->statements[i]);
	if (history->database.handle && !sqlite3_get_autocommit(history->database.handle))
		database_run(&history->database, "ROLLBACK", &ignored);
	history->lost_ticks += TAKE(history->added_ticks, 0);
	history->lost_events += TAKE(history->added_events, 0);
	history->told_ticks = 0;
	if (!history->lost_reason[0])
		snprintf(history->lost_reason, sizeof(history->lost_reason), "%.*s",
			 reason ? (int)(reason - error->message) : 0, error->message);
	history->in_transaction = false;
	history->is_damaged |= status == -EBADMSG;
	history->chain = history->boot = 0;
	history->boot_id[0] = '\0';
	frame_writer_restart(history->frames);
	minutes_forget_rows(history->minutes);
	known_rows_forget(&history->known);
	user_rooms_forget(history);
	settle_episodes(history, false);
	return status;
}

int history_step(struct history *history, sqlite3_stmt *statement, struct error *error)
{
	int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;

	if (statement)
		sqlite3_clear_bindings(statement);
	if (code == SQLITE_DONE)
		return 0;
	return history_drop(history, database_fail(&history->database, "write", error), error);
}

/* What was lost while nothing could be written. */
static int tell_losses(struct history *history, struct error *error)
{
	struct life_event event = { .kind = LIFE_LOST, .lost = history->lost_events };
	char details[300];

	if (!history->lost_events && history->lost_ticks == history->told_ticks)
		return 0;
	event.unix_ns = (uint64_t)time(NULL) * 1000000000;
	snprintf(details, sizeof(details), "%" PRIu64 " ticks and %" PRIu64 " events: %s",
		 history->lost_ticks, history->lost_events, history->lost_reason);
	event.details = details;
	history->told_ticks = history->lost_ticks;
	history->lost_events = 0; /* if this fails, they are counted again */
	return history_add_event(history, &event, error);
}

int history_begin(struct history *history, struct error *error)
{
	int status = 0;

	if (history->in_transaction)
		return 0;
	if (history->is_damaged)
		status = history_renew(history, error);
	if (status == 0 && !history->in_transaction)
		status = database_run(&history->database, "BEGIN IMMEDIATE", error);
	if (status < 0)
		return history_drop(history, status, error);
	history->in_transaction = true;
	return tell_losses(history, error);
}

int history_set_meta(struct history *history, const char *key, const char *value,
		     struct error *error)
{
	int status = history_begin(history, error), index = 0;
	sqlite3_stmt *statement;

	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_META);
	bind_text(statement, &index, key);
	bind_text(statement, &index, value);
	return history_step(history, statement, error);
}

int64_t history_boot(struct history *history, const char *boot_id, uint64_t begin_unix_ns)
{
	CLEANUP(statement_free) sqlite3_stmt *add = NULL, *find = NULL;
	int index = 0;

	if (history->boot && strcmp(history->boot_id, boot_id) == 0)
		return history->boot;
	add = database_prepare(&history->database,
			       "INSERT OR IGNORE INTO boots(boot_id, begin_ns) VALUES(?,?)");
	find = database_prepare(&history->database, "SELECT id FROM boots WHERE boot_id=?");
	if (!add || !find)
		return 0;
	bind_text(add, &index, boot_id);
	bind_optional(add, &index, begin_unix_ns != 0, begin_unix_ns);
	if (sqlite3_step(add) != SQLITE_DONE)
		return 0;
	index = 0;
	bind_text(find, &index, boot_id);
	if (sqlite3_step(find) != SQLITE_ROW)
		return 0;
	history->boot = sqlite3_column_int64(find, 0);
	snprintf(history->boot_id, sizeof(history->boot_id), "%s", boot_id);
	return history->boot;
}

static int add_sample(struct history *history, const struct host_sample *sample,
		      struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_SAMPLE);
	CLEANUP(text_free) struct text zombies = { 0 };
	int index = 0;

	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		bind_real(statement, &index, host_sample_has(sample, (enum host_value)i),
			  sample->values[i]);
	for (size_t i = 0; i < sample->zombie_pid_count; i++)
		text_format(&zombies, "%s%" PRId32, i ? "," : "", sample->zombie_pids[i]);
	bind_number(statement, &index, sample->unix_ns);
	bind_text(statement, &index, pressure_level_names[sample->pressure_level]);
	bind_text(statement, &index, zombies.length ? text_string(&zombies) : NULL);
	bind_number(statement, &index, (uint64_t)(int64_t)sample->recorder_pid);
	bind_text(statement, &index, sample->scope[0] ? sample->scope : NULL);
	bind_text(statement, &index,
		  host_sample_has_scope_level(sample) ?
			  pressure_level_names[sample->scope_pressure_level] :
			  NULL);
	bind_text(statement, &index, sample->jobs);
	return history_step(history, statement, error);
}

static uint64_t number_of(const struct snapshot *snapshot, enum fact_id id)
{
	return snapshot->facts[id].present ? snapshot->facts[id].number : 0;
}

/* A burst is a file by itself; the others are frames of a chain. */
static int encode(struct history *history, const struct history_tick *tick, bool *ret_is_key,
		  struct error *error)
{
	void *bytes = NULL;
	size_t size;
	int status;

	if (!tick->is_burst)
		return frame_write(history->frames, tick->snapshot, &history->frame, ret_is_key,
				   error);
	status = snapshot_encode(tick->snapshot, &bytes, &size, error);
	if (status < 0)
		return status;
	bytes_free(&history->frame);
	history->frame = (struct bytes){ .data = bytes, .size = size, .capacity = size };
	*ret_is_key = true;
	return 0;
}

/*
 * The id that the next tick gets: after all that there are, so that ids are in order of time.
 * INT64_MIN: there is none left.
 */
static int64_t next_tick(struct history *history)
{
	int64_t last = database_number(&history->database, "SELECT max(id) FROM ticks", 0);

	return last == INT64_MAX ? INT64_MIN : last + 1;
}

static void note_chain(struct history *history, const struct history_tick *tick, bool is_key)
{
	if (tick->is_burst)
		return;
	history->chain_bytes = (is_key ? 0 : history->chain_bytes) + history->frame.size;
	if (history->chain_bytes > history->retention.bytes / CHAIN_PART)
		frame_writer_restart(history->frames);
}

static int insert_tick(struct history *history, const struct history_tick *tick, bool is_key,
		       uint64_t unix_ns, struct error *error)
{
	const struct snapshot *snapshot = tick->snapshot;
	const struct fact *boot = &snapshot->facts[FACT_boot_id];
	uint64_t boottime = number_of(snapshot, FACT_boottime_ns);
	uint64_t begin = boottime && boottime < unix_ns ? unix_ns - boottime : 0;
	int64_t boot_row = history_boot(history, boot->present ? boot->text : "", begin);
	int64_t own = next_tick(history);
	int index = 0, status = 0;
	sqlite3_stmt *statement;

	if (own == INT64_MIN)
		return history_drop(
			history,
			error_set(error, -EBADMSG,
				  "%s is damaged: it has a tick with the last number that "
				  "there is: a new one is begun",
				  history->path),
			error);
	if (!tick->is_burst)
		status = clock_steps_note(history, own, unix_ns, error);
	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_TICK);
	bind_number(statement, &index, unix_ns);
	bind_number(statement, &index, (uint64_t)boot_row);
	bind_optional(statement, &index, snapshot->facts[FACT_boottime_ns].present,
		      number_of(snapshot, FACT_boottime_ns));
	bind_number(statement, &index, (uint64_t)(is_key ? own : history->chain));
	bind_number(statement, &index, tick->is_burst);
	bind_number(statement, &index, tick->missed + history->lost_ticks);
	bind_number(statement, &index, tick->cost_ns);
	bind_text(statement, &index, tick->shed);
	bind_number(statement, &index, snapshot->process_count);
	bind_number(statement, &index, snapshot->task_count);
	bind_blob(statement, &index, history->frame.data, history->frame.size);
	status = history_step(history, statement, error);
	if (status == 0) {
		history->added_ticks += TAKE(history->lost_ticks, 0);
		history->told_ticks = 0;
		if (!tick->is_burst)
			history->last_unix_ns = unix_ns;
		if (is_key && !tick->is_burst)
			history->chain = own;
		note_chain(history, tick, is_key);
	}
	return status;
}

int history_add_tick(struct history *history, const struct history_tick *tick, struct error *error)
{
	uint64_t unix_ns = tick->sample ? tick->sample->unix_ns :
					  number_of(tick->snapshot, FACT_captured_at_unix_ns);
	bool is_key = false;
	int status = history_begin(history, error);

	if (status == 0) {
		status = encode(history, tick, &is_key, error);
		if (status < 0)
			return history_drop(history, status, error);
	}
	if (status == 0)
		status = insert_tick(history, tick, is_key, unix_ns, error);
	if (status == 0 && tick->sample)
		status = add_sample(history, tick->sample, error);
	if (status == 0 && !tick->is_burst)
		status = minutes_add(history, tick->snapshot, unix_ns, error);
	if (status == 0)
		history->added_ticks++;
	else
		history->lost_ticks++;
	return status;
}

int history_commit_rows(struct history *history, struct error *error)
{
	int status;

	if (!history->in_transaction)
		return 0;
	status = user_rooms_flush(history, error);
	if (status < 0)
		return status;
	status = database_run(&history->database, "COMMIT", error);
	if (status < 0)
		return history_drop(history, status, error);
	history->in_transaction = false;
	history->rooms.added_bytes = 0;
	history->added_ticks = history->added_events = 0;
	settle_episodes(history, true);
	if (!history->lost_ticks && !history->lost_events)
		history->lost_reason[0] = '\0';
	return 0;
}

/* It may be the WAL alone, which those who read all the time let us empty only now and then. */
static bool is_too_large(struct history *history)
{
	if (history_exceeds_shares(history))
		return true;
	if (database_size(&history->database) <= history->retention.bytes)
		return false;
	database_cut_wal(&history->database);
	return database_size(&history->database) > history->retention.bytes;
}

/* Where nothing more could be done, as a reader keeps the WAL, only that is tried again for a while. */
int history_commit(struct history *history, struct error *error)
{
	bool has_rows = history->in_transaction;
	int status = history_commit_rows(history, error);

	if (status < 0 || !has_rows)
		return status;
	if (++history->commits >= COMMITS_PER_ATTEMPT)
		history->is_tight = false;
	if (!is_too_large(history) || history->is_tight)
		return 0;
	status = history_limit_size(history, error);
	history->commits = 0;
	history->is_tight = is_too_large(history);
	return status;
}

int history_commit_large(struct history *history, struct error *error)
{
	bool is_large =
		(uint64_t)history->rooms.added_bytes > history->retention.bytes / COMMIT_PART;

	return is_large && !history->is_making_room ? history_commit(history, error) : 0;
}

uint64_t history_dropped_rows(const struct history *history)
{
	return history->dropped_rows;
}
