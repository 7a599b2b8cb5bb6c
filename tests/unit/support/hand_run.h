/* SPDX-License-Identifier: MIT */
/*
 * Runs made by hand: threads come in through the tree's events as a tracer's would, the numbers of
 * the limits are set directly.  Times are in milliseconds unless a name says otherwise.
 */
#ifndef HAND_RUN_H
#define HAND_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/tree/run.h"
#include "some_amounts.h"

#define MS 1000000ULL
#define HAND_CALLS_MAX 8

/* What one thread did; what is 0 it did not do. */
struct hand_thread {
	int32_t pid, tid; /* tid 0: the leader */
	const char *comm;
	double on_cpu, kernel, run_queue;
	uint64_t queued; /* how often it waited for a CPU */
	struct {
		enum wait_reason reason;
		double ms;
		uint64_t count;
		double longest;
	} waits[4];
	uint64_t faults;
	uint64_t moves, bytes; /* reads and writes, and what they moved */
	struct {
		const char *name;
		uint64_t count;
		double ms;
		uint32_t error;
		uint64_t errors;
	} calls[HAND_CALLS_MAX];
	bool lives;
	const char *now_in; /* the call that it is blocked in */
	bool no_times;
};

static inline struct run *hand_run(double wall_ms)
{
	struct run *run;

	assert_int_equal(run_new(&run), 0);
	run->begin_ns = 1000000 * MS;
	run->end_ns = run->begin_ns + (uint64_t)(wall_ms * 1e6);
	run->limits.online_cpus = 2;
	return run;
}

static inline uint64_t hand_ns(double milliseconds)
{
	return (uint64_t)(milliseconds * 1e6);
}

static inline void hand_apply(struct run *run, const struct tree_event *event)
{
	assert_int_equal(tree_apply(run->tree, event), 0);
}

static inline struct tree_event hand_event(const struct run *run, enum tree_event_type type,
					   int32_t pid, int32_t tid)
{
	struct tree_event event = { .type = type, .task = { pid, tid, (uint64_t)tid * MS } };

	event.time_ns = type == TREE_FORK ? run->begin_ns : run->end_ns;
	return event;
}

static inline void hand_times(const struct hand_thread *from, double wall, struct amounts *to)
{
	set_times(to, hand_ns(wall), hand_ns(from->on_cpu));
	amounts_set(to, AMOUNT_wait_time_ns, hand_ns(from->run_queue));
	amounts_set(to, AMOUNT_wait_count, from->queued);
	for (size_t i = 0; i < 4; i++) {
		struct waited wait = { .ns = hand_ns(from->waits[i].ms), .count = 1 };

		if (from->waits[i].ms <= 0)
			continue;
		if (from->waits[i].count)
			wait.count = from->waits[i].count;
		wait.max_ns = from->waits[i].longest > 0 ? hand_ns(from->waits[i].longest) :
							   wait.ns / wait.count;
		amounts_set_waited(to, from->waits[i].reason, wait);
	}
}

static inline void hand_usage(const struct hand_thread *from, struct amounts *to)
{
	amounts_set(to, AMOUNT_stime_ns, hand_ns(from->kernel));
	amounts_set(to, AMOUNT_utime_ns, hand_ns(from->on_cpu - from->kernel));
	amounts_set(to, AMOUNT_minflt, from->faults);
	amounts_set(to, AMOUNT_syscr, from->moves);
	amounts_set(to, AMOUNT_rchar, from->bytes);
	amounts_set(to, AMOUNT_syscw, 0);
	amounts_set(to, AMOUNT_wchar, 0);
}

static inline size_t hand_calls(const struct hand_thread *from, struct tree_syscall *to)
{
	size_t count = 0;

	for (; count < HAND_CALLS_MAX && from->calls[count].name; count++) {
		int number = syscall_number(from->calls[count].name);

		assert_true(number >= 0);
		to[count].number = (uint32_t)number;
		to[count].stats.count = from->calls[count].count;
		to[count].stats.total_ns = hand_ns(from->calls[count].ms);
		to[count].stats.errors = from->calls[count].errors;
		to[count].stats.by_error[0].number = from->calls[count].error;
		to[count].stats.by_error[0].count = from->calls[count].errors;
	}
	return count;
}

static inline void hand_fork(struct run *run, int32_t pid, int32_t tid, int32_t parent)
{
	struct tree_event event = hand_event(run, TREE_FORK, pid, tid);

	event.fork.parent_pid = parent;
	hand_apply(run, &event);
}

static inline void hand_end_process(struct run *run, int32_t pid, int status)
{
	struct tree_event event = hand_event(run, TREE_PROCESS, pid, pid);

	event.process.ended = true;
	event.process.end_ns = run->end_ns;
	event.process.present = TREE_PROCESS_STATUS;
	event.process.status = status;
	hand_apply(run, &event);
}

static inline void hand_now(const struct run *run, const struct hand_thread *from,
			    struct tree_now *to)
{
	to->state = 'S';
	to->blocked = true;
	to->reason = (uint8_t)from->waits[0].reason;
	to->in_syscall = from->now_in != NULL;
	to->syscall = from->now_in ? (uint32_t)syscall_number(from->now_in) : 0;
	to->since_ns = run->end_ns - hand_ns(from->waits[0].ms);
}

/* The account of a thread; its process is there from its leader on. */
static inline void hand_thread(struct run *run, const struct hand_thread *from)
{
	int32_t tid = from->tid ? from->tid : from->pid;
	struct tree_event event = hand_event(run, TREE_THREAD, from->pid, tid);
	struct tree_syscall calls[HAND_CALLS_MAX] = { 0 };

	hand_fork(run, from->pid, tid, tid == from->pid ? 1 : from->pid);
	event.account.ended = !from->lives;
	event.account.end_ns = run->end_ns;
	strncpy(event.account.comm, from->comm ? from->comm : "worker", TREE_COMM_SIZE - 1);
	hand_usage(from, &event.account.amounts);
	if (!from->no_times)
		hand_times(from, (double)run_wall_ns(run) / 1e6, &event.account.amounts);
	if (from->lives)
		hand_now(run, from, &event.account.now);
	event.account.syscalls = calls;
	event.account.syscall_count = hand_calls(from, calls);
	event.account.has_syscalls = event.account.syscall_count > 0;
	hand_apply(run, &event);
}

static inline void hand_sum_up(struct run *run)
{
	while (tree_take_ended(run->tree))
		;
	tree_sum_up(run->tree);
}

#endif
