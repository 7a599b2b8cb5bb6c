/* SPDX-License-Identifier: MIT */
/*
 * What all threads did at one moment: a copy of their scopes that stays as it is.  Taken without a
 * lock, and without asking the threads.
 */
#ifndef LIB_LOOK_H
#define LIB_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scope_layout.h"

struct look_frame {
	uint64_t entered_ticks;
	uint64_t count, total;
	uint32_t label;
	uint32_t generation;
	uint32_t limit_ms;
	bool has_progress;
};

struct look_thread {
	uint32_t slot;
	int32_t tid;
	/* It changed each time while it was copied: depth is 0 then, and the rest is of before. */
	bool is_changing;
	bool is_idle;
	uint32_t sequence;
	uint32_t depth;	 /* of the frames below */
	uint32_t hidden; /* open beyond them */
	uint64_t changed_ticks, idle_ticks;
	char name[SCOPE_THREAD_NAME_SIZE]; /* "": the kernel's */
	struct look_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_TEXTS_SIZE];
};

struct look {
	uint64_t ticks, ns; /* when; the same moment on both clocks */
	double ns_per_tick;
	uint32_t shortest_limit_ms; /* of open scopes; SCOPE_NO_LIMIT: none has one */
	uint32_t thread_count;
	struct look_thread *threads; /* room for SCOPE_THREADS; pages come as they are used */
};

/* 0 or -ENOMEM. */
int look_init(struct look *look);
void look_clear(struct look *look);
void look_take(struct look *look);

/* Since that moment of a thread; never negative. */
uint64_t look_age_ns(const struct look *look, uint64_t ticks);
/* Its label in words; NULL when it found no room. */
const char *look_label(const struct look_thread *thread, const struct look_frame *frame);
/* The innermost frame that counts; NULL: none does. */
const struct look_frame *look_progress(const struct look_thread *thread);

#endif
