/* SPDX-License-Identifier: MIT */
/*
 * Stacks of the kernel that threads were found in, each kept once, with the names of its functions.
 * What is remembered is bounded: when there are too many, all are forgotten before the next walk.
 */
#ifndef COLLECT_ACTIVITY_STACKS_H
#define COLLECT_ACTIVITY_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct activity_stacks;
struct error;
struct host;
struct kernel_stack;

#define ACTIVITY_STACKS_PER_WALK 1024
#define ACTIVITY_STACKS_PER_USER 512

struct activity_stacks *activity_stacks_new(const struct host *host); /* NULL: no memory */
void activity_stacks_free(struct activity_stacks *stacks);	      /* NULL is allowed */

/* Before a walk: pointers that were given out may become invalid. */
void activity_stacks_begin(struct activity_stacks *stacks);
/*
 * The stack of these return addresses, of which there is at least one; NULL when memory runs out or
 * a walk has too many.  It has its names after activity_stacks_name().
 */
const struct kernel_stack *activity_stacks_add(struct activity_stacks *stacks,
					       const uint64_t *frames, size_t count);
/* After a walk: names what is new.  0, or a negative errno with a sentence: no stack has names. */
int activity_stacks_name(struct activity_stacks *stacks, struct error *error);

#endif
