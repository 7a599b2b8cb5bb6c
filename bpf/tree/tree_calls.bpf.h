/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts the system calls of a thread.  Each number that it used has a slot, in separate task
 * storage that is made at its first call.
 */
#ifndef BPF_TREE_CALLS_BPF_H
#define BPF_TREE_CALLS_BPF_H

#include "tree_sockets.bpf.h"

/* Numbers beyond the tables, and those of an unknown table, share some places by hash. */
#define PLACES_OTHER 64
#define PLACES (2 * TREE_CALL_NUMBERS + PLACES_OTHER)
#define ERROR_SHIFT 48
#define EINTR 4
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516

struct call_state {
	__u64 enter_ns; /* 0: not in a call that is timed */
	__u32 number;
	__u32 abi;
	__u64 unnamed_calls;
	__u64 unnamed_ns;
	struct files files;
	struct traffic traffic;
	__u64 slot_count;
	__u8 slot_of[PLACES]; /* 1 for the first slot; 0: none yet */
	struct tree_call_record slots[TREE_CALL_SLOTS];
};

struct call_state_more {
	struct tree_call_record slots[TREE_CALL_SLOTS_MORE];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_state);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_state_more);
} calls_more SEC(".maps");

static __always_inline __u32 call_place(__u32 abi, __u32 number)
{
	if (abi == TREE_ABI_UNKNOWN || number >= TREE_CALL_NUMBERS)
		return 2 * TREE_CALL_NUMBERS + (number & (PLACES_OTHER - 1));
	return abi == TREE_ABI_COMPAT ? number + TREE_CALL_NUMBERS : number;
}

static __always_inline struct tree_call_record *slot_at(struct call_state *state, __u64 index,
							__u64 flags)
{
	struct call_state_more *more;

	if (index < TREE_CALL_SLOTS)
		return &state->slots[index];
	index -= TREE_CALL_SLOTS;
	if (index >= TREE_CALL_SLOTS_MORE)
		return 0;
	more = bpf_task_storage_get(&calls_more, bpf_get_current_task_btf(), 0, flags);
	if (!more)
		return 0;
	barrier_var(index);
	if (index >= TREE_CALL_SLOTS_MORE)
		return 0;
	return &more->slots[index];
}

static __always_inline struct tree_call_record *slot_new(struct call_state *state, __u32 place)
{
	__u64 index = state->slot_count;
	struct tree_call_record *slot;

	if (place >= PLACES)
		return 0;
	slot = slot_at(state, index, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!slot)
		return 0;
	slot->number = state->number;
	slot->abi = state->abi;
	state->slot_count = index + 1;
	state->slot_of[place] = index + 1;
	return slot;
}

/* The slot of the number that the current task's state has; 0: there is none for it. */
static __always_inline struct tree_call_record *slot_find(struct call_state *state)
{
	__u32 place = call_place(state->abi, state->number);
	struct tree_call_record *slot;
	__u64 known;

	if (place >= PLACES)
		return 0;
	known = state->slot_of[place];
	if (!known)
		return slot_new(state, place);
	slot = slot_at(state, known - 1, 0);
	if (place < 2 * TREE_CALL_NUMBERS || !slot)
		return slot;
	return slot->number == state->number && slot->abi == state->abi ? slot : 0;
}

/* The same for most calls: those that the thread made before, among its first numbers. */
static __always_inline struct tree_call_record *slot_known(struct call_state *state)
{
	__u32 number = state->number;
	__u64 index;

	if (state->abi != TREE_ABI_NATIVE || number >= TREE_CALL_NUMBERS)
		return 0;
	index = state->slot_of[number] - 1ULL;
	barrier_var(index);
	return index < TREE_CALL_SLOTS ? &state->slots[index] : 0;
}

/* Halves the range in which the highest bit of a value is; without a branch, since each would double the verifier's paths. */
static __always_inline void highest_bit_step(__u64 *value, __u32 *ret, __u32 bits)
{
	__u64 rest = (1ULL << bits) - 1 - *value;
	__u32 shift;

	barrier_var(rest);
	shift = (rest >> 63) * bits;
	*value >>= shift;
	*ret += shift;
}

/* The number of the bucket of SYSCALL_BUCKETS for a time.  Most calls are so short that they are in the first two. */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u64 value = ns >> 6;
	__u32 bucket = 0;

	if (value < 4)
		return value >> 1;
	if (value >> 31)
		return TREE_CALL_BUCKETS - 1;
	highest_bit_step(&value, &bucket, 16);
	highest_bit_step(&value, &bucket, 8);
	highest_bit_step(&value, &bucket, 4);
	highest_bit_step(&value, &bucket, 2);
	highest_bit_step(&value, &bucket, 1);
	return bucket;
}

/* The kernel's internal codes for restarting a call mean that a signal came: count EINTR. */
static __always_inline void slot_add_error(struct tree_call_record *slot, __u64 error)
{
	if (error >= ERESTARTSYS && error <= ERESTART_RESTARTBLOCK)
		error = EINTR;
	slot->errors++;
	for (int i = 0; i < TREE_CALL_ERRORS; i++) {
		__u64 row = slot->by_error[i];

		if (!row)
			row = error << ERROR_SHIFT;
		if (row >> ERROR_SHIFT == error) {
			slot->by_error[i] = row + 1;
			return;
		}
	}
	slot->other_errors++;
}

static __always_inline void slot_add(struct tree_call_record *slot, __u64 ns, __u32 kind)
{
	__u32 number = bucket_of(ns), *bucket;

	barrier_var(number);
	bucket = &slot->buckets[number & (TREE_CALL_BUCKETS - 1)];
	slot->count++;
	slot->total_ns += ns;
	if (ns > slot->max_ns)
		slot->max_ns = ns;
	if (*bucket != 0xffffffff)
		*bucket += 1;
	if (kind != SOCKET_NONE) {
		slot->socket_count++;
		slot->socket_ns += ns;
	}
}

static __always_inline __u64 first_argument(struct pt_regs *registers, __u32 abi)
{
	if (is_arm64())
		return ((struct pt_regs___arm64 *)registers)->orig_x0;
	return abi == TREE_ABI_COMPAT ? registers->bx : registers->di;
}

static __always_inline struct call_state *call_state_find(struct task_struct *task)
{
	struct call_state *state = bpf_task_storage_get(&calls, task, 0, 0);
	struct thread_state *thread;

	if (state)
		return state;
	thread = thread_find(task);
	if (!thread || thread->phase == PHASE_ARMED)
		return 0;
	state = bpf_task_storage_get(&calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		thread->lost_calls++;
		loss_count(TREE_LOSS_CALLS);
	}
	return state;
}

static __always_inline void unnamed_add(struct call_state *state, __u64 ns)
{
	state->unnamed_calls++;
	state->unnamed_ns += ns;
	loss_count(TREE_LOSS_CALLS);
}

/*
 * Counts the call of the current task that took so long.  An error of 0 is none.  Not static, so that the verifier
 * checks it once, not on each path to it.
 */
__noinline int call_count(struct call_state *state, __u64 ns, __u32 kind, __u64 error)
{
	struct tree_call_record *slot;

	if (!state)
		return 0;
	slot = slot_find(state);
	if (!slot) {
		unnamed_add(state, ns);
		return 0;
	}
	slot_add(slot, ns, kind);
	if (error)
		slot_add_error(slot, error);
	return 0;
}

/* Returns true if the call never returns. */
static __always_inline bool call_enter(struct task_struct *task, __s64 number)
{
	struct call_state *state = call_state_find(task);

	if (!state)
		return false;
	state->number = number;
	state->abi = number & X32_SYSCALL_BIT ? TREE_ABI_UNKNOWN : task_abi(task);
	state->enter_ns = 0;
	if (number < 0)
		return false;
	if (!(rule_of(state->abi, number) & TREE_RULE_ENDLESS)) {
		state->enter_ns = bpf_ktime_get_ns();
		return false;
	}
	call_count(state, 0, SOCKET_NONE, 0);
	return true;
}

/* Returns how long the call took; 0: not known. */
static __always_inline __u64 call_leave(struct task_struct *task, struct pt_regs *registers,
					__s64 result)
{
	struct call_state *state = bpf_task_storage_get(&calls, task, 0, 0);
	__u32 rule, kind = SOCKET_NONE;
	struct tree_call_record *slot = 0;
	__u64 ns, error = 0;

	if (!state || !state->enter_ns)
		return 0;
	ns = bpf_ktime_get_ns() - state->enter_ns;
	state->enter_ns = 0;
	rule = rule_of(state->abi, state->number);
	if ((rule & TREE_RULE_MASK) != TREE_RULE_BY_FD)
		files_forget(&state->files);
	else
		kind = socket_kind_of(&state->files, first_argument(registers, state->abi));
	if (kind == SOCKET_NETWORK)
		traffic_add(&state->traffic, registers, state->abi, state->number, result);
	if (result < 0 && result >= -MAX_ERRNO && !(rule & TREE_RULE_NO_RESULT))
		error = -result;
	else
		slot = slot_known(state);
	if (slot)
		slot_add(slot, ns, kind);
	else
		call_count(state, ns, kind, error);
	return ns;
}

#endif
