/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The end of a process, with what all its threads used.
 *
 * How it ends is known when its last thread exits.  What it used is final only when its threads
 * leave their CPUs for the last time, which can be in any order.  The kernel's own sum over the
 * threads of a process leaves out their last time slices, so each thread is added here as it
 * leaves, and the thread that leaves last sends the record.
 */
#ifndef BPF_LIFE_END_BPF_H
#define BPF_LIFE_END_BPF_H

#include "life_state.bpf.h"
#include "signal.bpf.h"
#include "resident.bpf.h"

#define GROUPS_MAX (1 << 16)

/*
 * A process that has had several threads, or is about to end.
 *
 * Threads are counted from the second one on.  If there were more when the process was first
 * seen, some of them may be about to leave, and it is not known how many; then the record is sent
 * by the thread that exits last.
 */
struct group_state {
	__s32 threads; /* which have not left their CPU for ever */
	__s32 last_tid;
	__u32 is_counted;
	__u32 is_ending; /* the record is complete but for `usage` */
	struct life_exit_record record;
};

/* Key: address of the signal_struct, which lives as long as any of the threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, GROUPS_MAX);
	__type(key, __u64);
	__type(value, struct group_state);
} groups SEC(".maps");

static __always_inline struct group_state *group_find(struct task_struct *task)
{
	__u64 key = (__u64)task->signal;

	return bpf_map_lookup_elem(&groups, &key);
}

static __always_inline void group_forget(struct task_struct *task)
{
	__u64 key = (__u64)task->signal;

	bpf_map_delete_elem(&groups, &key);
}

/* Begins with what threads used that have ended before. */
static __always_inline struct group_state *group_add(struct task_struct *task, __s32 threads)
{
	struct signal_struct *signal = task->signal;
	struct group_state state = {
		.threads = threads,
		.is_counted = signal->nr_threads == threads,
	};
	__u64 key = (__u64)signal;

#define READ_ENDED(id, task_path, signal_path)                                                     \
	if (bpf_core_field_exists(task->task_path) &&                                              \
	    bpf_core_field_exists(signal->signal_path)) {                                          \
		state.record.usage[LIFE_USAGE_##id] = signal->signal_path;                         \
		state.record.present |= 1ULL << LIFE_USAGE_##id;                                   \
	}
#define READ_NOTHING(id, task_path)                                                                \
	if (bpf_core_field_exists(task->task_path) && !signal->sum_sched_runtime)                  \
		state.record.present |= 1ULL << LIFE_USAGE_##id;
	LIFE_USAGES(READ_ENDED, READ_NOTHING)
#undef READ_ENDED
#undef READ_NOTHING
	bpf_map_update_elem(&groups, &key, &state, BPF_NOEXIST);
	return bpf_map_lookup_elem(&groups, &key);
}

/* `thread` was made, and has not run yet. */
static __always_inline void group_join(struct task_struct *thread)
{
	struct group_state *state = group_find(thread);

	if (!state)
		group_add(thread, 2);
	else
		__sync_fetch_and_add(&state->threads, 1);
}

/* Before 6.16 the memory is already gone when a process exits. */
static __always_inline void end_fill(struct task_struct *task, struct life_exit_record *record)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	head_fill(task, LIFE_RECORD_EXIT, sizeof(*record), &record->head);
	record->status = exit_status(task);
	record->oom_killed =
		(record->status & 0x7f) == SIGKILL && BPF_CORE_READ(task, signal, oom_mm);
	record->maxrss = BPF_CORE_READ(task, signal, maxrss);
	record->has_peak = mm && resident_is_known();
	record->peak = record->has_peak ? peak_pages(mm) : 0;
}

/*
 * Whether this is the last thread of its process.  Where the kernel does not say so, several
 * threads that exit at once may take themselves for the last.
 */
static __always_inline bool is_last(struct task_struct *task, __u64 *arguments)
{
	if (bpf_core_field_exists(struct trace_event_raw_sched_process_exit, group_dead))
		return arguments[1] & 1;
	return BPF_CORE_READ(task, signal, live.counter) <= 0;
}

static __always_inline void group_exit(struct task_struct *task, bool is_last_thread)
{
	struct group_state *state = group_find(task);

	if (!state)
		state = group_add(task, 1);
	if (!state) {
		if (is_last_thread)
			loss_count(LIFE_RECORD_EXIT);
		return;
	}
	if (!is_last_thread)
		return;
	end_fill(task, &state->record);
	state->last_tid = task->pid;
	state->is_ending = 1;
}

static __always_inline void usage_add(struct task_struct *task, struct life_exit_record *record)
{
#define ADD_THREAD(id, task_path, ...)                                                             \
	if (bpf_core_field_exists(task->task_path))                                                \
		__sync_fetch_and_add(&record->usage[LIFE_USAGE_##id], task->task_path);
	LIFE_USAGES(ADD_THREAD, ADD_THREAD)
#undef ADD_THREAD
}

static __always_inline bool is_gone(struct task_struct *task, struct group_state *state)
{
	__s32 before = __sync_fetch_and_add(&state->threads, -1);

	return state->is_ending && (state->is_counted ? before <= 1 : state->last_tid == task->pid);
}

/* The thread leaves its CPU for ever. */
static __always_inline void group_leave(struct task_struct *task)
{
	struct group_state *state = group_find(task);
	__u64 now;

	if (!state)
		return;
	usage_add(task, &state->record);
	if (!is_gone(task, state))
		return;
	now = bpf_ktime_get_ns();
	state->record.head.time_ns = now;
	if (bpf_ringbuf_output(&ring, &state->record, sizeof(state->record), ring_flags(now)) < 0)
		loss_count(LIFE_RECORD_EXIT);
	group_forget(task);
}

#endif
