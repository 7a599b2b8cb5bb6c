/* SPDX-License-Identifier: MIT */
#include "store/run/run_json_parts.h"

#include <sys/wait.h>

#include "base/kernel_names.h"

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
	json_member_double(json, key, real->value);
}

void run_json_number(struct json *json, const char *key, const struct run_number *number)
{
	if (number->present)
		json_member_u64(json, key, number->value);
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
		run_json_number(json, field->key, at);
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

static void write_source(struct json *json, const struct source_report *source)
{
	json_begin_object(json);
	json_member_string(json, "name", source->name);
	json_member_string(json, "state", source_state_name(source->state));
	json_member_given(json, "reason", source->reason);
	json_end_object(json);
}

void run_json_about(struct json *json, const struct run *run)
{
	size_t words = 0;

	json_member_string(json, "format", "taskscope-run");
	json_member_u64(json, "version", RUN_FILE_VERSION);
	json_member_string(json, "mode", run->mode == RUN_COMMAND ? "run" : "attach");
	json_member_i64(json, "pid", run->pid);
	if (run->pid_count) {
		json_member_array(json, "pids");
		for (size_t i = 0; i < run->pid_count; i++)
			json_i64(json, run->pids[i]);
		json_end_array(json);
	}
	while (run->command && run->command[words])
		words++;
	if (run->command)
		json_member_strings(json, "cmd", (const char *const *)run->command, words);
	json_member_u64(json, "t0_ms", run->begin_unix_ns / 1000000);
	json_member_u64(json, "begin_unix_ns", run->begin_unix_ns);
	json_member_u64(json, "begin_monotonic_ns", run->begin_ns);
	json_member_u64(json, "interval_ns", run->interval_ns);
	run_json_number(json, "duration_ns", &run->duration_ns);
	json_member_flag(json, "since_process_start", run->since_start);
	json_member_nonzero(json, "online_cpus", run->limits.online_cpus);
	json_member_given(json, "tracer", run->tracer);
	json_member_given(json, "tracer_misses", run->tracer_misses);
	json_member_array(json, "sources");
	for (size_t i = 0; i < run->source_count; i++)
		write_source(json, &run->sources[i]);
	json_end_array(json);
}

/* Derived amounts follow from the others; writing them saves readers the formula. */
static void write_derived(struct json *json, const struct amounts *amounts)
{
	if (amounts_has_cpu(amounts))
		json_member_u64(json, metrics[METRIC_cpu_time_ns].name, amounts_cpu_ns(amounts));
	if (!amounts_has_waits(amounts))
		return;
	json_member_u64(json, metrics[METRIC_wait_costly_ns].name, amounts_costly_ns(amounts));
	json_member_u64(json, metrics[METRIC_wait_for_work_ns].name, amounts_for_work_ns(amounts));
}

void run_json_amounts(struct json *json, const struct amounts *amounts)
{
	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (amounts_has(amounts, id))
			json_member_u64(json, metrics[amount_metrics[id]].name,
					amounts_get(amounts, id));
	write_derived(json, amounts);
}

void run_json_amounts_used(struct json *json, const struct amounts *amounts)
{
	struct amounts used = *amounts;

	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (metrics[amount_metrics[id]].section == SECTION_WAITS)
			used.present &= ~(UINT64_C(1) << id);
	run_json_amounts(json, &used);
}

static void write_signal(struct json *json, const struct run_ending *ending)
{
	int number = WTERMSIG(ending->status);
	char name[KERNEL_NAME_SIZE];

	json_member_u64(json, "signal", (uint64_t)number);
	json_member_string(json, "signal_name", signal_name(number, name));
	json_member_flag(json, "core_dumped", WCOREDUMP(ending->status));
	if (ending->sender_pid) {
		json_member_i64(json, "sender_pid", ending->sender_pid);
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
