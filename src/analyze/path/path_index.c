/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/collection/array.h"
#include "model/wait/futex_word.h"

/* A thread that uses more CPU time than this between two waits did something else meanwhile. */
#define LOCK_CPU_NS 300000
#define JOIN_CPU_NS 1000000

static void sort_steps(struct path_index *index)
{
	const struct timeline *timeline = index->timeline;

	for (size_t i = 0; i < timeline->steps.count; i++)
		index->first[timeline->steps.data[i].thread + 1]++;
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		index->first[i + 1] += index->first[i];
	for (size_t i = 0; i < timeline->steps.count; i++)
		index->order[index->first[timeline->steps.data[i].thread]++] = (uint32_t)i;
	/* Each beginning has moved to the next one's. */
	for (uint32_t i = timeline->thread_places; i > 0; i--)
		index->first[i] = index->first[i - 1];
	index->first[0] = 0;
}

static uint64_t cpu_between(const struct timeline_step *step, const struct timeline_step *next)
{
	uint64_t end_ns = step_run_ns(step);
	uint64_t ns = next->block_ns > end_ns ? next->block_ns - end_ns : 0;
	uint64_t off_ns = span_ns(next->before.queued) + span_ns(next->before.blocked);

	return off_ns < ns ? ns - off_ns : 0;
}

static bool is_lock(const struct timeline_step *step)
{
	return (step->reason == WAIT_LOCK || step->reason == WAIT_CONDITION) && step->object;
}

/*
 * Shells wait for the signal that a child has ended, others for the end of its pipe: who ends a wait
 * for events with its own end was waited for.
 */
uint8_t path_step_reason(const struct path_index *index, const struct timeline_step *step)
{
	const struct timeline *timeline = index->timeline;
	const struct timeline_thread *waker;

	if (step->reason != WAIT_POLL || step->waker_class != WAKER_MEMBER)
		return step->reason;
	waker = timeline_thread(timeline, step->waker);
	if (!waker || timeline_end_ns(timeline, waker) > step_wake_ns(step) + PATH_EXIT_NS)
		return WAIT_POLL;
	return WAIT_CHILD;
}

/* The wait after the one at hand, and what was between them. */
struct following {
	uint32_t at; /* UINT32_MAX: none that counts */
	uint64_t cpu_ns;
	bool forked, gap;
};

static bool has_waker(const struct timeline_step *step)
{
	return step->waker_class >= WAKER_MEMBER;
}

/* Where the waker of the wait at `at` is to be found. */
static uint32_t find_source(const struct path_index *index, uint32_t at,
			    const struct following *next)
{
	const struct timeline_step *step = path_step(index, at), *after;
	uint32_t source;

	if (next->at == UINT32_MAX || next->gap)
		return at;
	after = path_step(index, next->at);
	source = index->source[next->at];
	if (path_step(index, source)->waker_class != WAKER_MEMBER)
		return at;
	if (is_lock(step) && is_lock(after) && futex_may_be_same(step->object, after->object) &&
	    next->cpu_ns < LOCK_CPU_NS)
		return has_waker(step) ? at : source;
	if (path_step_reason(index, step) == WAIT_CHILD &&
	    path_step_reason(index, after) == WAIT_CHILD && !next->forked &&
	    next->cpu_ns < JOIN_CPU_NS)
		return source;
	return at;
}

/* A thread that was only pushed off its CPU between two waits goes on as before. */
static void find_sources(const struct path_index *index, uint32_t first, uint32_t end)
{
	struct following next = { .at = UINT32_MAX };

	for (uint32_t at = end; at-- > first;) {
		const struct timeline_step *step = path_step(index, at);

		if (at + 1 < end) {
			const struct timeline_step *after = path_step(index, at + 1);

			next.cpu_ns += cpu_between(step, after);
			next.forked |= after->before.forked;
			next.gap |= after->before.gap;
		}
		index->source[at] = at;
		if (!span_ns(step->blocked))
			continue;
		index->source[at] = find_source(index, at, &next);
		next = (struct following){ .at = at };
	}
}

int path_index_init(struct path_index *index, const struct timeline *timeline)
{
	size_t steps = timeline->steps.count + 1;

	*index = (struct path_index){
		.timeline = timeline,
		.order = calloc(steps, sizeof(*index->order)),
		.first = calloc((size_t)timeline->thread_places + 2, sizeof(*index->first)),
		.source = calloc(steps, sizeof(*index->source)),
	};
	if (!index->order || !index->first || !index->source) {
		path_index_free(index);
		return -ENOMEM;
	}
	sort_steps(index);
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		find_sources(index, index->first[i], index->first[i + 1]);
	return 0;
}

void path_index_free(struct path_index *index)
{
	free(index->order);
	free(index->first);
	free(index->source);
	*index = (struct path_index){ 0 };
}

uint32_t path_index_find(const struct path_index *index, uint32_t thread, uint64_t time_ns)
{
	uint32_t first = index->first[thread];
	const struct timeline_step *steps = index->timeline->steps.data;

	return first + (uint32_t)array_bisect(index->order + first,
					      index->first[thread + 1] - first,
					      step_run_ns(&steps[*item]) <= time_ns);
}
