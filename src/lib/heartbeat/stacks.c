/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/stacks.h"

#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/ticks.h"

enum { COPY_TRIES = 64 };

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

static void copy_block(struct stack *to, const struct scope_thread *from)
{
	uint32_t texts_used = at_most(LOAD(from->texts_used), SCOPE_TEXTS_SIZE);

	to->depth = at_most(LOAD(from->depth), SCOPE_FRAMES);
	to->hidden = LOAD(from->hidden);
	to->changed_ticks = LOAD(from->changed_ticks);
	to->idle_ticks = LOAD(from->idle_ticks);
	to->is_idle = to->idle_ticks && to->idle_ticks >= to->changed_ticks;
	words_copy(to->name, from->name, sizeof(to->name));
	to->name[sizeof(to->name) - 1] = '\0';
	words_copy(to->frames, from->frames, to->depth * sizeof(to->frames[0]));
	words_copy(to->texts, from->texts, texts_used);
	to->texts[at_most(texts_used, SCOPE_TEXTS_SIZE - 1)] = '\0';
}

/* Returns whether a thread owns the slot. */
static bool take_thread(struct stack *to, uint32_t slot)
{
	const struct scope_thread *from = area_thread(slot);

	to->slot = slot;
	to->tid = LOAD(from->tid);
	if (!to->tid)
		return false;
	to->is_changing = false;
	for (unsigned int i = 0; i < COPY_TRIES; i++) {
		to->sequence = LOAD(from->sequence);
		if (to->sequence & 1)
			continue;
		copy_block(to, from);
		if (LOAD(from->sequence) == to->sequence && LOAD(from->tid) == to->tid)
			return true;
	}
	to->is_changing = true;
	to->is_idle = false;
	to->depth = 0;
	return true;
}

/* Until enough time has passed to compare the clocks, a tick is taken for a nanosecond. */
static double measure_rate(uint64_t ticks, uint64_t ns)
{
	const struct scope_header *header = area.header;

	if (ticks <= header->anchor_ticks || ns <= header->anchor_ns)
		return 1;
	return (double)(ns - header->anchor_ns) / (double)(ticks - header->anchor_ticks);
}

static uint32_t shortest_limit(const struct stack *thread)
{
	uint32_t shortest = SCOPE_NO_LIMIT;

	for (uint32_t i = 0; i < thread->depth; i++)
		if (thread->frames[i].limit_ms)
			shortest = at_most(thread->frames[i].limit_ms, shortest);
	return shortest;
}

/*
 * A thread that could not be copied has unknown limits: then the previous shortest limit still
 * holds.
 */
static void find_shortest_limit(struct stacks *stacks)
{
	uint32_t shortest = SCOPE_NO_LIMIT;

	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		if (stacks->threads[i].is_changing)
			shortest = at_most(stacks->shortest_limit_ms, shortest);
		shortest = at_most(shortest_limit(&stacks->threads[i]), shortest);
	}
	stacks->shortest_limit_ms = shortest;
}

void stacks_copy(struct stacks *stacks)
{
	uint32_t slots = at_most(LOAD(area.header->thread_count), SCOPE_THREADS);

	stacks->thread_count = 0;
	for (uint32_t slot = 0; slot < slots; slot++)
		stacks->thread_count += take_thread(&stacks->threads[stacks->thread_count], slot);
	find_shortest_limit(stacks);
	stacks->ticks = ticks_now();
	stacks->ns = ticks_monotonic_ns();
	stacks->ns_per_tick = measure_rate(stacks->ticks, stacks->ns);
}

uint64_t stacks_age_ns(const struct stacks *stacks, uint64_t ticks)
{
	return stacks->ticks > ticks ?
		       (uint64_t)((double)(stacks->ticks - ticks) * stacks->ns_per_tick) :
		       0;
}

const char *stack_label(const struct stack *thread, const struct scope_frame *frame)
{
	uint32_t offset = frame->label & ~SCOPE_TEXT;

	if (frame->label & SCOPE_TEXT)
		return offset < SCOPE_TEXTS_SIZE ? thread->texts + offset : NULL;
	/* A label is written once, before a frame names it. */
	return frame->label && frame->label < SCOPE_LABELS ? area_labels()[frame->label].text :
							     NULL;
}

void stack_name(const struct stack *thread, char word[static THREAD_WORD_SIZE])
{
	if (*thread->name)
		snprintf(word, THREAD_WORD_SIZE, "%s", thread->name);
	else
		thread_name(thread->tid, word);
}

const struct scope_frame *stack_progress(const struct stack *thread)
{
	for (uint32_t i = thread->depth; i > 0; i--)
		if (thread->frames[i - 1].flags & SCOPE_HAS_PROGRESS)
			return &thread->frames[i - 1];
	return NULL;
}
