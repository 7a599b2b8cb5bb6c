/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes the account of a thread as a record: when it ends, and for a sample.
 */
#ifndef BPF_TREE_ACCOUNT_BPF_H
#define BPF_TREE_ACCOUNT_BPF_H

#include "tree_ledger.bpf.h"

#define SEQUENCE_TRIES 8

/* part * whole / total, with an error of some hundred thousandths; part <= total. */
__noinline __u64 scale(__u64 part, __u64 whole, __u64 total)
{
	__u64 share;

	if (total >> 48) {
		total >>= 32;
		part >>= 32;
	} else if (total >> 32) {
		total >>= 16;
		part >>= 16;
	}
	if (!total || part >= total)
		return whole;
	share = (part << 32) / total;
	return (whole >> 32) * share + ((whole & 0xffffffff) * share >> 32);
}

/*
 * The time on a CPU is exact.  Its division into user and system time is only sampled by the timer
 * tick; so the exact time is divided in the ratio of the samples.  Neither part may ever fall, and
 * their sum is the exact time.
 */
static __always_inline void cputime_split(struct task_struct *task, __u64 cpu, __u64 *user_ns,
					  __u64 *system_ns)
{
	__u64 user_ticks = task->utime, system_ticks = task->stime;
	__u64 next = system_ticks ? scale(system_ticks, cpu, user_ticks + system_ticks) : 0;

	if (cpu - next < *user_ns)
		next = cpu > *user_ns ? cpu - *user_ns : 0;
	if (next > *system_ns)
		*system_ns = next;
	if (cpu - *system_ns > *user_ns && cpu > *system_ns)
		*user_ns = cpu - *system_ns;
}

/* Reads what the kernel counts; returns a bit for each value that this kernel has. */
static __always_inline __u64 usage_read(struct task_struct *task, __u64 values[TREE_USAGE_COUNT])
{
	__u64 present = 1ULL << TREE_USAGE_utime_ns | 1ULL << TREE_USAGE_stime_ns;

#define READ_KERNEL(id, path)                                                                      \
	if (bpf_core_field_exists(task->path)) {                                                   \
		values[TREE_USAGE_##id] = task->path;                                              \
		present |= 1ULL << TREE_USAGE_##id;                                                \
	}
#define READ_NOTHING(id)
	TREE_USAGES(READ_KERNEL, READ_NOTHING)
#undef READ_KERNEL
#undef READ_NOTHING
	return present;
}

/* Begins to count now.  `cpu` is the CPU time so far. */
static __always_inline void usage_begin(struct task_struct *task, struct thread_state *state,
					__u64 cpu)
{
	usage_read(task, state->base);
	if (cpu > state->base[TREE_USAGE_run_time_ns])
		state->base[TREE_USAGE_run_time_ns] = cpu;
	cputime_split(task, state->base[TREE_USAGE_run_time_ns], &state->user_ns,
		      &state->system_ns);
	state->base[TREE_USAGE_utime_ns] = state->user_ns;
	state->base[TREE_USAGE_stime_ns] = state->system_ns;
}

static __always_inline void usage_fill(struct task_struct *task, struct thread_state *state,
				       struct tree_usage_record *ret)
{
	ret->present = usage_read(task, ret->values);
	if (ret->values[TREE_USAGE_run_time_ns] < state->base[TREE_USAGE_run_time_ns])
		ret->values[TREE_USAGE_run_time_ns] = state->base[TREE_USAGE_run_time_ns];
	cputime_split(task, ret->values[TREE_USAGE_run_time_ns], &state->user_ns,
		      &state->system_ns);
	ret->values[TREE_USAGE_utime_ns] = state->user_ns;
	ret->values[TREE_USAGE_stime_ns] = state->system_ns;
	for (int i = 0; i < TREE_USAGE_COUNT; i++)
		ret->values[i] -= state->base[i];
}

static __always_inline void moment_read(struct task_struct *task, struct moment *ret)
{
	ret->run_delay = task_run_delay(task);
	ret->cpu_ns = task->se.sum_exec_runtime;
	ret->queued = ret->arrival = 0;
	if (bpf_core_field_exists(task->sched_info.last_queued)) {
		ret->queued = task->sched_info.last_queued;
		ret->arrival = task->sched_info.last_arrival;
	}
	ret->state = task->__state;
	ret->on_cpu = task->on_cpu;
	ret->now = bpf_ktime_get_ns();
}

/* How long a thread that is off its CPU has been on a run queue. */
static __always_inline __u64 queued_now(const struct thread_state *state,
					const struct moment *moment)
{
	__u64 since_ns = moment->queued + state->clock_offset;

	if (!moment->queued || !state->clock_offset || since_ns > moment->now)
		return 0;
	return moment->now - since_ns;
}

/* The time off the CPU of the thread in a sample that is not sent yet; its size is 0 if none is. */
static struct tree_off_cpu_record open_record;
static __u64 open_blocked_ns; /* what of it was blocked */

/*
 * Not inlined, since it is called several times: the verifier checks it only once, so loading is
 * fast.
 */
__noinline int open_interval(struct thread_state *state, struct moment *moment,
			     struct tree_thread_record *record)
{
	struct interval interval = { 0 };

	if (!state || !moment || !record)
		return 0;
	interval.reason = state->reason;
	interval.queued_ns = moment->run_delay - state->run_delay;
	interval.is_open = !has_arrived(state, moment);
	if (!interval.is_open) {
		__u64 in_ns = arrived_ns(state, moment);

		record->flags |= TREE_THREAD_ON_CPU;
		record->since_ns = in_ns;
		record->ledger.on_cpu_ns += moment->now - in_ns;
		if (state->phase == PHASE_JOINED)
			return 0;
		interval.off_ns = in_ns - state->out_ns;
	} else {
		interval.off_ns = moment->now - state->out_ns;
		interval.queued_ns += queued_now(state, moment);
		record->since_ns = state->out_ns;
		if (interval.reason != RUNNABLE && moment->state) {
			record->flags |= TREE_THREAD_BLOCKED;
			record->reason = interval.reason;
			interval.queued_ns = 0;
		}
	}
	interval_bound(state, &interval);
	ledger_add(&record->ledger, &interval);
	off_cpu_fill(state, &interval, state->out_ns + interval.off_ns, &open_record);
	open_record.open = interval.is_open;
	open_blocked_ns = interval.off_ns - interval.queued_ns;
	return 0;
}

/*
 * Copies a ledger, again if a switch changed it meanwhile; returns false if one did at each try.
 * The loop goes back with one jump, since 6.1 refuses loops that fall through into their
 * beginning.
 */
static __always_inline bool ledger_copy(struct task_struct *task, struct thread_state *state,
					struct tree_thread_record *record)
{
	__u32 tries = SEQUENCE_TRIES;
	struct moment moment;
	bool taken = false;

	do {
		__u32 sequence = sequence_read(state);

		record->flags &= ~(TREE_THREAD_ON_CPU | TREE_THREAD_BLOCKED);
		open_record.head.size = 0;
		open_blocked_ns = 0;
		bpf_probe_read_kernel(&record->ledger, sizeof(record->ledger), &state->ledger);
		moment_read(task, &moment);
		record->head.time_ns = moment.now;
		open_interval(state, &moment, record);
		tries--;
		taken = !(sequence & 1) && sequence == sequence_read(state);
		if (taken)
			tries = 0;
		barrier_var(tries);
	} while (tries);
	return taken;
}

static __always_inline void current_call_fill(struct task_struct *task,
					      struct tree_thread_record *record)
{
	struct call call;

	if (record->flags & TREE_THREAD_ON_CPU)
		return;
	call_read(task, user_registers(task), &call);
	if (call.number < 0 || task->flags & PF_EXITING)
		return;
	record->flags |= TREE_THREAD_IN_SYSCALL;
	record->abi = call.abi;
	record->number = call.number;
}

/* Fills all but the ledger and the system calls. */
static __always_inline void account_fill(struct task_struct *task, struct thread_state *state,
					 __u64 now, struct tree_thread_record *record)
{
	record->head.type = TREE_RECORD_THREAD;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.start_ns = state->start_ns;
	record->head.time_ns = now;
	comm_copy(task, record->comm);
	record->flags = state->phase == PHASE_ENDED ? TREE_THREAD_ENDED : 0;
	if (bpf_core_field_exists(task->sched_info.run_delay))
		record->flags |= TREE_THREAD_RUN_QUEUE;
	record->state = task->__state;
	record->exit_state = task->exit_state;
	record->begin_ns = state->begin_ns;
	record->since_ns = now;
	record->reason = 0;
	usage_fill(task, state, &record->usage);
	record->unnamed_calls = record->unnamed_ns = 0;
	record->call_count = record->reserved = 0;
}

#endif
