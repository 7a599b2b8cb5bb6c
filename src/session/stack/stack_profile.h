/* SPDX-License-Identifier: MIT */
/*
 * Makes a profile of copies of stacks: unwinds them, names their frames and adds them up.
 *
 * It has a budget of CPU time.  When that is used up, stacks are added without their frames and
 * counted, so that their time is not lost.  Used from one thread at a time.
 */
#ifndef SESSION_STACK_PROFILE_H
#define SESSION_STACK_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/stack/stack_queue.h"

struct code_counts;
struct host;
struct stack_profile;

/* 0 or a negative errno.  Starts the process that parses ELF files. */
int stack_profile_open(const struct host *host, struct stack_profile **ret);
void stack_profile_close(struct stack_profile *maker); /* NULL is allowed */

/* Adds an item; 0 or -ENOMEM.  With `is_hurried`, without its frames. */
int stack_profile_take(struct stack_profile *maker, const struct stack_item *item, bool is_hurried);

/* Why all its stacks lack something, a sentence; NULL when they do not.  Lives as long as `maker`. */
const char *stack_profile_lack(const struct stack_profile *maker);

/*
 * Gives the profile away, with its own losses; the caller adds those of the tracer.  *ret says what the process that
 * parses ELF files did.
 */
struct profile *stack_profile_finish(struct stack_profile *maker, struct code_counts *ret);

#endif
