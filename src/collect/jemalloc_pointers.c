/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/jemalloc_anatomy.h"
#include "collect/proc_file.h"
#include "collect/proc_parse.h"
#include "host/thread_stop.h"

#define LIST_SLACK 1024

static bool has_pointers(const struct jemalloc_target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].pointer)
			return true;
	return false;
}

/* The number of a thread in the innermost PID namespace, which its own C library knows it by. */
int32_t anatomy_inner_tid(int process, int32_t tid, struct proc_buffer *buffer)
{
	const char *value;
	uint64_t number = 0;
	size_t length;
	char path[64];

	snprintf(path, sizeof(path), "task/%" PRId32 "/status", tid);
	if (proc_read(process, path, buffer) < 0)
		return 0;
	value = proc_find_value(buffer->data, "NSpid", &length);
	if (!value)
		return tid;
	for (const char *end = value + length; value < end; value++) {
		const char *cursor = value;
		uint64_t found;

		if (!scan_u64(&cursor, &found))
			continue;
		number = found;
		value = cursor;
	}
	return number <= INT32_MAX ? (int32_t)number : 0;
}

static int compare_listed(const void *left, const void *right)
{
	const struct listed_thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void take_listed(struct jemalloc_target *target, struct thread_list *list)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	bool is_inside;

	if (!list->threads.count || !target->count)
		return;
	/* Threads of a process share their namespace: one tells for all. */
	is_inside = anatomy_inner_tid(target->process, target->threads[0].tid, &buffer) !=
		    target->threads[0].tid;
	qsort(list->threads.data, list->threads.count, sizeof(*list->threads.data), compare_listed);
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];
		struct listed_thread key = { .tid = thread->tid };
		const struct listed_thread *found;

		if (thread->pointer)
			continue;
		if (is_inside)
			key.tid = anatomy_inner_tid(target->process, thread->tid, &buffer);
		found = bsearch(&key, list->threads.data, list->threads.count, sizeof(key),
				compare_listed);
		if (found)
			thread->pointer = found->pointer;
	}
}

/* Whether the lists tell of every thread that has a pointer. */
static bool list_pointers(struct anatomy *anatomy)
{
	CLEANUP(thread_list_clear) struct thread_list list = { 0 };
	struct jemalloc_target *target = anatomy->target;
	int status;

	if (anatomy_read_layout(anatomy) < 0)
		return false;
	status = thread_list_read(&anatomy->memory, &anatomy->layout,
				  2 * target->count + LIST_SLACK, &list);
	if (status < 0) {
		anatomy_fail(anatomy, JEMALLOC_THREAD_LIST, status);
		return false;
	}
	take_listed(target, &list);
	return list.complete;
}

static enum jemalloc_tag stop_tag(enum stop_step step)
{
	switch (step) {
	case STOP_NOT_TRIED:
	case STOP_SEIZE:
		return JEMALLOC_PTRACE_SEIZE;
	case STOP_INTERRUPT:
		return JEMALLOC_PTRACE_INTERRUPT;
	case STOP_WAIT:
		return JEMALLOC_WAITPID;
	case STOP_REGISTERS:
	case STOP_DONE:
		break;
	}
	return JEMALLOC_GET_REGSET;
}

/* The first thread that could not be stopped is what is told, if none could. */
static void take_stopped(struct anatomy *anatomy, const struct stopped_thread *stopped,
			 const size_t *indices, size_t count)
{
	struct jemalloc_target *target = anatomy->target;

	for (size_t i = count; i-- > 0;) {
		target->stopped_ns += stopped[i].held_ns;
		if (stopped[i].step == STOP_DONE)
			target->threads[indices[i]].pointer = stopped[i].pointer;
		else
			anatomy_fail(anatomy, stop_tag(stopped[i].step), stopped[i].error);
	}
}

static void stop_threads(struct anatomy *anatomy)
{
	static const struct stop_limits limits = { .thread_ms = 250, .total_ms = 2000 };
	struct jemalloc_target *target = anatomy->target;
	struct stopped_thread *stopped = calloc(target->count + 1, sizeof(*stopped));
	size_t *indices = calloc(target->count + 1, sizeof(*indices));
	size_t count = 0;

	for (size_t i = 0; stopped && indices && i < target->count; i++) {
		if (target->threads[i].pointer)
			continue;
		stopped[count].tid = target->threads[i].tid;
		indices[count++] = i;
	}
	if (count && thread_stop_read(target->process, stopped, count, &limits) == 0)
		take_stopped(anatomy, stopped, indices, count);
	free(indices);
	free(stopped);
}

/*
 * What the iterator told is complete, and so is a list that was walked to its
 * end: a thread without a pointer there has none.  Only else is one stopped.
 */
int anatomy_find_pointers(struct anatomy *anatomy)
{
	struct jemalloc_target *target = anatomy->target;

	target->pointers = "iterator";
	if (has_pointers(target))
		return 0;
	target->pointers = "thread-list";
	target->tag = JEMALLOC_NO_THREAD_POINTER;
	if (list_pointers(anatomy) && has_pointers(target))
		return 0;
	if (target->tag == JEMALLOC_PID_MISSING || target->tag == JEMALLOC_PROCESS_VM_READV)
		return -1;
	if (!has_pointers(target))
		target->pointers = "ptrace";
	stop_threads(anatomy);
	return has_pointers(target) ? 0 : -1;
}
