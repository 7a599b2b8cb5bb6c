/* SPDX-License-Identifier: MIT */
#include "store/history/history_activity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record/activity.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"

const struct activity_key_info activity_keys[ACTIVITY_KEY_COUNT] = {
#define ACTIVITY_KEY(id, column, is_number, help) { #id, column, is_number },
#include "model/record/activity_keys.def"
};

void known_rows_forget(struct known_rows *known)
{
	memset(known, 0, sizeof(*known));
}

static int64_t last_row(struct history *history)
{
	return sqlite3_last_insert_rowid(history->database.handle);
}

/* A process that no tick has seen yet has only its name and user; the tick adds the rest. */
static int add_process(struct history *history, const struct activity_sample *sample,
		       uint64_t unix_ns, int64_t *ret, struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS);
	int index = 0, status;

	bind_number(statement, &index, (uint64_t)history->boot);
	bind_number(statement, &index, (uint64_t)sample->pid);
	bind_number(statement, &index, sample->start_ns);
	bind_text(statement, &index, NULL);
	bind_text(statement, &index, sample->process_comm);
	for (int i = 0; i < 3; i++)
		bind_text(statement, &index, NULL);
	bind_number(statement, &index, sample->uid);
	bind_text(statement, &index, NULL);
	bind_number(statement, &index, unix_ns);
	bind_number(statement, &index, unix_ns);
	status = history_step(history, statement, error);
	*ret = last_row(history);
	return status < 0 ? status : user_rooms_count_process(history, *ret, 1, error);
}

static int find_process(struct history *history, const struct activity_sample *sample,
			uint64_t unix_ns, int64_t *ret, struct error *error)
{
	struct known_process *known =
		&history->known.processes[(uint32_t)sample->pid % KNOWN_PROCESSES];
	sqlite3_stmt *statement;
	int index = 0, status = 0;

	if (!known->row || known->pid != sample->pid || known->start_ns != sample->start_ns) {
		statement = history_statement(history, STATEMENT_PROCESS_FIND);
		bind_number(statement, &index, (uint64_t)history->boot);
		bind_number(statement, &index, (uint64_t)sample->pid);
		bind_number(statement, &index, sample->start_ns);
		known->row = statement && sqlite3_step(statement) == SQLITE_ROW ?
				     sqlite3_column_int64(statement, 0) :
				     0;
		sqlite3_reset(statement);
		known->pid = sample->pid;
		known->start_ns = sample->start_ns;
		if (!known->row)
			status = add_process(history, sample, unix_ns, &known->row, error);
	}
	*ret = known->row;
	return status;
}

/* The row says until when the stack was seen, about. */
static int add_stack(struct history *history, const struct kernel_stack *stack, uint64_t unix_ns,
		     struct error *error)
{
	struct known_stack *known = &history->known.stacks[stack->hash % KNOWN_STACKS];
	sqlite3_stmt *statement;
	int index = 0;

	if (known->hash == stack->hash && unix_ns >= known->noted_ns &&
	    unix_ns - known->noted_ns < STACK_NOTED_NS)
		return 0;
	*known = (struct known_stack){ .hash = stack->hash, .noted_ns = unix_ns };
	statement = history_statement(history, STATEMENT_STACK);
	bind_number(statement, &index, stack->hash);
	bind_text(statement, &index, stack->frames);
	bind_number(statement, &index, unix_ns);
	return history_step(history, statement, error);
}

static int add_sample(struct history *history, const struct activity_sample *sample,
		      uint64_t unix_ns, struct error *error)
{
	const char state[2] = { sample->state, '\0' };
	char buffer[SYSCALL_NAME_SIZE];
	sqlite3_stmt *statement;
	int64_t process = 0;
	int index = 0, status = find_process(history, sample, unix_ns, &process, error);

	if (status == 0 && sample->stack)
		status = add_stack(history, sample->stack, unix_ns, error);
	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_ACTIVITY);
	bind_number(statement, &index, unix_ns);
	bind_number(statement, &index, (uint64_t)process);
	bind_number(statement, &index, (uint64_t)sample->tid);
	bind_text(statement, &index, sample->comm);
	bind_text(statement, &index, state);
	bind_text(statement, &index,
		  sample->has_call ? syscall_name(sample->abi, sample->number, buffer) : NULL);
	bind_text(statement, &index, activity_wait(sample));
	bind_optional(statement, &index, sample->stack, sample->stack ? sample->stack->hash : 0);
	bind_text(statement, &index, sample->scope[0] ? sample->scope : NULL);
	return history_step(history, statement, error);
}

static int add_walk(struct history *history, const struct history_walk *walk, struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_WALK);
	int index = 0;

	bind_number(statement, &index, walk->activity->unix_ns);
	bind_number(statement, &index, walk->missed);
	bind_number(statement, &index, walk->activity->samples.count);
	bind_number(statement, &index, walk->activity->stacks_left_out);
	bind_number(statement, &index, walk->activity->threads_left_out);
	bind_number(statement, &index, walk->cost_ns);
	return history_step(history, statement, error);
}

int history_add_activity(struct history *history, const struct history_walk *walk,
			 struct error *error)
{
	const struct activity *activity = walk->activity;
	int status;

	if (!history->boot)
		return -EAGAIN;
	status = history_begin(history, error);
	if (status == 0)
		status = add_walk(history, walk, error);
	for (size_t i = 0; i < activity->samples.count && status == 0; i++)
		status = add_sample(history, &activity->samples.data[i], activity->unix_ns, error);
	return status;
}

static uint64_t bounded(uint64_t unix_ns)
{
	return unix_ns > INT64_MAX ? INT64_MAX : unix_ns;
}

/* A recording that was written before there were walks has none. */
static sqlite3_stmt *prepare(struct history *history, const char *sql,
			     const struct history_span *span)
{
	sqlite3_stmt *statement = database_prepare(&history->database, sql);
	int index = 0;

	if (statement) {
		bind_number(statement, &index, bounded(span->from_unix_ns));
		bind_number(statement, &index, bounded(span->to_unix_ns));
	}
	return statement;
}

static int read_totals(struct history *history, const char *sql, const struct history_span *span,
		       uint64_t *const ret[], size_t count, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = prepare(history, sql, span);

	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return database_fail(&history->database, "read", error);
	for (size_t i = 0; i < count; i++)
		*ret[i] = column_number_or(statement, (int)i, 0);
	return 0;
}

static void append_process(struct text *sql, const struct history *history,
			   const struct activity_query *query)
{
	if (!query->pid)
		return;
	text_format(sql, " AND process IN (SELECT id FROM processes WHERE pid = %" PRId32,
		    query->pid);
	if (query->start_ns)
		text_format(sql, " AND start_time_ns = %" PRIu64 " AND boot = %" PRId64,
			    query->start_ns, history->boot);
	text_append_string(sql, ")");
}

int history_activity_totals(struct history *history, const struct activity_query *query,
			    struct activity_totals *ret, struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };
	uint64_t *const walks[] = { &ret->walks,	   &ret->missed,
				    &ret->stacks_left_out, &ret->span.from_unix_ns,
				    &ret->span.to_unix_ns, &ret->threads_left_out };
	bool has_left_out =
		schema_has_column(&history->database, "activity_walks", "threads_left_out");
	uint64_t *const ticks[] = { &ret->ticks, &ret->ticks_without };
	uint64_t *const samples[] = { &ret->samples };
	int status = database_refresh(&history->database, error);

	text_format(
		&sql,
		"SELECT count(*), sum(missed), sum(stacks_left_out), min(ts_ns), max(ts_ns), %s "
		"FROM activity_walks WHERE ts_ns BETWEEN ? AND ?",
		has_left_out ? "sum(threads_left_out)" : "0");
	if (status == 0)
		status = read_totals(history, text_string(&sql), &query->span, walks,
				     ARRAY_SIZE(walks), error);
	text_clear(&sql);
	if (status == 0)
		status = read_totals(
			history,
			"SELECT count(*), sum(shed = 'activity' OR shed LIKE 'activity,%') FROM ticks WHERE "
			"NOT is_burst AND ts_ns BETWEEN ? AND ?",
			&query->span, ticks, ARRAY_SIZE(ticks), error);
	text_append_string(&sql, "SELECT count(*) FROM activity WHERE ts_ns BETWEEN ? AND ?");
	append_process(&sql, history, query);
	/* A recorder may have added walks meanwhile, which were not counted. */
	return status < 0 ? status :
			    read_totals(history, text_string(&sql),
					ret->walks ? &ret->span : &query->span, samples,
					ARRAY_SIZE(samples), error);
}

/* The samples come first, then the keys. */
static sqlite3_stmt *prepare_groups(struct history *history, const struct activity_query *query)
{
	CLEANUP(text_free) struct text sql = { 0 };

	text_append_string(&sql, "SELECT count(*)");
	for (size_t i = 0; i < query->key_count; i++)
		text_format(&sql, ",%s", activity_keys[query->keys[i]].column);
	text_append_string(&sql, " FROM activity AS a LEFT JOIN processes AS p ON p.id = a.process "
				 "LEFT JOIN stacks AS s ON s.hash = a.stack WHERE a.ts_ns BETWEEN "
				 "? AND ?");
	append_process(&sql, history, query);
	for (size_t i = 0; i < query->key_count; i++)
		text_format(&sql, "%s%zu", i ? "," : " GROUP BY ", i + 2);
	text_append_string(&sql, " ORDER BY 1 DESC");
	for (size_t i = 0; i < query->key_count; i++)
		text_format(&sql, ",%zu", i + 2);
	if (query->limit)
		text_format(&sql, " LIMIT %zu", query->limit);
	return sql.failed ? NULL : prepare(history, text_string(&sql), &query->span);
}

int history_activity(struct history *history, const struct activity_query *query,
		     activity_group_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	int code = SQLITE_ERROR, status = database_refresh(&history->database, error);

	if (status == 0)
		statement = prepare_groups(history, query);
	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *values[ACTIVITY_KEY_COUNT];
		struct activity_group group = { .values = values };

		for (size_t i = 0; i < query->key_count; i++)
			values[i] = (const char *)sqlite3_column_text(statement, (int)i + 1);
		group.samples = column_number_or(statement, 0, 0);
		status = sink(context, &group);
	}
	if (status == 0 && code != SQLITE_DONE)
		return database_fail(&history->database, "read", error);
	return status;
}

uint64_t history_activity_at(struct history *history, uint64_t at_unix_ns)
{
	CLEANUP(text_free) struct text sql = { 0 };
	int64_t at;

	text_format(&sql, "SELECT max(ts_ns) FROM activity_walks WHERE ts_ns <= %" PRIu64,
		    bounded(at_unix_ns));
	at = database_number(&history->database, text_string(&sql), 0);
	return at > 0 ? (uint64_t)at : 0;
}

char *history_meta(struct history *history, const char *key)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement =
		database_prepare(&history->database, "SELECT value FROM meta WHERE key = ?");
	int index = 0;

	if (!statement)
		return NULL;
	bind_text(statement, &index, key);
	if (sqlite3_step(statement) != SQLITE_ROW || !column_text(statement, 0))
		return NULL;
	return strdup(column_text(statement, 0));
}
