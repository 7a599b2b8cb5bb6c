/* SPDX-License-Identifier: MIT */
#include "model/record/job/job.h"

#include <string.h>

const struct job_value_info job_values[JOB_VALUE_COUNT] = {
#define JOB_VALUE(id, unit, help) { #id, UNIT_##unit, help },
#include "model/record/job/job_values.def"
};

const char *const job_outcome_names[JOB_OUTCOME_COUNT] = { "running", "success", "failure",
							   "unknown" };
const char *const job_memory_names[JOB_MEMORY_COUNT] = { "unknown", "cgroup", "pss", "rss" };
const char *const job_event_names[JOB_EVENT_KIND_COUNT] = {
	[JOB_EVENT_START] = "start",
	[JOB_EVENT_STEP] = "step",
	[JOB_EVENT_END] = "end",
	[JOB_EVENT_EXIT] = "exit",
	[JOB_EVENT_SIGNAL] = "signal",
	[JOB_EVENT_KILL] = "kill",
	[JOB_EVENT_OOM] = "oom",
	[JOB_EVENT_ANOMALY] = "anomaly",
	[JOB_EVENT_FILE_CREATED] = "file_created",
	[JOB_EVENT_FILE_CHANGED] = "file_changed",
	[JOB_EVENT_FILE_DELETED] = "file_deleted",
	[JOB_EVENT_LOST] = "lost",
};
const char *const pattern_kind_names[PATTERN_KIND_COUNT] = { "correlation", "anomaly" };

int job_outcome_find(const char *name)
{
	for (int i = 0; i < JOB_OUTCOME_COUNT; i++)
		if (strcmp(job_outcome_names[i], name) == 0)
			return i;
	return -1;
}

/* Never 0, which would say that it is not known. */
static uint64_t elapsed_ns(uint64_t begin_unix_ns, uint64_t begin_boottime_ns, const char *boot_id,
			   const struct job_instant *now)
{
	bool is_same_boot =
		boot_id && now->boot_id && begin_boottime_ns && strcmp(boot_id, now->boot_id) == 0;
	uint64_t begin = is_same_boot ? begin_boottime_ns : begin_unix_ns;
	uint64_t end = is_same_boot ? now->boottime_ns : now->unix_ns;

	return end > begin ? end - begin : 1;
}

void job_begin(struct job *job, const struct job_instant *now)
{
	job->begin_unix_ns = now->unix_ns;
	job->begin_boottime_ns = now->boottime_ns;
	job->boot_id = now->boot_id;
	job->outcome = JOB_RUNNING;
}

static bool is_peak(enum job_value value)
{
	return strncmp(job_values[value].name, "peak_", 5) == 0;
}

void job_figures_add(struct job_figures *figures, enum job_memory *memory,
		     const struct job_figures *part, enum job_memory part_memory)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++) {
		enum job_value value = (enum job_value)i;
		double sum = job_has(figures, value) ? figures->values[i] : 0;
		double number = part->values[i];

		if (!job_has(part, value))
			continue;
		if (value == JOB_peak_memory_bytes && number >= sum)
			*memory = part_memory;
		job_set(figures, value,
			!is_peak(value) ? sum + number : (number > sum ? number : sum));
	}
}

void job_end(struct job *job, enum job_outcome outcome, const struct job_instant *now)
{
	job->end_unix_ns = now->unix_ns;
	job->duration_ns =
		elapsed_ns(job->begin_unix_ns, job->begin_boottime_ns, job->boot_id, now);
	job->outcome = outcome;
}

void job_step_begin(struct job_step *step, const struct job_instant *now)
{
	step->begin_unix_ns = now->unix_ns;
	step->begin_boottime_ns = now->boottime_ns;
	step->outcome = JOB_RUNNING;
}

void job_step_end(struct job_step *step, const char *boot_id, enum job_outcome outcome,
		  const struct job_instant *now)
{
	step->end_unix_ns = now->unix_ns;
	step->duration_ns = elapsed_ns(step->begin_unix_ns, step->begin_boottime_ns, boot_id, now);
	step->outcome = outcome;
}

uint64_t job_duration_ns(const struct job *job, const struct job_instant *now)
{
	if (job->outcome != JOB_RUNNING)
		return job->duration_ns;
	return elapsed_ns(job->begin_unix_ns, job->begin_boottime_ns, job->boot_id, now);
}
