/* SPDX-License-Identifier: MIT */
/* Chooses the thread whose path is of interest. */
#include <errno.h>

#include "analyze/path/path_find.h"
#include "analyze/path/path_index.h"
#include "analyze/path/path_shares.h"
#include "base/cleanup.h"
#include "base/clock.h"

/* A thread that waited for work longer than this share of the time did nothing else. */
#define IDLE_SHARE 0.95
/* With less CPU time a thread is not what another waits for the end of. */
#define BUSY_SHARE 0.01
/* A wait that is not over says more than none, but less than any work. */
#define OPEN_WEIGHT 0.001
/*
 * A path polls a clock if so many sleeps, none of them longer than a nap, make up this share of it: it
 * looks again and again whether others are done.  Few or long sleeps are meant as sleeps.
 */
#define NAP_NS (1500 * NS_PER_MS) /* scripts look once a second */
#define NAPS_LEAST 10
#define NAPS_SHARE 0.5
/*
 * For so much of the time another must have been at work, itself or by others that it waited for, for
 * one that naps, reads or waits for events to have waited for it.
 */
#define WORKER_SHARE 0.5
/* A path of nothing but a process's waits for events; the rest is its own start and end. */
#define EVENTS_SHARE 0.8

struct use {
	uint64_t cpu_ns;
	uint64_t idle_ns;  /* waits for work that no member ended, and all that the first ended */
	uint64_t child_ns; /* of them: for the end of a child or thread */
	uint64_t clock_ns; /* of them: sleeps, and conditions that nobody signalled */
	uint64_t halt_ns;  /* of them: stopped */
	uint64_t life_ns;
	uint64_t cost_ns; /* waits that cost time and that no member ended */
	uint64_t open_ns; /* of them: for somebody's bytes that have not come yet */
	uint64_t work_ns; /* CPU, the queue for one, and waits of cost_ns that are over */
};

struct window {
	uint64_t begin_ns, end_ns;
};

/* What is asked about each thread: how much it counts; negative: not at all. */
struct choice {
	const struct path_index *index;
	struct window window;
	const struct timeline_thread *first; /* whose waits what others did is to explain */
	bool waits_for_child;		     /* it does, for one that does not end */
	double least;			     /* others must count more */
	double (*weight)(const struct choice *choice, const struct timeline_thread *thread,
			 const struct use *use);
};

static uint64_t overlap(const struct window *window, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from = begin_ns > window->begin_ns ? begin_ns : window->begin_ns;
	uint64_t until = end_ns < window->end_ns ? end_ns : window->end_ns;

	return until > from ? until - from : 0;
}

/* The CPU time of a stretch; none where events were lost. */
static uint64_t stretch_cpu(const struct window *window, uint64_t begin_ns, uint64_t end_ns,
			    const struct timeline_shorts *shorts)
{
	uint64_t ns = overlap(window, begin_ns, end_ns);

	if (shorts->gap || shorts->queued_ns > ns || shorts->blocked_ns > ns - shorts->queued_ns)
		return 0;
	return ns - shorts->queued_ns - shorts->blocked_ns;
}

static void add_idle(struct use *use, const struct timeline_step *step, uint64_t ns)
{
	use->idle_ns += ns;
	if (step->reason == WAIT_CHILD)
		use->child_ns += ns;
	if (step->reason == WAIT_STOPPED)
		use->halt_ns += ns;
	if (step->reason == WAIT_TIMER ||
	    (step->reason == WAIT_CONDITION && step->waker_class < WAKER_MEMBER))
		use->clock_ns += ns;
}

/* It waited for what `first`, or for another process what the first one, had to give. */
static bool is_for_first(const struct choice *choice, const struct timeline_step *step,
			 const struct timeline_step *source)
{
	const struct timeline *timeline = choice->index->timeline;
	const struct timeline_thread *waker;

	if (source->waker_class != WAKER_MEMBER)
		return false;
	if (source->waker == choice->first->serial)
		return true;
	waker = timeline_thread(timeline, source->waker);
	return waker && waker->task.pid == choice->first->task.pid &&
	       timeline->threads[step->thread].task.pid != waker->task.pid;
}

/* A wait that lasts to the end may never be over: it is not known to be work. */
static void add_step(struct use *use, const struct choice *choice, const struct timeline_step *step,
		     const struct timeline_step *source)
{
	const struct window *window = &choice->window;
	uint64_t ns = overlap(window, step->block_ns, step_wake_ns(step));

	use->work_ns += overlap(window, step_wake_ns(step), step_run_ns(step));
	if (is_for_first(choice, step, source))
		use->idle_ns += ns;
	if (source->waker_class == WAKER_MEMBER || source->waker_class == WAKER_FOLDED)
		return;
	if (waits[step->reason].kind == WAIT_WORK)
		add_idle(use, step, ns);
	if (waits[step->reason].kind != WAIT_COST)
		return;
	use->cost_ns += ns;
	if (step_wake_ns(step) < window->end_ns)
		use->work_ns += ns;
	else if (step->reason == WAIT_PIPE || step->reason == WAIT_NETWORK)
		use->open_ns += ns;
}

static struct use use_of(const struct choice *choice, uint32_t place)
{
	const struct path_index *index = choice->index;
	const struct window *window = &choice->window;
	const struct timeline_thread *thread = &index->timeline->threads[place];
	uint64_t from_ns =
		thread->begin_ns > window->begin_ns ? thread->begin_ns : window->begin_ns;
	struct use use = { 0 };

	for (uint32_t at = index->first[place]; at < index->first[place + 1]; at++) {
		const struct timeline_step *step = path_step(index, at);
		struct timeline_shorts shorts = step_shorts(step);

		if (thread->has_begun || at > index->first[place])
			use.cpu_ns += stretch_cpu(window, from_ns, step->block_ns, &shorts);
		add_step(&use, choice, step, path_step(index, index->source[at]));
		from_ns = step_run_ns(step);
	}
	use.cpu_ns += stretch_cpu(window, from_ns, timeline_end_ns(index->timeline, thread),
				  &thread->rest);
	use.work_ns += use.cpu_ns;
	use.life_ns = overlap(window, thread->begin_ns, timeline_end_ns(index->timeline, thread));
	return use;
}

static bool is_most_of(const struct choice *choice, uint64_t ns, double share)
{
	return (double)ns >= share * (double)overlap(&choice->window, 0, UINT64_MAX);
}

/*
 * A process that only waits for its children explains no more than the one that waits for it.
 * A thread beside the first that nobody wakes does housekeeping; only waits of another process
 * are waits of the work.
 */
static double busy_weight(const struct choice *choice, const struct timeline_thread *thread,
			  const struct use *use)
{
	bool is_same = thread->task.pid == choice->first->task.pid;

	if (is_most_of(choice, use->child_ns, IDLE_SHARE))
		return -1;
	if (is_same && is_most_of(choice, use->clock_ns, IDLE_SHARE))
		return 0;
	if (is_same && choice->waits_for_child && !is_most_of(choice, use->cpu_ns, BUSY_SHARE))
		return 0;
	if (is_same)
		return (double)use->cpu_ns;
	return (double)use->work_ns + OPEN_WEIGHT * (double)use->cost_ns;
}

static uint64_t without(uint64_t ns, uint64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

/* Its own work, and its waits for others of the tree, behind which theirs is. */
static uint64_t active_ns(const struct use *use)
{
	return without(use->life_ns, use->idle_ns);
}

/*
 * One that waits for bytes that have not come may wait for the very thread that does so too; one that is stopped
 * would be at work but for that.
 */
static uint64_t at_work_ns(const struct use *use)
{
	return without(active_ns(use), use->open_ns) + use->halt_ns;
}

static double work_weight(const struct choice *choice, const struct timeline_thread *thread,
			  const struct use *use)
{
	(void)thread;
	return is_most_of(choice, at_work_ns(use), WORKER_SHARE) ? (double)at_work_ns(use) : -1;
}

/* Creators have smaller numbers, also in a timeline that a stranger wrote. */
static bool is_below(const struct timeline *timeline, const struct timeline_thread *thread,
		     uint32_t serial)
{
	while (thread && thread->serial != serial && thread->creator < thread->serial)
		thread = timeline_thread(timeline, thread->creator);
	return thread && thread->serial == serial;
}

static double active_weight(const struct choice *choice, const struct timeline_thread *thread,
			    const struct use *use)
{
	if (!is_below(choice->index->timeline, thread, choice->first->serial))
		return -1;
	return is_most_of(choice, active_ns(use), WORKER_SHARE) ? (double)active_ns(use) : -1;
}

/* Where several count alike, the one that was made first wins. */
static uint32_t choose(const struct choice *choice)
{
	const struct timeline *timeline = choice->index->timeline;
	const struct timeline_thread *best = choice->first;
	double most = choice->least;

	for (uint32_t i = 0; i < timeline->thread_places; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];
		struct use use;
		double weight;

		if (!thread->serial || thread == choice->first)
			continue;
		use = use_of(choice, i);
		weight = choice->weight(choice, thread, &use);
		if (weight < most || (weight <= most &&
				      (best == choice->first || thread->task.tid > best->task.tid)))
			continue;
		most = weight;
		best = thread;
	}
	return best->serial;
}

/* Below any weight that counts: also a thread that did nothing says more than a wait for it. */
#define ANY_WEIGHT (-0.5)

static uint32_t pick(struct choice *choice, bool is_attached)
{
	const struct timeline *timeline = choice->index->timeline;
	struct use use = use_of(choice, (uint32_t)(choice->first - timeline->threads));

	choice->least = (double)use.cpu_ns;
	if (is_attached && is_most_of(choice, use.idle_ns, IDLE_SHARE)) {
		choice->weight = busy_weight;
		choice->waits_for_child = is_most_of(choice, use.child_ns, IDLE_SHARE);
		if (choice->waits_for_child)
			choice->least = ANY_WEIGHT;
		return choose(choice);
	}
	return choice->first->serial;
}

/* Where a thread waits for bytes that have not come, picks the one that is at work meanwhile. */
static uint32_t pick_writer(struct choice *choice, uint32_t picked)
{
	const struct timeline *timeline = choice->index->timeline;
	const struct timeline_thread *thread = timeline_thread(timeline, picked);
	struct use use = use_of(choice, (uint32_t)(thread - timeline->threads));

	if (!is_most_of(choice, use.open_ns, IDLE_SHARE))
		return picked;
	choice->first = thread;
	choice->least = (double)at_work_ns(&use);
	choice->weight = work_weight;
	return choose(choice);
}

static uint64_t length_of(const struct path_segment *segment)
{
	return segment->end_ns - segment->begin_ns;
}

static bool is_sleep(const struct path_segment *segment)
{
	return segment->kind == WAIT_TIMER;
}

/* A wait whose end nobody of the tree brought, as far as was seen. */
static bool is_for_events(const struct path_segment *segment)
{
	return segment->kind == WAIT_POLL || segment->kind == WAIT_CHILD;
}

static const struct path_segment *longest_of(const struct critical_path *path,
					     bool (*is_meant)(const struct path_segment *segment))
{
	const struct path_segment *longest = NULL;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct path_segment *segment = &path->segments.data[i];

		if (is_meant(segment) && (!longest || length_of(segment) > length_of(longest)))
			longest = segment;
	}
	return longest;
}

static bool is_naps(const struct critical_path *path)
{
	const struct path_segment *longest = longest_of(path, is_sleep);
	double share = path_share(path, WAIT_TIMER, PATH_ANY);

	return longest && length_of(longest) <= NAP_NS && share >= NAPS_SHARE &&
	       share * (double)path->total_ns >= NAPS_LEAST * (double)length_of(longest);
}

/* The process whose waits of that kind are nearly all of the path, or 0. */
static int32_t who_waits(const struct critical_path *path,
			 bool (*is_meant)(const struct path_segment *segment))
{
	const struct path_segment *longest = longest_of(path, is_meant);
	uint64_t ns = 0;

	for (size_t i = 0; longest && i < path->segments.count; i++) {
		const struct path_segment *segment = &path->segments.data[i];

		if (is_meant(segment) && segment->task.tid == longest->task.tid)
			ns += length_of(segment);
	}
	if ((double)ns < EVENTS_SHARE * (double)path->total_ns)
		return 0;
	return longest ? longest->task.pid : 0;
}

/*
 * Beside a main thread that only keeps the time, a thread that works says more; what other processes do
 * meanwhile is not what a sleep is for.
 */
static double beside_clock_weight(const struct choice *choice, const struct timeline_thread *thread,
				  const struct use *use)
{
	if (thread->task.pid != choice->first->task.pid)
		return -1;
	return is_most_of(choice, use->work_ns, WORKER_SHARE) ? (double)use->work_ns : -1;
}

/* Whose path says more than this one, which only looks or waits for what others do; or 0. */
static uint32_t pick_worker(struct choice *choice, const struct critical_path *path)
{
	const struct timeline *timeline = choice->index->timeline;
	int32_t napper = is_naps(path) ? path->thread.pid : 0;
	int32_t waiter = napper ? napper : who_waits(path, is_for_events);
	int32_t pid = waiter ? waiter : who_waits(path, is_sleep);
	uint32_t serial;

	choice->first = pid ? timeline_thread(timeline, timeline_main_thread(timeline, pid)) : NULL;
	if (!choice->first)
		return 0;
	choice->least = 0;
	choice->weight = napper ? work_weight : waiter ? active_weight : beside_clock_weight;
	serial = choose(choice);
	return serial == choice->first->serial ? 0 : serial;
}

int critical_path_of_process(const struct timeline *timeline, int32_t pid, bool is_attached,
			     uint64_t begin_ns, uint64_t end_ns, struct critical_path *ret)
{
	CLEANUP(path_index_free) struct path_index index = { 0 };
	uint32_t first = timeline_main_thread(timeline, pid), serial, worker;
	struct choice choice = { .index = &index,
				 .window = { begin_ns, end_ns },
				 .first = timeline_thread(timeline, first) };
	int status;

	if (!choice.first)
		return -ESRCH;
	if (path_index_init(&index, timeline) < 0)
		return -ENOMEM;
	serial = pick_writer(&choice, pick(&choice, is_attached));
	status = critical_path_find(timeline, serial, begin_ns, end_ns, ret);
	worker = status < 0 ? 0 : pick_worker(&choice, ret);
	if (worker) {
		critical_path_free(ret);
		status = critical_path_find(timeline, worker, begin_ns, end_ns, ret);
	}
	ret->of_busiest = worker || serial != first;
	return status;
}
