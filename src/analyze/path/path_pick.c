/* SPDX-License-Identifier: MIT */
/* Chooses the thread whose path is of interest. */
#include <errno.h>

#include "analyze/path/path_find.h"
#include "analyze/path/path_index.h"
#include "base/cleanup.h"

/* A thread that waited for work longer than this share of the time did nothing else. */
#define IDLE_SHARE 0.95

struct use {
	uint64_t cpu_ns;
	uint64_t idle_ns; /* waits for work that no member of the tree ended */
};

struct window {
	uint64_t begin_ns, end_ns;
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

static void add_step(struct use *use, const struct window *window, const struct timeline_step *step,
		     const struct timeline_step *source)
{
	if (waits[step->reason].kind == WAIT_WORK && source->waker_class != WAKER_MEMBER &&
	    source->waker_class != WAKER_FOLDED)
		use->idle_ns += overlap(window, step->block_ns, step_wake_ns(step));
}

static struct use use_of(const struct path_index *index, uint32_t place,
			 const struct window *window)
{
	const struct timeline_thread *thread = &index->timeline->threads[place];
	uint64_t from_ns =
		thread->begin_ns > window->begin_ns ? thread->begin_ns : window->begin_ns;
	struct use use = { 0 };

	for (uint32_t at = index->first[place]; at < index->first[place + 1]; at++) {
		const struct timeline_step *step = path_step(index, at);
		struct timeline_shorts shorts = step_shorts(step);

		if (thread->has_begun || at > index->first[place])
			use.cpu_ns += stretch_cpu(window, from_ns, step->block_ns, &shorts);
		add_step(&use, window, step, path_step(index, index->source[at]));
		from_ns = step_run_ns(step);
	}
	use.cpu_ns += stretch_cpu(window, from_ns, timeline_end_ns(index->timeline, thread),
				  &thread->rest);
	return use;
}

static uint32_t busiest(const struct path_index *index, const struct window *window, uint32_t first,
			uint64_t most_ns)
{
	uint32_t serial = first;

	for (uint32_t i = 0; i < index->timeline->thread_places; i++) {
		uint64_t cpu_ns;

		if (!index->timeline->threads[i].serial)
			continue;
		cpu_ns = use_of(index, i, window).cpu_ns;
		if (cpu_ns <= most_ns)
			continue;
		most_ns = cpu_ns;
		serial = index->timeline->threads[i].serial;
	}
	return serial;
}

int path_pick_thread(const struct timeline *timeline, int32_t pid, uint64_t begin_ns,
		     uint64_t end_ns, uint32_t *ret_serial, bool *ret_of_busiest)
{
	CLEANUP(path_index_free) struct path_index index = { 0 };
	struct window window = { begin_ns, end_ns };
	uint32_t first = timeline_main_thread(timeline, pid), serial = first;
	const struct timeline_thread *thread = timeline_thread(timeline, first);
	struct use use;

	if (!thread)
		return -ESRCH;
	if (path_index_init(&index, timeline) < 0)
		return -ENOMEM;
	use = use_of(&index, (uint32_t)(thread - timeline->threads), &window);
	if ((double)use.idle_ns >= IDLE_SHARE * (double)overlap(&window, 0, UINT64_MAX))
		serial = busiest(&index, &window, first, use.cpu_ns);
	*ret_serial = serial;
	*ret_of_busiest = serial != first;
	return 0;
}
