/* SPDX-License-Identifier: MIT */
/* What events and ticks bring to the jobs that run, and what the store gets of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "model/record/host_sample.h"
#include "model/record/life_event.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_tracker_parts.h"
#include "record/recorder_state.h"
#include "store/history/job/history_jobs.h"

/* So long after its first process a job waits for the mark that says how it ended. */
#define END_WAIT_NS (2 * NS_PER_SECOND)
#define TICK_NS UINT64_C(10000000)

int job_tracker_take_event(struct job_tracker *tracker, const struct life_event *event)
{
	const struct book_member *member;
	struct job_instant now;
	struct book_step *step;
	struct book_job *job;

	if (!tracker || !tracker->book.jobs.count)
		return 0;
	if (event->kind == LIFE_LOST)
		tracker->has_lost = true;
	now = job_reader_now(&tracker->reader);
	now.boottime_ns -= now.unix_ns > event->unix_ns ? now.unix_ns - event->unix_ns : 0;
	now.unix_ns = event->unix_ns;
	member = event->kind == LIFE_EXIT ? job_book_member(&tracker->book, &event->task) : NULL;
	if (member)
		job_calls_note(&tracker->calls, tracker->recorder, member);
	job = job_book_take_event(&tracker->book, event, &now, &step);
	if (job)
		job_log_life(tracker, job, step, event);
	return 0;
}

void job_take_cgroup(struct book_job *job, const struct job_cgroup *found)
{
	double used = (double)found->run_time_ns - (double)job->cgroup_before.run_time_ns;

	if (job->has_cgroup_use && found->has_run_time && used >= 0)
		job->has_changed |= job_raise(&job->row.figures, JOB_run_time_ns, used);
	/* A peak that was there before the job is not the job's. */
	if (!job->has_cgroup_peak || !found->has_peak ||
	    found->peak_bytes <= job->cgroup_peak_before)
		return;
	if (job->row.memory != JOB_MEMORY_CGROUP) {
		job->row.figures.present &= ~(UINT64_C(1) << JOB_peak_memory_bytes);
		job->row.memory = JOB_MEMORY_CGROUP;
	}
	job->has_changed |=
		job_raise(&job->row.figures, JOB_peak_memory_bytes, (double)found->peak_bytes);
}

static bool is_below(const char *path, const char *cgroup)
{
	size_t length = strlen(cgroup);

	while (length && cgroup[length - 1] == '/')
		length--;
	return strncmp(path, cgroup, length) == 0 && (path[length] == '/' || !path[length]);
}

/* Only root can make processes of others part of a job. */
static bool may_claim(const struct book_job *job, const struct snapshot *snapshot, uint32_t row)
{
	uint64_t uid;

	return job->row.uid == 0 ||
	       (snapshot_get(snapshot, METRIC_uid, row, &uid) && uid == job->row.uid);
}

static void claim(struct job_tracker *tracker, struct book_job *job, const struct task_key *key,
		  const struct process_total *cpu)
{
	bool is_new = key->start_ns + TICK_NS > job->row.begin_boottime_ns;
	struct job_use use = { .has_run_time = cpu->is_known, .run_time_ns = cpu->value };

	job_book_join(&tracker->book, job, job->current, key, is_new ? &job_use_nothing : &use,
		      is_new ? JOIN_NEW : JOIN_LIVING);
}

void job_claim_cgroup(struct job_tracker *tracker, struct book_job *job)
{
	const struct recorder_tick *tick = &tracker->recorder->last;

	for (uint32_t row = 0; tick->snapshot && row < tick->snapshot->process_count; row++) {
		const struct process *process = &tick->snapshot->processes[row];
		struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
		const struct book_member *member = job_book_member(&tracker->book, &key);
		uint32_t cgroup = tick->snapshot->tasks[process->first_task].cgroup;

		/* A newer job inside the cgroup keeps what it has. */
		if ((member && member->job->row.id >= job->row.id && job->row.id) ||
		    (member && member->job == job) || !cgroup ||
		    job_book_has_ended(&tracker->book, &key) ||
		    !is_below(snapshot_text(tick->snapshot, cgroup), job->row.cgroup) ||
		    !may_claim(job, tick->snapshot, row))
			continue;
		claim(tracker, job, &key, &tick->cpu[row]);
	}
}

static enum job_outcome outcome_of(const struct job *row)
{
	if (!row->has_status)
		return JOB_UNKNOWN;
	return row->status == 0 ? JOB_SUCCESS : JOB_FAILURE;
}

static bool is_over(struct job_tracker *tracker, const struct book_job *job,
		    const struct job_instant *now, struct job_instant *ret)
{
	*ret = job->ended;
	if (job->ended.boottime_ns)
		return now->boottime_ns >= job->ended.boottime_ns + END_WAIT_NS;
	*ret = *now;
	return job->row.cgroup && !job->members &&
	       !job_read_cgroup(&tracker->reader, job->row.cgroup).exists;
}

/* Jobs whose first process ended and nobody marked, and those whose cgroup was removed. */
static void end_overdue(struct job_tracker *tracker, const struct job_instant *now)
{
	for (size_t i = tracker->book.jobs.count; i-- > 0;) {
		struct book_job *job = tracker->book.jobs.data[i];
		struct job_result result = { .outcome = outcome_of(&job->row) };
		struct error error = { 0 };
		struct job_instant end;

		if (!is_over(tracker, job, now, &end))
			continue;
		end.boot_id = now->boot_id;
		recorder_judge(tracker->recorder, &tracker->recorder->store_fault,
			       job_finish(tracker, job, &result, &end, &error), &error,
			       "the store can be written");
	}
}

static void write_progress(struct json *json, const struct book_job *job)
{
	const struct book_step *newest = NULL;
	uint64_t active = 0;

	for (size_t i = 0; i < job->steps.count; i++)
		if (job->steps.data[i]->is_open) {
			newest = job->steps.data[i];
			active++;
		}
	if (job->current)
		newest = job->current;
	json_begin_object(json);
	json_member_u64(json, "id", job->row.id);
	json_member_string(json, "name", job->row.name);
	json_member_u64(json, "uid", job->row.uid);
	json_member_string(json, "status", job->ended.boottime_ns ? "ending" : "running");
	json_member_nonzero(json, "total_steps", job->row.steps);
	json_member_given(json, "last_completed_step", job->last_completed);
	if (newest)
		json_member_string(json, "current_step", newest->row.name);
	json_member_u64(json, "active_steps", active);
	json_member_u64(json, "processes", job->members - job->ours);
	json_end_object(json);
}

/* NULL: no job runs, or memory ran out. */
static char *progress_json(const struct job_tracker *tracker)
{
	char *text = NULL;
	size_t length = 0;
	struct json json;
	FILE *out;

	if (!tracker->book.jobs.count)
		return NULL;
	out = memory_stream_open(&text, &length);
	if (!out)
		return NULL;
	json = json_line_writer(out);
	json_begin_array(&json);
	for (size_t i = 0; i < tracker->book.jobs.count; i++)
		write_progress(&json, tracker->book.jobs.data[i]);
	json_end_array(&json);
	return memory_stream_line(out, &text);
}

static void take_cgroup(struct job_tracker *tracker, struct book_job *job)
{
	struct job_cgroup found;

	if (!job->row.cgroup)
		return;
	job_claim_cgroup(tracker, job);
	found = job_cgroup_at(tracker->recorder->last.snapshot, job->row.cgroup);
	job_take_cgroup(job, &found);
}

void job_tracker_take_tick(struct job_tracker *tracker, struct host_sample *sample, char **ret_jobs)
{
	const struct recorder_tick *tick = &tracker->recorder->last;
	bool finds_new = !tracker->recorder->life || tracker->has_lost;
	struct job_instant now = job_reader_now(&tracker->reader);

	job_reader_begin(&tracker->reader);
	tracker->has_lost = false;
	for (size_t i = 0; i < tracker->book.jobs.count; i++)
		take_cgroup(tracker, tracker->book.jobs.data[i]);
	if (tracker->book.jobs.count) {
		job_book_take_tick(&tracker->book, tick->snapshot, tick->cpu, finds_new, &now);
		end_overdue(tracker, &now);
	}
	host_sample_set(sample, HOST_VALUE_running_jobs, (double)job_tracker_count(tracker));
	host_sample_set(sample, HOST_VALUE_active_steps, (double)job_tracker_active_steps(tracker));
	*ret_jobs = progress_json(tracker);
}

static int write_steps(struct job_tracker *tracker, struct book_job *job, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < job->steps.count && status == 0; i++) {
		struct book_step *step = job->steps.data[i];

		if (!step->has_changed)
			continue;
		step->row.job = job->row.id;
		step->row.root = step->root;
		job_figures_replace(&step->row.figures, &step->measured);
		status = history_put_step(tracker->recorder->history, &step->row, error);
		step->has_changed = status < 0;
	}
	return status;
}

int job_write(struct job_tracker *tracker, struct book_job *job, struct error *error)
{
	int status = 0;

	if (job->has_changed && !job->is_measured_elsewhere) {
		free((char *)job->row.absent);
		job->row.absent = job_gaps_words(tracker, job);
	}
	if (job->has_changed)
		status = history_put_job(tracker->recorder->history, &job->row, error);
	if (status == 0) {
		job->has_changed = false;
		status = write_steps(tracker, job, error);
	}
	return status;
}

/* Rows of processes that this tick has made, or those of a job that has begun since. */
static int write_members(struct job_tracker *tracker, struct error *error)
{
	const struct snapshot *snapshot = tracker->recorder->last.snapshot;
	int status = 0;

	for (size_t i = 0; i < tracker->book.members.count && status == 0; i++) {
		struct book_member *member = tracker->book.members.data[i];
		const struct book_step *step = job_book_step_of(member);

		if (member->is_kept || member->is_ours ||
		    snapshot_find_process(snapshot, member->key.pid) < 0)
			continue;
		status = history_put_process_job(
			tracker->recorder->history, tracker->reader.boot_id, &member->key,
			member->job->row.id, step ? step->row.name : NULL, error);
		member->is_kept = status == 0;
	}
	return status;
}

/* All is written again. */
static void forget_written(struct job_tracker *tracker)
{
	for (size_t i = 0; i < tracker->book.members.count; i++)
		tracker->book.members.data[i]->is_kept = false;
	for (size_t i = 0; i < tracker->book.jobs.count; i++) {
		struct book_job *job = tracker->book.jobs.data[i];

		job->has_changed = true;
		for (size_t k = 0; k < job->steps.count; k++)
			job->steps.data[k]->has_changed = true;
	}
}

int job_tracker_keep(struct job_tracker *tracker, struct error *error)
{
	uint64_t faults = tracker->recorder->store_fault.count;
	int status = 0;

	/* A write that failed has taken with it what was added before. */
	if (faults != tracker->store_faults)
		forget_written(tracker);
	tracker->store_faults = faults;
	for (size_t i = 0; i < tracker->book.jobs.count && status == 0; i++)
		status = job_write(tracker, tracker->book.jobs.data[i], error);
	if (status == 0 && tracker->book.jobs.count)
		status = write_members(tracker, error);
	if (status == 0)
		status = job_calls_keep(&tracker->calls, tracker->recorder, &tracker->book, error);
	return status;
}

uint64_t job_tracker_lost_calls(const struct job_tracker *tracker)
{
	return tracker ? tracker->calls.lost : 0;
}

void job_tracker_finish(struct job_tracker *tracker)
{
	struct error error = { 0 };
	int status = 0;

	if (!tracker)
		return;
	job_watches_flush(&tracker->watches);
	for (size_t i = 0; i < tracker->book.jobs.count && status == 0; i++)
		status = job_write(tracker, tracker->book.jobs.data[i], &error);
	if (status == 0)
		status = job_calls_keep(&tracker->calls, tracker->recorder, &tracker->book, &error);
	recorder_judge(tracker->recorder, &tracker->recorder->store_fault, status, &error,
		       "the store can be written");
}
