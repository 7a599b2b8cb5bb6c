/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks over all tasks, or those of one process, for the reader.  Seeding makes running tasks
 * members of the tree; sampling writes the accounts of members.
 *
 * Records are put together in static buffers, which is safe because there is only one reader.
 * When the kernel's output buffer is full it drops the unfinished record and runs the program
 * again for the same task.
 */
#ifndef BPF_TREE_WALK_BPF_H
#define BPF_TREE_WALK_BPF_H

#include "tree_end.bpf.h"
#include "tree_process.bpf.h"

/* Set by the reader before it walks. */
__u32 is_seeding = 0;
__u32 seed_mode = 0;
__s32 seed_pid = 0;
__u64 seed_pass = 0;
__u32 sample_calls = 0;
/* How many accounts samples left out, because switches changed them at each try. */
__u64 torn_samples = 0;

static struct tree_thread_record sample_record;
static struct tree_fork_record seed_record;
static struct thread_state seed_state;

/* Whether the process is a member; a task has its number, also where a pointer to it would be slow to check. */
static __always_inline bool is_followed(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid) != 0;
}

/* The process that watches is not part of the tree, even if it is below it. */
static __always_inline bool is_wanted(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD || task->exit_state || task->tgid == reader_tgid)
		return false;
	if (seed_mode != TREE_SEED_FAMILY)
		return process_number(task) == seed_pid;
	return is_followed(task->tgid) || is_followed(BPF_CORE_READ(task, real_parent, tgid));
}

/* Counts from the start of the task, as far as the kernel did. */
static __always_inline void usage_begin_with_task(struct task_struct *task,
						  struct thread_state *state)
{
	for (int i = 0; i < TREE_USAGE_COUNT; i++)
		state->base[i] = 0;
	state->ledger.on_cpu_ns = task->se.sum_exec_runtime;
	state->ledger.run_queue.ns = task_run_delay(task);
}

/*
 * The state is made in a buffer, since a running task must find its state complete.  Members that
 * are not set here are never set in the buffer, or are the same for every task.
 */
static __always_inline struct thread_state *seed_new(struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();

	identity_fill(task, &seed_state);
	seed_state.user_ns = seed_state.system_ns = 0;
	seed_state.wait.call_reason = 0;
	seed_state.wait.object = 0;
	__builtin_memset(seed_state.wait.counters, 0, sizeof(seed_state.wait.counters));
	seed_state.seed_pass = seed_pass;
	if (seed_mode != TREE_SEED_ARM) {
		usage_begin(task, &seed_state, 0);
		if (since_start)
			usage_begin_with_task(task, &seed_state);
		seed_state.begin_ns = seed_state.in_ns = seed_state.out_ns = now;
		seed_state.run_delay = task_run_delay(task);
		seed_state.cpu_ns = task->se.sum_exec_runtime;
		seed_state.clock_offset = first_clock_offset;
		seed_state.phase = task->on_cpu ? PHASE_JOINED : PHASE_LEFT;
		seed_state.arrival = seed_state.phase == PHASE_LEFT ? task_arrival(task) : 0;
		seed_state.reason = task->__state ?
					    wait_reason_of(task, user_registers(task),
							   &seed_state.wait, task->__state, false) :
					    RUNNABLE;
	}
	return bpf_task_storage_get(&threads, task, &seed_state, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/*
 * If the task left its CPU before it had its state, that switch was not seen: corrects the phase.
 */
static __always_inline void seed_check(struct task_struct *task, struct thread_state *state)
{
	if (state->phase != PHASE_JOINED || task->on_cpu)
		return;
	state->reason = task->__state ? TREE_WAIT_OTHER : RUNNABLE;
	state->arrival = task_arrival(task);
	state->phase = PHASE_LEFT;
}

/* Writes a record for each task that joins the tree. */
static __always_inline int tree_seed(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct thread_state *state;

	if (!task)
		return 0;
	if (context->meta->seq_num == 0) {
		reader_find();
		cpu_offsets_find();
	}
	state = thread_find(task);
	/* The kernel runs this again for a task whose record did not fit. */
	if (state && state->seed_pass != seed_pass)
		return 0;
	if (!state) {
		if (!is_wanted(task))
			return 0;
		state = seed_new(task);
		if (!state) {
			loss_count(TREE_LOSS_TASKS);
			return 0;
		}
		if (seed_mode != TREE_SEED_ARM) {
			seed_check(task, state);
			process_find(task, seed_mode == TREE_SEED_PROCESS);
		}
	}
	fork_fill(task, state, &seed_record);
	seed_record.found = 1;
	bpf_seq_write(context->meta->seq, &seed_record, sizeof(seed_record));
	return 0;
}

/* Finds which task occupies the CPU that this one waits for, or did until this one got it. */
static __always_inline void queue_find(struct task_struct *task)
{
	if (arrivals_are_known() && bpf_core_field_exists(task->thread_info.cpu))
		queued_find_now(&open_record, (__u64)BPF_CORE_READ(task, se.cfs_rq, rq, curr),
				task->thread_info.cpu);
}

/* For the end: what has no stack yet. */
static __always_inline void stacks_finish(struct task_struct *task, struct thread_state *state,
					  __u32 flags)
{
	if (flags & TREE_THREAD_BLOCKED)
		stack_still(task, state, open_blocked_ns);
	else
		stack_time_now(&state->debt, open_blocked_ns);
	stack_settle(state);
}

/* Writes the account of each living thread. */
static __always_inline int tree_sample(struct bpf_iter__task *context)
{
	struct seq_file *output = context->meta->seq;
	struct task_struct *task = context->task;
	struct tree_thread_record *record = &sample_record;
	struct thread_state *state;
	struct tail tail = {};

	if (!task)
		return 0;
	state = thread_find(task);
	if (!state || state->phase == PHASE_ARMED || state->phase == PHASE_ENDED)
		return 0;
	account_fill(task, state, 0, record);
	traffic_fill(task, state, &record->usage);
	if (!ledger_copy(task, state, record)) {
		torn_samples++;
		return 0;
	}
	current_call_fill(task, record);
	if (off_cpu_min_ns && sample_calls)
		stacks_finish(task, state, record->flags);
	record->head.size = sizeof(*record);
	if (sample_calls)
		tail_find(task, state, record, &tail);
	bpf_seq_write(output, record, sizeof(*record));
	if (!sample_calls)
		return 0;
	if (tail.calls)
		bpf_seq_write(output, tail.calls,
			      first_calls(record) * sizeof(struct tree_call_record));
	if (tail.more)
		bpf_seq_write(output, tail.more,
			      more_calls(record) * sizeof(struct tree_call_record));
	if (!want_waits || !open_record.head.size)
		return 0;
	if (open_record.run_ns > open_record.wake_ns)
		queue_find(task);
	bpf_seq_write(output, &open_record, sizeof(open_record));
	return 0;
}

/* One program for both, since the number of functions is limited. */
SEC("iter/task")
int tree_walk(struct bpf_iter__task *context)
{
	return is_seeding ? tree_seed(context) : tree_sample(context);
}

#endif
