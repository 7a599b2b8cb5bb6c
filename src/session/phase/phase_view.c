/* SPDX-License-Identifier: MIT */
#include "session/phase/phase_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collect/scope/scope_reader.h"
#include "session/phase/phase_follow.h"

/*
 * A program can claim any number of threads.  We accept those that the tree knows, and
 * this many others, which may have begun since the last event.  Nothing is lost with the rest:
 * once the tree knows a thread, its first sample covers this time too.
 */
#define STRANGERS_MAX 64

/* Shorter scopes are sampled as often as possible: times between two samples are estimates. */
#define LIVELY_NS (5 * NS_PER_SECOND)
#define DIGEST_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Notes whose copy it is.  We learn of an exec only when the process has its new name. */
static void note_process(struct phase_view *view, const struct tree_process *process)
{
	view->phases.key = process->key;
	memcpy(view->phases.comm, process->comm, sizeof(view->phases.comm));
}

struct phase_view *phase_view_new(struct scope_reader *reader, const struct tree_process *process)
{
	struct phase_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->reader = reader;
	view->digest = DIGEST_OF_NOTHING;
	note_process(view, process);
	return view;
}

static void close_reader(struct phase_view *view)
{
	scope_reader_close(view->reader);
	view->reader = NULL;
}

void phase_view_reopen(struct phase_view *view, struct scope_reader *reader,
		       const struct tree_process *process)
{
	close_reader(view);
	view->reader = reader;
	view->read_ns = 0;
	note_process(view, process);
}

void phase_view_free(struct phase_view *view)
{
	if (!view)
		return;
	close_reader(view);
	scopes_free(&view->scopes);
	phase_process_free(&view->phases);
	free(view);
}

static uint64_t left_of(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

static void read_usage(struct thread_sample *sample, const struct tree_thread *thread)
{
	if (!thread)
		return;
	if (amounts_has(&thread->amounts, AMOUNT_run_time_ns)) {
		sample->has_cpu = true;
		sample->cpu_ns = amounts_get(&thread->amounts, AMOUNT_run_time_ns);
	} else if (amounts_has_cpu(&thread->amounts)) {
		sample->has_cpu = true;
		sample->cpu_ns = amounts_cpu_ns(&thread->amounts);
	}
	if (thread->ended && thread->end_ns < sample->time_ns)
		sample->time_ns = thread->end_ns;
}

/* One round over the threads of a process. */
struct round {
	struct phase_view *view;
	struct phases *phases;
	const struct tree_process *process;
	struct number_map threads; /* threads that the tree knows */
	uint64_t time_ns;
	bool is_last;
	size_t strangers;
};

/* Several threads may have had a number: prefer the one that has not ended. */
static int index_threads(struct round *round)
{
	const struct tree_process *process = round->process;
	int status = 0;

	for (size_t i = 0; i < process->live_count && status == 0; i++) {
		struct tree_thread *thread = process->live[i];

		if (!thread->ended || !number_map_get(&round->threads, thread->key.tid))
			status = number_map_set(&round->threads, thread->key.tid, thread);
	}
	return status;
}

static const struct tree_thread *find_thread(const struct round *round, int32_t tid)
{
	return tid ? number_map_get(&round->threads, tid) : NULL;
}

/* The thread is gone, or has no block any more: it was in its scopes until now. */
static int end_thread(struct round *round, struct phase_thread *known)
{
	const struct tree_thread *thread = find_thread(round, known->tid);
	struct thread_sample sample = {
		.time_ns = round->time_ns,
		.keeps_statistics = round->view->scopes.has_statistics,
	};
	int status;

	if (thread && thread->key.start_ns != known->start_ns)
		thread = NULL;
	read_usage(&sample, thread);
	status = phase_sample(round->phases, &round->view->phases, known, &sample);
	phase_thread_remove(&round->view->phases, known);
	return status;
}

/*
 * Gives the state of the thread.  One that had the same number before and ended is another thread.
 */
static int get_thread(struct round *round, const struct scope_task *task,
		      const struct tree_thread *thread, struct phase_thread **ret)
{
	struct phase_process *phases = &round->view->phases;
	struct phase_thread *known = phase_thread_find(phases, task->own_tid);
	uint64_t start_ns = thread ? thread->key.start_ns : 0;
	int status = 0;

	if (known && known->start_ns && start_ns && known->start_ns != start_ns) {
		status = end_thread(round, known);
		known = NULL;
	}
	if (!known)
		known = phase_thread_add(phases, task->own_tid,
					 thread ? thread->begin_ns : round->process->begin_ns);
	if (!known)
		return -ENOMEM;
	known->tid = task->tid;
	known->start_ns = start_ns ? start_ns : known->start_ns;
	known->round = round->view->round;
	*ret = known;
	return status;
}

/*
 * Accepts a thread once, since it has only one block, and few threads that the tree does not know.
 */
static bool is_believed(struct round *round, const struct scope_task *task)
{
	const struct phase_thread *known = phase_thread_find(&round->view->phases, task->own_tid);

	if (known && known->round == round->view->round)
		return false;
	return find_thread(round, task->tid) || round->strangers++ < STRANGERS_MAX;
}

static int sample_task(struct round *round, const struct scope_task *task)
{
	struct phase_view *view = round->view;
	const struct tree_thread *thread = find_thread(round, task->tid);
	struct phase_thread *known;
	struct thread_sample sample = {
		.time_ns = round->time_ns,
		.scopes = view->scopes.list.data + task->first,
		.count = task->count,
		.changed_ns = task->changed_ns,
		.keeps_statistics = view->scopes.has_statistics,
	};
	int status = get_thread(round, task, thread, &known);

	if (status < 0)
		return status;
	/* Skip a torn copy, which may be from two moments: the next sample covers this time too. */
	if (task->is_torn && !round->is_last)
		return 0;
	read_usage(&sample, thread);
	sample.wait_ns = phase_unfollowed_ns(view, thread, known, round->time_ns);
	return phase_sample(round->phases, &view->phases, known, &sample);
}

/* Samples the threads that are accepted, and removes the others from the copy. */
static int sample_tasks(struct round *round)
{
	struct phase_view *view = round->view;
	struct scope_task *tasks = view->scopes.tasks.data;
	size_t count = view->scopes.tasks.count;
	int failure = 0;

	view->round++;
	view->scopes.tasks.count = 0;
	for (size_t i = 0; i < count; i++) {
		int status;

		if (!is_believed(round, &tasks[i]))
			continue;
		status = sample_task(round, &tasks[i]);
		failure = status < 0 ? status : failure;
		tasks[view->scopes.tasks.count++] = tasks[i];
	}
	return failure;
}

static int end_threads(struct round *round)
{
	struct phase_view *view = round->view;
	int failure = 0;

	for (size_t i = view->phases.threads.count; i > 0; i--) {
		struct phase_thread *known = view->phases.threads.data[i - 1];
		int status = known->round == view->round ? 0 : end_thread(round, known);

		failure = status < 0 ? status : failure;
	}
	return failure;
}

static int sample_threads(struct round *round)
{
	int status = index_threads(round), failure;

	if (status == 0) {
		status = sample_tasks(round);
		failure = end_threads(round);
		status = status < 0 ? status : failure;
	}
	number_map_clear(&round->threads);
	return status;
}

/* The ages in the last copy of an ended program went on growing after its end: subtract that. */
static void turn_back(struct scopes *scopes, uint64_t late_ns)
{
	for (size_t i = 0; i < scopes->list.count; i++)
		scopes->list.data[i].age_ns = left_of(scopes->list.data[i].age_ns, late_ns);
	for (size_t i = 0; i < scopes->tasks.count; i++)
		scopes->tasks.data[i].changed_ns =
			left_of(scopes->tasks.data[i].changed_ns, late_ns);
}

static void digest_add(uint64_t *digest, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		*digest = (*digest ^ at[i]) * UINT64_C(0x100000001b3);
}

static void digest_task(uint64_t *digest, const struct scopes *scopes,
			const struct scope_task *task)
{
	digest_add(digest, &task->own_tid, sizeof(task->own_tid));
	digest_add(digest, task->name, strlen(task->name));
	for (size_t i = task->first; i < task->first + task->count; i++) {
		const struct scope *scope = &scopes->list.data[i];

		digest_add(digest, scope->label, strlen(scope->label) + 1);
		digest_add(digest, &scope->count, sizeof(scope->count));
		digest_add(digest, &scope->total, sizeof(scope->total));
	}
}

/* Notes what changed.  A label may have been closed and opened again, which only its age shows. */
static void note_changes(struct phase_view *view, uint64_t elapsed_ns)
{
	uint64_t digest = DIGEST_OF_NOTHING;

	view->has_moved = false;
	for (size_t i = 0; i < view->scopes.tasks.count; i++) {
		const struct scope_task *task = &view->scopes.tasks.data[i];

		view->has_moved |= task->changed_ns < elapsed_ns || task->changed_ns < LIVELY_NS;
		if (!task->count)
			continue;
		view->is_line_due |= task->changed_ns < elapsed_ns;
		digest_task(&digest, &view->scopes, task);
	}
	view->is_line_due |= digest != view->digest;
	view->digest = digest;
}

static int read_copy(struct phase_view *view, bool with_statistics)
{
	struct error error = { 0 };

	return scope_reader_read(view->reader, with_statistics, &view->scopes, &error);
}

static int add_statistics(struct phase_view *view, struct phases *phases, bool is_base)
{
	return view->scopes.has_statistics ?
		       phase_count(phases, &view->phases, &view->scopes, is_base) :
		       0;
}

int phase_view_begin(struct phase_view *view, struct phases *phases)
{
	int status = read_copy(view, true);

	return status < 0 ? status : add_statistics(view, phases, true);
}

int phase_view_sample(struct phase_view *view, struct phases *phases,
		      const struct tree_process *process, uint64_t until_ns)
{
	struct round round = { .view = view, .phases = phases, .process = process };
	bool is_first = view->read_ns == 0;
	uint64_t now_ns;
	int status = read_copy(view, until_ns != 0);

	if (status < 0)
		return status;
	now_ns = monotonic_ns();
	if (!until_ns)
		note_process(view, process);
	round.is_last = until_ns != 0;
	round.time_ns = until_ns && until_ns < now_ns ? until_ns : now_ns;
	turn_back(&view->scopes, now_ns - round.time_ns);
	status = sample_threads(&round);
	note_changes(view, is_first ? UINT64_MAX : left_of(now_ns, view->read_ns));
	view->read_ns = now_ns;
	return status == 0 && until_ns ? add_statistics(view, phases, false) : status;
}

int phase_view_end(struct phase_view *view, struct phases *phases)
{
	int status = phase_view_add_waits(view, phases);

	close_reader(view);
	phase_process_forget(&view->phases);
	scopes_clear(&view->scopes);
	return status;
}

/* Adds the waits that are not over, which the tracer does not know yet. */
static int add_open_waits(struct phase_view *view, struct phases *phases,
			  const struct tree_process *process, uint64_t time_ns)
{
	struct round round = { .view = view, .process = process };
	int status = index_threads(&round);

	for (size_t i = 0; i < view->phases.threads.count && status == 0; i++) {
		const struct phase_thread *known = view->phases.threads.data[i];

		phase_wait_thread(phases, &view->phases, known,
				  phase_open_ns(view, find_thread(&round, known->tid), time_ns));
	}
	number_map_clear(&round.threads);
	return status;
}

int phase_view_count(struct phase_view *view, struct phases *phases,
		     const struct tree_process *process, uint64_t time_ns)
{
	int status = read_copy(view, true);

	if (status == 0)
		status = phase_view_add_waits(view, phases);
	if (status == 0 && process && view->tracer)
		status = add_open_waits(view, phases, process, time_ns);
	return status < 0 ? status : add_statistics(view, phases, false);
}
