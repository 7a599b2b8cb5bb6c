/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Identifies tasks: fills the heads of records, and the record of a task that joins the tree.
 */
#ifndef BPF_TREE_PROCESS_BPF_H
#define BPF_TREE_PROCESS_BPF_H

#include "tree_state.bpf.h"

/* A process is identified by its leader; a new leader takes over the start of the old one. */
static __always_inline void process_head(struct task_struct *task, enum tree_record_type type,
					 __u32 size, struct tree_record_head *ret)
{
	ret->size = size;
	ret->type = type;
	ret->pid = ret->tid = process_number(task);
	ret->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	ret->time_ns = bpf_ktime_get_ns();
}

static __always_inline void fork_fill(struct task_struct *task, const struct thread_state *state,
				      struct tree_fork_record *record)
{
	record->head.size = sizeof(*record);
	record->head.type = TREE_RECORD_FORK;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.start_ns = state->start_ns;
	record->head.time_ns = state->begin_ns;
	record->parent_pid = state->pid;
	if (task->pid == task->tgid)
		record->parent_pid = parent_number(task);
	record->inner_pid = pid_inner_number(BPF_CORE_READ(task, thread_pid));
	record->found = 0;
	record->serial = state->serial;
	record->creator = state->creator;
	record->euid = BPF_CORE_READ(task, real_cred, euid.val);
	comm_copy(task, record->comm);
}

static __always_inline void fork_send(struct task_struct *task, const struct thread_state *state)
{
	struct tree_fork_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		loss_count(TREE_LOSS_EVENTS);
		return;
	}
	fork_fill(task, state, record);
	bpf_ringbuf_submit(record, ring_flags());
}

__u32 serials = 0; /* how many threads have joined the tree */

static __always_inline void identity_fill(struct task_struct *task, struct thread_state *state)
{
	state->serial = __sync_fetch_and_add(&serials, 1) + 1;
	state->pid = process_number(task);
	state->tid = thread_number(task);
	state->start_ns = task->start_boottime;
}

static __always_inline void process_begin(struct task_struct *task, __u32 is_root)
{
	struct process_state process = { .is_root = is_root, .threads = 1 };
	__u32 tgid = task->tgid;

	if (bpf_map_update_elem(&processes, &tgid, &process, BPF_ANY) < 0)
		loss_count(TREE_LOSS_TASKS);
}

/* Counts another thread of a process that we know. */
static __always_inline void process_join(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct process_state *process = bpf_map_lookup_elem(&processes, &tgid);

	if (process)
		__sync_fetch_and_add(&process->threads, 1);
}

/*
 * Counts a thread of a process that ran before us.  It may be the first one found: the leader may
 * have ended.
 */
static __always_inline void process_find(struct task_struct *task, __u32 is_root)
{
	struct process_state process = { .is_root = is_root, .threads = 1 };
	__u32 tgid = task->tgid;
	long status = bpf_map_update_elem(&processes, &tgid, &process, BPF_NOEXIST);

	if (status == -EEXIST)
		process_join(task);
	else if (status < 0)
		loss_count(TREE_LOSS_TASKS);
}

#endif
