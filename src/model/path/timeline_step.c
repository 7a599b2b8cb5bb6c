/* SPDX-License-Identifier: MIT */
/* Makes steps out of times off the CPU. */
#include <string.h>

#include "base/clock.h"
#include "model/counter.h"
#include "model/path/timeline_room.h"

#define OPEN_NS ((uint64_t)10 * NS_PER_SECOND) /* the watch ends well before an open wait then */

_Static_assert(WAIT_REASON_COUNT <= 16 && WAKER_FOLDED < 16, "a step has four bits for each");
_Static_assert(sizeof(struct timeline_step) == 48, "memory is bounded by the number of steps");

/* A thread that executes a program takes the number of its process's main thread. */
static void note_number(struct timeline *timeline, struct timeline_thread *thread,
			const struct task_key *task)
{
	if (thread->task.tid == task->tid || thread->task.pid != task->pid)
		return;
	number_map_forget(&timeline->by_tid, thread->task.tid, thread);
	thread->task = *task;
	(void)number_map_set(&timeline->by_tid, task->tid, thread);
}

static uint8_t part_of(uint64_t ns, uint64_t whole_ns)
{
	if (!whole_ns || ns >= whole_ns)
		return whole_ns ? UINT8_MAX : 0;
	return (uint8_t)((double)ns / (double)whole_ns * UINT8_MAX + 0.5);
}

static uint8_t known_reason(uint8_t reason)
{
	return reason < WAIT_REASON_COUNT ? reason : WAIT_OTHER;
}

struct packed_shorts shorts_pack(const struct timeline_shorts *shorts)
{
	return (struct packed_shorts){
		.queued = span_of(shorts->queued_ns),
		.blocked = span_of(shorts->blocked_ns),
		.count = shorts->count < UINT16_MAX ? (uint16_t)shorts->count : UINT16_MAX,
		.reason = shorts->reason,
		.gap = shorts->gap,
		.forked = shorts->forked,
	};
}

struct timeline_shorts step_shorts(const struct timeline_step *step)
{
	return (struct timeline_shorts){
		.queued_ns = span_ns(step->before.queued),
		.blocked_ns = span_ns(step->before.blocked),
		.count = step->before.count,
		.reason = step->before.reason,
		.gap = step->before.gap,
		.forked = step->before.forked,
	};
}

static void set_waker(struct timeline *timeline, const struct tree_wait_event *wait,
		      struct timeline_step *step)
{
	step->waker_class = wait->waker_class <= WAKER_OUTSIDE ? wait->waker_class : WAKER_UNKNOWN;
	timeline->knows_wakers |= step->waker_class != WAKER_UNKNOWN;
	timeline->lacks_wakers |=
		step->waker_class == WAKER_UNKNOWN && !wait->open && wait->wake_ns > wait->block_ns;
	if (step->waker_class == WAKER_MEMBER)
		step->waker = wait->waker;
	else if (step->waker_class == WAKER_OUTSIDE)
		step->waker = timeline_add_peer(timeline, wait->waker_comm);
	step->queue_peer = wait->queued_outside_ns ?
				   (uint16_t)timeline_add_peer(timeline, wait->queued_comm) :
				   0;
}

/*
 * The last walk over the threads comes a little before the end of the watch, later on a busy machine.  A
 * thread that waits then does not run afterwards, as far as anybody knows.
 */
static void leave_open(struct timeline_step *step)
{
	if (span_ns(step->queued))
		step->queued = span_of(span_ns(step->queued) + OPEN_NS);
	else
		step->blocked = span_of(span_ns(step->blocked) + OPEN_NS);
}

/* Times that begin before the step before ended, or are not in order, are cut. */
static struct timeline_step make_step(struct timeline *timeline, uint64_t from_ns,
				      const struct tree_wait_event *wait)
{
	uint64_t block_ns = wait->block_ns > from_ns ? wait->block_ns : from_ns;
	uint64_t wake_ns = wait->wake_ns > block_ns ? wait->wake_ns : block_ns;
	uint64_t run_ns = wait->run_ns > wake_ns ? wait->run_ns : wake_ns;
	uint64_t queued_ns = run_ns - wake_ns, tree_ns = wait->queued_tree_ns;
	struct timeline_shorts shorts = {
		.queued_ns = wait->short_queued_ns,
		.blocked_ns = wait->short_blocked_ns,
		.count = wait->short_count,
		.reason = known_reason(wait->short_reason),
		.forked = wait->forks > 0,
	};
	struct timeline_step step = {
		.block_ns = block_ns,
		.object = wait->object,
		.blocked = span_of(wake_ns - block_ns),
		.queued = span_of(queued_ns),
		.reason = known_reason(wait->reason),
		.by_tree = part_of(tree_ns, queued_ns),
		.before = shorts_pack(&shorts),
	};

	step.by_outside = part_of(wait->queued_outside_ns, queued_ns);
	if (step.by_outside > UINT8_MAX - step.by_tree)
		step.by_outside = UINT8_MAX - step.by_tree;
	set_waker(timeline, wait, &step);
	if (wait->open)
		leave_open(&step);
	return step;
}

static void sum_up(struct timeline_thread *thread, const struct timeline_step *step)
{
	uint64_t blocked_ns = span_ns(step->blocked) + span_ns(step->before.blocked);

	counter_add(&thread->queued_ns, span_ns(step->queued) + span_ns(step->before.queued));
	counter_add(&thread->blocked_ns, blocked_ns);
	if (blocked_ns <= thread->longest_ns)
		return;
	thread->longest_ns = blocked_ns;
	thread->longest_reason = span_ns(step->blocked) ? step->reason : step->before.reason;
}

static void append_step(struct timeline *timeline, struct timeline_thread *thread,
			struct timeline_step *step)
{
	thread->last = UINT32_MAX;
	if (step_run_ns(step) - step->block_ns < timeline->threshold_ns) {
		shorts_add_step(&thread->rest, step);
		return;
	}
	if (timeline_make_room(timeline) < 0) {
		shorts_add_step(&thread->rest, step);
		thread->rest.gap = true;
		timeline->lost_steps++;
		return;
	}
	shorts_give(&thread->rest, step);
	thread->last = (uint32_t)timeline->steps.count;
	timeline->steps.data[timeline->steps.count++] = *step;
}

/* The same time off the CPU once more: the later event counts. */
static void replace_step(struct timeline *timeline, struct timeline_thread *thread,
			 const struct tree_wait_event *wait)
{
	struct timeline_step *step, later;

	if (thread->last == UINT32_MAX)
		return;
	step = &timeline->steps.data[thread->last];
	later = make_step(timeline, thread->previous_ns, wait);
	later.thread = step->thread;
	later.before.gap = step->before.gap;
	*step = later;
	thread->last_ns = step_run_ns(step);
}

void timeline_take_wait(struct timeline *timeline, const struct tree_event *event)
{
	const struct tree_wait_event *wait = &event->wait;
	struct timeline_thread *thread = timeline_get_thread(timeline, wait->serial, &event->task);
	uint32_t ahead = thread ? wait->sequence - thread->sequence : 0;
	struct timeline_step step;

	counter_raise(&timeline->threshold_ns, wait->threshold_ns);
	timeline->lost_steps += !thread;
	if (!thread || ahead > INT32_MAX)
		return;
	if (!ahead) {
		replace_step(timeline, thread, wait);
		return;
	}
	note_number(timeline, thread, &event->task);
	step = make_step(timeline, thread->last_ns, wait);
	step.thread = (uint32_t)(thread - timeline->threads);
	step.before.gap = ahead != 1;
	timeline->lost_steps += ahead - 1;
	/* It was the end of another thread that had its number. */
	if (step.block_ns > thread->end_ns)
		thread->end_ns = 0;
	thread->sequence = wait->sequence;
	sum_up(thread, &step);
	append_step(timeline, thread, &step);
	thread->previous_ns = thread->last_ns;
	thread->last_ns = step_run_ns(&step);
	counter_raise(&timeline->newest_ns, wait->run_ns);
}
