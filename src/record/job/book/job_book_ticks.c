/* SPDX-License-Identifier: MIT */
/* What events and ticks say about the processes of jobs. */
#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "model/record/life_event.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/job/book/job_book.h"
#include "record/job/book/job_book_parts.h"

/* The exit of a process may be told after a tick that lacks it. */
#define ABSENCES_MAX 2
/* CPU over a shorter time than this is no peak. */
#define WINDOW_NS (100 * NS_PER_MS)
#define GENERATIONS_MAX 64
/* Start times are whole clock ticks, rounded down. */
#define TICK_NS UINT64_C(10000000)

static void raise_peak(struct book_job *job, struct book_step *step, enum job_value value,
		       double number)
{
	job->has_changed |= job_raise(&job->row.figures, value, number);
	if (step)
		step->has_changed |= job_raise(&step->row.figures, value, number);
}

/* The memory of all is never less than that of one. */
static void raise_memory(struct book_job *job, struct book_step *step, double bytes)
{
	if (job->row.memory != JOB_MEMORY_CGROUP &&
	    job_raise(&job->row.figures, JOB_peak_memory_bytes, bytes)) {
		job->row.memory = JOB_MEMORY_RSS;
		job->has_changed = true;
	}
	if (step && job_raise(&step->row.figures, JOB_peak_memory_bytes, bytes)) {
		step->row.memory = JOB_MEMORY_RSS;
		step->has_changed = true;
	}
}

/* A high-water mark that was there before the job is not the job's. */
static bool is_own_peak(const struct book_member *member, uint64_t bytes)
{
	return member->counted.has_peak && bytes > member->counted.peak_rss_bytes;
}

static void take_peak(struct book_member *member, uint64_t bytes)
{
	struct book_step *step = job_book_step_of(member);

	if (member->is_ours)
		return;
	raise_peak(member->job, step, JOB_peak_rss_bytes, (double)bytes);
	raise_memory(member->job, step, (double)bytes);
}

static bool began_inside(const struct book_member *member)
{
	const struct job *job = &member->job->row;

	return member->key.pid != job->root.pid &&
	       member->key.start_ns + TICK_NS > job->begin_boottime_ns;
}

static bool take_spawn(struct job_book *book, const struct life_event *event)
{
	struct book_member *parent = number_map_get(&book->by_pid, event->parent_pid);
	struct book_member *old = number_map_get(&book->by_pid, event->task.pid);
	struct book_member *known = job_book_member(book, &event->task);

	/* It was found before the event came, which may be about a time before the job. */
	if (known) {
		bool is_new = !known->is_native && began_inside(known);

		if (is_new && !known->is_ours)
			job_book_count(book, known->job, job_book_step_of(known), JOB_spawns, 1);
		known->is_native |= is_new;
		return true;
	}
	/* The number belongs to another process from now on. */
	if (old) {
		old->job->gaps.unseen_ends++;
		if (parent == old)
			parent = NULL;
		job_book_leave(book, old);
	}
	if (!parent || (event->task.start_ns && parent->key.start_ns > event->task.start_ns))
		return false;
	return job_book_join(book, parent->job,
			     parent->step && parent->step->root.pid ? parent->step :
								      parent->job->current,
			     &event->task, &job_use_nothing,
			     parent->is_ours && book->knows_programs ? JOIN_OURS : JOIN_NEW);
}

static void note_root_end(struct book_job *job, const struct task_key *key, bool has_status,
			  int status, const struct job_instant *now)
{
	if (job->row.root.pid != key->pid || job->row.root.start_ns != key->start_ns)
		return;
	job->ended = *now;
	job->row.has_status = has_status;
	job->row.status = status;
	job->has_changed = true;
}

static void take_exit(struct job_book *book, struct book_member *member,
		      const struct life_event *event, const struct job_instant *now)
{
	struct book_step *step = job_book_step_of(member);
	bool has_status = event->present & LIFE_HAS_STATUS;
	struct job_use use = {
		.has_run_time = amounts_has(&event->amounts, AMOUNT_run_time_ns),
		.has_bytes = amounts_has(&event->amounts, AMOUNT_read_bytes) &&
			     amounts_has(&event->amounts, AMOUNT_write_bytes),
		.run_time_ns = amounts_get(&event->amounts, AMOUNT_run_time_ns),
		.read_bytes = amounts_get(&event->amounts, AMOUNT_read_bytes),
		.write_bytes = amounts_get(&event->amounts, AMOUNT_write_bytes),
	};

	job_book_read(member, &use);
	if (event->present & LIFE_HAS_PEAK && is_own_peak(member, event->peak_rss_bytes))
		take_peak(member, event->peak_rss_bytes);
	if (!member->is_ours)
		job_book_count(book, member->job, step, JOB_exits, 1);
	if (has_status && event->status && !member->is_ours)
		job_book_count(book, member->job, step, JOB_failed_exits, 1);
	note_root_end(member->job, &member->key, has_status, event->status, now);
	if (book->ended.count < JOB_MEMBERS_MOST && array_append(&book->ended, member->key) == 0)
		book->ended_is_sorted = false;
	job_book_leave(book, member);
}

static void note_lost(struct job_book *book, uint64_t lost)
{
	for (size_t i = 0; i < book->jobs.count; i++)
		book->jobs.data[i]->gaps.lost_events += lost;
}

static void count_event(struct job_book *book, struct book_job *job, struct book_step *step,
			enum life_kind kind)
{
	if (kind == LIFE_SIGNAL || kind == LIFE_KILL)
		job_book_count(book, job, step, JOB_signals, 1);
	if (kind == LIFE_KILL)
		job_book_count(book, job, step, JOB_kills, 1);
	if (kind == LIFE_OOM)
		job_book_count(book, job, step, JOB_ooms, 1);
}

struct book_job *job_book_take_event(struct job_book *book, const struct life_event *event,
				     const struct job_instant *now, struct book_step **ret_step)
{
	struct book_member *member;
	struct book_job *job;
	bool is_silent;

	*ret_step = NULL;
	if (event->kind == LIFE_LOST)
		note_lost(book, event->lost);
	if (event->kind == LIFE_SPAWN && !take_spawn(book, event))
		return NULL;
	member = job_book_member(book, &event->task);
	if (!member)
		return NULL;
	if (event->kind == LIFE_EXEC)
		job_book_note_program(book, member);
	/* Helpers of a `run` come and go; a signal to the `run` itself concerns its job. */
	is_silent = member->is_ours && (!member->is_watcher || event->kind == LIFE_EXIT);
	job = is_silent ? NULL : member->job;
	*ret_step = job_book_step_of(member);
	if (job)
		count_event(book, job, *ret_step, event->kind);
	if (event->kind == LIFE_EXIT)
		take_exit(book, member, event, now);
	return job;
}

/* Bytes of living threads alone: the kernel adds those of ended ones to their children's. */
struct bytes_read {
	uint64_t read, written;
	bool is_known;
};

static struct bytes_read *sum_bytes(const struct snapshot *snapshot)
{
	struct bytes_read *sums = calloc(snapshot->process_count + 1, sizeof(*sums));

	if (!sums)
		return NULL;
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		struct bytes_read *sum = &sums[snapshot->tasks[row].process];
		uint64_t read, written;

		if (!snapshot_get(snapshot, METRIC_read_bytes, row, &read) ||
		    !snapshot_get(snapshot, METRIC_write_bytes, row, &written))
			continue;
		sum->read += read;
		sum->written += written;
		sum->is_known = true;
	}
	return sums;
}

void job_book_add_rss(struct book_member *member, uint64_t rss_bytes)
{
	struct book_step *step = job_book_step_of(member);

	if (member->is_ours)
		return;
	take_peak(member, rss_bytes);
	member->job->window.rss_bytes += rss_bytes;
	member->job->window.has_rss = true;
	if (step) {
		step->window.rss_bytes += rss_bytes;
		step->window.has_rss = true;
	}
}

static void take_memory(struct book_member *member, const struct snapshot *snapshot, uint32_t row)
{
	uint64_t rss, peak;

	if (!snapshot_get(snapshot, METRIC_rss_bytes, row, &rss))
		return;
	if (snapshot_get(snapshot, METRIC_hiwater_rss_bytes, row, &peak) &&
	    is_own_peak(member, peak))
		take_peak(member, peak);
	job_book_add_rss(member, rss);
}

/* One that began after the snapshot was taken is not in it. */
static bool is_gone(struct book_member *member, const struct snapshot *snapshot, bool finds_new)
{
	const struct fact *taken = &snapshot->facts[FACT_boottime_ns];

	if (!taken->present || member->key.start_ns >= taken->number)
		return false;
	return ++member->absences >= (finds_new ? 1 : ABSENCES_MAX);
}

static void take_end_unseen(struct job_book *book, struct book_member *member,
			    const struct job_instant *now)
{
	if (!member->is_ours) {
		member->job->gaps.unseen_ends++;
		job_book_count(book, member->job, job_book_step_of(member), JOB_exits, 1);
	}
	note_root_end(member->job, &member->key, false, 0, now);
	job_book_leave(book, member);
}

static struct job_use use_at(const struct process_total *cpu, const struct bytes_read *bytes,
			     uint32_t row)
{
	return (struct job_use){
		.has_run_time = cpu[row].is_known,
		.run_time_ns = cpu[row].value,
		.has_bytes = bytes && bytes[row].is_known,
		.read_bytes = bytes ? bytes[row].read : 0,
		.write_bytes = bytes ? bytes[row].written : 0,
	};
}

/* Children of members that no event told of, and theirs. */
static size_t find_children(struct job_book *book, const struct snapshot *snapshot)
{
	size_t found = 0;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];
		struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
		struct book_member *parent =
			number_map_get(&book->by_pid, snapshot_parent(snapshot, row));

		if (!parent || job_book_member(book, &key) || job_book_has_ended(book, &key) ||
		    key.start_ns < parent->key.start_ns ||
		    key.start_ns + TICK_NS <= parent->job->row.begin_boottime_ns)
			continue;
		found +=
			job_book_join(book, parent->job,
				      parent->step && parent->step->root.pid ? parent->step :
									       parent->job->current,
				      &key, &job_use_nothing, JOIN_NEW);
	}
	return found;
}

static int64_t find_row(const struct snapshot *snapshot, const struct task_key *key)
{
	int64_t row = snapshot_find_process(snapshot, key->pid);
	bool is_other = row >= 0 && key->start_ns &&
			snapshot->processes[row].start_time_ns != key->start_ns;

	return is_other ? -1 : row;
}

static void forget_ended(struct job_book *book, const struct snapshot *snapshot)
{
	size_t kept = 0;

	for (size_t i = 0; i < book->ended.count; i++)
		if (find_row(snapshot, &book->ended.data[i]) >= 0)
			book->ended.data[kept++] = book->ended.data[i];
	book->ended.count = kept;
}

void job_book_begin_rss(struct book_job *job)
{
	job->window.rss_bytes = 0;
	job->window.has_rss = false;
	for (size_t i = 0; i < job->steps.count; i++) {
		job->steps.data[i]->window.rss_bytes = 0;
		job->steps.data[i]->window.has_rss = false;
	}
}

void job_book_take_rss(struct book_job *job)
{
	if (job->window.has_rss)
		raise_memory(job, NULL, (double)job->window.rss_bytes);
	for (size_t i = 0; i < job->steps.count; i++) {
		struct book_step *step = job->steps.data[i];

		if (step->window.has_rss && job_raise(&step->row.figures, JOB_peak_memory_bytes,
						      (double)step->window.rss_bytes)) {
			step->row.memory = JOB_MEMORY_RSS;
			step->has_changed = true;
		}
	}
}

bool job_window_close(struct job_window *window, struct job_figures *figures, uint64_t now_ns,
		      bool is_last)
{
	double used = figures->values[JOB_run_time_ns] - window->run_time_ns;
	uint64_t passed = now_ns - window->since_ns;
	bool has_peak = job_has(figures, JOB_peak_cpu_percent);

	if (!job_has(figures, JOB_run_time_ns) || now_ns <= window->since_ns ||
	    (passed < WINDOW_NS && (!is_last || has_peak)))
		return false;
	window->since_ns = now_ns;
	window->run_time_ns = figures->values[JOB_run_time_ns];
	return job_raise(figures, JOB_peak_cpu_percent, 100.0 * used / (double)passed);
}

void job_book_close_windows(struct book_job *job, uint64_t now_ns, bool is_last)
{
	job->has_changed |= job_window_close(&job->window, &job->row.figures, now_ns, is_last);
	for (size_t i = 0; i < job->steps.count; i++) {
		struct book_step *step = job->steps.data[i];

		if (step->is_open)
			step->has_changed |= job_window_close(&step->window, &step->row.figures,
							      now_ns, is_last);
	}
}

void job_book_take_tick(struct job_book *book, const struct snapshot *snapshot,
			const struct process_total *cpu, bool finds_new,
			const struct job_instant *now)
{
	struct bytes_read *bytes = sum_bytes(snapshot);

	for (int i = 0; finds_new && i < GENERATIONS_MAX && find_children(book, snapshot); i++)
		;
	for (size_t i = 0; i < book->jobs.count; i++)
		job_book_begin_rss(book->jobs.data[i]);
	for (size_t i = book->members.count; i-- > 0;) {
		struct book_member *member = book->members.data[i];
		int64_t row = find_row(snapshot, &member->key);
		struct job_use use;

		if (row < 0) {
			if (is_gone(member, snapshot, finds_new))
				take_end_unseen(book, member, now);
			continue;
		}
		member->absences = 0;
		use = use_at(cpu, bytes, (uint32_t)row);
		job_book_read(member, &use);
		take_memory(member, snapshot, (uint32_t)row);
		job_book_take_gpu(member, snapshot, (uint32_t)row);
	}
	for (size_t i = 0; i < book->jobs.count; i++) {
		job_book_take_rss(book->jobs.data[i]);
		job_book_raise_gpu(book->jobs.data[i]);
		job_book_close_windows(book->jobs.data[i], now->boottime_ns, false);
	}
	forget_ended(book, snapshot);
	free(bytes);
}
