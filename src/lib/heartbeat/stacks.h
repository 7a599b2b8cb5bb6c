/* SPDX-License-Identifier: MIT */
/*
 * A copy of the stacks of scopes of all threads at one moment.  It is taken without a lock and
 * without the threads' help.
 */
#ifndef LIB_STACKS_H
#define LIB_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scope_layout.h"
#include "lib/usage/own_usage.h"

struct stack {
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
	_Alignas(uint64_t) char name[SCOPE_THREAD_NAME_SIZE]; /* "": use the kernel's name */
	struct scope_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_TEXTS_SIZE];
};

struct stacks {
	uint64_t ticks, ns; /* when it was taken, on both clocks */
	double ns_per_tick;
	uint32_t shortest_limit_ms; /* of all open scopes; SCOPE_NO_LIMIT: none has one */
	uint32_t thread_count;
	struct stack threads[SCOPE_THREADS];
};

void stacks_copy(struct stacks *stacks);

/* How long ago a thread wrote these ticks; never negative. */
uint64_t stacks_age_ns(const struct stacks *stacks, uint64_t ticks);
/* The text of its label; NULL when there was no room for the label. */
const char *stack_label(const struct stack *thread, const struct scope_frame *frame);
/* What the program calls the thread, or what the kernel does; "" when that is not known. */
void stack_name(const struct stack *thread, char word[static THREAD_WORD_SIZE]);
/* The innermost frame with a counter; NULL: there is none. */
const struct scope_frame *stack_progress(const struct stack *thread);

#endif
