/* SPDX-License-Identifier: MIT */
#include "render/run_json_parts.h"

#include <sys/wait.h>

#include "base/kernel_names.h"
#include "render/run_order.h"

struct json run_json_begin(FILE *out, const char *kind, uint64_t unix_ns)
{
	struct json json = json_line_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "kind", kind);
	json_member_u64(&json, "ts_ms", unix_ns / 1000000);
	return json;
}

uint64_t run_offset_ns(const struct run *run, uint64_t time_ns)
{
	return time_ns > run->begin_ns ? time_ns - run->begin_ns : 0;
}

uint64_t run_unix_ns(const struct run *run, uint64_t time_ns)
{
	return run->begin_unix_ns + run_offset_ns(run, time_ns);
}

static void write_real(struct json *json, const char *key, const struct run_real *real)
{
	if (!real->present)
		return;
	json_key(json, key);
	json_double(json, real->value);
}

static void write_number(struct json *json, const char *key, const struct run_number *number)
{
	if (number->present)
		json_member_u64(json, key, number->value);
}

void run_json_flag(struct json *json, const char *key, bool value)
{
	if (!value)
		return;
	json_key(json, key);
	json_bool(json, true);
}

void run_json_pid(struct json *json, const char *key, int32_t pid)
{
	json_key(json, key);
	json_i64(json, pid);
}

void run_json_texts(struct json *json, const char *key, const char *const *texts, size_t count)
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		json_string(json, texts[i]);
	json_end_array(json);
}

static void write_field(struct json *json, const struct run *run, const struct run_field *field)
{
	const void *at = run_field_at(run, field);

	switch (field->type) {
	case RUN_FIELD_COUNT:
		json_member_u64(json, field->key, *(const uint64_t *)at);
		break;
	case RUN_FIELD_NONZERO:
		if (*(const uint64_t *)at)
			json_member_u64(json, field->key, *(const uint64_t *)at);
		break;
	case RUN_FIELD_SMALL:
		if (*(const uint32_t *)at)
			json_member_u64(json, field->key, *(const uint32_t *)at);
		break;
	case RUN_FIELD_OPTIONAL:
		write_number(json, field->key, at);
		break;
	case RUN_FIELD_REAL:
		write_real(json, field->key, at);
		break;
	}
}

void run_json_fields(struct json *json, const struct run *run, enum run_section section)
{
	for (size_t i = 0; i < run_field_count; i++)
		if (run_fields[i].section == section && run_field_is_known(run, &run_fields[i]))
			write_field(json, run, &run_fields[i]);
}

static void write_source(struct json *json, const struct run_source *source)
{
	json_begin_object(json);
	json_member_string(json, "name", source->name);
	json_member_string(json, "state", source->state);
	if (source->reason)
		json_member_string(json, "reason", source->reason);
	json_end_object(json);
}

void run_json_about(struct json *json, const struct run *run)
{
	size_t words = 0;

	json_member_string(json, "mode", run->mode == RUN_COMMAND ? "run" : "attach");
	run_json_pid(json, "pid", run->pid);
	while (run->command && run->command[words])
		words++;
	if (run->command)
		run_json_texts(json, "cmd", (const char *const *)run->command, words);
	json_member_u64(json, "t0_ms", run->begin_unix_ns / 1000000);
	json_member_u64(json, "begin_unix_ns", run->begin_unix_ns);
	json_member_u64(json, "begin_monotonic_ns", run->begin_ns);
	json_member_u64(json, "interval_ns", run->interval_ns);
	write_number(json, "duration_ns", &run->duration_ns);
	if (run->surroundings.online_cpus)
		json_member_u64(json, "online_cpus", run->surroundings.online_cpus);
	if (run->tracer)
		json_member_string(json, "tracer", run->tracer);
	if (run->tracer_misses)
		json_member_string(json, "tracer_misses", run->tracer_misses);
	json_key(json, "sources");
	json_begin_array(json);
	for (size_t i = 0; i < run->source_count; i++)
		write_source(json, &run->sources[i]);
	json_end_array(json);
}

void run_json_usage_members(struct json *json, const struct usage *usage)
{
	for (int id = 0; id < USAGE_COUNT; id++)
		if (usage_has(usage, id))
			json_member_u64(json, usage_names[id], usage->values[id]);
}

static void write_off_cpu(struct json *json, const struct ledger_off *off)
{
	json_key(json, "off_cpu");
	json_begin_object(json);
	json_member_u64(json, "count", off->count);
	if (off->count)
		json_member_u64(json, "longest_ns", off->longest_ns);
	if (off->shortest_ns)
		json_member_u64(json, "shortest_ns", off->shortest_ns);
	json_end_object(json);
}

/* Every reason, since 0 was measured; how often and how long at most only for what happened. */
static void write_blocked(struct json *json, const struct ledger *ledger)
{
	json_key(json, "blocked");
	json_begin_object(json);
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		json_member_u64(json, waits[reason].name, ledger->blocked[reason].ns);
	json_end_object(json);
	json_member_u64(json, "costly_ns", ledger_costly_ns(ledger));
	json_member_u64(json, "waiting_for_work_ns", ledger_waiting_for_work_ns(ledger));
	json_key(json, "waits");
	json_begin_object(json);
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		const struct ledger_wait *wait = &ledger->blocked[reason];

		if (!wait->count && !wait->longest_ns)
			continue;
		json_key(json, waits[reason].name);
		json_begin_object(json);
		json_member_u64(json, "count", wait->count);
		json_member_u64(json, "longest_ns", wait->longest_ns);
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_processor_time(struct json *json, const struct run *run)
{
	struct usage split;

	run_cpu_split(run, &split);
	run_json_usage_members(json, &split);
	if (run->tree->unseen_cpu_ns)
		json_member_u64(json, "unseen_cpu_ns", run->tree->unseen_cpu_ns);
}

/* A source that counts without watching the queue does not know the longest time in it. */
static void write_run_queue(struct json *json, const struct ledger *ledger)
{
	json_member_u64(json, "run_queue_ns", ledger->run_queue_ns);
	json_member_u64(json, "run_queue_count", ledger->run_queue_count);
	if (ledger->run_queue_longest || ledger->present & LEDGER_BLOCKED)
		json_member_u64(json, "run_queue_longest_ns", ledger->run_queue_longest);
}

void run_json_ledger_members(struct json *json, const struct ledger *ledger,
			     const struct run *run_or_null)
{
	if (ledger->present & LEDGER_WALL)
		json_member_u64(json, "thread_wall_ns", ledger->wall_ns);
	if (ledger->present & LEDGER_ON_CPU)
		json_member_u64(json, "on_cpu_ns", ledger->on_cpu_ns);
	if (run_or_null)
		write_processor_time(json, run_or_null);
	if (ledger->present & LEDGER_RUN_QUEUE)
		write_run_queue(json, ledger);
	if (ledger->present & LEDGER_OFF_CPU)
		write_off_cpu(json, &ledger->off_cpu);
	if (ledger->present & LEDGER_BLOCKED)
		write_blocked(json, ledger);
}

void run_json_ledger(struct json *json, const char *key, const struct ledger *ledger,
		     const struct run *run_or_null)
{
	if (!ledger->present)
		return;
	json_key(json, key);
	json_begin_object(json);
	run_json_ledger_members(json, ledger, run_or_null);
	json_end_object(json);
}

static void write_signal(struct json *json, const struct run_ending *ending)
{
	int number = WTERMSIG(ending->status);
	char name[KERNEL_NAME_SIZE];

	json_member_u64(json, "signal", (uint64_t)number);
	json_member_string(json, "signal_name", signal_name(number, name));
	run_json_flag(json, "core_dumped", WCOREDUMP(ending->status));
	if (ending->sender_pid) {
		run_json_pid(json, "sender_pid", ending->sender_pid);
		if (ending->sender[0])
			json_member_string(json, "sender", ending->sender);
	}
}

void run_json_ending_members(struct json *json, const struct run_ending *ending)
{
	if (WIFEXITED(ending->status))
		json_member_u64(json, "exit_code", (uint64_t)WEXITSTATUS(ending->status));
	else if (WIFSIGNALED(ending->status))
		write_signal(json, ending);
}
