/* SPDX-License-Identifier: MIT */
/*
 * A program's memory of scopes, made by hand and small: offsets and sizes are all other than those of
 * the library, so that a reader must take them from the header.
 */
#ifndef TESTS_UNIT_SCOPE_MEMORY_H
#define TESTS_UNIT_SCOPE_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope_layout.h"

enum {
	MEMORY_LABELS = 6,
	MEMORY_LABEL_SIZE = 72,
	MEMORY_RETIRED = 3,
	MEMORY_STATISTIC_SIZE = 320,
	MEMORY_THREADS = 4,
	MEMORY_FRAMES = 3,
	MEMORY_FRAME_SIZE = 80,
	MEMORY_TEXTS_SIZE = 96,
	MEMORY_STATISTICS = 3,

	MEMORY_LABEL_OFFSET = 512,
	MEMORY_RETIRED_OFFSET = MEMORY_LABEL_OFFSET + MEMORY_LABELS * MEMORY_LABEL_SIZE,
	MEMORY_THREAD_OFFSET = MEMORY_RETIRED_OFFSET + MEMORY_RETIRED * MEMORY_STATISTIC_SIZE,
	MEMORY_FRAME_OFFSET = offsetof(struct scope_thread, frames) + 16,
	MEMORY_TEXTS_OFFSET = MEMORY_FRAME_OFFSET + MEMORY_FRAMES * MEMORY_FRAME_SIZE,
	MEMORY_STATISTICS_OFFSET = MEMORY_TEXTS_OFFSET + MEMORY_TEXTS_SIZE,
	MEMORY_THREAD_SIZE =
		MEMORY_STATISTICS_OFFSET + MEMORY_STATISTICS * MEMORY_STATISTIC_SIZE + 24,
	MEMORY_SIZE = MEMORY_THREAD_OFFSET + MEMORY_THREADS * MEMORY_THREAD_SIZE,
};

/* Ticks are half a nanosecond: it was made at 1 s, 2,000 ticks, and is read ten seconds later. */
#define MEMORY_ANCHOR_TICKS UINT64_C(2000)
#define MEMORY_ANCHOR_NS UINT64_C(1000000000)
#define MEMORY_NOW_TICKS (MEMORY_ANCHOR_TICKS + UINT64_C(20000000000))
#define MEMORY_NOW_NS (MEMORY_ANCHOR_NS + UINT64_C(10000000000))

/* Ticks of so many milliseconds ago. */
static inline uint64_t memory_ago(uint64_t milliseconds)
{
	return MEMORY_NOW_TICKS - milliseconds * 2000000;
}

static inline struct scope_header *memory_header(char *memory)
{
	return (struct scope_header *)memory;
}

static inline struct scope_thread *memory_thread(char *memory, uint32_t slot)
{
	return (struct scope_thread *)(memory + MEMORY_THREAD_OFFSET +
				       (size_t)slot * MEMORY_THREAD_SIZE);
}

static inline struct scope_frame *memory_frame(char *memory, uint32_t slot, uint32_t frame)
{
	return (struct scope_frame *)((char *)memory_thread(memory, slot) + MEMORY_FRAME_OFFSET +
				      (size_t)frame * MEMORY_FRAME_SIZE);
}

static inline char *memory_texts(char *memory, uint32_t slot)
{
	return (char *)memory_thread(memory, slot) + MEMORY_TEXTS_OFFSET;
}

static inline char *memory_label(char *memory, uint32_t number)
{
	return memory + MEMORY_LABEL_OFFSET + (size_t)number * MEMORY_LABEL_SIZE;
}

static inline struct scope_statistic *memory_statistic(char *memory, uint32_t slot, uint32_t index)
{
	return (struct scope_statistic *)((char *)memory_thread(memory, slot) +
					  MEMORY_STATISTICS_OFFSET +
					  (size_t)index * MEMORY_STATISTIC_SIZE);
}

static inline struct scope_statistic *memory_retired(char *memory, uint32_t index)
{
	return (struct scope_statistic *)(memory + MEMORY_RETIRED_OFFSET +
					  (size_t)index * MEMORY_STATISTIC_SIZE);
}

/*
 * A memory with no threads and no labels; the caller frees it.  Behind its end there is room, since its
 * blocks are shorter than the struct that they are written by.
 */
static inline char *memory_new(void)
{
	char *memory = calloc(1, MEMORY_SIZE + sizeof(struct scope_thread));

	*memory_header(memory) = (struct scope_header){
		.magic = SCOPE_MAGIC,
		.version = SCOPE_VERSION,
		.state = SCOPE_STATE_ON,
		.label_offset = MEMORY_LABEL_OFFSET,
		.label_size = MEMORY_LABEL_SIZE,
		.label_max = MEMORY_LABELS,
		.retired_offset = MEMORY_RETIRED_OFFSET,
		.statistic_size = MEMORY_STATISTIC_SIZE,
		.retired_max = MEMORY_RETIRED,
		.thread_offset = MEMORY_THREAD_OFFSET,
		.thread_size = MEMORY_THREAD_SIZE,
		.thread_max = MEMORY_THREADS,
		.frame_offset = MEMORY_FRAME_OFFSET,
		.frame_size = MEMORY_FRAME_SIZE,
		.frame_max = MEMORY_FRAMES,
		.texts_offset = MEMORY_TEXTS_OFFSET,
		.texts_size = MEMORY_TEXTS_SIZE,
		.statistics_offset = MEMORY_STATISTICS_OFFSET,
		.statistics_max = MEMORY_STATISTICS,
		.bucket_count = SCOPE_BUCKETS,
		.pid = 4242,
		.clock = SCOPE_CLOCK_TSC,
		.flags = SCOPE_HAS_STATISTICS | SCOPE_HAS_HEARTBEAT,
		.stall_limit_ms = 120000,
		.heartbeat_ms = 60000,
		.anchor_ticks = MEMORY_ANCHOR_TICKS,
		.anchor_ns = MEMORY_ANCHOR_NS,
		.label_count = 1,
	};
	return memory;
}

/* Gives the next number to a label. */
static inline uint32_t memory_add_label(char *memory, const char *text)
{
	uint32_t number = memory_header(memory)->label_count++;

	memcpy(memory_label(memory, number), text, strlen(text));
	return number;
}

/* Takes the next block. */
static inline uint32_t memory_add_thread(char *memory, int32_t tid, const char *name)
{
	uint32_t slot = memory_header(memory)->thread_count++;
	struct scope_thread *thread = memory_thread(memory, slot);

	thread->tid = tid;
	thread->slot = slot;
	thread->sequence = 2;
	thread->changed_ticks = memory_ago(5000);
	memcpy(thread->name, name, strlen(name));
	return slot;
}

/* Opens a scope so many milliseconds ago. */
static inline struct scope_frame *memory_enter(char *memory, uint32_t slot, uint32_t label,
					       uint64_t milliseconds)
{
	struct scope_thread *thread = memory_thread(memory, slot);
	struct scope_frame *frame = memory_frame(memory, slot, thread->depth++);

	frame->label = label;
	frame->generation = ++thread->generation;
	frame->entered_ticks = memory_ago(milliseconds);
	return frame;
}

/* Two threads: main in "load matrix" and "solve" (412 of 1,000), a worker in a text of its own. */
static inline char *memory_sample(void)
{
	char *memory = memory_new();
	uint32_t load = memory_add_label(memory, "load matrix");
	uint32_t solve = memory_add_label(memory, "solve");
	uint32_t main_slot = memory_add_thread(memory, 4242, "main");
	uint32_t worker = memory_add_thread(memory, 4243, "");
	struct scope_frame *frame;

	memory_enter(memory, main_slot, load, 8000);
	frame = memory_enter(memory, main_slot, solve, 4000);
	frame->flags = SCOPE_HAS_PROGRESS;
	frame->count = 412;
	frame->total = 1000;
	memcpy(memory_texts(memory, worker) + 8, "tile 7", 7);
	memory_enter(memory, worker, SCOPE_TEXT | 8, 2000);
	return memory;
}

/* `times` scopes of 2^bucket ticks each. */
static inline void memory_count(struct scope_statistic *statistic, uint32_t label, uint32_t bucket,
				uint32_t times)
{
	statistic->label = label;
	statistic->count += times;
	statistic->total_ticks += (UINT64_C(1) << bucket) * times;
	statistic->buckets[bucket] += times;
	if (statistic->longest_ticks < UINT64_C(1) << bucket)
		statistic->longest_ticks = UINT64_C(1) << bucket;
}

#endif
