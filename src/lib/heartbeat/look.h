/* SPDX-License-Identifier: MIT */
/*
 * A copy of the scopes of all threads at one moment.  It is taken without a lock and without the
 * threads' help.
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
	/*
	 * It changed during each try to copy it: depth is 0 then, and scopes, name and times are
	 * old.
	 */
	bool is_changing;
	bool is_idle;
	uint32_t sequence;
	uint32_t depth;	 /* how many of `frames` are valid */
	uint32_t hidden; /* scopes that are open beyond them */
	uint64_t changed_ticks, idle_ticks;
	char name[SCOPE_THREAD_NAME_SIZE]; /* "": use the kernel's name */
	struct look_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_TEXTS_SIZE];
};

struct look {
	uint64_t ticks, ns; /* when it was taken, on both clocks */
	double ns_per_tick;
	uint32_t shortest_limit_ms; /* of all open scopes; SCOPE_NO_LIMIT: none has one */
	uint32_t thread_count;
	struct look_thread *threads; /* room for SCOPE_THREADS; unused pages take no RAM */
};

/* Returns 0 or -ENOMEM. */
int look_init(struct look *look);
void look_clear(struct look *look);
void look_take(struct look *look);

/* How long ago a thread wrote these ticks; never negative. */
uint64_t look_age_ns(const struct look *look, uint64_t ticks);
/* The text of its label; NULL when there was no room for the label. */
const char *look_label(const struct look_thread *thread, const struct look_frame *frame);
/* The innermost frame with a counter; NULL: there is none. */
const struct look_frame *look_progress(const struct look_thread *thread);

#endif
