/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sends the account of a thread with its system calls in one record, so that its reader does not
 * have to put parts together.
 */
#ifndef BPF_TREE_END_BPF_H
#define BPF_TREE_END_BPF_H

#include "tree_account.bpf.h"
#include "tree_calls.bpf.h"

/* What follows the struct tree_thread_record. */
struct tail {
	struct tree_call_record *calls;
	struct tree_call_record *more;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tree_thread_record);
} last_accounts SEC(".maps");

/* If there was no memory for some of its calls, what it sent and received is not known. */
static __always_inline void traffic_fill(struct task_struct *task, struct thread_state *state,
					 struct tree_usage_record *usage)
{
	struct call_state *found = want_calls ? bpf_task_storage_get(&calls, task, 0, 0) : 0;

	if (!want_calls || state->lost_calls)
		return;
	usage->present |= 1ULL << TREE_USAGE_net_rx_bytes | 1ULL << TREE_USAGE_net_tx_bytes;
	usage->values[TREE_USAGE_net_rx_bytes] = found ? found->traffic.received : 0;
	usage->values[TREE_USAGE_net_tx_bytes] = found ? found->traffic.sent : 0;
}

static __always_inline void tail_find(struct task_struct *task, struct thread_state *state,
				      struct tree_thread_record *record, struct tail *tail)
{
	struct call_state *found = want_calls ? bpf_task_storage_get(&calls, task, 0, 0) : 0;
	struct call_state_more *more = 0;
	__u64 count;

	record->head.size = sizeof(*record);
	if (!want_calls)
		return;
	record->flags |= TREE_THREAD_HAS_CALLS;
	record->unnamed_calls = state->lost_calls;
	if (!found)
		return;
	record->unnamed_calls += found->unnamed_calls;
	record->unnamed_ns = found->unnamed_ns;
	count = found->slot_count;
	if (count > TREE_CALL_SLOTS)
		more = bpf_task_storage_get(&calls_more, task, 0, 0);
	tail->calls = found->slots;
	if (more)
		tail->more = more->slots;
	else if (count > TREE_CALL_SLOTS)
		count = TREE_CALL_SLOTS;
	record->call_count = count < TREE_CALLS_MAX ? count : TREE_CALLS_MAX;
	record->head.size += record->call_count * sizeof(struct tree_call_record);
}

static __always_inline __u64 first_calls(const struct tree_thread_record *record)
{
	__u64 count = record->call_count;

	barrier_var(count);
	return count < TREE_CALL_SLOTS ? count : TREE_CALL_SLOTS;
}

static __always_inline __u64 more_calls(const struct tree_thread_record *record)
{
	__u64 count = record->call_count;

	barrier_var(count);
	if (count <= TREE_CALL_SLOTS)
		return 0;
	count -= TREE_CALL_SLOTS;
	return count < TREE_CALL_SLOTS_MORE ? count : TREE_CALL_SLOTS_MORE;
}

static __always_inline void last_account_send(struct tree_thread_record *record, struct tail *tail)
{
	__u32 offset = sizeof(*record);
	struct bpf_dynptr target;
	__u64 size;

	if (bpf_ringbuf_reserve_dynptr(&ring, record->head.size, 0, &target) < 0) {
		bpf_ringbuf_discard_dynptr(&target, BPF_RB_NO_WAKEUP);
		loss_count(TREE_LOSS_THREADS);
		return;
	}
	bpf_dynptr_write(&target, 0, record, sizeof(*record), 0);
	if (tail->calls) {
		size = first_calls(record) * sizeof(struct tree_call_record);
		bpf_dynptr_write(&target, offset, tail->calls, size, 0);
		offset += size;
	}
	if (tail->more) {
		size = more_calls(record) * sizeof(struct tree_call_record);
		bpf_dynptr_write(&target, offset, tail->more, size, 0);
	}
	bpf_ringbuf_submit_dynptr(&target, ring_flags());
}

/* At the last switch of the current thread: nothing of it changes any more. */
__noinline int thread_end(struct thread_state *state, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tree_thread_record *record;
	struct tail tail = {};
	__u32 zero = 0;

	record = bpf_map_lookup_elem(&last_accounts, &zero);
	if (!record || !state)
		return 0;
	state->phase = PHASE_ENDED;
	if (off_cpu_min_ns)
		stack_settle(state);
	account_fill(task, state, now, record);
	traffic_fill(task, state, &record->usage);
	bpf_probe_read_kernel(&record->ledger, sizeof(record->ledger), &state->ledger);
	tail_find(task, state, record, &tail);
	last_account_send(record, &tail);
	return 0;
}

#endif
