/* SPDX-License-Identifier: MIT */
#include "model/path/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/path/timeline_room.h"

/* When there is no room for a thread, folding is tried again after so many. */
#define FOLD_AGAIN 1024

int timeline_new(struct timeline **ret)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return -ENOMEM;
	/* Places that are never used take no memory. */
	timeline->threads = calloc(TIMELINE_THREADS, sizeof(*timeline->threads));
	timeline->processes = calloc(TIMELINE_THREADS, sizeof(*timeline->processes));
	timeline->programs = dictionary_new();
	timeline->peers = dictionary_new();
	if (!timeline->threads || !timeline->processes || !timeline->programs || !timeline->peers)
		return -ENOMEM;
	*ret = TAKE_PTR(timeline);
	return 0;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	array_free(&timeline->steps);
	free(timeline->threads);
	free(timeline->processes);
	number_map_clear(&timeline->by_serial);
	number_map_clear(&timeline->by_tid);
	number_map_clear(&timeline->by_pid);
	dictionary_free(timeline->programs);
	dictionary_free(timeline->peers);
	free(timeline);
}

struct timeline_thread *timeline_thread(const struct timeline *timeline, uint32_t serial)
{
	return serial ? number_map_get(&timeline->by_serial, (int32_t)serial) : NULL;
}

uint32_t timeline_main_thread(const struct timeline *timeline, int32_t pid)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < timeline->thread_places; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		if (thread->serial && thread->task.tid == pid && (!first || thread->serial < first))
			first = thread->serial;
	}
	return first;
}

uint64_t timeline_end_ns(const struct timeline *timeline, const struct timeline_thread *thread)
{
	uint64_t process_ns = timeline->processes[thread->process].end_ns;

	if (thread->end_ns)
		return thread->end_ns;
	return process_ns && process_ns >= thread->last_ns ? process_ns : UINT64_MAX;
}

static uint32_t free_process(struct timeline *timeline)
{
	while (timeline->free_process < timeline->process_places &&
	       timeline->processes[timeline->free_process].threads)
		timeline->free_process++;
	if (timeline->free_process == timeline->process_places)
		timeline->process_places++;
	return timeline->free_process;
}

/* There are never more processes than threads, so a place is always free. */
static int add_process(struct timeline *timeline, int32_t pid, struct timeline_process **ret)
{
	struct timeline_process *process = &timeline->processes[free_process(timeline)];
	int status = number_map_set(&timeline->by_pid, pid, process);

	if (status < 0)
		return status;
	*process = (struct timeline_process){ .pid = pid };
	*ret = process;
	return 0;
}

/* A new main thread is that of a new process, unless other threads of the process came first. */
static int find_process(struct timeline *timeline, const struct task_key *task,
			struct timeline_process **ret)
{
	struct timeline_process *process = number_map_get(&timeline->by_pid, task->pid);
	bool is_leader = task->pid == task->tid;

	if (process && !(is_leader && (process->has_leader || process->end_ns))) {
		*ret = process;
		return 0;
	}
	return add_process(timeline, task->pid, ret);
}

/* A free place, or NULL. */
static struct timeline_thread *free_thread(struct timeline *timeline)
{
	if (timeline->thread_count == TIMELINE_THREADS) {
		if (timeline->no_room++ % FOLD_AGAIN != 0 || !timeline_fold(timeline))
			return NULL;
		timeline->no_room = 0;
	}
	while (timeline->free_thread < timeline->thread_places &&
	       timeline->threads[timeline->free_thread].serial)
		timeline->free_thread++;
	if (timeline->free_thread == timeline->thread_places)
		timeline->thread_places++;
	return &timeline->threads[timeline->free_thread];
}

static struct timeline_thread *add_thread(struct timeline *timeline, uint32_t serial,
					  const struct task_key *task)
{
	struct timeline_thread *thread = free_thread(timeline);
	struct timeline_process *process;

	if (!thread || number_map_reserve(&timeline->by_serial) < 0 ||
	    number_map_reserve(&timeline->by_tid) < 0 ||
	    find_process(timeline, task, &process) < 0) {
		timeline->untracked_threads++;
		return NULL;
	}
	*thread = (struct timeline_thread){
		.task = *task,
		.serial = serial,
		.process = (uint32_t)(process - timeline->processes),
		.last = UINT32_MAX,
	};
	process->threads++;
	process->has_leader |= task->pid == task->tid;
	number_map_put(&timeline->by_serial, (int32_t)serial, thread);
	number_map_put(&timeline->by_tid, task->tid, thread);
	timeline->thread_count++;
	return thread;
}

struct timeline_thread *timeline_get_thread(struct timeline *timeline, uint32_t serial,
					    const struct task_key *task)
{
	struct timeline_thread *thread = timeline_thread(timeline, serial);

	if (!serial)
		return NULL;
	return thread ? thread : add_thread(timeline, serial, task);
}
