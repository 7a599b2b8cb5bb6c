/* SPDX-License-Identifier: MIT */
#include "record/job/job_tracker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_tracker_parts.h"
#include "record/recorder_state.h"
#include "store/history/job/history_jobs.h"
#include "trace/life/lifecycle.h"

int job_tracker_open(struct recorder *recorder, struct job_tracker **ret, struct error *error)
{
	struct job_tracker *tracker = calloc(1, sizeof(*tracker));
	int status;

	if (!tracker)
		return error_set(error, -ENOMEM, "out of memory");
	tracker->recorder = recorder;
	tracker->book.counted = job_counted(recorder);
	tracker->book.knows_programs =
		recorder->life && strcmp(lifecycle_source(recorder->life), "polling") != 0;
	job_reader_open(&tracker->reader, recorder->host);
	job_watches_open(&tracker->watches, &recorder->loop, tracker);
	status = job_resume(tracker, error);
	if (status < 0) {
		job_tracker_close(tracker);
		return status;
	}
	*ret = tracker;
	return 0;
}

void job_tracker_close(struct job_tracker *tracker)
{
	if (!tracker)
		return;
	job_watches_close(&tracker->watches);
	job_calls_clear(&tracker->calls);
	job_book_clear(&tracker->book);
	job_reader_close(&tracker->reader);
	array_free(&tracker->anomalies);
	free(tracker);
}

/* What happened before a mark belongs to what was before. */
static struct job_instant drain(struct job_tracker *tracker)
{
	if (tracker->recorder->life)
		recorder_drain(tracker->recorder);
	job_reader_begin(&tracker->reader);
	return job_reader_now(&tracker->reader);
}

static size_t count_steps(const struct job_tracker *tracker, uint32_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < tracker->book.jobs.count; i++)
		if (tracker->book.jobs.data[i]->row.uid == uid)
			count += tracker->book.jobs.data[i]->steps.count;
	return count;
}

static int check_room(const struct job_tracker *tracker, uint32_t uid, struct error *error)
{
	bool is_limited = uid && uid != geteuid();
	size_t own = 0, most = is_limited ? JOBS_MOST - JOBS_KEPT : JOBS_MOST;

	for (size_t i = 0; i < tracker->book.jobs.count; i++)
		own += tracker->book.jobs.data[i]->row.uid == uid;
	if (tracker->book.jobs.count >= most)
		return error_set(error, -E2BIG, "%zu jobs run already: end some of them first",
				 tracker->book.jobs.count);
	if (is_limited && own >= JOBS_OF_USER)
		return error_set(error, -E2BIG,
				 "%d jobs of this user run already: end some of them first",
				 JOBS_OF_USER);
	return 0;
}

/* A recorder of a part of the host knows nothing of others. */
static int check_scope(const struct job_tracker *tracker, const struct task_key *root,
		       struct error *error)
{
	const struct lifecycle *life = tracker->recorder->life;

	if (!root->pid || !life || lifecycle_is_member(life, root->pid, root->start_ns))
		return 0;
	return error_set(error, -EINVAL,
			 "process %" PRId32 " is not in the part of the host that is recorded",
			 root->pid);
}

/*
 * What it used so far counts for what it belonged to; without the time to read it, all until the
 * next tick.
 */
static void join_living(struct job_tracker *tracker, struct book_job *job, struct book_step *step,
			const struct task_key *key)
{
	struct book_member *old = job_book_member(&tracker->book, key);
	bool is_late = !job_reader_has_time(&tracker->reader);
	struct job_use use = { 0 };

	if (!is_late && !job_read_process(&tracker->reader, key, &use)) {
		job->gaps.unread++;
		return;
	}
	job->gaps.late += is_late;
	if (old && !is_late)
		job_book_read(old, &use);
	job_book_join(&tracker->book, job, step, key, &use, JOIN_LIVING);
}

static void take_children(struct job_tracker *tracker, struct book_job *job,
			  const struct task_key *root)
{
	const struct snapshot *last = tracker->recorder->last.snapshot;
	struct job_family family = { 0 };
	int status = job_list_family(&tracker->reader, root, &family);

	/* Those that began after the last tick may be missing. */
	job->gaps.late += status == -ETIME;
	if (status == -ETIME && last)
		status = job_family_at(last, root, &family);
	job->gaps.unread += status < 0;
	for (size_t i = 0; i < family.list.count; i++)
		join_living(tracker, job, NULL, &family.list.data[i]);
	array_free(&family.list);
}

static void take_members(struct job_tracker *tracker, struct book_job *job, bool takes_children)
{
	const struct task_key *root = &job->row.root;
	const struct book_member *old = job_book_member(&tracker->book, root);
	struct job_cgroup cgroup;

	if (root->pid) {
		job->outer = old ? old->job->row.id : 0;
		join_living(tracker, job, NULL, root);
		if (takes_children)
			take_children(tracker, job, root);
	}
	if (!job->row.cgroup)
		return;
	cgroup = job_read_cgroup(&tracker->reader, job->row.cgroup);
	job->has_cgroup_use = cgroup.has_run_time;
	job->cgroup_before.run_time_ns = cgroup.run_time_ns;
	job->has_cgroup_peak = cgroup.has_peak;
	job->cgroup_peak_before = cgroup.peak_bytes;
	job_claim_cgroup(tracker, job);
}

static void log_mark(struct job_tracker *tracker, struct book_job *job, enum job_event_kind kind,
		     const char *step, const char *details, const struct job_instant *now)
{
	const struct job_event event = {
		.kind = kind,
		.step = step,
		.unix_ns = now->unix_ns,
		.task = job->row.root,
		.details = details,
	};

	job_log(tracker, job, &event);
}

static int write_now(struct job_tracker *tracker, struct book_job *job, struct error *error)
{
	int status = job_write(tracker, job, error);

	return status < 0 ? status : history_commit(tracker->recorder->history, error);
}

int job_tracker_begin(struct job_tracker *tracker, struct job *row, bool takes_children,
		      struct error *error)
{
	struct job_instant now = drain(tracker);
	int status = check_room(tracker, row->uid, error);
	struct book_job *job;

	if (strlen(row->name) >= JOB_NAME_SIZE)
		return error_set(error, -EINVAL, "the name of a job has at most %d characters",
				 JOB_NAME_SIZE - 1);
	if (status == 0)
		status = check_scope(tracker, &row->root, error);
	if (status < 0)
		return status;
	job = job_book_begin(&tracker->book, row, &now);
	if (!job)
		return error_set(error, -ENOMEM, "out of memory");
	take_members(tracker, job, takes_children);
	/* A mark that is refused leaves no row. */
	if (row->watched)
		status = job_watches_add(&tracker->watches, job, error);
	if (status == 0)
		status = history_put_job(tracker->recorder->history, &job->row, error);
	if (status == 0) {
		log_mark(tracker, job, JOB_EVENT_START, NULL, row->cmd, &now);
		status = write_now(tracker, job, error);
	}
	row->id = job->row.id;
	if (status < 0) {
		job_watches_remove(&tracker->watches, job);
		job_book_end(&tracker->book, job);
	}
	return status;
}

static struct book_job *find_running(struct job_tracker *tracker, uint64_t id, struct error *error)
{
	struct book_job *job = job_book_find(&tracker->book, id);

	if (!job)
		error_set(error, -ESRCH, "there is no running job #%" PRIu64, id);
	return job;
}

/*
 * Processes that work for whatever step runs: what they used so far counts for the one before, and so
 * does what happened to files.
 */
static void settle_steps(struct job_tracker *tracker, struct book_job *job)
{
	job_watches_settle(&tracker->watches, job);
	for (size_t i = 0; i < tracker->book.members.count; i++) {
		struct book_member *member = tracker->book.members.data[i];
		struct job_use use;

		if (member->job != job || member->step)
			continue;
		if (!job_reader_has_time(&tracker->reader))
			job->gaps.late++;
		else if (job_read_process(&tracker->reader, &member->key, &use))
			job_book_read(member, &use);
	}
}

int job_tracker_step(struct job_tracker *tracker, uint64_t id, const char *name,
		     const struct task_key *root, struct error *error)
{
	struct job_instant now = drain(tracker);
	struct book_job *job = find_running(tracker, id, error);
	struct book_step *step;

	if (!job)
		return -ESRCH;
	if (!job_book_find_step(job, name) &&
	    count_steps(tracker, job->row.uid) >= JOB_STEPS_OF_USER)
		return error_set(error, -E2BIG,
				 "the running jobs of this user have %d steps already",
				 JOB_STEPS_OF_USER);
	if (!root)
		settle_steps(tracker, job);
	step = job_book_open_step(job, name, root, &now);
	if (!step)
		return error_set(error, -ENOMEM, "out of memory");
	if (root)
		join_living(tracker, job, step, root);
	log_mark(tracker, job, JOB_EVENT_STEP, name, NULL, &now);
	return write_now(tracker, job, error);
}

static void take_result(struct job_figures *figures, enum job_memory *memory,
			const struct job_result *result)
{
	if (result->figures)
		job_figures_replace(figures, result->figures);
	if (result->figures && job_has(result->figures, JOB_peak_memory_bytes))
		*memory = result->memory;
}

int job_tracker_end_step(struct job_tracker *tracker, uint64_t id, const char *name,
			 const struct job_result *result, struct error *error)
{
	struct job_instant now = drain(tracker);
	struct book_job *job = find_running(tracker, id, error);
	struct book_step *step = job ? job_book_find_step(job, name) : NULL;

	if (!job)
		return -ESRCH;
	if (!step)
		return error_set(error, -ESRCH, "job #%" PRIu64 " has no step '%s'", id, name);
	if (job->current == step)
		settle_steps(tracker, job);
	job_book_close_step(job, step, result->outcome, &now);
	if (result->figures) {
		job_figures_add(&step->measured, &step->row.memory, result->figures,
				result->memory);
		job_figures_replace(&step->row.figures, &step->measured);
	}
	step->measured_ns += result->duration_ns;
	if (step->measured_ns)
		step->row.duration_ns = step->measured_ns;
	return write_now(tracker, job, error);
}

/* Counts what living processes used up to now, and closes all spans. */
static void read_members(struct job_tracker *tracker, struct book_job *job,
			 const struct job_instant *now)
{
	job_book_begin_rss(job);
	for (size_t i = 0; i < tracker->book.members.count; i++) {
		struct book_member *member = tracker->book.members.data[i];
		struct job_use use;

		if (member->job != job)
			continue;
		job_calls_note(&tracker->calls, tracker->recorder, member);
		if (!job_reader_has_time(&tracker->reader))
			job->gaps.late++;
		else if (job_read_process(&tracker->reader, &member->key, &use)) {
			job_book_read(member, &use);
			if (use.has_rss)
				job_book_add_rss(member, use.rss_bytes);
		}
	}
	job_book_take_rss(job);
	if (job->row.cgroup) {
		struct job_cgroup cgroup = job_read_cgroup(&tracker->reader, job->row.cgroup);

		job_take_cgroup(job, &cgroup);
	}
	job_book_close_windows(job, now->boottime_ns, true);
}

int job_finish(struct job_tracker *tracker, struct book_job *job, const struct job_result *result,
	       const struct job_instant *now, struct error *error)
{
	int status;

	job_watches_remove(&tracker->watches, job);
	read_members(tracker, job, now);
	for (size_t i = 0; i < job->steps.count; i++)
		job_book_close_step(job, job->steps.data[i], result->outcome, now);
	job_end(&job->row, result->outcome, now);
	/* What was measured inside a job is no longer than the job. */
	if (result->duration_ns && result->duration_ns < job->row.duration_ns)
		job->row.duration_ns = result->duration_ns;
	if (result->has_status) {
		job->row.has_status = true;
		job->row.status = result->status;
	}
	take_result(&job->row.figures, &job->row.memory, result);
	if (result->figures) {
		free((char *)job->row.absent);
		job->row.absent = result->absent ? strdup(result->absent) : NULL;
		job->is_measured_elsewhere = true;
	}
	log_mark(tracker, job, JOB_EVENT_END, NULL, job_outcome_names[result->outcome], now);
	job_log_lost(tracker, job);
	job->has_changed = true;
	status = write_now(tracker, job, error);
	job_book_end(&tracker->book, job);
	return status;
}

int job_tracker_end(struct job_tracker *tracker, uint64_t id, const struct job_result *result,
		    struct error *error)
{
	struct job_instant now = drain(tracker);
	struct book_job *job = find_running(tracker, id, error);

	return job ? job_finish(tracker, job, result, &now, error) : -ESRCH;
}

void job_tracker_exclude(struct job_tracker *tracker, int32_t pid)
{
	(void)drain(tracker);
	job_book_exclude(&tracker->book, &(struct task_key){ .pid = pid });
}

void job_tracker_note_watcher(struct job_tracker *tracker, int32_t pid)
{
	(void)drain(tracker);
	job_book_note_watcher(&tracker->book, &(struct task_key){ .pid = pid });
}

size_t job_tracker_count(const struct job_tracker *tracker)
{
	return tracker ? tracker->book.jobs.count : 0;
}

size_t job_tracker_active_steps(const struct job_tracker *tracker)
{
	size_t count = 0;

	for (size_t i = 0; i < job_tracker_count(tracker); i++) {
		const struct book_job *job = tracker->book.jobs.data[i];

		for (size_t k = 0; k < job->steps.count; k++)
			count += job->steps.data[k]->is_open;
	}
	return count;
}
