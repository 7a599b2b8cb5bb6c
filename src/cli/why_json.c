/* SPDX-License-Identifier: MIT */
#include "cli/why_print.h"

#include <sys/wait.h>

#include "base/json.h"
#include "base/kernel_names.h"
#include "render/run_json_parts.h"
#include "session/why.h"

static void member_i64(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

static void member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

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
		member_i64(json, "exit_code", WEXITSTATUS(why->status));
	} else if (WIFSIGNALED(why->status)) {
		member_i64(json, "signal", WTERMSIG(why->status));
		json_member_string(json, "signal_name", signal_name(WTERMSIG(why->status), name));
	}
}

static void write_verdict(struct json *json, const struct why *why)
{
	if (!why->judged)
		return;
	run_json_verdict(json, &why->diagnosis);
	member_bool(json, "by_children", why->by_children);
}

static void write_ledger(struct json *json, const struct ledger *ledger)
{
	json_member_u64(json, "on_cpu_ns", ledger->on_cpu_ns);
	if (ledger->present & LEDGER_RUN_QUEUE)
		json_member_u64(json, "run_queue_ns", ledger->run_queue_ns);
	if (!(ledger->present & LEDGER_BLOCKED))
		return;
	json_key(json, "blocked");
	json_begin_object(json);
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		if (ledger->blocked[i].ns)
			json_member_u64(json, waits[i].name, ledger->blocked[i].ns);
	json_end_object(json);
}

static void write_waker(struct json *json, const struct why_thread *thread)
{
	json_key(json, "waker");
	json_begin_object(json);
	member_i64(json, "pid", thread->waker.waker_pid);
	member_i64(json, "tid", thread->waker.waker_tid);
	member_known(json, "comm", thread->waker.waker_comm);
	json_member_string(json, "reason", waits[thread->waker.reason].name);
	json_key(json, "share");
	json_double(json, thread->waker_share);
	json_end_object(json);
}

static void write_standing(struct json *json, const struct standing_thread *standing)
{
	member_known(json, "object", standing->object);
	member_known(json, "wait_channel", standing->channel);
	if (standing->frames == 0)
		return;
	json_key(json, "kernel_stack");
	json_begin_array(json);
	for (size_t i = 0; i < standing->frames; i++)
		json_string(json, standing->stack[i]);
	json_end_array(json);
}

static void write_thread(struct json *json, const struct why_thread *thread)
{
	json_begin_object(json);
	member_i64(json, "tid", thread->tid);
	json_member_string(json, "comm", thread->comm);
	write_state(json, thread->state);
	if (thread->reason >= 0)
		json_member_string(json, "reason", waits[thread->reason].name);
	member_known(json, "syscall", thread->call);
	if (thread->has_since) {
		json_member_u64(json, "blocked_for_ns", thread->since_ns);
		member_bool(json, "blocked_before", thread->at_least);
	}
	write_standing(json, thread->standing);
	if (thread->has_ledger)
		write_ledger(json, &thread->ledger);
	if (thread->has_waker)
		write_waker(json, thread);
	json_end_object(json);
}

static void write_process(struct json *json, const struct why *why)
{
	const struct standing *standing = why->after.state ? &why->after : &why->before;

	member_i64(json, "pid", standing->pid);
	json_member_string(json, "comm", standing->comm);
	write_state(json, standing->state);
	member_i64(json, "parent_pid", standing->parent_pid);
	member_known(json, "parent_comm", standing->parent_comm);
	if (standing->tracer_pid > 0) {
		member_i64(json, "tracer_pid", standing->tracer_pid);
		member_known(json, "tracer_comm", standing->tracer_comm);
	}
	member_bool(json, "kernel_thread", standing->is_kernel_thread);
	member_bool(json, "ended", why->ended);
	write_status(json, why);
	json_member_u64(json, "watched_ns", why->watched_ns);
	json_member_u64(json, "thread_count", standing->thread_count);
}

void why_print_json(FILE *out, const struct why *why)
{
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-why");
	json_member_u64(&json, "version", 1);
	json_member_string(&json, "kind", "why");
	write_process(&json, why);
	json_member_string(&json, "answer", why->answer);
	write_verdict(&json, why);
	if (why->problem.message[0])
		json_member_string(&json, "not_watched", why->problem.message);
	member_bool(&json, "denied", why->after.denied);
	json_key(&json, "threads");
	json_begin_array(&json);
	for (size_t i = 0; i < why->threads.count; i++)
		write_thread(&json, &why->threads.data[i]);
	json_end_array(&json);
	json_end_object(&json);
}
