/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which threads are active, and what they do.
 *
 * A thread is active when it runs or wants to, when it waits uninterruptibly, or when it sleeps in a
 * system call and has been switched since the last walk: it has not slept all the time.  How often it
 * had been switched is kept with the task.  Of a thread that is older than the last walk and was not
 * in it, that is not known: while it sleeps it counts as idle, so the first walk finds no sleeper.
 * The reader itself runs whenever it looks, and is left out.
 *
 * task.bpf.c is built with this (TASK_ACTIVITY) and without: even code that never runs takes time to
 * load.
 */
#ifndef BPF_ACTIVITY_BPF_H
#define BPF_ACTIVITY_BPF_H

#include "kernel.bpf.h"
#include "task.h"

static struct activity_fields activity_fields;

#ifdef TASK_ACTIVITY

#define WAIT_FUNCTION static __noinline
#include "identity.bpf.h"
#include "wait.bpf.h"

/* Set by the reader between walks. */
__u32 with_activity = 0; /* this walk looks at activity */
__u32 only_activity = 0; /* and writes nothing else: active threads, with TASK_IDENTITY_FIELDS */
/* The number of this walk, from 1 on; a gap in the numbers: what was before is long ago. */
__u64 activity_walk = 0;

/* Cleared by the reader when it has enough, also within a walk. */
__u32 with_stacks = 0;

/* This walk, and when it and the one before it began; 0: none, or not right before this one. */
static __u64 begun_walk;
static __u64 begun_ns;
static __u64 last_walk_ns;

/* The program may run twice for a thread within a walk, and must decide the same. */
struct switches {
	__u64 walk;
	__u64 latest;
	__u64 before;
	__u64 is_known; /* what it was before */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct switches);
} switches_of SEC(".maps");

static struct wait_memory activity_memory;

static __always_inline void activity_begin(void)
{
	last_walk_ns = begun_walk == activity_walk - 1 ? begun_ns : 0;
	begun_ns = bpf_ktime_get_boot_ns();
	begun_walk = activity_walk;
}

/* Whether it was switched since the last walk. */
static __always_inline bool has_switched(struct task_struct *task)
{
	struct switches *switches =
		bpf_task_storage_get(&switches_of, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!switches)
		return false;
	if (switches->walk != activity_walk) {
		switches->is_known =
			switches->walk == activity_walk - 1 || task->start_boottime > last_walk_ns;
		switches->before = switches->walk ? switches->latest : 0;
		switches->latest = task->nvcsw + task->nivcsw;
		switches->walk = activity_walk;
	}
	return last_walk_ns && switches->is_known && switches->latest != switches->before;
}

/* Threads of the kernel never entered it: their registers mean nothing. */
#define PF_NO_CALL (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

static __always_inline bool is_in_call(struct task_struct *task)
{
	struct call call;

	if (task->flags & (PF_NO_CALL | PF_EXITING))
		return false;
	call_read(task, &call);
	activity_fields.abi = call.abi;
	activity_fields.number = call.number;
	return call.number >= 0;
}

/* The state of an active thread as ps has it; 0 for one that is not active. */
static __always_inline __u64 active_state(struct task_struct *task)
{
	__u32 state = task->__state;
	bool switched = has_switched(task);

	if (task->exit_state || task->pid == (__s32)bpf_get_current_pid_tgid())
		return 0;
	if (!state)
		return 'R';
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT) && !(state & TASK_NOLOAD))
		return 'D';
	return state & TASK_INTERRUPTIBLE && switched && is_in_call(task) ? 'S' : 0;
}

static __always_inline __u32 activity_reason(struct task_struct *task)
{
	__u32 state = task->__state;

	__builtin_memset(&activity_memory, 0, sizeof(activity_memory));
	if (task->flags & PF_NO_CALL)
		return BPF_CORE_READ_BITFIELD(task, in_iowait) ? TREE_WAIT_DISK : TREE_WAIT_OTHER;
	return wait_reason_of(task, &activity_memory, state, false);
}

static __always_inline void process_fill(struct task_struct *task, struct activity_fields *fields)
{
	const struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	fields->process_start = BPF_CORE_READ(leader, start_boottime);
	bpf_probe_read_kernel(fields->process_comm, sizeof(fields->process_comm), &leader->comm);
}

/* A thread that runs on another CPU has no stack that could be read. */
static __always_inline void stack_fill(struct task_struct *task, struct activity_fields *fields)
{
	long size;

	fields->frame_count = 0;
	if (fields->flags & TASK_ACTIVITY_ON_CPU)
		return;
	if (!with_stacks) {
		fields->flags |= TASK_ACTIVITY_NO_STACK;
		return;
	}
	size = bpf_get_task_stack(task, fields->frames, sizeof(fields->frames), 0);
	if (size > 0)
		fields->frame_count = size / sizeof(__u64);
}

static __always_inline void activity_fill(struct task_struct *task, __u64 state)
{
	struct activity_fields *fields = &activity_fields;

	fields->state = state;
	fields->flags = task->on_cpu ? TASK_ACTIVITY_ON_CPU : 0;
	fields->reason = TREE_WAIT_OTHER;
	if (!task->on_cpu && is_in_call(task))
		fields->flags |= TASK_ACTIVITY_IN_CALL;
	if (state != 'R')
		fields->reason = activity_reason(task);
	process_fill(task, fields);
	stack_fill(task, fields);
}

#else

#define with_activity false
#define only_activity false

static __always_inline void activity_begin(void)
{
}

static __always_inline __u64 active_state(struct task_struct *task)
{
	(void)task;
	return 0;
}

static __always_inline void activity_fill(struct task_struct *task, __u64 state)
{
	(void)task;
	(void)state;
}

#endif
#endif
