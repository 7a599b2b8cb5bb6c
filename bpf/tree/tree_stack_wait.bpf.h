/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks of blocked threads.
 *
 * A system call does not change the user stack of its thread, which can be read when the call returns.
 * So a thread that wakes up after a long block owes a stack: the kernel's part is taken at once, since
 * it is about to change, and the user part when the call returns.  Blocks of one call are one stack, with the kernel's
 * part of the longest.  A block outside of system calls, in a page fault, has no such end: its stack is copied
 * when it begins.  So are all others where the ends of system calls are not seen, because nobody counts
 * calls: to see them would make each call slower, for stacks of the few that block.
 *
 * Shorter blocks have a stack only now and then.  Where a thread waits is known by its system call and by where it
 * left user space: the time of blocks without a stack of their own is kept by that, and goes to the next
 * stack from there.  All blocked time of the ledger is in a stack, is inferred in this way, or is counted as lost.
 */
#ifndef BPF_TREE_STACK_WAIT_BPF_H
#define BPF_TREE_STACK_WAIT_BPF_H

#include "tree_clock.bpf.h"
#include "tree_stack.bpf.h"

#define STACK_PAUSE_NS 10000000	  /* between two stacks of short blocks of a thread */
#define STACK_NEW_PAUSE_NS 200000 /* likewise, where there was none yet */

/* Number of threads that owe a stack: while it is 0, the end of a system call costs one look at it. */
__u32 stacks_owed = 0;

/* The number of the system call that a task is in, or TREE_STACK_NO_CALL. */
static __always_inline __u32 call_number(struct pt_regs *registers)
{
	__s32 number = is_arm64() ? ((struct pt_regs___arm64 *)registers)->syscallno :
				    (__s32)registers->orig_ax;

	return number < 0 ? TREE_STACK_NO_CALL : number;
}

static __always_inline void stack_place_find(struct task_struct *task, struct pt_regs *registers,
					     struct stack_place *ret)
{
	ret->pc = ret->sp = 0;
	ret->syscall = TREE_STACK_NO_CALL;
	if (!has_user_stack(task))
		return;
	stack_place_read(registers, ret);
	ret->syscall = call_number(registers);
}

static __always_inline bool is_same_place(const struct stack_place *a, const struct stack_place *b)
{
	return a->pc == b->pc && a->sp == b->sp && a->syscall == b->syscall;
}

static __always_inline struct stack_wait *wait_at(struct stack_debt *debt, __u64 index)
{
	index &= STACK_WAITS - 1;
	barrier_var(index);
	return &debt->waits[index & (STACK_WAITS - 1)];
}

static __always_inline __u64 wait_index(const struct stack_place *place)
{
	return (place->pc ^ place->sp << 7 ^ place->syscall) * 0x9e3779b97f4a7c15ULL >> 61;
}

static __always_inline void wait_lose(const struct stack_wait *wait, __u64 ns)
{
	stack_lose(wait->place.syscall == TREE_STACK_NO_CALL ? TREE_STACK_FAULT_NS :
							       TREE_STACK_SHORT_NS,
		   ns);
}

/* What begins a record of a block. */
static __always_inline struct stack_buffer *wait_record(const struct stack_wait *wait)
{
	struct stack_buffer *buffer = stack_buffer_take(TREE_STACK_OF_EVENT);

	if (!buffer)
		return 0;
	buffer->record.head.type = TREE_STACK_OFF_CPU;
	buffer->record.syscall = wait->place.syscall;
	buffer->record.reason = wait->reason;
	buffer->record.pc = wait->place.pc;
	buffer->record.sp = wait->place.sp;
	return buffer;
}

/*
 * Sends the time of blocks that no further stack will stand for.  Not static, so that the verifier
 * checks it once, not for each wait.
 */
__noinline int wait_settle(struct thread_state *state, __u64 index)
{
	struct stack_buffer *buffer;
	struct stack_wait *wait;
	__u64 ns;

	if (!state)
		return 0;
	wait = wait_at(&state->debt, index);
	ns = wait->ns;
	if (!ns)
		return 0;
	wait->ns = 0;
	if (!wait->has_stack) {
		wait_lose(wait, ns);
		return 0;
	}
	buffer = wait_record(wait);
	if (!buffer) {
		stack_dropped(ns);
		return 0;
	}
	buffer->record.inferred_ns = ns;
	stack_send(state, buffer, 0, 0);
	return 0;
}

/* The stack cannot be had any more: the time is that of a block without one. */
static __always_inline void debt_release(struct stack_debt *debt)
{
	struct stack_wait *wait = wait_at(debt, wait_index(&debt->place));

	if (is_same_place(&wait->place, &debt->place))
		wait->ns += debt->ns;
	else
		stack_lose(TREE_STACK_SHORT_NS, debt->ns);
	debt->is_owed = 0;
	__sync_fetch_and_add(&stacks_owed, -1);
}

/* Nothing more will come from the thread, or the reader wants to know all. */
static __always_inline void stack_settle(struct thread_state *state)
{
	if (state->debt.is_owed)
		debt_release(&state->debt);
	for (int i = 0; i < STACK_WAITS; i++)
		wait_settle(state, i);
}

static __always_inline bool is_due(const struct stack_debt *debt, const struct stack_wait *wait,
				   __u64 now)
{
	return now - debt->asked_ns >= (wait->has_stack ? STACK_PAUSE_NS : STACK_NEW_PAUSE_NS);
}

/* Copies the stack of the current task, which is about to be blocked. */
static __always_inline void stack_copy_early(struct task_struct *task, struct thread_state *state,
					     struct stack_wait *wait)
{
	struct stack_buffer *buffer = wait_record(wait);
	__u64 size;

	state->debt.asked_ns = state->out_ns;
	if (!buffer)
		return;
	buffer->record.inferred_ns = wait->ns;
	buffer->record.begin_ns = state->out_ns;
	buffer->record.object = state->wait.object;
	wait->ns = 0;
	size = own_stack_copy(task, buffer, 0);
	if (stack_send(state, buffer, size, 1))
		wait->has_stack = 1;
}

/*
 * Until it is known how many functions copy a stack, the next block tells: its stack is copied by the
 * thread itself, and again by its waker.
 */
static __always_inline void own_frames_begin(struct task_struct *task, struct stack_debt *debt)
{
	long size;

	if (debt->is_owed)
		return;
	size = bpf_get_task_stack(task, debt->kernel, sizeof(debt->kernel), 0);
	debt->own_size = size > 0 && size < (long)sizeof(debt->kernel) ? size : 0;
}

static __always_inline void own_frames_find(struct task_struct *task, struct stack_debt *debt)
{
	long size;

	if (debt->is_owed || !debt->own_size)
		return;
	size = bpf_get_task_stack(task, debt->kernel, sizeof(debt->kernel), 0);
	if (size > 0 && (__u64)size < debt->own_size)
		own_frames = (debt->own_size - size) / 8;
	debt->own_size = 0;
}

/* Whether a stack has to be copied before the block. */
static __always_inline bool is_due_early(const struct stack_debt *debt,
					 const struct stack_wait *wait, __u64 now)
{
	return (wait->place.syscall == TREE_STACK_NO_CALL || !has_call_ends) && wait->place.pc &&
	       is_due(debt, wait, now);
}

/* The current task is blocked from now on, at a place where it was not blocked last, or where a stack is due. */
__noinline int stack_block_new(struct thread_state *state, struct stack_place *place)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack_debt *debt;
	struct stack_wait *wait;
	__u64 index;

	if (!state || !place)
		return 0;
	debt = &state->debt;
	index = wait_index(place);
	wait = wait_at(debt, index);
	if (!is_same_place(&wait->place, place)) {
		wait_settle(state, index);
		wait->place = *place;
		wait->has_stack = 0;
	}
	wait->reason = state->reason;
	debt->wait = index + 1;
	if (!own_frames)
		own_frames_begin(task, debt);
	if (is_due_early(debt, wait, state->out_ns))
		stack_copy_early(task, state, wait);
	return 0;
}

/* The current task is blocked from now on. */
static __always_inline void stack_block(struct thread_state *state, struct stack_place *place)
{
	struct stack_debt *debt = &state->debt;
	__u64 index = wait_index(place);
	struct stack_wait *wait = wait_at(debt, index);

	if (!own_frames || !is_same_place(&wait->place, place) ||
	    is_due_early(debt, wait, state->out_ns)) {
		stack_block_new(state, place);
		return;
	}
	wait->reason = state->reason;
	debt->wait = index + 1;
}

/* The current task leaves its CPU, but is not blocked.  If it was in user mode, its call is over. */
static __always_inline void stack_preempt(struct task_struct *task, struct thread_state *state)
{
	if (state->debt.is_owed && call_number(user_registers(task)) == TREE_STACK_NO_CALL)
		debt_release(&state->debt);
}

/* Adds a time off the CPU, as the ledger has it. */
static __always_inline void stack_time_add(struct stack_debt *debt, __u64 blocked_ns)
{
	__u64 rest = blocked_ns > debt->claimed_ns ? blocked_ns - debt->claimed_ns : 0;

	if (debt->wait)
		wait_at(debt, debt->wait - 1)->ns += rest;
	else if (rest)
		stack_lose(TREE_STACK_SHORT_NS, rest);
	debt->claimed_ns = debt->wait = 0;
}

/* A task without a user stack pays at once. */
static __always_inline void stack_pay_kernel(struct task_struct *task, struct thread_state *state,
					     struct stack_wait *wait, __u64 blocked_ns)
{
	struct stack_buffer *buffer = wait_record(wait);
	long size;

	if (!buffer) {
		stack_dropped(blocked_ns);
		return;
	}
	buffer->record.weight_ns = blocked_ns;
	buffer->record.begin_ns = state->out_ns;
	buffer->record.object = state->wait.object;
	comm_copy(task, state->debt.comm);
	size = bpf_get_task_stack(task, buffer->tail, 8 * TREE_STACK_FRAMES, 0);
	stack_send(state, buffer, size > 0 ? size : 0, 0);
}

static __always_inline void stack_owe(struct task_struct *task, struct thread_state *state,
				      struct stack_wait *wait, __u64 blocked_ns)
{
	struct stack_debt *debt = &state->debt;
	long size;

	if (debt->is_owed && !is_same_place(&debt->place, &wait->place))
		debt_release(debt);
	if (!debt->is_owed) {
		debt->is_owed = 1;
		debt->place = wait->place;
		debt->begin_ns = state->out_ns;
		debt->ns = debt->longest_ns = 0;
		__sync_fetch_and_add(&stacks_owed, 1);
	}
	debt->ns += blocked_ns;
	if (blocked_ns < debt->longest_ns)
		return;
	debt->longest_ns = blocked_ns;
	debt->reason = wait->reason;
	debt->object = state->wait.object;
	size = bpf_get_task_stack(task, debt->kernel, sizeof(debt->kernel), 0);
	debt->kernel_size = size > 0 ? size : 0;
}

/* The block of a thread that was found in it: its place was not seen when it began. */
static __always_inline void stack_wait_know(struct task_struct *task, struct thread_state *state)
{
	struct stack_place place;
	struct stack_wait *wait;
	__u64 index;

	stack_place_find(task, user_registers(task), &place);
	index = wait_index(&place);
	wait = wait_at(&state->debt, index);
	if (wait->place.pc || wait->ns)
		return;
	wait->place = place;
	wait->reason = state->reason;
	state->debt.wait = index + 1;
}

/* The thread is woken after it was blocked. */
static __always_inline void stack_wake(struct task_struct *task, struct thread_state *state)
{
	struct stack_debt *debt = &state->debt;
	__u64 now = state->wake_ns, blocked_ns = now - state->out_ns;
	struct stack_wait *wait;

	if (state->phase != PHASE_LEFT || state->reason == RUNNABLE || debt->claimed_ns)
		return;
	if (!own_frames)
		own_frames_find(task, debt);
	if (!debt->wait)
		stack_wait_know(task, state);
	if (!debt->wait)
		return;
	wait = wait_at(debt, debt->wait - 1);
	if (blocked_ns < off_cpu_min_ns && !is_due(debt, wait, now))
		return;
	if (!has_user_stack(task)) {
		stack_pay_kernel(task, state, wait, blocked_ns);
	} else {
		if (wait->place.syscall == TREE_STACK_NO_CALL || !has_call_ends)
			return;
		stack_owe(task, state, wait, blocked_ns);
	}
	debt->asked_ns = now;
	debt->claimed_ns = blocked_ns;
}

/* A time off the CPU that is over, but is not yet in the ledger: nobody may look again. */
static __always_inline void stack_time_now(struct stack_debt *debt, __u64 blocked_ns)
{
	if (!debt->wait || blocked_ns <= debt->claimed_ns)
		return;
	wait_at(debt, debt->wait - 1)->ns += blocked_ns - debt->claimed_ns;
	debt->claimed_ns = blocked_ns;
}

/* A thread that is still blocked when the reader wants to know all.  Its memory is the reader's to read. */
static __always_inline void stack_still(struct task_struct *task, struct thread_state *state,
					__u64 blocked_ns)
{
	struct stack_debt *debt = &state->debt;
	struct tree_stack_record *record;
	struct stack_buffer *buffer;
	long size;

	if (!debt->wait)
		stack_wait_know(task, state);
	if (!debt->wait || debt->claimed_ns)
		return;
	debt->claimed_ns = blocked_ns;
	buffer = wait_record(wait_at(debt, debt->wait - 1));
	if (!buffer) {
		stack_dropped(blocked_ns);
		return;
	}
	record = &buffer->record;
	record->weight_ns = blocked_ns;
	record->begin_ns = state->out_ns;
	record->object = state->wait.object;
	record->switches = task->nvcsw + task->nivcsw;
	if (state->scope.depth)
		record->scope = state->scope;
	if (has_user_stack(task))
		record->flags = TREE_STACK_UNREAD;
	if (record->flags && registers_read(task, record->registers)) {
		record->flags = TREE_STACK_HAS_REGISTERS | TREE_STACK_BLOCKED;
		record->wanted_size = stack_size(task, saved_sp(record));
	}
	comm_copy(task, debt->comm);
	size = bpf_get_task_stack(task, buffer->tail, 8 * TREE_STACK_FRAMES, 0);
	stack_send(state, buffer, size > 0 ? size : 0, 0);
}

/* How many stacks of wakers are sent within a second, and which waits are worth one. */
#define WAKERS_NS 1000000000
#define WAKERS_MAX 200
#define WAKER_FACTOR 10

__u64 wakers_begin_ns = 0;
__u64 wakers_sent = 0;

static __always_inline bool waker_is_counted(__u64 now)
{
	if (now > wakers_begin_ns + WAKERS_NS) {
		wakers_begin_ns = now;
		wakers_sent = 0;
	}
	return ++wakers_sent <= WAKERS_MAX;
}

static __always_inline bool is_worth_waker(const struct thread_state *state)
{
	return off_cpu_min_ns && state->reason != RUNNABLE && state->phase == PHASE_LEFT &&
	       state->wake_ns - state->out_ns >= WAKER_FACTOR * off_cpu_min_ns;
}

/* The current task, another member, ends a wait of the thread. */
static __always_inline void stack_of_waker(struct thread_state *state)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *waker = thread_find(task);
	struct stack_buffer *buffer = 0;
	__u64 size;

	if (!waker)
		return;
	if (waker_is_counted(state->wake_ns))
		buffer = stack_buffer_take(TREE_STACK_OF_EVENT);
	if (!buffer) {
		stack_lose(TREE_STACK_WAKERS, 1);
		return;
	}
	buffer->record.head.type = TREE_STACK_WAKER;
	buffer->record.weight_ns = state->wake_ns - state->out_ns;
	buffer->record.begin_ns = state->out_ns;
	buffer->record.reason = state->reason;
	buffer->record.object = state->wait.object;
	buffer->record.syscall = call_number(user_registers(task));
	buffer->record.woken_pid = state->pid;
	buffer->record.woken_tid = state->tid;
	buffer->record.woken_start_ns = state->start_ns;
	size = own_stack_copy(task, buffer, 1);
	stack_send(waker, buffer, size, 1);
}

static __always_inline void debt_pay(struct thread_state *state, struct stack_debt *debt)
{
	struct stack_wait *wait = wait_at(debt, wait_index(&debt->place));
	bool is_here = is_same_place(&wait->place, &debt->place);
	struct stack_buffer *buffer = wait_record(wait);
	__u64 size = debt->kernel_size;

	if (!buffer) {
		stack_dropped(debt->ns);
		return;
	}
	buffer->record.weight_ns = debt->ns;
	buffer->record.begin_ns = debt->begin_ns;
	buffer->record.object = debt->object;
	buffer->record.reason = debt->reason;
	buffer->record.syscall = debt->place.syscall;
	if (is_here) {
		buffer->record.inferred_ns = wait->ns;
		wait->ns = 0;
	}
	barrier_var(size);
	if (size > sizeof(debt->kernel) ||
	    bpf_probe_read_kernel(buffer->tail, size, debt->kernel) < 0)
		size = 0;
	if (stack_send(state, buffer, size, 1) && is_here)
		wait->has_stack = 1;
}

/* How long the current task was blocked before it came onto its CPU; 0: not known. */
static __always_inline __u64 blocked_before(struct task_struct *task, struct thread_state *state)
{
	__u64 arrival = task_arrival(task), in_ns = arrival + state->clock_offset, queued_ns = 0;

	if (bpf_core_field_exists(task->sched_info.run_delay))
		queued_ns = task->sched_info.run_delay - state->run_delay;
	if (!arrival || !state->clock_offset || state->phase != PHASE_LEFT ||
	    state->reason == RUNNABLE || in_ns < state->out_ns + queued_ns)
		return 0;
	return in_ns - state->out_ns - queued_ns;
}

/*
 * The current task returns from a long call and owes nothing.  If it was blocked there for long, its waking was not seen.
 * Some hosts hide a process of theirs from BPF, and run no program while it has the CPU: a timer that ends a wait then is
 * seen by ftrace, but not here.  The user's part of the stack can still be had; the kernel's is gone.
 */
static __always_inline void stack_owe_late(struct task_struct *task, struct thread_state *state)
{
	struct stack_debt *debt = &state->debt;
	struct stack_place place;
	struct stack_wait *wait;
	__u64 index, blocked_ns = 0;

	stack_place_find(task, user_registers(task), &place);
	index = wait_index(&place);
	wait = wait_at(debt, index);
	if (!is_same_place(&wait->place, &place) || place.syscall == TREE_STACK_NO_CALL)
		return;
	if (debt->wait == index + 1 && !debt->claimed_ns)
		blocked_ns = blocked_before(task, state);
	if (blocked_ns < off_cpu_min_ns && (wait->has_stack || wait->ns < off_cpu_min_ns))
		return;
	debt->is_owed = 1;
	debt->place = place;
	debt->ns = debt->longest_ns = blocked_ns;
	debt->begin_ns = state->out_ns;
	debt->reason = wait->reason;
	debt->object = state->wait.object;
	debt->kernel_size = 0;
	debt->claimed_ns += blocked_ns;
	__sync_fetch_and_add(&stacks_owed, 1);
	stack_lose(TREE_STACK_UNSEEN, 1);
}

/* A system call of the current task returns, after so long. */
static __always_inline void stack_pay(struct task_struct *task, __u64 ns)
{
	struct thread_state *state = thread_find(task);
	struct stack_place place;
	struct stack_debt *debt;

	if (!state)
		return;
	debt = &state->debt;
	if (!debt->is_owed && ns >= off_cpu_min_ns)
		stack_owe_late(task, state);
	if (!debt->is_owed)
		return;
	stack_place_read(user_registers(task), &place);
	place.syscall = debt->place.syscall;
	if (!is_same_place(&place, &debt->place)) {
		debt_release(debt);
		return;
	}
	debt_pay(state, debt);
	debt->is_owed = 0;
	__sync_fetch_and_add(&stacks_owed, -1);
}

#endif
