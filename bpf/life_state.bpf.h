/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs that follow lives have in common: the ring, losses, which processes are
 * followed, and the heads of records.
 */
#ifndef BPF_LIFE_STATE_BPF_H
#define BPF_LIFE_STATE_BPF_H

#include "cgroup.bpf.h"
#include "identity.bpf.h"
#include "life.h"

#define WAKE_NS 200000000ULL /* between two wake-ups, unless the ring fills */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LIFE_RING_BYTES);
} ring SEC(".maps");

/* In a tree: members have the pass of the walk that found them, or of their parent. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} members SEC(".maps");

const volatile __u32 scope = LIFE_SCOPE_HOST;
const volatile __u64 scope_cgroup = 0; /* id of the cgroup */
const volatile __u64 wake_bytes = LIFE_RING_BYTES / 4;

__u64 losses[LIFE_RECORD_COUNT] = {}; /* records that found no room, by type */
__u64 lost_members = 0;		      /* tasks for which the kernel had no memory */
__u64 last_wake_ns = 0;

static __always_inline void loss_count(enum life_record_type type)
{
	__sync_fetch_and_add(&losses[type], 1);
}

/*
 * Waking the reader takes far longer than writing a record.  So it is woken for the first record
 * after a pause, looks again by itself soon after, and else is woken when the ring fills.
 */
static __always_inline __u64 ring_flags(__u64 now)
{
	if (now - last_wake_ns >= WAKE_NS) {
		last_wake_ns = now;
		return BPF_RB_FORCE_WAKEUP;
	}
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > wake_bytes ? BPF_RB_FORCE_WAKEUP :
									  BPF_RB_NO_WAKEUP;
}

static __always_inline bool is_member(struct task_struct *task)
{
	switch (scope) {
	case LIFE_SCOPE_TREE:
		return bpf_task_storage_get(&members, task, 0, 0);
	case LIFE_SCOPE_CGROUP:
		return is_in_cgroup(task, scope_cgroup);
	default:
		return true;
	}
}

/* A process is identified by its leader; a new leader takes over the start of the old one. */
static __always_inline void head_fill(struct task_struct *task, enum life_record_type type,
				      __u32 size, struct life_record_head *ret)
{
	struct task_struct *leader = task->group_leader;

	ret->size = size;
	ret->type = type;
	ret->pid = process_number(task);
	ret->parent_pid = parent_number(task);
	ret->euid = BPF_CORE_READ(task, real_cred, euid.val);
	ret->reserved = 0;
	ret->start_ns = leader->start_boottime;
	ret->time_ns = bpf_ktime_get_ns();
	comm_copy(leader, ret->comm);
}

/* Sends a record that is only a head. */
static __always_inline void head_send(struct task_struct *task, enum life_record_type type)
{
	struct life_record_head *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		loss_count(type);
		return;
	}
	head_fill(task, type, sizeof(*record), record);
	bpf_ringbuf_submit(record, ring_flags(record->time_ns));
}

#endif
