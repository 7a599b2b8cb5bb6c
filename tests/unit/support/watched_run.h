/* SPDX-License-Identifier: MIT */
/*
 * A run as if it had been watched: a command with two threads, a child that fails, one that is
 * killed for lack of memory, a daemon that stays.  What it writes on the way goes to `lines`.
 */
#ifndef TESTS_WATCHED_RUN_H
#define TESTS_WATCHED_RUN_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/verdict/diagnosis.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "some_amounts.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
#define WATCHED_BEGIN (1000 * SECOND)

#define WATCHED_ROOT 100
#define WATCHED_CHILD 110
#define WATCHED_VICTIM 120
#define WATCHED_DAEMON 130

static inline struct tree_event watched_event(enum tree_event_type type, int32_t pid, int32_t tid,
					      uint64_t ms)
{
	return (struct tree_event){
		.type = type,
		.task = { .pid = pid, .tid = tid, .start_ns = (uint64_t)tid * SECOND },
		.time_ns = WATCHED_BEGIN + ms * MILLISECOND,
	};
}

static inline void watched_fork(struct run *run, int32_t parent, int32_t pid, int32_t tid,
				uint64_t ms, const char *comm)
{
	struct tree_event event = watched_event(TREE_FORK, pid, tid, ms);

	event.fork.parent_pid = parent;
	snprintf(event.fork.comm, sizeof(event.fork.comm), "%s", comm);
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

static inline void watched_exec(struct run *run, int32_t pid, uint64_t ms, const char *words,
				size_t length)
{
	struct tree_event event = watched_event(TREE_EXEC, pid, pid, ms);

	event.exec.arguments = words;
	event.exec.length = length;
	snprintf(event.exec.comm, sizeof(event.exec.comm), "%s", words);
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

struct watched_account {
	uint64_t cpu_ms, queue_ms, lock_ms, disk_ms, poll_ms;
	bool ended;
};

static inline struct amounts watched_amounts(const struct watched_account *account)
{
	struct amounts amounts = { 0 };
	const uint64_t waited[][2] = {
		{ WAIT_LOCK, account->lock_ms },
		{ WAIT_DISK, account->disk_ms },
		{ WAIT_POLL, account->poll_ms },
	};
	uint64_t run_ns = account->cpu_ms * MILLISECOND, queue_ns = account->queue_ms * MILLISECOND;
	uint64_t count = 0, longest_ns = 0;

	set_times(&amounts, 0, run_ns);
	amounts_set(&amounts, AMOUNT_wait_time_ns, queue_ns);
	amounts_set(&amounts, AMOUNT_wait_count, 3);
	amounts_set(&amounts, AMOUNT_wait_max, queue_ns / 2);
	for (size_t i = 0; i < 3; i++) {
		uint64_t ns = waited[i][1] * MILLISECOND;
		struct waited wait = { ns, ns ? 10 : 0, ns / 2 };

		amounts_set_waited(&amounts, waited[i][0], wait);
		count += wait.count;
		if (wait.max_ns > longest_ns)
			longest_ns = wait.max_ns;
	}
	set_offcpu(&amounts, count, longest_ns, longest_ns / 100);
	amounts_set(&amounts, AMOUNT_wall_time_ns,
		    run_ns + queue_ns + amounts_blocked_ns(&amounts));
	amounts_set(&amounts, AMOUNT_utime_ns, run_ns * 3 / 4);
	amounts_set(&amounts, AMOUNT_stime_ns, run_ns / 4);
	amounts_set(&amounts, AMOUNT_read_bytes, 4096 * account->disk_ms);
	amounts_set(&amounts, AMOUNT_write_bytes, 0);
	amounts_set(&amounts, AMOUNT_voluntary_csw, 20);
	return amounts;
}

/* Another thread ended nine tenths of the waits for a lock, in nine waits, one of them long. */
static inline void watched_wakings(struct run *run, int32_t pid, int32_t tid, uint64_t ms,
				   uint64_t lock_ms)
{
	struct tree_event event = watched_event(TREE_WAIT, pid, tid, ms);

	for (int i = 0; i < 9 && lock_ms; i++) {
		uint64_t ns = lock_ms * MILLISECOND * (i ? 4 : 40) / 80;

		event.wait = (struct tree_wait_event){
			.wake_ns = ns,
			.run_ns = ns,
			.reason = WAIT_LOCK,
			.waker_class = WAKER_MEMBER,
			.waker_pid = WATCHED_ROOT,
			.waker_tid = WATCHED_ROOT + 1,
			.waker_comm = "holder",
		};
		assert_int_equal(tree_apply(run->tree, &event), 0);
	}
}

static inline void watched_account(struct run *run, int32_t pid, int32_t tid, uint64_t ms,
				   struct watched_account account)
{
	struct tree_event event = watched_event(TREE_THREAD, pid, tid, ms);
	struct tree_syscall calls[2] = {
		{ .number = (uint32_t)syscall_number("futex") },
		{ .number = (uint32_t)syscall_number("openat") },
	};

	calls[0].stats = (struct syscall_stats){ .count = 10, .max_ns = 900, .total_ns = 5000 };
	calls[0].stats.buckets[2] = 10;
	calls[1].stats = (struct syscall_stats){ .count = 5,
						 .errors = 3,
						 .total_ns = 400 * SECOND,
						 .max_ns = 390 * SECOND,
						 .by_error = { { 2, 2 }, { 512, 1 } } };
	calls[1].stats.buckets[31] = 1;
	calls[1].stats.buckets[4] = 4;
	event.account.ended = account.ended;
	event.account.end_ns = account.ended ? event.time_ns : 0;
	event.account.amounts = watched_amounts(&account);
	event.account.now = (struct tree_now){ .state = 'S',
					       .blocked = true,
					       .reason = WAIT_POLL,
					       .in_syscall = true,
					       .syscall = (uint32_t)syscall_number("poll"),
					       .since_ns = WATCHED_BEGIN };
	event.account.has_syscalls = true;
	event.account.syscalls = calls;
	event.account.syscall_count = 2;
	watched_wakings(run, pid, tid, ms, account.lock_ms);
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

static inline void watched_exit(struct run *run, int32_t pid, uint64_t ms, int status,
				uint64_t peak)
{
	struct tree_event event = watched_event(TREE_PROCESS, pid, pid, ms);

	event.process.present = TREE_PROCESS_STATUS | TREE_PROCESS_PEAK_RSS;
	event.process.ended = true;
	event.process.end_ns = event.time_ns;
	event.process.status = status;
	event.process.peak_rss_bytes = peak;
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

static inline void watched_facts(struct run *run, int32_t pid, uint64_t ms, uint64_t rss)
{
	struct tree_event event = watched_event(TREE_PROCESS, pid, pid, ms);

	event.process.present = TREE_PROCESS_RSS | TREE_PROCESS_FDS | TREE_PROCESS_FD_LIMIT;
	event.process.rss_bytes = rss;
	event.process.fds = 12;
	event.process.fd_limit = 1024;
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

/* As a session does it: a line for each process that is complete. */
static inline void watched_exits(struct run *run, FILE *lines)
{
	const struct tree_process *process;

	while ((process = tree_take_ended(run->tree)))
		if (lines)
			run_json_exit(lines, run, process);
}

static inline void watched_oom(struct run *run, FILE *lines)
{
	struct tree_event event = watched_event(TREE_OOM, WATCHED_VICTIM, WATCHED_VICTIM, 1500);

	assert_int_equal(tree_apply(run->tree, &event), 0);
	if (lines)
		run_json_event(lines, run, &event);
	watched_account(run, WATCHED_VICTIM, WATCHED_VICTIM, 1500,
			(struct watched_account){ .cpu_ms = 300, .ended = true });
	watched_exit(run, WATCHED_VICTIM, 1500, SIGKILL, 700 << 20);
}

static inline void watched_begin(struct run *run, FILE *lines)
{
	static char *command[] = { "/usr/bin/make", "-j2", NULL };

	run->mode = RUN_COMMAND;
	run->command = command;
	run->pid = WATCHED_ROOT;
	run->tracer = "bpf";
	run->begin_ns = WATCHED_BEGIN - 2 * MILLISECOND; /* let go, but not yet at its exec */
	run->begin_unix_ns = 1700000000 * SECOND;
	run->interval_ns = 100 * MILLISECOND;
	run->limits.online_cpus = 16;
	run->limits.cgroup = "/user.slice";
	run->limits.host_io_some_us = (struct run_number){ true, 1234 };
	run_add_source(run, "tree", SOURCE_OK, NULL);
	run_add_source(run, "ledger", SOURCE_OK, NULL);
	run_add_source(run, "syscalls", SOURCE_OK, NULL);
	run_add_source(run, "pressure", SOURCE_UNAVAILABLE, "the kernel was built without it");
	if (lines)
		run_json_metadata(lines, run);
	run->begin_ns = WATCHED_BEGIN;
}

static inline void watched_sample(struct run *run, FILE *lines, uint64_t ms)
{
	run_sample(run, WATCHED_BEGIN + ms * MILLISECOND);
	if (!lines)
		return;
	run_json_sample(lines, run);
	run_json_tree(lines, run, 64);
}

static inline void watched_middle(struct run *run, FILE *lines)
{
	watched_fork(run, 1, WATCHED_ROOT, WATCHED_ROOT, 0, "make");
	watched_exec(run, WATCHED_ROOT, 0, "make\0-j2", 9);
	watched_fork(run, WATCHED_ROOT, WATCHED_ROOT, WATCHED_ROOT + 1, 10,
		     "\001\002worker\033[31m");
	watched_fork(run, WATCHED_ROOT, WATCHED_CHILD, WATCHED_CHILD, 20, "cc");
	watched_exec(run, WATCHED_CHILD, 20, "cc\0-c\0a \"b\".c\0", 15);
	watched_fork(run, WATCHED_ROOT, WATCHED_VICTIM, WATCHED_VICTIM, 30, "ld");
	watched_fork(run, WATCHED_ROOT, WATCHED_DAEMON, WATCHED_DAEMON, 40, "daemon");
	watched_account(run, WATCHED_ROOT, WATCHED_ROOT, 500,
			(struct watched_account){ .cpu_ms = 100, .lock_ms = 100 });
	watched_facts(run, WATCHED_ROOT, 500, 50 << 20);
	watched_facts(run, WATCHED_DAEMON, 500, 10 << 20);
	watched_sample(run, lines, 500);
	watched_account(run, WATCHED_CHILD, WATCHED_CHILD, 900,
			(struct watched_account){ .cpu_ms = 800, .disk_ms = 50, .ended = true });
	watched_exit(run, WATCHED_CHILD, 900, 2 << 8, 90 << 20);
	watched_oom(run, lines);
	watched_exits(run, lines);
	watched_sample(run, lines, 1600);
}

/* Scopes of the root: one that was seen and counted, one only counted, one only seen. */
static inline void watched_phases(struct run *run)
{
	const struct phase phases[] = {
		{ .label = "solve",
		  .samples = 4,
		  .threads = 2,
		  .wall_ns = 900 * MILLISECOND,
		  .has_cpu = true,
		  .cpu_ns = 300 * MILLISECOND,
		  .off_cpu_ns = 600 * MILLISECOND,
		  .has_self = true,
		  .self_wall_ns = 500 * MILLISECOND,
		  .self_cpu_ns = 100 * MILLISECOND,
		  .self_off_cpu_ns = 400 * MILLISECOND,
		  .is_off_cpu_exact = true,
		  .has_count = true,
		  .count = 3,
		  .total_ns = 910 * MILLISECOND,
		  .self_total_ns = 510 * MILLISECOND },
		{ .label = "quick",
		  .has_self = true,
		  .has_waits = true,
		  .waits_ns = 7,
		  .self_waits_ns = 7,
		  .has_count = true,
		  .count = 1000,
		  .total_ns = MILLISECOND,
		  .self_total_ns = MILLISECOND },
		{ .label = "odd \033[31m\xff",
		  .samples = 1,
		  .threads = 1,
		  .wall_ns = 5 * MILLISECOND,
		  .is_partial = true },
	};

	run->phases.known = true;
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		struct phase phase = phases[i];

		phase.process = run->tree->root->key;
		snprintf(phase.comm, sizeof(phase.comm), "make");
		assert_int_equal(array_append(&run->phases.list, phase), 0);
	}
	phases_sort(&run->phases);
	assert_int_equal(run_add_source(run, "scopes", SOURCE_OK, NULL), 0);
}

static inline void watched_end(struct run *run, FILE *lines)
{
	struct watched_account root = { 400, 100, 900, 100, 500, true };
	struct watched_account worker = { 200, 20, 1500, 0, 200, true };

	watched_account(run, WATCHED_ROOT, WATCHED_ROOT, 2000, root);
	watched_account(run, WATCHED_ROOT, WATCHED_ROOT + 1, 1990, worker);
	watched_exit(run, WATCHED_ROOT, 2000, 2 << 8, 60 << 20);
	watched_exits(run, lines);
	watched_account(run, WATCHED_DAEMON, WATCHED_DAEMON, 2000,
			(struct watched_account){ .cpu_ms = 1, .poll_ms = 1959 });
	run->end = RUN_EXITED;
	run->end_ns = WATCHED_BEGIN + 2000 * MILLISECOND;
	run->has_status = true;
	run->status = 2 << 8;
	run->self = (struct run_self){ .cpu_ns = 20 * MILLISECOND,
				       .peak_rss_bytes = { true, 12 << 20 },
				       .startup_ns = 80 * MILLISECOND };
	tree_sum_up(run->tree);
}

static inline struct run *watched_run(FILE *lines)
{
	struct run *run;

	assert_int_equal(run_new(&run), 0);
	watched_begin(run, lines);
	watched_middle(run, lines);
	watched_end(run, lines);
	return run;
}

static inline void watched_summary(const struct run *run, FILE *out)
{
	struct diagnosis diagnosis = { 0 };

	diagnose(run, &diagnosis);
	run_json_summary(out, run, diagnosis_json, &diagnosis, false);
}

#endif
