/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/look.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/ticks.h"

enum { COPY_TRIES = 64 };

int look_init(struct look *look)
{
	void *memory =
		mmap(NULL, SCOPE_THREADS * sizeof(struct look_thread), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	*look = (struct look){ .threads = memory, .shortest_limit_ms = SCOPE_NO_LIMIT };
	return 0;
}

void look_clear(struct look *look)
{
	if (look->threads)
		munmap(look->threads, SCOPE_THREADS * sizeof(struct look_thread));
	look->threads = NULL;
	look->thread_count = 0;
}

static void copy_bytes(char *to, const char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = LOAD(from[i]);
}

static void copy_frame(struct look_frame *to, const struct scope_frame *from)
{
	to->entered_ticks = LOAD(from->entered_ticks);
	to->count = LOAD(from->count);
	to->total = LOAD(from->total);
	to->label = LOAD(from->label);
	to->generation = LOAD(from->generation);
	to->limit_ms = LOAD(from->limit_ms);
	to->has_progress = LOAD(from->flags) & SCOPE_HAS_PROGRESS;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

static void copy_block(struct look_thread *to, const struct scope_thread *from)
{
	uint32_t texts_used = at_most(LOAD(from->texts_used), SCOPE_TEXTS_SIZE);

	to->depth = at_most(LOAD(from->depth), SCOPE_FRAMES);
	to->hidden = LOAD(from->hidden);
	to->changed_ticks = LOAD(from->changed_ticks);
	to->idle_ticks = LOAD(from->idle_ticks);
	to->is_idle = to->idle_ticks && to->idle_ticks >= to->changed_ticks;
	copy_bytes(to->name, from->name, sizeof(to->name));
	to->name[sizeof(to->name) - 1] = '\0';
	for (uint32_t i = 0; i < to->depth; i++)
		copy_frame(&to->frames[i], &from->frames[i]);
	copy_bytes(to->texts, from->texts, texts_used);
	to->texts[at_most(texts_used, SCOPE_TEXTS_SIZE - 1)] = '\0';
}

/* Returns whether a thread owns the slot. */
static bool take_thread(struct look_thread *to, uint32_t slot)
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

static uint32_t shortest_limit(const struct look_thread *thread)
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
static void find_shortest_limit(struct look *look)
{
	uint32_t shortest = SCOPE_NO_LIMIT;

	for (uint32_t i = 0; i < look->thread_count; i++) {
		if (look->threads[i].is_changing)
			shortest = at_most(look->shortest_limit_ms, shortest);
		shortest = at_most(shortest_limit(&look->threads[i]), shortest);
	}
	look->shortest_limit_ms = shortest;
}

void look_take(struct look *look)
{
	uint32_t slots = at_most(LOAD(area.header->thread_count), SCOPE_THREADS);

	look->thread_count = 0;
	for (uint32_t slot = 0; slot < slots; slot++)
		look->thread_count += take_thread(&look->threads[look->thread_count], slot);
	find_shortest_limit(look);
	look->ticks = ticks_now();
	look->ns = ticks_monotonic_ns();
	look->ns_per_tick = measure_rate(look->ticks, look->ns);
}

uint64_t look_age_ns(const struct look *look, uint64_t ticks)
{
	return look->ticks > ticks ? (uint64_t)((double)(look->ticks - ticks) * look->ns_per_tick) :
				     0;
}

const char *look_label(const struct look_thread *thread, const struct look_frame *frame)
{
	uint32_t offset = frame->label & ~SCOPE_TEXT;

	if (frame->label & SCOPE_TEXT)
		return offset < SCOPE_TEXTS_SIZE ? thread->texts + offset : NULL;
	/* A label is written once, before a frame names it. */
	return frame->label && frame->label < SCOPE_LABELS ? area_labels()[frame->label].text :
							     NULL;
}

const struct look_frame *look_progress(const struct look_thread *thread)
{
	for (uint32_t i = thread->depth; i > 0; i--)
		if (thread->frames[i - 1].has_progress)
			return &thread->frames[i - 1];
	return NULL;
}
