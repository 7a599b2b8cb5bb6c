/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Keeps the ledger of a thread.  Each moment counts as on a CPU, waiting for a CPU, or blocked;
 * nothing is counted twice or left out.
 */
#ifndef BPF_TREE_LEDGER_BPF_H
#define BPF_TREE_LEDGER_BPF_H

#include "tree_off_cpu.bpf.h"
#include "tree_scope.bpf.h"
#include "tree_stack_wait.bpf.h"

static __always_inline void off_add(struct tree_off_record *off, const struct interval *interval)
{
	off->count++;
	if (interval->off_ns > off->longest_ns)
		off->longest_ns = interval->off_ns;
	if (!interval->is_open && (!off->shortest_ns || interval->off_ns < off->shortest_ns))
		off->shortest_ns = interval->off_ns;
}

static __always_inline void wait_add(struct tree_wait_record *wait, __u64 ns)
{
	wait->ns += ns;
	wait->count++;
	if (ns > wait->longest_ns)
		wait->longest_ns = ns;
}

/*
 * A task that was pushed off its CPU waits for a CPU during the whole interval, any other one only
 * after it was woken.  The scheduler may count more: since 6.12 a task that sleeps can stay on its run
 * queue for a while, and if it is moved to another CPU meanwhile, all that follows counts as waiting
 * for that CPU.
 */
static __always_inline void interval_bound(const struct thread_state *state,
					   struct interval *interval)
{
	__u64 blocked_ns = state->wake_ns ? state->wake_ns - state->out_ns : 0;
	__u64 most_ns = blocked_ns < interval->off_ns ? interval->off_ns - blocked_ns : 0;

	if (interval->reason == RUNNABLE)
		interval->queued_ns = interval->off_ns;
	else if (interval->queued_ns > most_ns)
		interval->queued_ns = most_ns;
}

static __always_inline void ledger_add(struct tree_ledger_record *ledger,
				       const struct interval *interval)
{
	__u32 reason = interval->reason & (TREE_REASONS - 1);

	off_add(&ledger->off_cpu, interval);
	if (interval->queued_ns)
		wait_add(&ledger->run_queue, interval->queued_ns);
	barrier_var(reason);
	if (interval->reason != RUNNABLE)
		wait_add(&ledger->blocked[reason & (TREE_REASONS - 1)],
			 interval->off_ns - interval->queued_ns);
}

static __always_inline __u64 task_run_delay(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* Adds the interval before the current time on the CPU to the ledger. */
static __always_inline void interval_end(struct thread_state *state, __u64 run_delay)
{
	struct interval interval = {
		.reason = state->reason,
		.off_ns = state->in_ns - state->out_ns,
		.queued_ns = run_delay - state->run_delay,
	};

	interval_bound(state, &interval);
	ledger_add(&state->ledger, &interval);
	if (off_cpu_min_ns)
		stack_time_add(&state->debt, interval.off_ns - interval.queued_ns);
	if (want_waits && interval.off_ns < threshold_ns)
		shorts_add(&state->shorts, &interval);
	else if (want_waits)
		off_cpu_report(state, &interval);
}

/*
 * There is only one writer at a time.  An atomic operation whose result is used keeps memory
 * accesses in order on every machine. x86 also keeps plain accesses in order, which are cheaper.
 */
static __always_inline void sequence_step(struct thread_state *state)
{
	barrier();
	if (is_arm64()) {
		__u32 before = __sync_fetch_and_add(&state->sequence, 1);

		barrier_var(before);
	} else {
		*(volatile __u32 *)&state->sequence += 1;
	}
	barrier();
}

static __always_inline __u32 sequence_read(struct thread_state *state)
{
	__u32 sequence;

	barrier();
	if (is_arm64())
		sequence = __sync_fetch_and_add(&state->sequence, 0);
	else
		sequence = *(volatile __u32 *)&state->sequence;
	barrier();
	return sequence;
}

/* Ends the time on the CPU, and with that the time off the CPU before it. */
static __always_inline void thread_leave(struct task_struct *task, struct thread_state *state,
					 __u64 now, __u64 clock)
{
	__u64 run_delay = task_run_delay(task);
	__u64 cpu = task->se.sum_exec_runtime;
	__u64 arrival = task_arrival(task);

	if (state->phase == PHASE_LEFT) {
		state->in_ns =
			arrival_ns(state, clock ? clock - arrival : cpu - state->cpu_ns, now);
		if (state->scope.depth)
			scope_return(state, state->in_ns - state->out_ns);
		interval_end(state, run_delay);
	}
	state->ledger.on_cpu_ns += now - state->in_ns;
	state->out_ns = now;
	state->run_delay = run_delay;
	state->wake_ns = 0;
	state->cpu_ns = cpu;
	if (clock) {
		state->arrival = arrival;
		state->clock_offset = now - clock;
	}
	state->phase = PHASE_LEFT;
}

/* The same of the current task.  Not static, so that the verifier does not check what follows on each of its paths. */
__noinline int thread_off(struct thread_state *state, __u64 now, __u64 clock)
{
	if (state)
		thread_leave(bpf_get_current_task_btf(), state, now, clock);
	return 0;
}

#endif
