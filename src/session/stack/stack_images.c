/* SPDX-License-Identifier: MIT */
#include "session/stack/stack_images.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/code/address_space.h"

/* After its end, how long a process may still have stacks on their way. */
#define ENDED_NS (2 * NS_PER_SECOND)

struct image {
	struct address_space *space;
	uint64_t begin_ns;
	bool is_whole; /* its records were seen from its beginning on, or it was read */
};

struct stack_process {
	int32_t pid;
	uint64_t end_ns; /* 0: it lives */
	struct image images[STACK_IMAGES_KEPT];
	size_t count;
};

void stack_images_init(struct stack_images *images, struct code *code)
{
	*images = (struct stack_images){ .code = code };
}

static void process_free(struct stack_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		address_space_free(process->images[i].space);
	free(process);
}

void stack_images_clear(struct stack_images *images)
{
	for (size_t i = 0; i < images->processes.capacity; i++)
		if (images->processes.slots[i].value)
			process_free(images->processes.slots[i].value);
	for (size_t i = 0; i < images->ended.count; i++)
		process_free(images->ended.data[i]);
	number_map_clear(&images->processes);
	array_free(&images->ended);
}

/* Takes the space over.  The oldest program gives way. */
static void process_begin(struct stack_process *process, struct address_space *space,
			  uint64_t begin_ns, bool is_whole)
{
	if (process->count == STACK_IMAGES_KEPT) {
		address_space_free(process->images[0].space);
		memmove(&process->images[0], &process->images[1],
			sizeof(process->images[0]) * --process->count);
	}
	process->images[process->count++] = (struct image){ space, begin_ns, is_whole };
}

static struct stack_process *process_add(struct stack_images *images, int32_t pid)
{
	struct stack_process *process = calloc(1, sizeof(*process));

	if (process && number_map_set(&images->processes, pid, process) < 0) {
		free(process);
		return NULL;
	}
	if (process)
		process->pid = pid;
	return process;
}

static struct stack_process *process_find(struct stack_images *images, int32_t pid)
{
	struct stack_process *process = number_map_get(&images->processes, pid);

	return process ? process : process_add(images, pid);
}

/* Begins a program with nothing mapped, or a copy of what `parent` has. */
static int begin(struct stack_images *images, struct stack_process *process,
		 const struct address_space *parent, uint64_t time_ns, bool is_whole)
{
	struct address_space *space = parent ? address_space_copy(parent, process->pid, 0) :
					       address_space_new(images->code, process->pid, 0);

	if (!space)
		return -ENOMEM;
	address_space_begin(space, time_ns);
	process_begin(process, space, time_ns, is_whole);
	return 0;
}

static struct image *last_image(struct stack_process *process)
{
	return process && process->count ? &process->images[process->count - 1] : NULL;
}

static int take_fork(struct stack_images *images, const struct tracer_image_event *event)
{
	struct image *parent = last_image(number_map_get(&images->processes, event->parent_pid));
	struct stack_process *process = process_find(images, event->pid);

	if (!process)
		return -ENOMEM;
	return parent ? begin(images, process, parent->space, event->time_ns, parent->is_whole) : 0;
}

static int take_mapping(struct stack_images *images, const struct tracer_image_event *event)
{
	struct code_mapping mapping = {
		.start = event->start,
		.end = event->end,
		.offset = event->offset,
		.device = event->device,
		.inode = event->inode,
		.build_id_size = event->build_id_size,
		.path = event->path,
	};
	struct stack_process *process = process_find(images, event->pid);
	int status = process ? 0 : -ENOMEM;

	if (status == 0 && process->count == 0)
		status = begin(images, process, NULL, 0, false);
	if (status < 0)
		return status;
	memcpy(mapping.build_id, event->build_id, event->build_id_size);
	status = address_space_map(last_image(process)->space, &mapping);
	images->lost += status == -E2BIG;
	return status == -ENOMEM ? status : 0;
}

static int take_exec(struct stack_images *images, const struct tracer_image_event *event)
{
	struct stack_process *process = process_find(images, event->pid);

	return process ? begin(images, process, NULL, event->time_ns, true) : -ENOMEM;
}

static int take_end(struct stack_images *images, const struct tracer_image_event *event)
{
	struct stack_process *process = number_map_remove(&images->processes, event->pid);

	if (!process)
		return 0;
	process->end_ns = event->time_ns;
	if (array_append(&images->ended, process) == 0)
		return 0;
	process_free(process);
	return -ENOMEM;
}

static void forget_ended(struct stack_images *images)
{
	size_t count = 0;

	while (count < images->ended.count &&
	       images->ended.data[count]->end_ns + ENDED_NS < images->newest_ns)
		process_free(images->ended.data[count++]);
	if (!count)
		return;
	images->ended.count -= count;
	memmove(images->ended.data, images->ended.data + count,
		images->ended.count * sizeof(*images->ended.data));
}

int stack_images_take(struct stack_images *images, const struct tracer_image_event *event)
{
	if (event->time_ns > images->newest_ns)
		images->newest_ns = event->time_ns;
	forget_ended(images);
	switch (event->type) {
	case TRACER_MAP:
		return take_mapping(images, event);
	case TRACER_EXEC:
		return take_exec(images, event);
	case TRACER_FORK:
		return take_fork(images, event);
	case TRACER_END:
		return take_end(images, event);
	}
	return 0;
}

static struct image *image_at(struct stack_process *process, uint64_t time_ns)
{
	for (size_t i = process->count; i-- > 0;)
		if (process->images[i].begin_ns <= time_ns)
			return &process->images[i];
	return NULL;
}

/* The newest ended process of that number which lived at that time. */
static struct image *ended_image_at(struct stack_images *images, int32_t pid, uint64_t time_ns)
{
	for (size_t i = images->ended.count; i-- > 0;) {
		struct stack_process *process = images->ended.data[i];

		if (process->pid == pid && time_ns <= process->end_ns)
			return image_at(process, time_ns);
	}
	return NULL;
}

/* /proc has only what the process runs now, and another process may have its number. */
static bool runs_still(const struct stack_images *images, int32_t pid, const struct image *image)
{
	return image == last_image(number_map_get(&images->processes, pid));
}

/* A program whose first records are missing: its process was there before, or they were lost. */
static struct image *image_missed(struct stack_images *images, const struct task_key *task)
{
	struct stack_process *process = process_find(images, task->pid);

	if (!process || process->count || begin(images, process, NULL, 0, false) < 0)
		return NULL;
	return last_image(process);
}

struct address_space *stack_images_find(struct stack_images *images, const struct task_key *task,
					uint64_t time_ns)
{
	struct stack_process *process = number_map_get(&images->processes, task->pid);
	struct image *image = process ? image_at(process, time_ns) : NULL;

	if (!image)
		image = ended_image_at(images, task->pid, time_ns);
	if (!image)
		image = image_missed(images, task);
	if (!image)
		return NULL;
	address_space_identify(image->space, task->start_ns);
	if (!image->is_whole && runs_still(images, task->pid, image))
		images->lost += address_space_read(image->space) == -E2BIG;
	/* It is read once: what it lacks stays unmapped. */
	image->is_whole = true;
	return image->space;
}
