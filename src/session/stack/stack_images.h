/* SPDX-License-Identifier: MIT */
/*
 * The address spaces of processes over time: one for each program that a process ran, kept until no
 * stack from its time can come any more.
 */
#ifndef SESSION_STACK_IMAGES_H
#define SESSION_STACK_IMAGES_H

#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "trace/tracer_stack.h"

struct address_space;
struct code;

/* Programs of one process that are kept: stacks come soon after they were copied. */
#define STACK_IMAGES_KEPT 4

struct stack_process;

struct stack_images {
	struct code *code;
	struct number_map processes;
	ARRAY_OF(struct stack_process *) ended; /* by the time of their end */
	uint64_t newest_ns;
	uint64_t lost; /* mappings that found no room */
};

void stack_images_init(struct stack_images *images, struct code *code);
void stack_images_clear(struct stack_images *images);

/* Applies a record of the tracer.  0 or -ENOMEM. */
int stack_images_take(struct stack_images *images, const struct tracer_image_event *event);

/*
 * The address space that a process had at a time; one that was there before the watch, or whose
 * records were lost, is read from /proc now.  NULL when it cannot be known any more.
 */
struct address_space *stack_images_find(struct stack_images *images, const struct task_key *task,
					uint64_t time_ns);

#endif
