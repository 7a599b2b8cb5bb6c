/* SPDX-License-Identifier: MIT */
/*
 * A queue between two threads: the session's, which takes copies of stacks from the tracer and must
 * never wait, and the one that finds out where in the code they were.
 *
 * An item is one block of memory with everything that belongs to it.  The queue is bounded: what does
 * not fit is refused, and the caller counts it.
 */
#ifndef SESSION_STACK_QUEUE_H
#define SESSION_STACK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/tracer_stack.h"

#define STACK_QUEUE_BYTES ((size_t)24 << 20)

struct stack_item {
	struct stack_item *next;
	size_t size;
	bool is_image;
	union {
		struct tracer_stack stack;
		struct tracer_image_event image;
	};
	char process_name[TREE_COMM_SIZE]; /* of a stack */
	uint64_t process_start_ns;	   /* likewise; 0: not known */
	const char *scope;		   /* likewise; "": none */
};

/* Copies all that they point to.  NULL when there is no memory; free it with free(). */
struct stack_item *stack_item_of_stack(const struct tracer_stack *stack, const char *process_name,
				       const char *scope);
struct stack_item *stack_item_of_image(const struct tracer_image_event *image);

struct stack_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct stack_item *first, **last;
	size_t bytes;
	bool is_closed;
};

void stack_queue_init(struct stack_queue *queue);
void stack_queue_clear(struct stack_queue *queue); /* frees what is in it */

/* Takes the item over; false, and the item is freed, when the queue is full. */
bool stack_queue_put(struct stack_queue *queue, struct stack_item *item);
/* No more will be put. */
void stack_queue_close(struct stack_queue *queue);
/* Waits for the next item, which the caller frees; NULL when the queue is closed and empty. */
struct stack_item *stack_queue_take(struct stack_queue *queue);

#endif
