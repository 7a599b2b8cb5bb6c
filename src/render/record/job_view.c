/* SPDX-License-Identifier: MIT */
#include "render/record/job_view.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/collection/array.h"
#include "base/json.h"
#include "base/text.h"
#include "render/record/record_table.h"
#include "render/table/table.h"

/* Figures that are columns; the others are in JSON. */
static const struct {
	enum job_value value;
	const char *title;
	unsigned priority;
} figure_columns[] = {
	{ JOB_run_time_ns, "CPU", 0 },
	{ JOB_peak_memory_bytes, "peak memory", 0 },
	{ JOB_processes, "processes", 2 },
	{ JOB_anomalies, "anomalies", 4 },
};

static const struct table_column columns_before[] = {
	{ "id", TABLE_RIGHT, .id = "id", .unit = UNIT_ID },
	{ "job", TABLE_NAME, .id = "name" },
	{ "outcome", TABLE_LEFT, .id = "outcome" },
	{ "exit", TABLE_RIGHT, 5, .id = "exit_status", .unit = UNIT_LEVEL },
	{ "step", TABLE_LEFT, 1, .id = "step" },
	{ "of", TABLE_RIGHT, 5, .id = "steps", .unit = UNIT_COUNT },
	RECORD_TIME_COLUMNS("began", "begin_ns"),
	{ "took", TABLE_RIGHT, .id = "duration_ns", .unit = UNIT_NS },
};

static const struct table_column columns_after[] = {
	{ "user", TABLE_RIGHT, 6, .id = "uid", .unit = UNIT_ID },
	{ "pid", TABLE_RIGHT, 6, .id = "pid", .unit = UNIT_ID },
	{ .id = "cgroup" },
	{ "command", TABLE_NAME, 3, .id = "cmd" },
	{ .id = "absent" },
};

void job_columns(struct table *table)
{
	table_add_columns(table, columns_before, ARRAY_SIZE(columns_before));
	for (size_t i = 0; i < ARRAY_SIZE(figure_columns); i++)
		table_add_column(table, (struct table_column){
						.title = figure_columns[i].title,
						.alignment = TABLE_RIGHT,
						.priority = figure_columns[i].priority,
						.id = job_values[figure_columns[i].value].name,
						.unit = job_values[figure_columns[i].value].unit,
					});
	table_add_columns(table, columns_after, ARRAY_SIZE(columns_after));
}

/* As a shell has it: 128 and the signal for one that a signal ended. */
static uint64_t exit_status(int status)
{
	return (uint64_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

void put_job(struct table *table, const struct job_row *row)
{
	const struct job *job = row->job;

	put_number(table, job->id);
	put_string(table, job->name);
	put_string(table, job_outcome_names[job->outcome]);
	put_known(table, job->has_status, exit_status(job->status));
	put_string(table, row->step);
	put_known(table, job->steps, job->steps);
	record_put_time(table, job->begin_unix_ns);
	put_known(table, row->duration_ns, row->duration_ns);
	for (size_t i = 0; i < ARRAY_SIZE(figure_columns); i++)
		if (job_has(&job->figures, figure_columns[i].value))
			put_number(table, (uint64_t)job->figures.values[figure_columns[i].value]);
		else
			put_absent(table, job->absent);
	put_number(table, job->uid);
	put_known(table, job->root.pid, (uint64_t)job->root.pid);
	put_string(table, job->cgroup);
	put_string(table, job->cmd);
	put_string(table, job->absent);
}

/* The figures that are known, as members of the object that is being written. */
static void job_figures_json(struct json *json, const struct job_figures *figures,
			     enum job_memory memory)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++) {
		double number = figures->values[i];

		if (!job_has(figures, (enum job_value)i))
			continue;
		if (job_values[i].unit == UNIT_LEVEL)
			json_member_double(json, job_values[i].name, number);
		else
			json_member_u64(json, job_values[i].name,
					number > 0 ? (uint64_t)number : 0);
	}
	if (memory != JOB_MEMORY_UNKNOWN)
		json_member_string(json, "memory", job_memory_names[memory]);
}

void job_json(struct json *json, const struct job_row *row, bool shows_texts)
{
	const struct job *job = row->job;

	json_begin_object(json);
	json_member_string(json, "kind", "job");
	json_member_u64(json, "id", job->id);
	json_member_string(json, "name", job->name);
	json_member_string(json, "outcome", job_outcome_names[job->outcome]);
	if (job->has_status)
		json_member_u64(json, "exit_status", exit_status(job->status));
	if (job->has_status && WIFSIGNALED(job->status))
		json_member_u64(json, "exit_signal", (uint64_t)WTERMSIG(job->status));
	json_member_u64(json, "begin_ns", job->begin_unix_ns);
	json_member_nonzero(json, "end_ns", job->end_unix_ns);
	json_member_nonzero(json, "duration_ns", row->duration_ns);
	json_member_given(json, "boot_id", job->boot_id);
	json_member_given(json, "step", row->step);
	json_member_nonzero(json, "steps", job->steps);
	json_member_u64(json, "uid", job->uid);
	if (job->root.pid) {
		json_member_i64(json, "pid", job->root.pid);
		json_member_u64(json, "start_time_ns", job->root.start_ns);
	}
	json_member_given(json, "cgroup", shows_texts ? job->cgroup : NULL);
	json_member_given(json, "cmd", shows_texts ? job->cmd : NULL);
	json_member_given(json, "watched", shows_texts ? job->watched : NULL);
	job_figures_json(json, &job->figures, job->memory);
	json_member_given(json, "absent", job->absent);
	json_member_given(json, "details", shows_texts ? job->details : NULL);
	json_end_object(json);
}

void job_step_json(struct json *json, const struct job_step *step)
{
	json_begin_object(json);
	json_member_string(json, "kind", "job_step");
	json_member_u64(json, "job", step->job);
	json_member_string(json, "name", step->name);
	json_member_string(json, "outcome", job_outcome_names[step->outcome]);
	json_member_u64(json, "begin_ns", step->begin_unix_ns);
	json_member_nonzero(json, "end_ns", step->end_unix_ns);
	json_member_nonzero(json, "duration_ns", step->duration_ns);
	if (step->root.pid)
		json_member_i64(json, "pid", step->root.pid);
	job_figures_json(json, &step->figures, step->memory);
	json_member_given(json, "details", step->details);
	json_end_object(json);
}
