/* SPDX-License-Identifier: MIT */
#include "record/job/book/job_book.h"

#include <stdlib.h>
#include <string.h>

#include "record/job/book/job_book_parts.h"

const struct job_use job_use_nothing = { .has_run_time = true,
					 .has_bytes = true,
					 .has_peak = true };

static bool is_same(const struct task_key *one, const struct task_key *other)
{
	return one->pid == other->pid &&
	       (!one->start_ns || !other->start_ns || one->start_ns == other->start_ns);
}

static void free_step(struct book_step *step)
{
	free((char *)step->row.name);
	free(step);
}

static void free_job(struct book_job *job)
{
	for (size_t i = 0; i < job->steps.count; i++)
		free_step(job->steps.data[i]);
	array_free(&job->steps);
	free((char *)job->row.name);
	free((char *)job->row.boot_id);
	free((char *)job->row.cgroup);
	free((char *)job->row.cmd);
	free((char *)job->row.watched);
	free((char *)job->row.absent);
	free(job->unwatched);
	array_free(&job->patterns);
	free(job);
}

static void set_job(struct book_member *member, struct book_job *job)
{
	if (member->job) {
		member->job->members--;
		member->job->ours -= member->is_ours;
	}
	if (job) {
		job->members++;
		job->ours += member->is_ours;
	}
	member->job = job;
}

static void set_ours(struct book_member *member, bool is_ours)
{
	member->job->ours += (size_t)is_ours - (size_t)member->is_ours;
	member->is_ours = is_ours;
}

void job_book_leave(struct job_book *book, struct book_member *member)
{
	struct book_member *last = book->members.data[--book->members.count];

	book->members.data[member->place] = last;
	last->place = member->place;
	number_map_forget(&book->by_pid, member->key.pid, member);
	set_job(member, NULL);
	free(member);
}

void job_book_clear(struct job_book *book)
{
	while (book->members.count)
		job_book_leave(book, book->members.data[book->members.count - 1]);
	for (size_t i = 0; i < book->jobs.count; i++)
		free_job(book->jobs.data[i]);
	array_free(&book->members);
	array_free(&book->jobs);
	array_free(&book->ended);
	number_map_clear(&book->by_pid);
}

struct book_job *job_book_find(const struct job_book *book, uint64_t id)
{
	for (size_t i = 0; i < book->jobs.count; i++)
		if (book->jobs.data[i]->row.id == id)
			return book->jobs.data[i];
	return NULL;
}

struct book_member *job_book_member(const struct job_book *book, const struct task_key *key)
{
	struct book_member *member = number_map_get(&book->by_pid, key->pid);

	return member && is_same(&member->key, key) ? member : NULL;
}

static int compare_keys(const void *one_pointer, const void *other_pointer)
{
	const struct task_key *one = one_pointer, *other = other_pointer;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return (one->start_ns > other->start_ns) - (one->start_ns < other->start_ns);
}

bool job_book_has_ended(struct job_book *book, const struct task_key *key)
{
	if (!book->ended.count)
		return false;
	if (!book->ended_is_sorted)
		qsort(book->ended.data, book->ended.count, sizeof(*key), compare_keys);
	book->ended_is_sorted = true;
	return bsearch(key, book->ended.data, book->ended.count, sizeof(*key), compare_keys);
}

struct book_step *job_book_step_of(const struct book_member *member)
{
	return member->step ? member->step : member->job->current;
}

static bool copy_text(const char **text)
{
	if (!*text)
		return true;
	*text = strdup(*text);
	return *text;
}

/* What the source of events counts is known to be 0 at first. */
static void begin_figures(uint32_t counted, struct job_figures *figures)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (counted >> i & 1)
			job_add(figures, (enum job_value)i, 0);
}

struct book_job *job_book_begin(struct job_book *book, const struct job *row,
				const struct job_instant *now)
{
	struct book_job *job = calloc(1, sizeof(*job));
	bool is_copied;

	if (!job)
		return NULL;
	job->row = *row;
	if (!job->row.begin_unix_ns)
		job_begin(&job->row, now);
	is_copied = copy_text(&job->row.name);
	is_copied &= copy_text(&job->row.boot_id);
	is_copied &= copy_text(&job->row.cgroup);
	is_copied &= copy_text(&job->row.cmd);
	is_copied &= copy_text(&job->row.watched);
	is_copied &= copy_text(&job->row.absent);
	job->window.since_ns = now->boottime_ns;
	job->has_changed = true;
	job->counted = book->counted;
	begin_figures(job->counted, &job->row.figures);
	job->window.run_time_ns = job->row.figures.values[JOB_run_time_ns];
	if (!is_copied || array_append(&book->jobs, job) < 0) {
		free_job(job);
		return NULL;
	}
	return job;
}

static void count(struct book_job *job, struct book_step *step, enum job_value value, double number)
{
	job_add(&job->row.figures, value, number);
	job->has_changed = true;
	if (!step)
		return;
	job_add(&step->row.figures, value, number);
	step->has_changed = true;
}

/* A value that the source of events cannot count stays unknown. */
void job_book_count(const struct job_book *book, struct book_job *job, struct book_step *step,
		    enum job_value value, double number)
{
	if (book->counted >> value & 1)
		count(job, step, value, number);
}

/* A process that began in the job is a spawn, too. */
static void count_begin(const struct job_book *book, struct book_member *member, double number)
{
	struct book_step *step = job_book_step_of(member);

	count(member->job, step, JOB_processes, number);
	if (member->is_native)
		job_book_count(book, member->job, step, JOB_spawns, number);
}

static struct book_member *add(struct job_book *book, const struct task_key *key)
{
	size_t most = book->members_max ? book->members_max : JOB_MEMBERS_MOST;
	struct book_member *member;

	if (book->members.count >= most || number_map_reserve(&book->by_pid) < 0 ||
	    array_reserve(&book->members, book->members.count + 1) < 0)
		return NULL;
	member = calloc(1, sizeof(*member));
	if (!member)
		return NULL;
	member->key = *key;
	member->place = book->members.count;
	book->members.data[book->members.count++] = member;
	number_map_put(&book->by_pid, key->pid, member);
	return member;
}

/* A number that was reused is another process: the old one is gone. */
static struct book_member *add_or_take(struct job_book *book, struct book_job *job,
				       const struct task_key *key)
{
	struct book_member *old = number_map_get(&book->by_pid, key->pid), *member;

	if (old && is_same(&old->key, key)) {
		if (old->job == job)
			return old;
		old->job->gaps.lent += !old->is_ours;
		set_job(old, job);
		return old;
	}
	if (old) {
		old->job->gaps.unseen_ends++;
		job_book_leave(book, old);
	}
	member = add(book, key);
	if (!member)
		return NULL;
	set_job(member, job);
	return member;
}

/* A reading may be less than an earlier one, which was counted already: it counts from the larger one. */
static void keep_counted(struct job_use *counted, const struct job_use *before)
{
	if (before->has_run_time && before->run_time_ns > counted->run_time_ns)
		counted->run_time_ns = before->run_time_ns;
	if (before->has_bytes && before->read_bytes > counted->read_bytes)
		counted->read_bytes = before->read_bytes;
	if (before->has_bytes && before->write_bytes > counted->write_bytes)
		counted->write_bytes = before->write_bytes;
	counted->has_run_time |= before->has_run_time;
	counted->has_bytes |= before->has_bytes;
}

bool job_book_join(struct job_book *book, struct book_job *job, struct book_step *step,
		   const struct task_key *key, const struct job_use *use, enum join_kind kind)
{
	struct book_member *old = job_book_member(book, key);
	bool is_new = !old || old->job != job;
	const struct job_use before = old ? old->counted : (struct job_use){ 0 };
	struct book_member *member = add_or_take(book, job, key);

	if (!member) {
		job->gaps.lost_members++;
		return false;
	}
	member->step = step;
	member->counted = *use;
	keep_counted(&member->counted, &before);
	member->is_native = kind == JOIN_NEW || (old && !is_new && member->is_native);
	member->is_kept = false;
	if (kind == JOIN_OURS)
		set_ours(member, true);
	if (is_new && kind != JOIN_AGAIN && !member->is_ours)
		count_begin(book, member, 1);
	return true;
}

void job_book_exclude(struct job_book *book, const struct task_key *key)
{
	struct book_member *member = job_book_member(book, key);

	if (!member || !member->is_native)
		return;
	if (!member->is_ours)
		count_begin(book, member, -1);
	job_book_leave(book, member);
}

void job_book_note_watcher(struct job_book *book, const struct task_key *key)
{
	struct book_member *member = job_book_member(book, key);

	if (!member)
		return;
	if (!member->is_ours)
		count_begin(book, member, -1);
	set_ours(member, true);
	member->is_watcher = true;
}

void job_book_note_program(struct job_book *book, struct book_member *member)
{
	if (!member->is_ours || member->is_watcher)
		return;
	set_ours(member, false);
	member->is_native = true;
	count_begin(book, member, 1);
}

/* What a counter grew by, which is counted from now on. */
static double growth(bool is_known, uint64_t *counted, uint64_t now)
{
	uint64_t grown = now > *counted ? now - *counted : 0;

	*counted += grown;
	return is_known ? (double)grown : 0;
}

void job_book_read(struct book_member *member, const struct job_use *use)
{
	struct book_step *step = job_book_step_of(member);
	struct job_use *counted = &member->counted;
	struct book_job *job = member->job;

	if (member->is_ours) {
		keep_counted(counted, use);
		return;
	}
	if (use->has_run_time) {
		double grown =
			growth(counted->has_run_time, &counted->run_time_ns, use->run_time_ns);

		if (!job->has_cgroup_use)
			count(job, step, JOB_run_time_ns, grown);
		else if (step)
			job_add(&step->row.figures, JOB_run_time_ns, grown);
	}
	if (use->has_bytes) {
		count(job, step, JOB_read_bytes,
		      growth(counted->has_bytes, &counted->read_bytes, use->read_bytes));
		count(job, step, JOB_write_bytes,
		      growth(counted->has_bytes, &counted->write_bytes, use->write_bytes));
	}
	counted->has_run_time |= use->has_run_time;
	counted->has_bytes |= use->has_bytes;
	if (step)
		step->has_changed = true;
}

struct book_step *job_book_find_step(const struct book_job *job, const char *name)
{
	for (size_t i = 0; i < job->steps.count; i++)
		if (strcmp(job->steps.data[i]->row.name, name) == 0)
			return job->steps.data[i];
	return NULL;
}

static struct book_step *add_step(struct book_job *job, const char *name,
				  const struct job_instant *now)
{
	struct book_step *step = calloc(1, sizeof(*step));

	if (!step)
		return NULL;
	step->row.job = job->row.id;
	job_step_begin(&step->row, now);
	begin_figures(job->counted, &step->row.figures);
	step->row.name = strdup(name);
	if (!step->row.name || array_append(&job->steps, step) < 0) {
		free_step(step);
		return NULL;
	}
	return step;
}

struct book_step *job_book_open_step(struct book_job *job, const char *name,
				     const struct task_key *root, const struct job_instant *now)
{
	struct book_step *step = job_book_find_step(job, name);

	if (!root && job->current && job->current != step)
		job_book_close_step(job, job->current, JOB_SUCCESS, now);
	if (!step)
		step = add_step(job, name, now);
	if (!step)
		return NULL;
	step->row.end_unix_ns = step->row.duration_ns = 0;
	step->row.outcome = JOB_RUNNING;
	step->root = root ? *root : (struct task_key){ 0 };
	step->is_open = step->has_changed = job->has_changed = true;
	step->window = (struct job_window){
		.since_ns = now->boottime_ns,
		.run_time_ns = step->row.figures.values[JOB_run_time_ns],
	};
	if (!root)
		job->current = step;
	return step;
}

void job_book_close_step(struct book_job *job, struct book_step *step, enum job_outcome outcome,
			 const struct job_instant *now)
{
	if (!step->is_open)
		return;
	job_window_close(&step->window, &step->row.figures, now->boottime_ns, true);
	step->is_open = false;
	job_step_end(&step->row, job->row.boot_id, outcome, now);
	step->has_changed = job->has_changed = true;
	if (job->current == step)
		job->current = NULL;
	if (outcome == JOB_SUCCESS)
		job->last_completed = step->row.name;
}

void job_book_reverse(struct job_book *book)
{
	for (size_t i = 0, k = book->jobs.count; i + 1 < k; i++) {
		struct book_job *job = book->jobs.data[i];

		book->jobs.data[i] = book->jobs.data[--k];
		book->jobs.data[k] = job;
	}
}

void job_book_end(struct job_book *book, struct book_job *job)
{
	struct book_job *outer = job->outer ? job_book_find(book, job->outer) : NULL;
	size_t kept = 0;

	for (size_t i = book->members.count; i-- > 0;) {
		struct book_member *member = book->members.data[i];

		if (member->job != job)
			continue;
		if (!outer) {
			job_book_leave(book, member);
			continue;
		}
		set_job(member, outer);
		member->step = NULL;
		member->is_kept = false;
	}
	for (size_t i = 0; i < book->jobs.count; i++) {
		struct book_job *other = book->jobs.data[i];

		if (other->outer == job->row.id)
			other->outer = job->outer;
		if (other != job)
			book->jobs.data[kept++] = other;
	}
	book->jobs.count = kept;
	free_job(job);
}
