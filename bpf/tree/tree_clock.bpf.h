/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * When a thread came onto its CPU.  The switch that brings it need not be observed, which some
 * kernels do not report anyway: the scheduler remembers when it was.
 */
#ifndef BPF_TREE_CLOCK_BPF_H
#define BPF_TREE_CLOCK_BPF_H

#include "tree_state.bpf.h"

static __always_inline bool arrivals_are_known(void)
{
	return bpf_core_field_exists(struct task_struct, sched_info.last_arrival) &&
	       bpf_core_field_exists(struct task_struct, se.cfs_rq);
}

/*
 * From the scheduler's clock to ours, for threads that have not left a CPU yet.  Set at switches
 * until the first member leaves its CPU.
 */
__u64 first_clock_offset = 0;
__u32 is_first_awaited = 1;

/* The scheduler's clock, when the current task leaves its CPU; 0: arrivals are not known. */
static __always_inline __u64 scheduler_clock(struct task_struct *task)
{
	return arrivals_are_known() ? task->se.cfs_rq->rq->clock : 0;
}

/* When the task last came onto a CPU, by the scheduler's clock; 0: not known. */
static __always_inline __u64 task_arrival(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_arrival) ?
		       task->sched_info.last_arrival :
		       0;
}

/* What a sample needs to know about a task; read again for each try. */
struct moment {
	__u64 now;
	__u64 run_delay;
	__u64 cpu_ns;
	__u64 queued, arrival; /* by the scheduler's clock; 0: not known */
	__u32 state;
	__u32 on_cpu;
};

static __always_inline bool has_arrived(const struct thread_state *state,
					const struct moment *moment)
{
	if (!moment->on_cpu || state->phase == PHASE_JOINED)
		return moment->on_cpu;
	return !arrivals_are_known() || moment->arrival != state->arrival;
}

/*
 * When a thread that left its CPU at out_ns came onto the one that it leaves now, after it `ran` for
 * so long.  Without the scheduler's clock that is the CPU time that it was charged, which lacks
 * interrupts.  The scheduler does not always advance its clock; but a thread that left was away.
 */
static __always_inline __u64 arrival_ns(const struct thread_state *state, __u64 ran, __u64 now)
{
	return ran < now - state->out_ns ? now - ran : state->out_ns + (now > state->out_ns);
}

/* When a thread that is on a CPU came onto it. */
static __always_inline __u64 arrived_ns(const struct thread_state *state,
					const struct moment *moment)
{
	__u64 ran = moment->cpu_ns - state->cpu_ns;

	if (state->phase == PHASE_JOINED)
		return state->in_ns;
	if (arrivals_are_known() && state->clock_offset) {
		__u64 in_ns = moment->arrival + state->clock_offset;

		ran = in_ns < moment->now ? moment->now - in_ns : 0;
	}
	return arrival_ns(state, ran, moment->now);
}

#endif
