/* SPDX-License-Identifier: MIT */
/* Keeps the timeline within its bounds: merges short steps, folds threads with short lives. */
#include <errno.h>

#include "model/counter.h"
#include "model/path/timeline_room.h"

#define THRESHOLD_FIRST_NS 10000
#define THRESHOLD_FACTOR 10
#define THRESHOLD_MOST_NS UINT64_C(1000000000000)

#define FOLD_FIRST_NS 1000000
#define FOLD_FACTOR 4
#define FOLD_MOST_NS (UINT64_C(1) << 56)
/* Folding goes through all steps, so it must free enough places each time. */
#define FOLD_WANTED (TIMELINE_THREADS / 4)
#define FOLD_LEAST (TIMELINE_THREADS / 16)
/* The wait that a thread ended may be reported so long after its end. */
#define FOLD_DELAY_NS 250000000

static void shorts_add(struct timeline_shorts *sum, const struct timeline_shorts *more)
{
	if (more->blocked_ns > sum->blocked_ns)
		sum->reason = more->reason;
	counter_add(&sum->queued_ns, more->queued_ns);
	counter_add(&sum->blocked_ns, more->blocked_ns);
	if (__builtin_add_overflow(sum->count, more->count, &sum->count))
		sum->count = UINT32_MAX;
	sum->gap |= more->gap;
	sum->forked |= more->forked;
}

void shorts_add_step(struct timeline_shorts *sum, const struct timeline_step *step)
{
	struct timeline_shorts before = step_shorts(step);
	struct timeline_shorts own = {
		.queued_ns = span_ns(step->queued),
		.blocked_ns = span_ns(step->blocked),
		.count = 1,
		.reason = step->reason,
	};

	shorts_add(sum, &before);
	shorts_add(sum, &own);
}

void shorts_give(struct timeline_shorts *rest, struct timeline_step *step)
{
	struct timeline_shorts before = step_shorts(step);

	shorts_add(rest, &before);
	step->before = shorts_pack(rest);
	*rest = (struct timeline_shorts){ 0 };
}

static void forget_last_steps(struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		timeline->threads[i].last = UINT32_MAX;
}

static void keep_step(struct timeline *timeline, const struct timeline_step *step, size_t at)
{
	timeline->steps.data[at] = *step;
	timeline->threads[step->thread].last = (uint32_t)at;
}

/*
 * Merges the steps below the threshold.  What is merged goes to the thread's `rest`, and from there
 * into the next step that is kept.  What was in `rest` came after all steps: it is put back.
 */
static void merge_steps(struct timeline *timeline)
{
	size_t kept = 0;

	forget_last_steps(timeline);
	for (uint32_t i = 0; i < timeline->thread_places; i++) {
		timeline->threads[i].after = timeline->threads[i].rest;
		timeline->threads[i].rest = (struct timeline_shorts){ 0 };
	}
	for (size_t i = 0; i < timeline->steps.count; i++) {
		struct timeline_step step = timeline->steps.data[i];
		struct timeline_thread *thread = &timeline->threads[step.thread];

		if (step_run_ns(&step) - step.block_ns < timeline->threshold_ns) {
			shorts_add_step(&thread->rest, &step);
			continue;
		}
		shorts_give(&thread->rest, &step);
		keep_step(timeline, &step, kept++);
	}
	timeline->steps.count = kept;
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		shorts_add(&timeline->threads[i].rest, &timeline->threads[i].after);
}

static void raise_threshold(struct timeline *timeline)
{
	uint64_t before = timeline->threshold_ns;

	timeline->threshold_ns =
		before < THRESHOLD_FIRST_NS ? THRESHOLD_FIRST_NS : before * THRESHOLD_FACTOR;
}

int timeline_make_room(struct timeline *timeline)
{
	if (timeline->steps.count < TIMELINE_STEPS)
		return array_reserve(&timeline->steps, timeline->steps.count + 1);
	while (timeline->steps.count > TIMELINE_STEPS / 4 * 3 &&
	       timeline->threshold_ns < THRESHOLD_MOST_NS) {
		raise_threshold(timeline);
		merge_steps(timeline);
	}
	return timeline->steps.count < TIMELINE_STEPS ? 0 : -ENOSPC;
}

/* The command's own main thread, and those that were found, have no creator: they stay. */
static bool can_fold(const struct timeline *timeline, const struct timeline_thread *thread,
		     uint64_t limit_ns)
{
	uint64_t end_ns = timeline_end_ns(timeline, thread);

	if (!thread->serial || !thread->has_begun || end_ns == UINT64_MAX)
		return false;
	if (!thread->creator && thread->task.pid == thread->task.tid)
		return false;
	if (end_ns > timeline->newest_ns || timeline->newest_ns - end_ns < FOLD_DELAY_NS)
		return false;
	return end_ns < thread->begin_ns + limit_ns;
}

static size_t mark_folding(struct timeline *timeline, uint64_t limit_ns)
{
	size_t count = 0;

	for (uint32_t i = 0; i < timeline->thread_places; i++) {
		struct timeline_thread *thread = &timeline->threads[i];

		thread->is_folding = can_fold(timeline, thread, limit_ns);
		count += thread->is_folding;
	}
	return count;
}

/* What it did most of its life. */
static uint8_t main_kind(const struct timeline *timeline, const struct timeline_thread *thread)
{
	uint64_t life_ns = timeline_end_ns(timeline, thread) - thread->begin_ns;

	if (thread->queued_ns >= life_ns / 2)
		return PATH_RUN_QUEUE;
	return thread->blocked_ns >= life_ns / 2 ? thread->longest_reason : PATH_CPU;
}

static uint32_t describe_folded(const struct timeline *timeline,
				const struct timeline_thread *thread)
{
	const struct timeline_process *process = &timeline->processes[thread->process];
	uint32_t program = timeline_program_at(process, timeline_end_ns(timeline, thread));

	return (program & 0xffffff) | (uint32_t)main_kind(timeline, thread) << 24;
}

static void fold_steps(struct timeline *timeline)
{
	size_t kept = 0;

	forget_last_steps(timeline);
	for (size_t i = 0; i < timeline->steps.count; i++) {
		struct timeline_step step = timeline->steps.data[i];
		const struct timeline_thread *waker =
			step.waker_class == WAKER_MEMBER ? timeline_thread(timeline, step.waker) :
							   NULL;

		if (timeline->threads[step.thread].is_folding)
			continue;
		if (waker && waker->is_folding) {
			step.waker_class = WAKER_FOLDED;
			step.waker = describe_folded(timeline, waker);
		}
		keep_step(timeline, &step, kept++);
	}
	timeline->steps.count = kept;
}

/* Creators have lower numbers than what they made, so this ends. */
static void skip_folded_creators(struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->thread_places; i++) {
		struct timeline_thread *thread = &timeline->threads[i];
		const struct timeline_thread *creator;

		while ((creator = timeline_thread(timeline, thread->creator)) &&
		       creator->is_folding)
			thread->creator = creator->creator;
	}
}

static void remove_thread(struct timeline *timeline, struct timeline_thread *thread)
{
	struct timeline_process *process = &timeline->processes[thread->process];

	number_map_forget(&timeline->by_serial, (int32_t)thread->serial, thread);
	number_map_forget(&timeline->by_tid, thread->task.tid, thread);
	if (--process->threads == 0)
		number_map_forget(&timeline->by_pid, process->pid, process);
	*thread = (struct timeline_thread){ .last = UINT32_MAX };
	timeline->thread_count--;
	timeline->folded_threads++;
}

bool timeline_fold(struct timeline *timeline)
{
	uint64_t limit_ns = timeline->folded_below_ns ? timeline->folded_below_ns : FOLD_FIRST_NS;
	size_t count = mark_folding(timeline, limit_ns);

	while (count < FOLD_WANTED && limit_ns < FOLD_MOST_NS) {
		limit_ns *= FOLD_FACTOR;
		count = mark_folding(timeline, limit_ns);
	}
	if (count < FOLD_LEAST)
		return false;
	counter_raise(&timeline->folded_below_ns, limit_ns < FOLD_MOST_NS ? limit_ns : 0);
	fold_steps(timeline);
	skip_folded_creators(timeline);
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		if (timeline->threads[i].is_folding)
			remove_thread(timeline, &timeline->threads[i]);
	timeline->free_thread = timeline->free_process = 0;
	return true;
}
