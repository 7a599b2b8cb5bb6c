/* SPDX-License-Identifier: MIT */
#include "session/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "session/session.h"
#include "trace/clocks.h"

/* It counts as waiting for its children when it does that most of the time. */
#define WAITS_SHARE 0.5
/* Waits that began that short after the watching did were there before. */
#define BEGINNING_NS 20000000

static void sleep_for(uint64_t ns)
{
	struct timespec rest = { (time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND) };

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

static bool can_be_watched(const struct standing *standing)
{
	return !standing->is_dead && !standing->is_kernel_thread;
}

static void watch(struct why *why, uint64_t duration_ns)
{
	struct session_options options = { .quiet = true,
					   .duration_ns = duration_ns,
					   .live_fd = -1 };
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
	/* One that ended before it could be watched stays as it is. */
	if (!why->run && status != -ESRCH && spent < duration_ns)
		sleep_for(duration_ns - spent);
	why->watched_ns = why->run ? run_wall_ns(why->run) : monotonic_ns() - begin;
}

/* It may have ended, and another may have its number. */
static void look_again(const struct host *host, struct why *why)
{
	struct error ignored = { 0 };
	int status = standing_read(host, why->before.pid, &why->after, &ignored);
	const struct tree_process *process = find_process(why->run, why->before.pid);

	if (status == 0 && why->after.start_ticks != why->before.start_ticks) {
		standing_clear(&why->after);
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

/* The run as if the process were all there is.  Borrows everything. */
static void judge_alone(const struct run *run, struct tree_process *process, struct diagnosis *ret)
{
	struct run alone = *run;
	struct tree tree = {
		.usage = process->usage,
		.ledger = process->ledger,
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

static bool stands_for_child(const struct standing *standing)
{
	return standing->threads.count > 0 &&
	       standing_reason(&standing->threads.data[0]) == WAIT_CHILD;
}

/* By its ledger; without one, by where its first thread was at both looks. */
static bool waits_for_children(const struct why *why, const struct tree_process *process)
{
	const struct ledger *own = &process->ledger;

	if (!(own->present & LEDGER_BLOCKED))
		return stands_for_child(&why->before) && stands_for_child(&why->after);
	return (double)own->blocked[WAIT_CHILD].ns > WAITS_SHARE * (double)run_wall_ns(why->run);
}

/* It waits for children, and what they did is more than it did itself. */
static bool works_by_children(const struct why *why, const struct tree_process *process)
{
	const struct ledger *own = &process->ledger;
	const struct tree *tree = why->run->tree;
	uint64_t all = tree->ledger.on_cpu_ns + ledger_costly_ns(&tree->ledger);
	uint64_t mine = own->on_cpu_ns + ledger_costly_ns(own);

	return tree->processes > 1 && waits_for_children(why, process) && all > 2 * mine;
}

static void judge(struct why *why)
{
	struct tree_process *process =
		(struct tree_process *)find_process(why->run, why->before.pid);

	if (!process)
		return;
	why->by_children = works_by_children(why, process);
	if (why->by_children)
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
	uint64_t total = 0;

	for (size_t i = 0; i < thread->waker_count; i++) {
		total += thread->wakers[i].total_ns;
		if (!ret->has_waker || thread->wakers[i].total_ns > ret->waker.total_ns)
			ret->waker = thread->wakers[i];
		ret->has_waker = true;
	}
	ret->waker_share = total ? (double)ret->waker.total_ns / (double)total : 0;
	ret->has_waker = ret->has_waker && total;
}

static int add_thread(struct why *why, const struct standing_thread *standing,
		      const struct tree_thread *watched)
{
	struct why_thread thread = { .tid = standing->tid, .state = standing->state };
	char buffer[SYSCALL_NAME_SIZE];

	thread.reason = standing->state == 'R' ? -1 : standing_reason(standing);
	thread.standing = standing;
	memcpy(thread.comm, standing->comm, sizeof(thread.comm));
	if (standing->in_call)
		memccpy(thread.call, syscall_name(SYSCALL_NATIVE, standing->call, buffer), '\0',
			sizeof(thread.call) - 1);
	if (watched) {
		take_now(why->run, watched, &thread);
		take_waker(watched, &thread);
		thread.has_ledger = watched->ledger.present & LEDGER_ON_CPU;
		thread.ledger = watched->ledger;
	}
	return array_append(&why->threads, thread);
}

/* Kernel threads and what could not be watched: two looks tell the time between them. */
static void measure_between(struct why *why, struct why_thread *thread)
{
	for (size_t i = 0; !thread->has_ledger && i < why->before.threads.count; i++) {
		const struct standing_thread *before = &why->before.threads.data[i];
		const struct standing_thread *after = thread->standing;

		if (before->tid != thread->tid || !before->has_times || !after->has_times ||
		    after->cpu_ns < before->cpu_ns || after->queue_ns < before->queue_ns)
			continue;
		thread->has_ledger = true;
		thread->ledger.present = LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE;
		thread->ledger.wall_ns = why->watched_ns;
		thread->ledger.on_cpu_ns = after->cpu_ns - before->cpu_ns;
		thread->ledger.run_queue_ns = after->queue_ns - before->queue_ns;
	}
}

static uint64_t interest(const struct why_thread *thread)
{
	return thread->ledger.on_cpu_ns + ledger_costly_ns(&thread->ledger);
}

static int compare_threads(const void *a, const void *b)
{
	const struct why_thread *first = a, *second = b;

	if (interest(first) != interest(second))
		return interest(first) < interest(second) ? 1 : -1;
	return first->tid < second->tid ? -1 : first->tid > second->tid;
}

static int merge_threads(struct why *why)
{
	const struct tree_process *process = find_process(why->run, why->before.pid);
	int status = 0;

	for (size_t i = 0; status == 0 && i < why->after.threads.count; i++) {
		const struct standing_thread *standing = &why->after.threads.data[i];

		status = add_thread(why, standing, find_thread(process, standing->tid));
		if (status == 0)
			measure_between(why, &why->threads.data[why->threads.count - 1]);
	}
	if (why->threads.count > 1)
		qsort(why->threads.data, why->threads.count, sizeof(why->threads.data[0]),
		      compare_threads);
	return status;
}

int why_ask(const struct host *host, int32_t pid, uint64_t duration_ns, struct why **ret,
	    struct error *error)
{
	CLEANUP(why_free_pointer) struct why *why = calloc(1, sizeof(*why));
	int status;

	if (!why)
		return -ENOMEM;
	status = standing_read(host, pid, &why->before, error);
	if (status < 0)
		return status;
	watch(why, duration_ns);
	look_again(host, why);
	judge(why);
	status = merge_threads(why);
	if (status < 0)
		return status;
	why_answer(why);
	*ret = TAKE_PTR(why);
	return 0;
}

void why_free(struct why *why)
{
	if (!why)
		return;
	standing_clear(&why->before);
	standing_clear(&why->after);
	run_free(why->run);
	free(why->threads.data);
	free(why);
}

void why_free_pointer(struct why **why)
{
	why_free(*why);
}
