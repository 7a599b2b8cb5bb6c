/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "collect/jemalloc/jemalloc_target.h"
#include "collect/process/namespace_tids.h"
#include "host/elf/thread_stop.h"

#define LIST_SLACK 1024

static bool has_pointers(const struct jemalloc_target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].pointer)
			return true;
	return false;
}

/* The C library has the tids of the innermost PID namespace. */
static void take_listed(struct jemalloc_target *target, const struct thread_list *list)
{
	CLEANUP(namespace_tids_clear) struct namespace_tids tids = { 0 };

	if (!target->count || namespace_tids_init(&tids, target->scan->process) < 0 ||
	    namespace_tids_refresh(&tids, target->scan->process) < 0)
		return;
	for (size_t i = 0; i < list->threads.count; i++) {
		const struct listed_thread *listed = &list->threads.data[i];
		int32_t tid = namespace_tids_ours(&tids, listed->tid);
		struct target_thread *thread = bsearch(&tid, target->threads, target->count,
						       sizeof(*target->threads), compare_i32);

		if (thread && !thread->pointer)
			thread->pointer = listed->pointer;
	}
}

/* Whether the lists are complete: they have every thread that has a pointer. */
static bool list_pointers(struct jemalloc_target *target)
{
	CLEANUP(thread_list_clear) struct thread_list list = { 0 };
	int status;

	if (target_read_structs(target) < 0)
		return false;
	status = thread_list_read(&target->memory, &target->structs, 2 * target->count + LIST_SLACK,
				  &list);
	if (status < 0) {
		target_fail(target, JEMALLOC_THREAD_LIST, status);
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
static void take_stopped(struct jemalloc_target *target, const struct stopped_thread *stopped,
			 const size_t *indices, size_t count)
{

	for (size_t i = count; i-- > 0;) {
		target->stopped_ns += stopped[i].held_ns;
		if (stopped[i].step == STOP_DONE)
			target->threads[indices[i]].pointer = stopped[i].pointer;
		else
			target_fail(target, stop_tag(stopped[i].step), stopped[i].error);
	}
}

static void stop_threads(struct jemalloc_target *target)
{
	static const struct stop_limits limits = { .thread_ms = 250, .total_ms = 2000 };
	struct stopped_thread *stopped = calloc(target->count + 1, sizeof(*stopped));
	size_t *indices = calloc(target->count + 1, sizeof(*indices));
	size_t count = 0;

	for (size_t i = 0; stopped && indices && i < target->count; i++) {
		if (target->threads[i].pointer)
			continue;
		stopped[count].tid = target->threads[i].tid;
		indices[count++] = i;
	}
	if (count && thread_stop_read(target->scan->process, stopped, count, &limits) == 0)
		take_stopped(target, stopped, indices, count);
	free(indices);
	free(stopped);
}

/*
 * If the iterator reported the pointers, they are complete.  So is a list that was walked to its
 * end: a thread that is not in it has no pointer.  Threads are stopped only when neither is
 * available.
 */
int target_find_pointers(struct jemalloc_target *target)
{

	target->pointers = "iterator";
	if (has_pointers(target))
		return 0;
	target->pointers = "thread-list";
	target->tag = JEMALLOC_NO_THREAD_POINTER;
	if (list_pointers(target) && has_pointers(target))
		return 0;
	if (target->tag == JEMALLOC_PID_MISSING || target->tag == JEMALLOC_PROCESS_VM_READV ||
	    jemalloc_target_needs_library(target))
		return -1;
	if (!has_pointers(target))
		target->pointers = "ptrace";
	stop_threads(target);
	return has_pointers(target) ? 0 : -1;
}
