/* SPDX-License-Identifier: MIT */
/*
 * For tests of the library that is part of other programs: they look at the memory that it writes.
 */
#ifndef TESTS_LIB_SUPPORT_H
#define TESTS_LIB_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <taskscope.h>
#include <unistd.h>

#include "lib/scope/area.h"
#include "lib/scope/threads.h"
#include "patience.h"

static inline void lines_ignore(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
}

/* Without lines. */
static inline void library_start(uint32_t flags)
{
	assert_int_equal(taskscope_start(&(struct taskscope_options){
				 .size = sizeof(struct taskscope_options),
				 .heartbeat_ms = TASKSCOPE_NEVER,
				 .flags = flags,
				 .log = lines_ignore,
			 }),
			 0);
}

/* This thread's block, or NULL. */
static inline struct scope_thread *own_block(void)
{
	for (uint32_t i = 0; i < area.header->thread_count; i++) {
		if (area_thread(i)->tid == gettid())
			return area_thread(i);
	}
	return NULL;
}

static inline uint32_t own_depth(void)
{
	return own_block() ? own_block()->depth : 0;
}

static inline const char *frame_label(const struct scope_thread *block, uint32_t index)
{
	uint32_t label = block->frames[index].label;

	if (label & SCOPE_TEXT)
		return block->texts + (label & ~SCOPE_TEXT);
	return area_labels()[label].text;
}

static inline uint32_t blocks_in_use(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < area.header->thread_count; i++)
		count += area_thread(i)->tid != 0;
	return count;
}

/* Runs a function on a thread of its own, to its end. */
static inline void on_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
	pthread_join(thread, NULL);
}

#endif
