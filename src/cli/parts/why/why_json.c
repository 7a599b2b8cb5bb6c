/* SPDX-License-Identifier: MIT */
#include "cli/parts/why/why_print.h"

#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/kernel_names.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "render/table/table.h"
#include "session/why/why.h"

static void member_known(struct json *json, const char *key, const char *text)
{
	if (text && text[0])
		json_member_string(json, key, text);
}

static void write_state(struct json *json, char state)
{
	const char text[2] = { state, '\0' };

	member_known(json, "state", text);
}

static void write_status(struct json *json, const struct why *why)
{
	char name[KERNEL_NAME_SIZE];

	if (!why->has_status)
		return;
	if (WIFEXITED(why->status)) {
		json_member_i64(json, "exit_code", WEXITSTATUS(why->status));
	} else if (WIFSIGNALED(why->status)) {
		json_member_i64(json, "signal", WTERMSIG(why->status));
		json_member_string(json, "signal_name", signal_name(WTERMSIG(why->status), name));
	}
}

static void write_verdict(struct json *json, const struct why *why)
{
	if (!why->judged)
		return;
	verdict_json(json, &why->diagnosis);
	json_member_bool(json, "by_children", why->by_children);
}

static void write_process(struct json *json, const struct why *why)
{
	const struct process_state *found = why->after.state ? &why->after : &why->before;

	json_member_i64(json, "pid", found->pid);
	json_member_string(json, "comm", found->comm);
	write_state(json, found->state);
	json_member_i64(json, "parent_pid", found->parent_pid);
	member_known(json, "parent_comm", found->parent_comm);
	if (found->tracer_pid > 0) {
		json_member_i64(json, "tracer_pid", found->tracer_pid);
		member_known(json, "tracer_comm", found->tracer_comm);
	}
	json_member_bool(json, "kernel_thread", found->is_kernel_thread);
	json_member_bool(json, "ended", why->ended);
	write_status(json, why);
	json_member_u64(json, "watched_ns", why->watched_ns);
	json_member_u64(json, "thread_count", found->thread_count);
}

static void write_deadlock(struct json *json, const struct wait_deadlock *deadlock)
{
	CLEANUP(table_clear) struct table table = { 0 };

	if (!deadlock->count)
		return;
	why_member_columns(&table);
	table_stream_json(&table, json);
	json_member_array(json, "deadlock");
	for (size_t i = 0; i < deadlock->count; i++)
		why_member_row(&table, &deadlock->members[i]);
	json_end_array(json);
}

void why_print_json(FILE *out, const struct why *why)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json = json_writer(out);

	why_table_columns(&table);
	table_stream_json(&table, &json);
	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-why");
	json_member_u64(&json, "version", RUN_FILE_VERSION);
	json_member_string(&json, "kind", "why");
	write_process(&json, why);
	json_member_string(&json, "answer", why->answer);
	write_verdict(&json, why);
	write_deadlock(&json, &why->deadlock);
	if (why->problem.message[0])
		json_member_string(&json, "not_watched", why->problem.message);
	json_member_bool(&json, "denied", why->after.denied);
	json_member_bool(&json, "late", why->after.late);
	json_member_array(&json, "threads");
	for (size_t i = 0; i < why->threads.count; i++)
		why_table_row(&table, why, &why->threads.data[i]);
	json_end_array(&json);
	why_json_stacks(&json, why);
	json_end_object(&json);
}
