/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which threads are active, and what they do.
 *
 * A thread is active when it runs or wants to, when it waits uninterruptibly, or when it sleeps in a
 * system call and has been switched since the last walk: it has not slept all the time.  How often it
 * had been switched is kept with the task.  That is not known of a thread that is older than the last
 * walk and was not in it: while it sleeps it counts as idle, so the first walk finds no sleeper.
 * The reader itself runs whenever it looks, and is left out.
 *
 * No user can take what others need: the reader limits how many threads of each user have stacks, and
 * may limit how many are reported in a walk.  The next walk reports the next ones, where about as many
 * are active; those that are left out are counted.
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

/* Threads of one user in a walk; 0: no limit. */
__u32 threads_per_user = 0;
__u32 stacks_per_user = 0;
__u64 threads_left_out = 0; /* set to 0 by the reader */

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
	__u64 placed;	/* the walk in which it got its place */
	__u64 place;	/* among the active threads of its user */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct switches);
} switches_of SEC(".maps");

/* Active threads of a user in this walk and the one before. */
struct user_activity {
	__u64 walk;
	__u64 threads;
	__u64 before;
	__u64 stacks;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct user_activity);
} activity_users SEC(".maps");

static struct wait_memory activity_memory;

static __always_inline void activity_begin(void)
{
	last_walk_ns = begun_walk == activity_walk - 1 ? begun_ns : 0;
	begun_ns = bpf_ktime_get_boot_ns();
	begun_walk = activity_walk;
}

/* By the real user: a program that runs as another one is still of who started it. */
static __always_inline struct user_activity *activity_user(struct task_struct *task)
{
	__u32 uid = BPF_CORE_READ(task, real_cred, uid.val);
	struct user_activity fresh = { 0 };
	struct user_activity *user = bpf_map_lookup_elem(&activity_users, &uid);

	if (!user) {
		bpf_map_update_elem(&activity_users, &uid, &fresh, BPF_ANY);
		user = bpf_map_lookup_elem(&activity_users, &uid);
	}
	if (user && user->walk != activity_walk) {
		user->before = user->walk == activity_walk - 1 ? user->threads : 0;
		user->threads = 0;
		user->stacks = 0;
		user->walk = activity_walk;
	}
	return user;
}

/* Whether a place among so many, as there were in the walk before, is one of those that have a turn. */
static __always_inline bool has_turn(__u64 place, __u64 before, __u64 most)
{
	__u64 begin;

	if (before <= most)
		return place < most;
	begin = activity_walk * most % before;
	return place < before && (place >= begin ? place : place + before) - begin < most;
}

/* Whether the thread is among those of its user that this walk reports: each walk has other ones. */
static __always_inline bool is_in_share(struct task_struct *task, struct switches *switches)
{
	struct user_activity *user = activity_user(task);
	bool is_new = switches && switches->placed != activity_walk;

	if (!user || !switches)
		return true;
	if (is_new) {
		switches->placed = activity_walk;
		switches->place = user->threads++;
	}
	if (!threads_per_user || has_turn(switches->place, user->before, threads_per_user))
		return true;
	threads_left_out += is_new;
	return false;
}

/* Whether it was switched since the last walk. */
static __always_inline bool has_switched(struct task_struct *task, struct switches *switches)
{
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
	call_read(task, user_registers(task), &call);
	activity_fields.abi = call.abi;
	activity_fields.number = call.number;
	return call.number >= 0;
}

static __always_inline __u64 state_of_active(struct task_struct *task, struct switches *switches)
{
	__u32 state = task->__state;
	bool switched = has_switched(task, switches);

	if (task->exit_state || task->pid == (__s32)bpf_get_current_pid_tgid())
		return 0;
	if (!state)
		return 'R';
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT) && !(state & TASK_NOLOAD))
		return 'D';
	return state & TASK_INTERRUPTIBLE && switched && is_in_call(task) ? 'S' : 0;
}

/* The state of a thread that is reported as active, as ps has it; 0 for others. */
static __always_inline __u64 active_state(struct task_struct *task)
{
	struct switches *switches =
		bpf_task_storage_get(&switches_of, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 state = state_of_active(task, switches);

	return state && is_in_share(task, switches) ? state : 0;
}

static __always_inline __u32 activity_reason(struct task_struct *task)
{
	__u32 state = task->__state;

	__builtin_memset(&activity_memory, 0, sizeof(activity_memory));
	if (task->flags & PF_NO_CALL)
		return BPF_CORE_READ_BITFIELD(task, in_iowait) ? TREE_WAIT_DISK : TREE_WAIT_OTHER;
	return wait_reason_of(task, user_registers(task), &activity_memory, state, false);
}

static __always_inline void process_fill(struct task_struct *task, struct activity_fields *fields)
{
	const struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	fields->process_start = BPF_CORE_READ(leader, start_boottime);
	fields->uid = BPF_CORE_READ(task, real_cred, uid.val);
	bpf_probe_read_kernel(fields->process_comm, sizeof(fields->process_comm), &leader->comm);
}

/* A thread that runs on another CPU has no stack that could be read. */
static __always_inline void stack_fill(struct task_struct *task, struct activity_fields *fields)
{
	struct user_activity *user;
	long size;

	fields->frame_count = 0;
	if (fields->flags & TASK_ACTIVITY_ON_CPU)
		return;
	user = activity_user(task);
	if (!with_stacks || (user && user->stacks++ >= stacks_per_user)) {
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
