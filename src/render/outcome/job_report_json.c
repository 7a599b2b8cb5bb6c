/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "model/record/job/job_report.h"
#include "render/outcome/job_report_view.h"
#include "render/record/job_view.h"

static void event_json(struct json *json, const struct job_event *event)
{
	json_begin_object(json);
	json_member_string(json, "kind", job_event_names[event->kind]);
	json_member_u64(json, "ts_ns", event->unix_ns);
	json_member_given(json, "step", event->step);
	if (event->task.pid) {
		json_member_i64(json, "pid", event->task.pid);
		json_member_u64(json, "start_time_ns", event->task.start_ns);
	}
	json_member_given(json, "comm", event->comm);
	json_member_given(json, "details", event->details);
	if (event->count != 1)
		json_member_u64(json, "count", event->count);
	if (event->context) {
		json_key(json, "context");
		json_raw(json, event->context);
	}
	json_end_object(json);
}

static void syscall_json(struct json *json, const struct job_syscall *syscall)
{
	json_begin_object(json);
	json_member_string(json, "name", syscall->name);
	json_member_u64(json, "calls", syscall->calls);
	json_member_u64(json, "errors", syscall->errors);
	json_member_u64(json, "time_ns", syscall->time_ns);
	json_end_object(json);
}

void job_report_json(struct json *json, const struct job_report *report)
{
	struct job_row row = { .job = &report->job, .duration_ns = report->duration_ns };

	json_begin_object(json);
	json_key(json, "job");
	job_json(json, &row, true);
	json_member_given(json, "step", report->step);
	json_member_array(json, "steps");
	for (size_t i = 0; i < report->steps.count; i++)
		if (!report->step || i == report->step_place)
			job_step_json(json, &report->steps.data[i]);
	json_end_array(json);
	json_member_array(json, "syscalls");
	for (size_t i = 0; i < report->syscalls.count; i++)
		syscall_json(json, &report->syscalls.data[i]);
	json_end_array(json);
	json_member_array(json, "events");
	for (size_t i = 0; i < report->events.count; i++)
		event_json(json, &report->events.data[i]);
	json_end_array(json);
	json_member_bool(json, "has_run", report->has_run);
	json_end_object(json);
}
