/* SPDX-License-Identifier: MIT */
#include "render/record/record_json.h"

#include <sys/wait.h>

#include "base/collection/array.h"
#include "base/json.h"
#include "metric/metric.h"
#include "model/record/process_call.h"
#include "model/record/anomaly.h"
#include "model/record/host_sample.h"
#include "model/record/life_event.h"
#include "model/snapshot/snapshot.h"

static void write_process(struct json *json, const struct task_key *task, const char *comm)
{
	json_member_i64(json, "pid", task->pid);
	json_member_nonzero(json, "start_time_ns", task->start_ns);
	json_member_string(json, "comm", comm);
}

static void write_amounts(struct json *json, const struct life_event *event)
{
	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (amounts_has(&event->amounts, (enum amount_id)id))
			json_member_u64(json, metrics[amount_metrics[id]].name,
					amounts_get(&event->amounts, (enum amount_id)id));
	if (event->present & LIFE_HAS_PEAK)
		json_member_u64(json, metrics[METRIC_hiwater_rss_bytes].name,
				event->peak_rss_bytes);
}

static void write_end(struct json *json, const struct life_event *event)
{
	if (event->present & LIFE_HAS_STATUS) {
		if (WIFSIGNALED(event->status))
			json_member_i64(json, "signal", WTERMSIG(event->status));
		else
			json_member_i64(json, "exit_code", WEXITSTATUS(event->status));
	}
	write_amounts(json, event);
}

void life_event_json(struct json *json, const struct life_event *event, bool shows_command)
{
	bool is_lost = event->kind == LIFE_LOST;

	json_begin_object(json);
	json_member_string(json, "kind", life_kind_names[event->kind]);
	json_member_u64(json, "ts_ns", event->unix_ns);
	if (!is_lost)
		write_process(json, &event->task, event->comm);
	else if (event->comm[0])
		json_member_string(json, "comm", event->comm);
	if (event->parent_pid)
		json_member_i64(json, "ppid", event->parent_pid);
	if (event->present & LIFE_HAS_UID)
		json_member_u64(json, "uid", event->uid);
	if (event->cmd && shows_command)
		json_member_string(json, "cmd", event->cmd);
	if (event->kind == LIFE_EXIT)
		write_end(json, event);
	else if (event->signal)
		json_member_i64(json, "signal", event->signal);
	if (event->present & LIFE_HAS_SENDER)
		json_member_i64(json, "sender_pid", event->sender_pid);
	if (is_lost)
		json_member_u64(json, "lost", event->lost);
	json_member_given(json, "details", event->details);
	json_end_object(json);
}

static void write_tasks(struct json *json, const struct anomaly *anomaly)
{
	json_member_array(json, "tasks");
	for (size_t i = 0; i < anomaly->task_count; i++) {
		json_begin_object(json);
		json_member_i64(json, "pid", anomaly->tasks[i].pid);
		json_member_i64(json, "tid", anomaly->tasks[i].tid);
		json_member_u64(json, "start_time_ns", anomaly->tasks[i].start_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

void anomaly_json(struct json *json, const struct anomaly *anomaly)
{
	const struct anomaly_rule_info *rule = &anomaly_rules[anomaly->rule];

	json_begin_object(json);
	json_member_string(json, "kind", "anomaly");
	json_member_string(json, "rule", rule->name);
	json_member_string(json, "state", anomaly->end_unix_ns ? "close" : "open");
	json_member_string(json, "severity", severity_names[anomaly->severity]);
	json_member_u64(json, "begin_ns", anomaly->begin_unix_ns);
	json_member_nonzero(json, "end_ns", anomaly->end_unix_ns);
	if (anomaly->task.pid)
		write_process(json, &anomaly->task, anomaly->comm);
	json_member_double(json, "value", anomaly->value);
	json_member_double(json, "peak", anomaly->peak);
	json_member_double(json, "threshold", anomaly->threshold);
	json_member_string(json, "unit", metric_unit_name(rule->unit));
	write_tasks(json, anomaly);
	if (anomaly->job[0])
		json_member_string(json, "job", anomaly->job);
	json_member_string(json, "details", anomaly->details);
	json_end_object(json);
}

void host_sample_json(struct json *json, const struct host_sample *sample)
{
	json_begin_object(json);
	json_member_string(json, "kind", "host");
	json_member_u64(json, "ts_ns", sample->unix_ns);
	if (sample->scope[0])
		json_member_string(json, "scope", sample->scope);
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		if (host_sample_has(sample, (enum host_value)i))
			json_member_double(json, host_values[i].name, sample->values[i]);
	json_member_string(json, "pressure_level", pressure_level_names[sample->pressure_level]);
	if (host_sample_has_scope_level(sample))
		json_member_string(json, "scope_pressure_level",
				   pressure_level_names[sample->scope_pressure_level]);
	json_member_array(json, "zombie_pids");
	for (size_t i = 0; i < sample->zombie_pid_count; i++)
		json_i64(json, sample->zombie_pids[i]);
	json_end_array(json);
	if (sample->recorder_pid)
		json_member_i64(json, "recorder_pid", sample->recorder_pid);
	if (sample->jobs) {
		json_key(json, "jobs");
		json_raw(json, sample->jobs);
	}
	json_end_object(json);
}

void host_values_json(struct json *json, const struct host_sample *sample,
		      const enum host_value *values, size_t count)
{
	json_begin_object(json);
	json_member_string(json, "kind", "host");
	json_member_u64(json, "ts_ns", sample->unix_ns);
	if (sample->scope[0])
		json_member_string(json, "scope", sample->scope);
	for (size_t i = 0; i < count; i++)
		if (host_sample_has(sample, values[i]))
			json_member_double(json, host_values[values[i]].name,
					   sample->values[values[i]]);
	json_end_object(json);
}

/* What a line about a process has; thread metrics are those of its first task. */
static const enum metric_id shown[] = {
	METRIC_rss_bytes, METRIC_vm_bytes, METRIC_nr_threads,
	METRIC_open_fds,  METRIC_fd_limit, METRIC_hiwater_rss_bytes,
};

static void write_calls(struct json *json, const struct process_figures *figures)
{
	json_member_array(json, "syscalls");
	for (size_t i = 0; i < figures->call_count; i++) {
		const struct call_line *line = &figures->calls[i].line;

		json_begin_object(json);
		json_member_string(json, "syscall", line->name);
		json_member_u64(json, "calls", line->calls);
		json_member_u64(json, "errors", line->errors);
		json_member_u64(json, "time_ns", line->time_ns);
		json_member_u64(json, "max_ns", line->max_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

void process_json(struct json *json, const struct snapshot *snapshot, uint32_t row,
		  const struct process_figures *figures, bool shows_command)
{
	const struct process *process = &snapshot->processes[row];
	const char *pcomm = snapshot_text(snapshot, process->pcomm);
	int32_t parent = snapshot_parent(snapshot, row);
	uint64_t value;

	json_begin_object(json);
	json_member_string(json, "kind", "process");
	json_member_u64(json, "ts_ns", figures->unix_ns);
	json_member_i64(json, "pid", process->tgid);
	json_member_u64(json, "start_time_ns", process->start_time_ns);
	if (parent)
		json_member_i64(json, "ppid", parent);
	json_member_string(json, "comm", pcomm);
	if (process->cmdline && shows_command)
		json_member_string(json, "cmd", snapshot_text(snapshot, process->cmdline));
	if (process->user)
		json_member_string(json, "user", snapshot_text(snapshot, process->user));
	if (snapshot_get(snapshot, METRIC_state, process->first_task, &value))
		json_member_string(json, "state", (const char[]){ (char)value, '\0' });
	if (figures->has_cpu)
		json_member_fixed(json, "cpu_percent", figures->cpu_percent, 2);
	if (figures->has_cpu && figures->cpu_is_least)
		json_member_bool(json, "cpu_is_least", true);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (snapshot_get(snapshot, shown[i], row, &value))
			json_member_u64(json, metrics[shown[i]].name, value);
	if (figures->has_calls && shows_command)
		write_calls(json, figures);
	if (figures->calls_absent && shows_command)
		json_member_string(json, "syscalls_absent", figures->calls_absent);
	json_end_object(json);
}
