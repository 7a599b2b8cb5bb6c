/* SPDX-License-Identifier: MIT */
#include "session/stack/stack_queue.h"

#include <stdlib.h>
#include <string.h>

static size_t aligned(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Copies bytes to the end of an item that has room for them, and moves that end. */
static void *add(struct stack_item *item, const void *bytes, size_t size)
{
	void *place = (char *)item + item->size;

	if (size)
		memcpy(place, bytes, size);
	item->size += aligned(size);
	return place;
}

static struct stack_item *item_new(size_t room)
{
	struct stack_item *item = calloc(1, aligned(sizeof(*item)) + room);

	if (item)
		item->size = aligned(sizeof(*item));
	return item;
}

struct stack_item *stack_item_of_stack(const struct tracer_stack *stack, const char *process_name,
				       const char *scope)
{
	size_t kernel = stack->kernel_count * sizeof(*stack->kernel);
	size_t user = stack->has_user ? stack->user.size : 0;
	size_t scope_size = strlen(scope) + 1;
	struct stack_item *item = item_new(aligned(kernel) + aligned(user) + aligned(scope_size));

	if (!item)
		return NULL;
	item->stack = *stack;
	item->stack.kernel = add(item, stack->kernel, kernel);
	item->stack.user.bytes = add(item, stack->user.bytes, user);
	item->scope = add(item, scope, scope_size);
	memcpy(item->process_name, process_name,
	       strnlen(process_name, sizeof(item->process_name) - 1));
	return item;
}

struct stack_item *stack_item_of_image(const struct tracer_image_event *image)
{
	size_t size = image->path ? strlen(image->path) + 1 : 0;
	struct stack_item *item = item_new(aligned(size));

	if (!item)
		return NULL;
	item->is_image = true;
	item->image = *image;
	if (image->path)
		item->image.path = add(item, image->path, size);
	return item;
}

void stack_queue_init(struct stack_queue *queue)
{
	*queue = (struct stack_queue){ .lock = PTHREAD_MUTEX_INITIALIZER,
				       .filled = PTHREAD_COND_INITIALIZER };
	queue->last = &queue->first;
}

void stack_queue_clear(struct stack_queue *queue)
{
	while (queue->first) {
		struct stack_item *item = queue->first;

		queue->first = item->next;
		free(item);
	}
	queue->last = &queue->first;
	queue->bytes = 0;
}

bool stack_queue_put(struct stack_queue *queue, struct stack_item *item)
{
	bool fits;

	pthread_mutex_lock(&queue->lock);
	fits = queue->bytes + item->size <= STACK_QUEUE_BYTES;
	if (fits) {
		*queue->last = item;
		queue->last = &item->next;
		queue->bytes += item->size;
		pthread_cond_signal(&queue->filled);
	}
	pthread_mutex_unlock(&queue->lock);
	if (!fits)
		free(item);
	return fits;
}

void stack_queue_close(struct stack_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}

struct stack_item *stack_queue_take(struct stack_queue *queue)
{
	struct stack_item *item;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->is_closed)
		pthread_cond_wait(&queue->filled, &queue->lock);
	item = queue->first;
	if (item) {
		queue->first = item->next;
		queue->bytes -= item->size;
		if (!queue->first)
			queue->last = &queue->first;
		item->next = NULL;
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}
