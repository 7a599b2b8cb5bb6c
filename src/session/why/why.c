/* SPDX-License-Identifier: MIT */
#include "session/why/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/host.h"
#include "session/session.h"

/*
 * A process counts as waiting for its children when it does so for more than this share of the
 * time.
 */
#define WAITS_SHARE 0.5
/* A wait that began this soon after watching began was already there before. */
#define BEGINNING_NS 20000000
/* Where threads stand at the end matters; stacks of waits before that only cost. */
#define STACKS_OFF_CPU_NS NS_PER_SECOND
/* For how long a deadlock of another process is searched for. */
#define OTHER_NS NS_PER_SECOND

static void sleep_for(uint64_t ns)
{
	struct timespec rest = timespec_of_ns(ns);

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

static const struct tree_process *find_process(const struct run *run, int32_t pid)
{
	for (size_t i = 0; run && i < run->tree->count; i++)
		if (run->tree->all[i]->key.pid == pid)
			return run->tree->all[i];
	return NULL;
}

static bool can_be_watched(const struct process_state *found)
{
	return !found->is_dead && !found->is_kernel_thread;
}

static void watch(struct why *why, const struct why_options *wanted)
{
	struct session_options options = {
		.no_deadlocks = true,
		.quiet = true,
		.duration_ns = wanted->duration_ns,
		.live_fd = -1,
		.no_stacks = !wanted->stacks,
		.off_cpu_min_ns = STACKS_OFF_CPU_NS,
	};
	uint64_t begin = monotonic_ns();
	uint64_t spent;
	int status = 0;

	if (why->before.is_dead)
		return;
	if (can_be_watched(&why->before)) {
		status = session_attach(&options, &why->before.pid, 1, &why->run, &why->problem);
		if (status < 0 && !why->problem.message[0])
			error_set(&why->problem, status, "%s", strerror(-status));
	}
	spent = monotonic_ns() - begin;
	/*
	 * If it could not be watched, wait for the same time between the two states; not if it has
	 * ended.
	 */
	if (!why->run && status != -ESRCH && spent < wanted->duration_ns)
		sleep_for(wanted->duration_ns - spent);
	why->watched_ns = why->run ? run_wall_ns(why->run) : monotonic_ns() - begin;
}

/* Reads the state again.  The process may have ended, and another may have its number. */
static void read_state_again(const struct host *host, struct why *why)
{
	struct error ignored = { 0 };
	int status = process_state_read(host, why->before.pid, &why->after, &ignored);
	const struct tree_process *process = find_process(why->run, why->before.pid);

	if (status == 0 && why->after.start_ticks != why->before.start_ticks) {
		process_state_clear(&why->after);
		status = -ESRCH;
	}
	why->ended = status == -ESRCH || (process && process->exited) ||
		     (why->after.is_dead && !why->before.is_dead);
	if (process && process->facts.present & TREE_PROCESS_STATUS) {
		why->has_status = true;
		why->status = process->facts.status;
	} else if (why->run && why->run->has_status) {
		why->has_status = true;
		why->status = why->run->status;
	} else if (status == 0 && why->after.has_exit_status) {
		why->has_status = true;
		why->status = why->after.exit_status;
	}
}

static size_t own_waits(const struct tree *tree, int32_t pid, struct tree_wait *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->top_wait_count; i++)
		if (tree->top_waits[i].thread.pid == pid)
			ret[count++] = tree->top_waits[i];
	return count;
}

static uint64_t count_children(const struct tree *tree, int32_t pid)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tree->count; i++)
		count += tree->all[i]->parent_pid == pid && !tree->all[i]->found;
	return count;
}

/* Without a critical path: judges the run as if the process were its only member.  Borrows all. */
static void judge_alone(const struct run *run, struct tree_process *process, struct diagnosis *ret)
{
	struct run alone = *run;
	struct tree tree = {
		.amounts = process->amounts,
		.syscalls = process->syscalls,
		.processes = 1,
		.threads = process->threads,
		.forks = count_children(run->tree, process->key.pid),
		.oom_kills = process->oom_killed,
		.largest_rss_bytes = process->facts.peak_rss_bytes,
		.has_peak_rss = process->facts.present & TREE_PROCESS_PEAK_RSS,
		.root = process,
		.all = &process,
		.count = 1,
	};

	if (process->facts.present & TREE_PROCESS_FD_LIMIT)
		tree.fullest = process;
	tree.top_wait_count = own_waits(run->tree, process->key.pid, tree.top_waits);
	alone.tree = &tree;
	diagnose(&alone, ret);
}

static bool waits_for_child(const struct process_state *found)
{
	return found->threads.count > 0 && task_state_reason(&found->threads.data[0]) == WAIT_CHILD;
}

/* Goes by its waits; where they are not known, by its first thread in both states. */
static bool waits_for_children(const struct why *why, const struct tree_process *process)
{
	const struct amounts *own = &process->amounts;

	if (!amounts_has_waits(own))
		return waits_for_child(&why->before) && waits_for_child(&why->after);
	return (double)amounts_waited(own, WAIT_CHILD).ns >
	       WAITS_SHARE * (double)run_wall_ns(why->run);
}

/* Whether it waits for children that did more than the process itself. */
static bool works_by_children(const struct why *why, const struct tree_process *process)
{
	const struct amounts *own = &process->amounts;
	const struct tree *tree = why->run->tree;
	uint64_t all =
		amounts_get(&tree->amounts, AMOUNT_run_time_ns) + amounts_costly_ns(&tree->amounts);
	uint64_t mine = amounts_get(own, AMOUNT_run_time_ns) + amounts_costly_ns(own);

	return tree->processes > 1 && waits_for_children(why, process) && all > 2 * mine;
}

static void judge(struct why *why)
{
	struct tree_process *process =
		(struct tree_process *)find_process(why->run, why->before.pid);

	if (!process)
		return;
	why->by_children = works_by_children(why, process);
	if (why->by_children || why->run->path.is_known)
		diagnose(why->run, &why->diagnosis);
	else
		judge_alone(why->run, process, &why->diagnosis);
	why->judged = true;
}

static const struct tree_thread *find_thread(const struct tree_process *process, int32_t tid)
{
	for (size_t i = 0; process && i < process->live_count; i++)
		if (process->live[i]->key.tid == tid && !process->live[i]->ended)
			return process->live[i];
	return NULL;
}

static void take_now(const struct run *run, const struct tree_thread *thread,
		     struct why_thread *ret)
{
	const struct tree_now *now = &thread->now;
	char buffer[SYSCALL_NAME_SIZE];

	if (now->blocked && now->reason < WAIT_REASON_COUNT)
		ret->reason = now->reason;
	if (now->in_syscall) {
		const char *name = syscall_name(now->syscall_abi, now->syscall, buffer);

		memccpy(ret->call, name, '\0', sizeof(ret->call) - 1);
	}
	if (!now->blocked || !now->since_ns || now->since_ns > run->end_ns)
		return;
	ret->has_since = true;
	ret->since_ns = run->end_ns - now->since_ns;
	ret->at_least = now->since_ns < run->begin_ns + BEGINNING_NS;
}

static void take_waker(const struct tree_thread *thread, struct why_thread *ret)
{
	uint64_t total = 0, given = 0;

	for (size_t i = 0; i < thread->waker_count; i++) {
		const struct tree_waker *waker = &thread->wakers[i];

		total += waker->total_ns;
		if (!ret->has_waker || waker->total_ns > ret->waker.total_ns)
			ret->waker = *waker;
		ret->has_waker = true;
		if (waker->waker_pid == thread->key.pid && waker->reason == WAIT_CONDITION &&
		    waker->total_ns > given) {
			given = waker->total_ns;
			ret->giver_tid = waker->waker_tid;
		}
	}
	ret->waker_share = total ? (double)ret->waker.total_ns / (double)total : 0;
	ret->has_waker = ret->has_waker && total;
}

/* What a futex is used for is known better from its memory, and so is the kind of a socket. */
static void take_object(const struct wait_object *object, struct why_thread *ret)
{
	ret->object = *object;
	if (object->reason >= 0 && ret->state != 'R' && (object->address || ret->reason < 0))
		ret->reason = object->reason;
}

static int add_thread(struct why *why, const struct task_state *found,
		      const struct tree_thread *watched, const struct wait_object *object)
{
	struct why_thread thread = { .tid = found->tid, .state = found->state };
	char buffer[SYSCALL_NAME_SIZE];

	thread.reason = found->state == 'R' ? -1 : task_state_reason(found);
	thread.found = found;
	memcpy(thread.comm, found->comm, sizeof(thread.comm));
	if (found->in_call)
		memccpy(thread.call, syscall_name(SYSCALL_NATIVE, found->call.number, buffer), '\0',
			sizeof(thread.call) - 1);
	if (watched) {
		take_now(why->run, watched, &thread);
		take_waker(watched, &thread);
		thread.amounts = watched->amounts;
	}
	take_object(object, &thread);
	why->after.late |= object->is_late;
	return array_append(&why->threads, thread);
}

/*
 * For kernel threads and others that could not be watched: times are the difference of both
 * states.
 */
static void measure_between(struct why *why, struct why_thread *thread)
{
	for (size_t i = 0; !why_has_times(thread) && i < why->before.threads.count; i++) {
		const struct task_state *before = &why->before.threads.data[i];
		const struct task_state *after = thread->found;

		if (before->tid != thread->tid || !before->has_times || !after->has_times ||
		    after->cpu_ns < before->cpu_ns || after->queue_ns < before->queue_ns)
			continue;
		amounts_set(&thread->amounts, AMOUNT_wall_time_ns, why->watched_ns);
		amounts_set(&thread->amounts, AMOUNT_run_time_ns, after->cpu_ns - before->cpu_ns);
		amounts_set(&thread->amounts, AMOUNT_wait_time_ns,
			    after->queue_ns - before->queue_ns);
	}
}

static uint64_t interest(const struct why_thread *thread)
{
	return amounts_get(&thread->amounts, AMOUNT_run_time_ns) +
	       amounts_costly_ns(&thread->amounts);
}

static int compare_threads(const void *a, const void *b)
{
	const struct why_thread *first = a, *second = b;

	if (interest(first) != interest(second))
		return interest(first) < interest(second) ? 1 : -1;
	return first->tid < second->tid ? -1 : first->tid > second->tid;
}

static int merge_threads(struct why *why, const struct wait_object *objects)
{
	const struct tree_process *process = find_process(why->run, why->before.pid);
	int status = 0;

	for (size_t i = 0; status == 0 && i < why->after.threads.count; i++) {
		const struct task_state *found = &why->after.threads.data[i];

		status = add_thread(why, found, find_thread(process, found->tid), &objects[i]);
		if (status == 0)
			measure_between(why, &why->threads.data[why->threads.count - 1]);
	}
	array_sort(&why->threads, compare_threads);
	return status;
}

/* Whether the process that it waits for, if the verdict is about that one, is in a deadlock. */
static int find_deadlock_of_other(const struct host *host, struct why *why)
{
	const struct critical_path *path = why->run ? &why->run->path : NULL;
	const struct tree_process *other;
	int status;

	if (why->deadlock.count || !path || !path->is_known || path->thread.pid == why->before.pid)
		return 0;
	other = find_process(why->run, path->thread.pid);
	if (!other || other->exited)
		return 0;
	status =
		wait_deadlock_find(host, &other->key, 1, monotonic_ns() + OTHER_NS, &why->deadlock);
	return status == -ETIMEDOUT ? 0 : status;
}

/* Finds what its threads wait for, and adds that to what was measured. */
static int add_threads(const struct host *host, struct why *why)
{
	CLEANUP(free_pointer)
	struct wait_object *objects = calloc(why->after.threads.count + 1, sizeof(*objects));
	int status = objects ? 0 : -ENOMEM;

	if (status == 0)
		status = wait_survey(host, &why->after, objects, &why->deadlock);
	if (status == 0)
		status = find_deadlock_of_other(host, why);
	if (status == 0)
		status = merge_threads(why, objects);
	return status;
}

int why_ask(const struct host *host, int32_t pid, const struct why_options *options,
	    struct why **ret, struct error *error)
{
	CLEANUP(why_free_pointer) struct why *why = calloc(1, sizeof(*why));
	int status;

	if (!why)
		return -ENOMEM;
	status = process_state_read(host, pid, &why->before, error);
	if (status < 0)
		return status;
	watch(why, options);
	read_state_again(host, why);
	judge(why);
	status = add_threads(host, why);
	if (status < 0)
		return status;
	why_judge_waits(why);
	why_answer(why);
	*ret = TAKE_PTR(why);
	return 0;
}

void why_free(struct why *why)
{
	if (!why)
		return;
	process_state_clear(&why->before);
	process_state_clear(&why->after);
	run_free(why->run);
	free(why->threads.data);
	free(why);
}
