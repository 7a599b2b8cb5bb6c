/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds out who wakes a thread.
 *
 * The current task is the waker only if no interrupt came in between, which the CPU's preemption
 * count shows.  Where that is cannot be asked by name: the loader takes its distance from the run
 * queue, which is near it, from the kernel's type information.
 */
#ifndef BPF_TREE_WAKING_BPF_H
#define BPF_TREE_WAKING_BPF_H

#include "tree_state.bpf.h"

#define PREEMPT_SERVING_SOFTIRQ 0x000100
#define PREEMPT_HARDIRQ_OR_NMI 0xff0000
#define REASON_NOT_KNOWN 0xff /* of a wait that has not begun */

/* From the run queue of a CPU to its preemption count, or to pcpu_hot, which has it; 0: not known. */
const volatile __s64 preempt_distance = 0;

/*
 * Another CPU may read a waker meanwhile.  The class says that all the rest is there: it is written
 * last and read first.  For the order see sequence_step().
 */
static __always_inline void waker_class_set(struct waker *waker, __u32 class)
{
	barrier();
	if (is_arm64()) {
		__u32 before = __sync_lock_test_and_set(&waker->class, class);

		barrier_var(before);
	} else {
		*(volatile __u32 *)&waker->class = class;
	}
	barrier();
}

static __always_inline __u32 waker_class_read(struct waker *waker)
{
	__u32 class;

	barrier();
	if (is_arm64())
		class = __sync_fetch_and_add(&waker->class, 0);
	else
		class = *(volatile __u32 *)&waker->class;
	barrier();
	return class;
}

static __always_inline bool interrupts_are_known(void)
{
	return preempt_distance || bpf_core_field_exists(struct task_struct, thread_info.preempt);
}

static __always_inline __u32 preempt_count_read(struct task_struct *current)
{
	__s64 distance = preempt_distance;
	__u32 count = 0;

	if (bpf_core_field_exists(struct task_struct, thread_info.preempt))
		return current->thread_info.preempt.count;
	if (bpf_core_field_exists(struct pcpu_hot, preempt_count))
		distance += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	bpf_probe_read_kernel(&count, sizeof(count),
			      (const char *)BPF_CORE_READ(current, se.cfs_rq, rq) + distance);
	return count;
}

/*
 * A message over loopback is delivered by a software interrupt within the call that sends it.  All
 * other software interrupts have nothing to do with the task that they interrupt.
 */
static __always_inline bool is_sending(struct task_struct *waker, __u32 reason)
{
	struct call call;
	__u32 rule;

	if (reason != TREE_WAIT_NETWORK && reason != TREE_WAIT_PIPE && reason != TREE_WAIT_POLL &&
	    reason != REASON_NOT_KNOWN)
		return false;
	if (waker->flags & PF_KTHREAD)
		return false;
	call_read(waker, user_registers(waker), &call);
	if (call.number < 0)
		return false;
	rule = rule_of(call.abi, call.number) & TREE_RULE_MASK;
	return rule == TREE_RULE_BY_FD || rule == TREE_WAIT_NETWORK;
}

static __always_inline bool is_interrupted(struct task_struct *waker, __u32 reason)
{
	__u32 count = preempt_count_read(waker);

	if (!waker->pid || count & PREEMPT_HARDIRQ_OR_NMI)
		return true;
	return count & PREEMPT_SERVING_SOFTIRQ && !is_sending(waker, reason);
}

static __always_inline void waker_set(struct waker *waker, struct task_struct *task, __u32 class)
{
	waker->pid = process_number(task);
	waker->tid = thread_number(task);
	comm_copy(task, waker->comm);
	waker_class_set(waker, class);
}

/*
 * Sets who, if anybody, wakes a thread right now that waits for `reason`.  Not static, so that the
 * verifier checks it once and separately.
 */
__noinline int waker_find(struct waker *ret, __u32 reason)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *member;

	if (!ret)
		return 0;
	waker_class_set(ret, TREE_WAKER_UNKNOWN);
	__builtin_memset(ret, 0, sizeof(*ret));
	if (!interrupts_are_known())
		return 0;
	if (is_interrupted(task, reason)) {
		waker_class_set(ret, TREE_WAKER_INTERRUPT);
		return 0;
	}
	if (task->flags & PF_KTHREAD) {
		waker_set(ret, task, TREE_WAKER_KERNEL);
		return 0;
	}
	member = thread_find(task);
	if (!member || member->phase == PHASE_ARMED) {
		waker_set(ret, task, TREE_WAKER_OUTSIDE);
	} else {
		ret->serial = member->serial;
		waker_set(ret, task, TREE_WAKER_MEMBER);
	}
	return 0;
}

#endif
