/* SPDX-License-Identifier: MIT */
/*
 * Searches for threads of the tree that wait for each other: while they are still there, which is
 * before we end the command or detach.
 *
 * Whoever presses Ctrl-C on the terminal also interrupts the command, so it is too late then.  So
 * there are searches meanwhile, but only if a thread has waited for a lock for some time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "session/session.h"
#include "session/wait/wait_survey.h"
#include "session/watch/watch.h"

#define SEARCH_NS NS_PER_SECOND
#define FIRST_PAUSE_NS NS_PER_SECOND
#define LAST_PAUSE_NS (16 * NS_PER_SECOND)

_Static_assert(RUN_WAITERS_MAX >= WAIT_CYCLE_MAX, "a run has room for any circle");

struct candidates {
	struct task_key processes[WAIT_PROCESSES_MAX];
	size_t count;
};

/* Whether others can keep the thread waiting; where its state is not known, they may. */
static bool may_be_held(const struct tree_thread *thread)
{
	static const bool reasons[WAIT_REASON_COUNT] = {
		[WAIT_LOCK] = true, [WAIT_CONDITION] = true, [WAIT_PIPE] = true,
		[WAIT_NETWORK] = true, [WAIT_CHILD] = true, [WAIT_OTHER] = true,
	};

	if (thread->ended)
		return false;
	return !thread->now.state || (thread->now.blocked && reasons[thread->now.reason]);
}

static bool waits_for_lock(const struct tree_thread *thread)
{
	return !thread->ended && thread->now.blocked && thread->now.reason == WAIT_LOCK;
}

static bool has_thread(const struct tree_process *process,
		       bool (*is_wanted)(const struct tree_thread *thread))
{
	for (size_t i = 0; !process->exited && i < process->live_count; i++)
		if (is_wanted(process->live[i]))
			return true;
	return false;
}

/* Those with a thread that waits for a lock come first, since there is room for a few only. */
static void choose(const struct tree *tree, bool by_lock, struct candidates *ret)
{
	for (size_t i = 0; i < tree->count && ret->count < WAIT_PROCESSES_MAX; i++) {
		const struct tree_process *process = tree->all[i];

		if (has_thread(process, may_be_held) &&
		    has_thread(process, waits_for_lock) == by_lock)
			ret->processes[ret->count++] = process->key;
	}
}

static void keep(const struct wait_deadlock *found, struct run_deadlock *ret)
{
	*ret = (struct run_deadlock){ .count = (uint32_t)found->count };
	for (size_t i = 0; i < found->count; i++) {
		const struct wait_member *member = &found->members[i];
		struct run_waiter *waiter = &ret->waiters[i];
		CLEANUP(text_free) struct text object = { 0 };

		waiter->pid = member->who.pid;
		waiter->tid = member->who.tid;
		memcpy(waiter->comm, member->who.comm, sizeof(waiter->comm));
		wait_object_describe(&member->object, &object);
		snprintf(waiter->object, sizeof(waiter->object), "%s", text_string(&object));
	}
}

void watch_find_deadlock(struct watch *watch)
{
	CLEANUP(free_pointer) struct wait_deadlock *found = calloc(1, sizeof(*found));
	struct candidates candidates = { 0 };
	int status = 0;

	if (watch->options->no_deadlocks || !found)
		return;
	choose(watch->run->tree, true, &candidates);
	choose(watch->run->tree, false, &candidates);
	if (candidates.count)
		status = wait_deadlock_find(watch->host, candidates.processes, candidates.count,
					    monotonic_ns() + SEARCH_NS, found);
	watch->deadlock.is_late = status == -ETIMEDOUT;
	keep(found, &watch->run->deadlock);
}

void watch_forget_deadlock(struct watch *watch)
{
	watch->run->deadlock.count = 0;
	watch->deadlock.is_late = false;
}

/* Whether a thread has waited for a lock since the search before. */
static bool is_any_locked(const struct tree *tree, uint64_t since_ns)
{
	for (size_t i = 0; i < tree->count; i++)
		for (size_t k = 0; k < tree->all[i]->live_count; k++) {
			const struct tree_thread *thread = tree->all[i]->live[k];

			if (waits_for_lock(thread) && thread->now.since_ns <= since_ns)
				return true;
		}
	return false;
}

static void search_when_due(void *context)
{
	struct watch *watch = context;
	struct watch_deadlock *deadlock = &watch->deadlock;
	uint64_t now_ns = monotonic_ns();

	if (is_any_locked(watch->run->tree, now_ns - FIRST_PAUSE_NS))
		watch_find_deadlock(watch);
	if (deadlock->pause_ns < LAST_PAUSE_NS)
		deadlock->pause_ns *= 2;
	deadlock->due.deadline_ns = monotonic_ns() + deadlock->pause_ns;
}

void watch_init_deadlock(struct watch *watch)
{
	watch->deadlock = (struct watch_deadlock){
		.due = { .due = search_when_due, .context = watch, .deadline_ns = LOOP_NEVER },
		.pause_ns = FIRST_PAUSE_NS,
	};
}

void watch_start_deadlock(struct watch *watch)
{
	struct watch_deadlock *deadlock = &watch->deadlock;

	if (!watch_is_attached(watch) && !watch->options->no_deadlocks)
		deadlock->due.deadline_ns = watch->begin_ns + deadlock->pause_ns;
	loop_add_timer(&watch->loop, &deadlock->due);
}
