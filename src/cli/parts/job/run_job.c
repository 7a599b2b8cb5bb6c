/* SPDX-License-Identifier: MIT */
#include "cli/parts/job/run_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record/job/job_run.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "record/job/job_run_events.h"
#include "render/run/run_text.h"
#include "store/snapshot_file.h"

int run_job_check(const struct run_job *job, struct error *error)
{
	return job_mark_check(
		&(struct job_mark){ .kind = JOB_MARK_START, .name = job->name, .step = job->step },
		error);
}

/* The command line, cut where it is too long. */
static void join_words(struct text *out, char *const *words)
{
	for (; *words && out->length < JOB_TEXT_BYTES; words++)
		text_format(out, "%s%s", out->length ? " " : "", *words);
	if (out->length > JOB_TEXT_BYTES)
		out->data[out->length = JOB_TEXT_BYTES] = '\0';
}

static int place_mark(struct run_job *job, struct job_mark *mark, struct job_marked *ret,
		      struct error *error)
{
	mark->uid = geteuid();
	return job_place_mark(&job->place, mark, ret, error);
}

/* From here on the job is known by its number. */
static void note_job(struct run_job *job, uint64_t id)
{
	job->job = id;
	snprintf(job->id, sizeof(job->id), "#%" PRIu64, id);
}

static int begin_step(struct run_job *job, const char *name, struct error *error)
{
	const struct task_key own = { .pid = getpid(), .tid = getpid() };
	struct job_marked marked;
	struct job_mark mark = {
		.kind = JOB_MARK_STEP, .name = name, .step = job->step, .root = own, .watches = true
	};
	int status = place_mark(job, &mark, &marked, error);

	if (status == 0 && marked.job) {
		note_job(job, marked.job);
		snprintf(job->used_step, sizeof(job->used_step), "%s", marked.step);
	}
	return status;
}

static int start(struct run_job *job, char *const *words, struct error *error)
{
	CLEANUP(text_free) struct text command = { 0 };
	const struct task_key own = { .pid = getpid(), .tid = getpid() };
	struct job_marked marked;
	struct job_mark mark = {
		.kind = JOB_MARK_START, .name = job->name, .root = own, .watches = true
	};
	int status;

	join_words(&command, words);
	mark.cmd = text_string(&command);
	status = place_mark(job, &mark, &marked, error);
	if (status == 0)
		note_job(job, marked.job);
	return status;
}

int run_job_begin(struct run_job *job, char *const *words, struct error *error)
{
	int status = begin_step(job, job->name, error);

	job->joins = job->job != 0;
	if (status < 0 || job->joins)
		return status;
	/* Nobody had the job: where nobody was asked, it can be anywhere. */
	job->place.used_socket[0] = job->place.used_store[0] = '\0';
	status = start(job, words, error);
	if (status < 0 || !job->step)
		return status;
	return begin_step(job, job->id, error);
}

static void measure(const struct run *run, struct text *details, struct job_measured *ret)
{
	CLEANUP(free_pointer) struct diagnosis *diagnosis = calloc(1, sizeof(*diagnosis));

	job_figures_of_run(run, &ret->figures, &ret->memory);
	ret->duration_ns = run_wall_ns(run);
	ret->syscall_count = job_syscalls_of_run(run, ret->syscalls, JOB_SYSCALLS_MOST);
	if (!diagnosis)
		return;
	diagnose(run, diagnosis);
	if (diagnosis->verdict.class == CLASS_UNKNOWN)
		return;
	run_text_append_limit(details, &diagnosis->verdict);
	ret->details = details->failed ? NULL : text_string(details);
}

/* The whole run as a file. */
static int pack(const struct run *run, struct job_measured *ret, void **ret_bytes,
		struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = run_to_snapshot(run, &snapshot);

	if (status == 0)
		status = snapshot_encode(snapshot, ret_bytes, &ret->run_size, error);
	if (status < 0)
		return error_set(error, status, "not enough memory to keep the run");
	ret->run = *ret_bytes;
	return 0;
}

/* Ends the step, and the job if it is our own.  What belongs to the whole job is kept there. */
static int mark_end(struct run_job *job, struct job_mark *mark, struct error *error)
{
	const struct job_measured whole = mark->measured;
	struct job_marked marked;
	int status = 0;

	mark->kind = JOB_MARK_END;
	mark->name = job->id;
	if (job->used_step[0]) {
		mark->step = job->used_step;
		if (!job->joins) {
			mark->measured.run = NULL;
			mark->measured.run_size = 0;
			mark->measured.syscall_count = 0;
		}
		status = place_mark(job, mark, &marked, error);
	}
	if (status < 0 || job->joins)
		return status;
	mark->step = NULL;
	mark->measured = whole;
	if (job->used_step[0]) /* they are the step's */
		mark->measured.event_count = 0;
	return place_mark(job, mark, &marked, error);
}

int run_job_end(struct run_job *job, const struct run *run, int exit_status, struct error *error)
{
	CLEANUP(free_pointer) struct job_mark *mark = calloc(1, sizeof(*mark));
	CLEANUP(text_free) struct text details = { 0 };
	CLEANUP(job_run_events_clear) struct job_run_events events = { 0 };
	CLEANUP(free_pointer) void *bytes = NULL;
	int packed = 0, status;

	if (!job->job)
		return 0;
	if (!mark)
		return error_set(error, -ENOMEM, "not enough memory to end the job");
	mark->outcome = exit_status == 0 ? JOB_SUCCESS : JOB_FAILURE;
	mark->has_status = true;
	mark->status = run && run->has_status ? run->status : (exit_status & 0xff) << 8;
	mark->is_measured = run;
	if (run) {
		measure(run, &details, &mark->measured);
		packed = pack(run, &mark->measured, &bytes, error);
		if (job_run_events_make(run, &events) < 0)
			packed = error_set(error, -ENOMEM,
					   "not enough memory for the events of the job");
		mark->measured.events = events.list.data;
		mark->measured.event_count = events.list.count;
	}
	status = mark_end(job, mark, error);
	return status < 0 ? status : packed;
}
