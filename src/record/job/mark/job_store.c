/* SPDX-License-Identifier: MIT */
#include "record/job/mark/job_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/record/job/job_run.h"
#include "base/text.h"
#include "record/job/job_subject.h"
#include "record/job/job_tracker.h"

static const char only_times[] = "no recorder ran: only its times and its outcome are known";
static const char only_steps[] =
	"no recorder ran: figures are those of its steps that `run` measured";

struct finding {
	const struct job_mark *mark;
	job_sink *sink;
	void *context;
	struct error *error;
};

static int give(void *context, const struct job *job)
{
	const struct finding *finding = context;

	if (finding->mark->uid != 0 && job->uid != finding->mark->uid)
		return error_set(finding->error, -EPERM, "job %" PRIu64 " belongs to another user",
				 job->id);
	if (job->outcome != JOB_RUNNING)
		return error_set(finding->error, -EALREADY, "job %" PRIu64 " has ended", job->id);
	return finding->sink(finding->context, job);
}

int job_store_find(struct history *history, const struct job_mark *mark, job_sink *sink,
		   void *context, struct error *error)
{
	struct finding finding = { mark, sink, context, error };
	struct job_query query = {
		.span = { 0, UINT64_MAX },
		.name = mark->name,
		.has_uid = true,
		.uid = mark->uid,
		.running_only = true,
		.limit = 1,
	};
	bool is_number = mark->name[0] == '#';
	int status = 0;

	if (!is_number)
		status = history_jobs(history, &query, give, &finding, error);
	query = (struct job_query){ .span = { 0, UINT64_MAX }, .limit = 1 };
	if (status == 0 && parse_u64(mark->name + is_number, &query.id) && query.id)
		status = history_jobs(history, &query, give, &finding, error);
	return status;
}

/* A run that is too large is a loss, no failure. */
static int note_left_out(struct history *history, uint64_t job, const char *step,
			 struct error *error)
{
	const struct error why = *error;

	*error = (struct error){ 0 };
	return history_add_job_event(history,
				     &(struct job_event){ .job = job,
							  .step = step,
							  .kind = JOB_EVENT_LOST,
							  .unix_ns = clock_ns(CLOCK_REALTIME),
							  .details = why.message },
				     error);
}

int job_store_measured(struct history *history, uint64_t job, const char *step,
		       const struct job_measured *measured, struct error *error)
{
	int status = 0;

	if (measured->syscall_count)
		status = history_put_job_syscalls(history, job, step, measured->syscalls,
						  measured->syscall_count, error);
	for (size_t i = 0; i < measured->event_count && status == 0; i++) {
		struct job_event event = measured->events[i];

		event.job = job;
		event.step = step;
		status = history_add_job_event(history, &event, error);
	}
	if (status == 0 && !measured->run && measured->run_size)
		status = error_set(
			error, -EFBIG,
			"the run is not kept: it has %zu bytes, more than the recorder takes",
			measured->run_size);
	else if (status == 0 && measured->run)
		status = history_put_job_run(history, job, step, measured->run, measured->run_size,
					     error);
	return status == -EFBIG ? note_left_out(history, job, step, error) : status;
}

/* A mark that is being taken. */
struct taking {
	struct history *history;
	const struct job_scene *scene;
	struct job_mark *mark;
	struct job_marked *marked;
	struct error *error;
	/* The job that it is about, and what its steps say. */
	const struct job *job;
	uint64_t step_count, measured_steps;
	bool is_known;		 /* the step was there before: */
	struct job_step earlier; /* without its texts */
	struct job_figures sums;
	enum job_memory memory;
};

static int put_event(struct taking *taking, uint64_t job, enum job_event_kind kind,
		     const char *step)
{
	const struct job_event event = {
		.job = job,
		.kind = kind,
		.step = step,
		.unix_ns = taking->scene->now.unix_ns,
		.task = taking->mark->root,
		.details = kind == JOB_EVENT_END ? job_outcome_names[taking->mark->outcome] : NULL,
	};

	return history_add_job_event(taking->history, &event, taking->error);
}

static int count_one(void *context, const struct job *job)
{
	(void)job;
	++*(size_t *)context;
	return 0;
}

static int check_room(struct taking *taking)
{
	const struct job_query query = { .span = { 0, UINT64_MAX },
					 .has_uid = true,
					 .uid = taking->mark->uid,
					 .running_only = true };
	size_t count = 0;
	int status = history_jobs(taking->history, &query, count_one, &count, taking->error);

	return status < 0 || count < JOBS_MOST ?
		       status :
		       error_set(taking->error, -E2BIG,
				 "%d jobs of this user run already: end one of them", JOBS_MOST);
}

static int start(struct taking *taking)
{
	const struct job_mark *mark = taking->mark;
	struct job job = {
		.name = mark->name,
		.root = mark->root,
		.cgroup = mark->cgroup,
		.cmd = mark->cmd,
		.watched = mark->watched,
		.uid = mark->uid,
		.steps = mark->steps,
		.absent = only_times,
	};
	int status = check_room(taking);

	job_begin(&job, &taking->scene->now);
	if (status == 0)
		status = history_put_job(taking->history, &job, taking->error);
	taking->marked->job = job.id;
	return status < 0 ? status : put_event(taking, job.id, JOB_EVENT_START, NULL);
}

static int end_step(struct taking *taking, const struct job_step *found, enum job_outcome outcome)
{
	struct job_step step = *found;

	job_step_end(&step, taking->job->boot_id, outcome, &taking->scene->now);
	if (found->duration_ns)
		step.duration_ns = found->duration_ns;
	return history_put_step(taking->history, &step, taking->error);
}

/* A step that is no process of its own ends the one before it that is none, either. */
static int look_at_step(void *context, const struct job_step *step)
{
	struct taking *taking = context;
	bool is_it = taking->mark->step && strcmp(step->name, taking->mark->step) == 0;

	taking->step_count++;
	taking->is_known |= is_it;
	if (is_it)
		taking->earlier = *step;
	if (is_it || step->outcome != JOB_RUNNING || step->root.pid || taking->mark->root.pid)
		return 0;
	return end_step(taking, step, JOB_SUCCESS);
}

/* A step that ran before goes on: what it had stays. */
static void step_go_on(struct job_step *step, const struct job_step *earlier)
{
	step->begin_unix_ns = earlier->begin_unix_ns;
	step->begin_boottime_ns = earlier->begin_boottime_ns;
	step->duration_ns = earlier->duration_ns;
	step->figures = earlier->figures;
	step->memory = earlier->memory;
}

static int begin_step(void *context, const struct job *job)
{
	struct taking *taking = context;
	struct job_step step = { .job = job->id, .root = taking->mark->root };
	int status;

	taking->job = job;
	taking->marked->job = job->id;
	status = history_job_steps(taking->history, job->id, look_at_step, taking, taking->error);
	if (status == 0 && taking->step_count >= JOB_STEPS_OF_USER && !taking->is_known)
		status = error_set(taking->error, -E2BIG, "job %" PRIu64 " has too many steps",
				   job->id);
	if (status < 0)
		return status;
	if (taking->mark->step)
		snprintf(taking->marked->step, sizeof(taking->marked->step), "%s",
			 taking->mark->step);
	else
		snprintf(taking->marked->step, sizeof(taking->marked->step), "%" PRIu64,
			 taking->step_count + 1);
	job_step_begin(&step, &taking->scene->now);
	if (taking->is_known)
		step_go_on(&step, &taking->earlier);
	step.name = taking->marked->step;
	status = history_put_step(taking->history, &step, taking->error);
	if (status == 0)
		status = put_event(taking, job->id, JOB_EVENT_STEP, step.name);
	return status < 0 ? status : 1;
}

static int end_named_step(void *context, const struct job_step *found)
{
	struct taking *taking = context;
	const struct job_mark *mark = taking->mark;
	struct job_step step = *found;

	if (strcmp(found->name, mark->step) != 0)
		return 0;
	taking->is_known = true;
	if (mark->is_measured) {
		job_figures_add(&step.figures, &step.memory, &mark->measured.figures,
				mark->measured.memory);
		step.details = mark->measured.details;
		step.duration_ns += mark->measured.duration_ns;
	}
	return end_step(taking, &step, mark->outcome);
}

static int end_one_step(struct taking *taking, const struct job *job)
{
	int status =
		history_job_steps(taking->history, job->id, end_named_step, taking, taking->error);

	if (status == 0 && !taking->is_known)
		status = error_set(taking->error, -ENOENT, "job %" PRIu64 " has no step '%s'",
				   job->id, taking->mark->step);
	return status < 0 ? status : 1;
}

/* Steps may have run beside each other: what they had at most together is not known. */
static void add_figures(struct taking *taking, const struct job_step *step)
{
	taking->measured_steps += step->figures.present != 0;
	job_figures_add(&taking->sums, &taking->memory, &step->figures, step->memory);
}

static int end_with_job(void *context, const struct job_step *step)
{
	struct taking *taking = context;

	add_figures(taking, step);
	return step->outcome == JOB_RUNNING ? end_step(taking, step, taking->mark->outcome) : 0;
}

static int end_job(struct taking *taking, const struct job *found)
{
	const struct job_mark *mark = taking->mark;
	struct job job = *found;
	int status =
		history_job_steps(taking->history, job.id, end_with_job, taking, taking->error);

	if (status < 0)
		return status;
	job.figures = taking->sums;
	job.memory = taking->memory;
	if (taking->measured_steps)
		job.absent = only_steps;
	if (mark->is_measured) {
		job.figures = mark->measured.figures;
		job.memory = mark->measured.memory;
		job.details = mark->measured.details;
		job.absent = job_run_lacks(&job.figures);
	}
	job.has_status = mark->has_status;
	job.status = mark->status;
	job_end(&job, mark->outcome, &taking->scene->now);
	if (mark->measured.duration_ns && mark->measured.duration_ns < job.duration_ns)
		job.duration_ns = mark->measured.duration_ns;
	status = history_put_job(taking->history, &job, taking->error);
	if (status == 0)
		status = put_event(taking, job.id, JOB_EVENT_END, NULL);
	return status < 0 ? status : 1;
}

static int end(void *context, const struct job *job)
{
	struct taking *taking = context;
	const struct job_mark *mark = taking->mark;
	int status;

	taking->job = job;
	taking->marked->job = job->id;
	status = mark->step ? end_one_step(taking, job) : end_job(taking, job);
	if (status > 0 && mark->is_measured)
		status = job_store_measured(taking->history, job->id, mark->step, &mark->measured,
					    taking->error);
	return status < 0 ? status : 1;
}

int job_store_take(struct history *history, const struct job_scene *scene, struct job_mark *mark,
		   struct job_marked *ret, struct error *error)
{
	struct taking taking = { history, scene, mark, ret, .error = error };
	int status = job_subject_check(scene, mark, error);

	*ret = (struct job_marked){ 0 };
	if (status == 0)
		status = history_close_lost_jobs(history, job_subject_lives, (void *)scene, error);
	if (status == 0)
		status = mark->kind == JOB_MARK_START ?
				 start(&taking) :
				 job_store_find(history, mark,
						mark->kind == JOB_MARK_STEP ? begin_step : end,
						&taking, error);
	return status < 0 ? status : history_commit(history, error);
}
