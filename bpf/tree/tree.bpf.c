/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Follows a tree of processes: which are born, what they run, how they end, and where the time of
 * each thread goes.
 *
 * A child inherits its membership at fork, in the storage of the task itself.  The ledger needs the
 * switch program, and on newer kernels that of wake-ups; those of system calls are attached only when
 * wanted.  The final account of a thread is taken at its last switch, where its CPU time is
 * final; at sched_process_exit it is not yet.
 *
 * The kernel checks all of this while the command waits.  That takes long where a pointer in a task
 * is followed, since the kernel then searches all its types, and where many paths meet: so such
 * pointers are read once or by a helper, and what is rare is a function that is not static.  With
 * those, there are 32 functions, and there cannot be more: a loader of libbpf 1.1 has room on its stack for
 * that many descriptors, and counts each function, also one that is not a program.
 */
#include "signal.bpf.h"
#include "tree_calls.bpf.h"
#include "tree_end.bpf.h"
#include "tree_process.bpf.h"
#include "tree_signals.bpf.h"
#include "tree_waking.bpf.h"
#include "tree_walk.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tree_exec_record);
} exec_records SEC(".maps");

/* A new child waits for its first CPU, and all its counters are 0. */
static __always_inline void child_join(struct task_struct *child, __u32 creator)
{
	struct thread_state *state =
		bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!state) {
		loss_count(TREE_LOSS_TASKS);
		return;
	}
	identity_fill(child, state);
	state->creator = creator;
	state->begin_ns = state->out_ns = bpf_ktime_get_ns();
	state->clock_offset = first_clock_offset;
	state->reason = RUNNABLE;
	state->phase = PHASE_LEFT;
	if (child->pid == child->tgid)
		process_begin(child, 0);
	else
		process_join(child);
	fork_send(child, state);
}

SEC("tp_btf/sched_process_fork")
int tree_fork(__u64 *arguments)
{
	struct task_struct *parent = (void *)arguments[0];
	struct task_struct *child = (void *)arguments[1];
	struct thread_state *state = thread_find(parent);

	if (!state || state->phase == PHASE_ARMED)
		return 0;
	state->forks++;
	child_join(child, state->serial);
	return 0;
}

/*
 * The kernel sends no fork event for threads that it makes for a process, as io_uring does.  The
 * thread that happens to create one may be another such thread, or belong to another process; so
 * the leader of the new thread decides.
 */
SEC("tp_btf/task_newtask")
int tree_worker(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct thread_state *leader;

	if (!(task->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		return 0;
	leader = thread_find(task->group_leader);
	if (leader && leader->phase != PHASE_ARMED)
		child_join(task, leader->serial);
	return 0;
}

/*
 * The kernel's CPU time of a running task is not up to date: add what it ran since it came onto
 * its CPU.
 */
static __always_inline void armed_begin(struct task_struct *task, struct thread_state *state)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 cpu = state->in_ns ? state->armed_cpu + now - state->in_ns : 0;

	usage_begin(task, state, cpu);
	identity_fill(task, state);
	state->begin_ns = state->in_ns = state->out_ns = now;
	state->run_delay = task_run_delay(task);
	state->cpu_ns = state->base[TREE_USAGE_run_time_ns];
	state->clock_offset = first_clock_offset;
	state->phase = PHASE_JOINED;
	process_begin(task, 1);
	fork_send(task, state);
}

static __always_inline void exec_send(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 start = BPF_CORE_READ(mm, arg_start);
	__u64 length = BPF_CORE_READ(mm, arg_end) - start;
	struct tree_exec_record *record;
	__u64 kept = length < TREE_RECORD_ARGUMENTS ? length : TREE_RECORD_ARGUMENTS;
	__u32 zero = 0;
	__u64 size;

	record = bpf_map_lookup_elem(&exec_records, &zero);
	if (!record)
		return;
	barrier_var(kept);
	if (kept > TREE_RECORD_ARGUMENTS)
		return;
	if (bpf_probe_read_user(record->arguments, kept, (void *)start) < 0)
		kept = 0;
	size = __builtin_offsetof(struct tree_exec_record, arguments) + kept;
	barrier_var(size);
	if (size > sizeof(*record))
		return;
	process_head(task, TREE_RECORD_EXEC, size, &record->head);
	comm_copy(task, record->comm);
	record->length = kept;
	record->cut = length > kept;
	if (bpf_ringbuf_output(&ring, record, size, ring_flags()) < 0)
		loss_count(TREE_LOSS_EVENTS);
}

SEC("tp_btf/sched_process_exec")
int tree_exec(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct thread_state *state;
	struct process_state *process;
	__u32 tgid;

	state = thread_find(task);
	if (!state)
		return 0;
	if (state->phase == PHASE_ARMED)
		armed_begin(task, state);
	tgid = task->tgid;
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (process) {
		process->exec_maxrss = BPF_CORE_READ(task, signal, maxrss);
		process->has_peak = 0;
	}
	exec_send(task);
	scope_forget(state);
	return 0;
}

SEC("tp_btf/task_rename")
int tree_rename(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct thread_state *state = thread_find(task);

	if (state && state->phase != PHASE_ARMED && task == bpf_get_current_task_btf())
		scope_announced(task, state);
	return 0;
}

/*
 * Before 6.16 the memory is already gone here.  The kernel's own mark covers all programs that the
 * process ever ran: it can be used only if it grew during the last one.
 */
static __always_inline void peak_fill(struct task_struct *task, struct process_state *process,
				      struct tree_process_record *record)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 maxrss = BPF_CORE_READ(task, signal, maxrss);

	record->has_peak = 1;
	if (mm && resident_is_known()) {
		record->peak_pages = peak_pages(mm);
	} else if (maxrss > process->exec_maxrss) {
		record->peak_pages = maxrss;
	} else {
		record->peak_pages = process->peak_pages;
		record->has_peak = process->has_peak;
	}
}

static __always_inline void end_fill(struct task_struct *task, struct process_state *process,
				     struct tree_process_record *record)
{
	const struct signal_struct *signal = BPF_CORE_READ(task, signal);
	__s32 status = exit_status(task);

	process_head(task, TREE_RECORD_PROCESS, sizeof(*record), &record->head);
	record->status = status;
	record->euid = BPF_CORE_READ(task, real_cred, euid.val);
	record->has_sender = status & 0x7f && (status & 0x7f) == process->signal;
	record->sender_pid = process->sender_pid;
	name_copy(record->sender_comm, process->sender_comm);
	record->oom_killed = (status & 0x7f) == SIGKILL && BPF_CORE_READ(signal, oom_mm);
	peak_fill(task, process, record);
}

/*
 * Whether this is the thread that ends its process.  Earlier threads may also see that no other
 * lives, but then the status of the process is not set yet.  Where the kernel does not say which
 * is the last, threads are counted.
 */
static __always_inline bool is_last(struct task_struct *task, struct process_state *process,
				    __u64 *arguments)
{
	__s32 before = __sync_fetch_and_add(&process->threads, -1);

	if (bpf_core_field_exists(struct trace_event_raw_sched_process_exit, group_dead))
		return arguments[1] & 1;
	return before <= 1 && BPF_CORE_READ(task, signal, live.counter) <= 0;
}

/* If two threads both seem to be the last, the one that removes the process reports its end. */
SEC("tp_btf/sched_process_exit")
int tree_exit(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct process_state *process;
	struct tree_process_record *record;
	struct thread_state *state = thread_find(task);
	__u32 is_root, tgid;

	if (!state || state->phase == PHASE_ARMED)
		return 0;
	tgid = task->tgid;
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (!process || !is_last(task, process, arguments))
		return 0;
	is_root = process->is_root;
	scope_forget(state);
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		bpf_map_delete_elem(&processes, &tgid);
		loss_count(TREE_LOSS_EVENTS);
		return 0;
	}
	end_fill(task, process, record);
	if (bpf_map_delete_elem(&processes, &tgid) < 0) {
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
		return 0;
	}
	bpf_ringbuf_submit(record, is_root ? BPF_RB_FORCE_WAKEUP : ring_flags());
	return 0;
}

static __always_inline void switch_out(struct task_struct *task, struct thread_state *state,
				       __u64 now, __u64 clock, __u32 task_state)
{
	struct stack_place place = { .syscall = TREE_STACK_NO_CALL };
	struct pt_regs *registers;

	if (state->phase == PHASE_ARMED)
		return;
	sequence_step(state);
	thread_off(state, now, clock);
	off_cpu_begin(state);
	state->wait.now_ns = state->out_ns;
	/* A task that was about to sleep stays runnable when a signal came. */
	if (!task_state || !task->__state) {
		state->reason = RUNNABLE;
	} else {
		registers = user_registers(task);
		state->reason = wait_reason_of(task, registers, &state->wait, task_state, true);
		if (off_cpu_min_ns)
			stack_place_find(task, registers, &place);
	}
	if (may_have_scopes(task))
		scope_read(state, &state->scope);
	sequence_step(state);
	if (off_cpu_min_ns && state->reason == RUNNABLE)
		stack_preempt(task, state);
	else if (off_cpu_min_ns && !(task_state & TASK_DEAD))
		stack_block(state, &place);
	if (task_state & TASK_DEAD)
		thread_end(state, now);
}

/* The switch that brings a thread matters only before its exec. */
static __always_inline void first_await(struct task_struct *next, struct thread_state *leaving,
					__u64 now, __u64 clock)
{
	struct thread_state *entering = thread_find(next);

	if (clock)
		first_clock_offset = now - clock;
	if (entering && entering->phase == PHASE_ARMED) {
		entering->armed_cpu = next->se.sum_exec_runtime;
		entering->in_ns = now;
	}
	if (leaving && leaving->phase != PHASE_ARMED)
		is_first_awaited = 0;
}

SEC("tp_btf/sched_switch")
int tree_switch(__u64 *arguments)
{
	bool preempt = arguments[0];
	struct task_struct *prev = (void *)arguments[1];
	struct task_struct *next = (void *)arguments[2];
	__u32 prev_state = arguments[3];
	__u64 now, clock = scheduler_clock(
			   prev); /* read here, since the verifier is slow to check it */
	struct thread_state *leaving = thread_find(prev);

	if (!leaving && !want_waits && !is_first_awaited)
		return 0;
	now = bpf_ktime_get_ns();
	if (want_waits)
		slices_switch(prev, next, leaving, now, clock);
	if (leaving)
		switch_out(prev, leaving, now, clock, preempt ? 0 : prev_state);
	if (is_first_awaited)
		first_await(next, leaving, now, clock);
	return 0;
}

/* Whether the scheduler counts a task that is about to be woken as ready already. */
static __always_inline bool is_queued(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_queued) && task->sched_info.last_queued;
}

/*
 * Every wait ends with this, also one that a signal or a timer ends.  It can come before the
 * thread has left its CPU.
 */
SEC("tp_btf/sched_waking")
int tree_waking(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct thread_state *state;
	bool is_long;

	if (!want_waits && !off_cpu_min_ns && !is_queued(task))
		return 0;
	state = thread_find(task);
	if (!state)
		return 0;
	if (!task->on_cpu) {
		state->wake_ns = bpf_ktime_get_ns();
		if (off_cpu_min_ns)
			stack_wake(task, state);
		is_long = is_worth_waker(state);
		if ((want_waits && state->wake_ns - state->out_ns >= threshold_ns) || is_long)
			waker_find(&state->waker, state->reason);
		if (is_long && state->waker.class == TREE_WAKER_MEMBER)
			stack_of_waker(state);
	} else if (want_waits) {
		waker_find(&state->early_waker, REASON_NOT_KNOWN);
	}
	return 0;
}

SEC("tp_btf/sys_enter")
int tree_sys_enter(__u64 *arguments)
{
	__s64 number = arguments[1];
	struct task_struct *task = bpf_get_current_task_btf();

	if (want_calls && call_enter(task, number))
		peak_remember(task);
	return 0;
}

SEC("tp_btf/sys_exit")
int tree_sys_exit(__u64 *arguments)
{
	struct pt_regs *registers = (void *)arguments[0];
	__s64 result = arguments[1];

	struct task_struct *task = bpf_get_current_task_btf();
	__u64 ns = want_calls ? call_leave(task, registers, result) : 0;

	if (off_cpu_min_ns && (stacks_owed || ns >= off_cpu_min_ns))
		stack_pay(task, ns);
	return 0;
}
