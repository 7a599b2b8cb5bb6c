/* SPDX-License-Identifier: MIT */
#include "render/scope/scopes_view.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "model/scope/scope_survey.h"
#include "render/table/table.h"

static void member_text(struct json *json, const char *key, const char *text)
{
	json_member_text(json, key, text[0] ? text : NULL);
}

static void write_rate(struct json *json, const struct scope *scope)
{
	double rate;

	json_key(json, "rate");
	if (scope_rate(scope, &rate))
		json_double(json, rate);
	else
		json_null(json);
}

static void write_scope(struct json *json, const struct scope *scope)
{
	uint64_t left_ns = 0;
	bool knows_left = scope_time_left(scope, &left_ns);
	bool has_limit = scope->limit_ms && scope->limit_ms != SCOPE_NO_LIMIT;

	json_begin_object(json);
	member_text(json, "label", scope->label);
	json_member_u64(json, "age_ns", scope->age_ns);
	json_member_known(json, "count", scope->has_progress, scope->count);
	json_member_known(json, "total", scope->has_progress && scope->total, scope->total);
	write_rate(json, scope);
	json_member_known(json, "eta_ns", knows_left, left_ns);
	json_member_known(json, "stall_limit_ms", has_limit, scope->limit_ms);
	json_end_object(json);
}

static void write_stall(struct json *json, const struct scope_task *task)
{
	bool is_stalled = task->stall != SCOPE_STALL_NONE;

	json_member_text(json, "stall", is_stalled ? scope_stall_words[task->stall] : NULL);
	json_member_known(json, "stalled_ns", is_stalled, task->stalled_ns);
	json_member_known(json, "stalled_scope", is_stalled, task->stalled_scope);
}

static void write_thread(struct json *json, const struct scopes *scopes,
			 const struct scope_task *task, const struct scope_survey_thread *thread)
{
	const char state[2] = { thread->state, '\0' };

	json_begin_object(json);
	json_member_i64(json, "tid", task->tid);
	json_member_i64(json, "own_tid", task->own_tid);
	member_text(json, "name", task->name[0] ? task->name : thread->comm);
	member_text(json, "comm", thread->comm);
	member_text(json, "state", state);
	json_member_bool(json, "idle", task->is_idle);
	json_member_u64(json, "changed_ns", task->changed_ns);
	write_stall(json, task);
	json_member_u64(json, "hidden", task->hidden);
	json_member_bool(json, "torn", task->is_torn);
	json_member_array(json, "scopes");
	for (size_t i = 0; i < task->count; i++)
		write_scope(json, &scopes->list.data[task->first + i]);
	json_end_array(json);
	json_end_object(json);
}

static void write_losses(struct json *json, const struct scope_losses *losses)
{
	json_member_object(json, "losses");
	for (size_t i = 0; i < SCOPE_LOSS_COUNT; i++)
		json_member_u64(json, scope_loss_words[i].key, scope_loss_count(losses, i));
	json_end_object(json);
}

/* null: the program does not keep statistics. */
static void write_statistics(struct json *json, const struct scopes *scopes)
{
	CLEANUP(table_clear) struct table table = { 0 };

	json_key(json, "statistics");
	if (!scopes->has_statistics) {
		json_null(json);
		return;
	}
	scopes_statistics_columns(&table);
	table_stream_json(&table, json);
	json_begin_array(json);
	scopes_statistics_put(&table, scopes);
	json_end_array(json);
}

static void write_process(struct json *json, const struct scope_survey_process *process,
			  bool with_statistics)
{
	const struct scopes *scopes = &process->scopes;

	json_begin_object(json);
	json_member_i64(json, "pid", scopes->pid);
	member_text(json, "comm", process->comm);
	json_member_bool(json, "on", scopes->is_on);
	json_member_u64(json, "age_ns", scopes->age_ns);
	json_member_bool(json, "heartbeat", scopes->has_heartbeat);
	json_member_known(json, "stall_limit_ms", scopes->stall_limit_ms != SCOPE_NO_LIMIT,
			  scopes->stall_limit_ms);
	json_member_array(json, "threads");
	for (size_t i = 0; i < scopes->tasks.count; i++)
		write_thread(json, scopes, &scopes->tasks.data[i], &process->threads.data[i]);
	json_end_array(json);
	write_losses(json, &scopes->losses);
	if (with_statistics)
		write_statistics(json, scopes);
	json_end_object(json);
}

void scopes_json(FILE *out, const struct scope_survey *survey, bool with_statistics)
{
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-scopes");
	json_member_u64(&json, "version", 1);
	json_member_string(&json, "kind", "scopes");
	json_member_array(&json, "processes");
	for (size_t i = 0; i < survey->processes.count; i++)
		write_process(&json, &survey->processes.data[i], with_statistics);
	json_end_array(&json);
	json_member_u64(&json, "denied", survey->denied);
	json_member_u64(&json, "denied_with_scopes", survey->hidden);
	json_member_u64(&json, "unreadable", survey->broken);
	json_end_object(&json);
}
