/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/jemalloc/jemalloc_view.h"
#include "collect/proc/proc_file.h"
#include "collect/proc/proc_parse.h"
#include "host/elf/thread_stop.h"
#include "host/proc/task_text.h"

#define LIST_SLACK 1024

static bool has_pointers(const struct jemalloc_target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].pointer)
			return true;
	return false;
}

/* The tid of a thread in the innermost PID namespace, which is the one that its C library has. */
int32_t view_inner_tid(int process, int32_t tid, struct proc_buffer *buffer)
{
	const char *value;
	uint64_t number = 0;
	size_t length;
	char path[64];

	snprintf(path, sizeof(path), "task/%" PRId32 "/status", tid);
	if (proc_read(process, path, buffer) < 0)
		return 0;
	value = task_status_find(buffer->data, "NSpid", &length);
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
	/* Threads of a process share their namespace, so checking one is enough. */
	is_inside = view_inner_tid(target->process, target->threads[0].tid, &buffer) !=
		    target->threads[0].tid;
	qsort(list->threads.data, list->threads.count, sizeof(*list->threads.data), compare_listed);
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];
		struct listed_thread key = { .tid = thread->tid };
		const struct listed_thread *found;

		if (thread->pointer)
			continue;
		if (is_inside)
			key.tid = view_inner_tid(target->process, thread->tid, &buffer);
		found = bsearch(&key, list->threads.data, list->threads.count, sizeof(key),
				compare_listed);
		if (found)
			thread->pointer = found->pointer;
	}
}

/* Whether the lists are complete: they have every thread that has a pointer. */
static bool list_pointers(struct target_view *view)
{
	CLEANUP(thread_list_clear) struct thread_list list = { 0 };
	struct jemalloc_target *target = view->target;
	int status;

	if (view_read_layout(view) < 0)
		return false;
	status = thread_list_read(&view->memory, &view->layout, 2 * target->count + LIST_SLACK,
				  &list);
	if (status < 0) {
		view_fail(view, JEMALLOC_THREAD_LIST, status);
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

/* If no thread could be stopped, the error of the first one is reported. */
static void take_stopped(struct target_view *view, const struct stopped_thread *stopped,
			 const size_t *indices, size_t count)
{
	struct jemalloc_target *target = view->target;

	for (size_t i = count; i-- > 0;) {
		target->stopped_ns += stopped[i].held_ns;
		if (stopped[i].step == STOP_DONE)
			target->threads[indices[i]].pointer = stopped[i].pointer;
		else
			view_fail(view, stop_tag(stopped[i].step), stopped[i].error);
	}
}

static void stop_threads(struct target_view *view)
{
	static const struct stop_limits limits = { .thread_ms = 250, .total_ms = 2000 };
	struct jemalloc_target *target = view->target;
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
		take_stopped(view, stopped, indices, count);
	free(indices);
	free(stopped);
}

/*
 * If the iterator reported the pointers, they are complete.  So is a list that was walked to its
 * end: a thread that is not in it has no pointer.  Threads are stopped only when neither is
 * available.
 */
int view_find_pointers(struct target_view *view)
{
	struct jemalloc_target *target = view->target;

	target->pointers = "iterator";
	if (has_pointers(target))
		return 0;
	target->pointers = "thread-list";
	target->tag = JEMALLOC_NO_THREAD_POINTER;
	if (list_pointers(view) && has_pointers(target))
		return 0;
	if (target->tag == JEMALLOC_PID_MISSING || target->tag == JEMALLOC_PROCESS_VM_READV ||
	    jemalloc_target_needs_library(target))
		return -1;
	if (!has_pointers(target))
		target->pointers = "ptrace";
	stop_threads(view);
	return has_pointers(target) ? 0 : -1;
}
