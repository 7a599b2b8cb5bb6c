/* SPDX-License-Identifier: MIT */
/* Writes scopes of programs that use libtaskscope: the open ones, and their sums. */
#include "base/json.h"
#include "store/run/run_json.h"
#include "store/run/run_json_parts.h"

/* Threads of one process in a line; the others are counted. */
#define THREADS_MAX 64

static void write_scope(struct json *json, const struct scope *scope)
{
	json_begin_object(json);
	json_member_string(json, "label", scope->label);
	json_member_u64(json, "age_ns", scope->age_ns);
	json_member_known(json, "count", scope->has_progress, scope->count);
	json_member_known(json, "total", scope->has_progress && scope->total, scope->total);
	json_end_object(json);
}

static void write_task(struct json *json, const struct scopes *scopes,
		       const struct scope_task *task)
{
	json_begin_object(json);
	json_member_known(json, "tid", task->tid != 0, (uint64_t)task->tid);
	if (task->name[0])
		json_member_string(json, "name", task->name);
	json_member_flag(json, "idle", task->is_idle);
	json_member_nonzero(json, "hidden", task->hidden);
	json_member_array(json, "scopes");
	for (size_t i = 0; i < task->count; i++)
		write_scope(json, &scopes->list.data[task->first + i]);
	json_end_array(json);
	json_end_object(json);
}

static void write_process(struct json *json, const struct run_scopes *process)
{
	const struct scopes *scopes = process->scopes;
	size_t shown = 0, open = 0;

	json_begin_object(json);
	json_member_i64(json, "pid", process->key.pid);
	json_member_nonzero(json, "start_time_ns", process->key.start_ns);
	json_member_array(json, "threads");
	for (size_t i = 0; i < scopes->tasks.count; i++) {
		open += scopes->tasks.data[i].count > 0;
		if (!scopes->tasks.data[i].count || shown == THREADS_MAX)
			continue;
		write_task(json, scopes, &scopes->tasks.data[i]);
		shown++;
	}
	json_end_array(json);
	if (open > shown)
		json_member_u64(json, "threads_omitted", open - shown);
	json_end_object(json);
}

void run_json_scopes(FILE *out, const struct run *run, uint64_t time_ns,
		     const struct run_scopes *processes, size_t count, size_t omitted)
{
	struct json json = run_json_begin(out, "scopes", run_unix_ns(run, time_ns));

	json_member_u64(&json, "time_ns", run_offset_ns(run, time_ns));
	json_member_array(&json, "processes");
	for (size_t i = 0; i < count; i++)
		write_process(&json, &processes[i]);
	json_end_array(&json);
	json_member_nonzero(&json, "omitted", omitted);
	json_end_object(&json);
}

static void write_phase(struct json *json, const struct phase *phase)
{
	json_begin_object(json);
	json_member_i64(json, "pid", phase->process.pid);
	json_member_nonzero(json, "start_time_ns", phase->process.start_ns);
	json_member_string(json, "comm", phase->comm);
	json_member_string(json, "label", phase->label);
	json_member_known(json, "threads_ever", phase->samples > 0, phase->threads);
	json_member_known(json, "wall_ns", phase->samples > 0, phase->wall_ns);
	json_member_known(json, "run_time_ns", phase->has_cpu, phase->cpu_ns);
	json_member_known(json, "off_cpu_ns", phase_has_off_cpu(phase), phase->off_cpu_ns);
	json_member_bool(json, "off_cpu_exact", phase->is_off_cpu_exact);
	json_member_known(json, "self_wall_ns", phase->has_self && phase->samples > 0,
			  phase->self_wall_ns);
	json_member_known(json, "self_run_time_ns", phase->has_self && phase->has_cpu,
			  phase->self_cpu_ns);
	json_member_known(json, "self_off_cpu_ns", phase->has_self && phase_has_off_cpu(phase),
			  phase->self_off_cpu_ns);
	json_member_u64(json, "samples", phase->samples);
	json_member_known(json, "count", phase->has_count, phase->count);
	json_member_known(json, "total_ns", phase->has_count, phase->total_ns);
	json_member_known(json, "self_total_ns", phase->has_self && phase->has_count,
			  phase->self_total_ns);
	json_member_bool(json, "exact", phase_is_exact(phase));
	json_end_object(json);
}

void run_json_phases(struct json *json, const struct run *run)
{
	const struct phases *phases = &run->phases;

	/* Without a source "scopes" nobody searched for scopes. */
	if (!phases->known && !run_source(run, "scopes"))
		return;
	json_key(json, "phases");
	if (!phases->known) {
		json_null(json);
		return;
	}
	json_begin_array(json);
	for (size_t i = 0; i < phases->list.count; i++)
		write_phase(json, &phases->list.data[i]);
	json_end_array(json);
}
