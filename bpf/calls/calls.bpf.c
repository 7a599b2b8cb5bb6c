/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sums system calls by process and call, for a host, a tree, a cgroup or some processes.
 *
 * There are two maps of sums.  Programs add to the one that `sums` holds.  The reader puts the other
 * one there, which lasts until no program uses the first one any more (the kernel waits for that),
 * and then empties the first one: nothing is lost between two reads.
 *
 * The reader itself, and all that it starts while this runs, is left out.
 */
#include "call.bpf.h"
#include "calls.h"
#include "cgroup.bpf.h"
#include "identity.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile __u32 scope = CALLS_SCOPE_HOST;
const volatile __u64 scope_cgroup = 0; /* id of the cgroup */

/* Set by the reader before it walks. */
__u32 walk_mode = CALLS_WALK_NOTHING;
__s32 walk_pid = 0;
__u64 walk_pass = 0;

/* Stepped when the programs are attached again: nobody saw which calls ended meanwhile. */
__u64 epoch = 0;

__u64 lost_calls = 0; /* the map of sums was full, or the kernel had no memory for the thread */
__u64 lost_ns = 0;
/* Members for which the kernel had no memory: new ones, and those that the last walk found. */
__u64 lost_threads = 0;
__u64 unmarked_threads = 0;
__u64 own_calls = 0; /* of the reader and what it started */

struct sums_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CALLS_SUMS);
	__type(key, struct calls_key);
	__type(value, struct calls_sum);
} sums_first SEC(".maps"), sums_second SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sums_map);
} sums SEC(".maps") = { .values = { &sums_first } };

#define THREAD_IS_OURS 1
#define THREAD_IS_EARLIER 2 /* its call began before it was watched */
#define THREAD_IS_INSIDE 4  /* of the cgroup, as long as it keeps its set */

struct thread {
	__u64 enter_ns; /* 0: in no call */
	__u64 epoch;	/* when that was set */
	__u32 number;
	__u32 abi;
	__u64 pass; /* of the walk that marked it */
	__u64 set;  /* its cgroups when THREAD_IS_INSIDE was found out */
	__u64 flags;
};

/* In a tree and of processes, exactly the members have one. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

static __always_inline bool has_members(void)
{
	return scope == CALLS_SCOPE_TREE || scope == CALLS_SCOPE_PROCESSES;
}

static __always_inline struct thread *thread_make(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* To look for the cgroup takes longer than most calls; a task that moves gets another set. */
static __always_inline bool is_inside(struct task_struct *task, struct thread *thread)
{
	__u64 set;

	if (scope != CALLS_SCOPE_CGROUP)
		return true;
	set = (__u64)task->cgroups;
	if (thread->set != set) {
		thread->set = set;
		thread->flags &= ~THREAD_IS_INSIDE;
		if (is_in_cgroup(task, scope_cgroup))
			thread->flags |= THREAD_IS_INSIDE;
	}
	return thread->flags & THREAD_IS_INSIDE;
}

/* The thread if it is watched.  Without memory for it, its call is lost if it makes one. */
static __always_inline struct thread *thread_find(struct task_struct *task, bool is_call)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (!thread && !has_members()) {
		thread = thread_make(task);
		if (!thread && is_call &&
		    (scope != CALLS_SCOPE_CGROUP || is_in_cgroup(task, scope_cgroup)))
			__sync_fetch_and_add(&lost_calls, 1);
	}
	return thread && is_inside(task, thread) ? thread : 0;
}

static __always_inline bool is_ours(struct task_struct *task, struct thread *thread)
{
	return task->tgid == reader_tgid || thread->flags & THREAD_IS_OURS;
}

static __always_inline void time_begin(struct thread *thread)
{
	thread->enter_ns = bpf_ktime_get_ns();
	thread->epoch = epoch;
}

static __always_inline bool is_timed(const struct thread *thread)
{
	return thread->enter_ns && thread->epoch == epoch;
}

static __always_inline void sum_add(struct calls_sum *sum, __u64 ns, bool has_failed)
{
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->total_ns, ns);
	if (has_failed)
		__sync_fetch_and_add(&sum->errors, 1);
	/* Threads on other CPUs may add at the same time. */
	for (int i = 0; i < 4; i++) {
		__u64 max_ns = sum->max_ns;

		if (ns <= max_ns || __sync_val_compare_and_swap(&sum->max_ns, max_ns, ns) == max_ns)
			break;
	}
}

static __always_inline void call_add(struct task_struct *task, struct thread *thread, __u64 ns,
				     bool has_failed)
{
	struct calls_key key = {
		.start_ns = task->group_leader->start_boottime,
		.pid = process_number(task),
		.number = thread->number,
		.abi = thread->abi,
	};
	const struct calls_sum fresh = {};
	__u32 zero = 0;
	void *map = bpf_map_lookup_elem(&sums, &zero);
	struct calls_sum *sum = map ? bpf_map_lookup_elem(map, &key) : 0;

	if (map && !sum) {
		bpf_map_update_elem(map, &key, &fresh, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(map, &key);
	}
	if (sum) {
		sum_add(sum, ns, has_failed);
		return;
	}
	__sync_fetch_and_add(&lost_calls, 1);
	__sync_fetch_and_add(&lost_ns, ns);
}

SEC("tp_btf/sys_enter")
int calls_enter(__u64 *arguments)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = thread_find(task, true);
	__s64 number = (__s64)arguments[1];

	if (!thread)
		return 0;
	if (is_ours(task, thread)) {
		__sync_fetch_and_add(&own_calls, 1);
		return 0;
	}
	thread->enter_ns = 0;
	if (number < 0)
		return 0;
	thread->number = number;
	thread->abi = number & X32_SYSCALL_BIT ? TREE_ABI_UNKNOWN : task_abi(task);
	thread->flags &= ~THREAD_IS_EARLIER;
	if (rule_of(thread->abi, number) & TREE_RULE_ENDLESS)
		call_add(task, thread, 0, false);
	else
		time_begin(thread);
	return 0;
}

SEC("tp_btf/sys_exit")
int calls_exit(__u64 *arguments)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	__s64 result = (__s64)arguments[1];
	bool has_failed;
	__u64 ns;

	if (!thread || !is_timed(thread))
		return 0;
	ns = bpf_ktime_get_ns() - thread->enter_ns;
	thread->enter_ns = 0;
	has_failed = result < 0 && result >= -MAX_ERRNO &&
		     !(rule_of(thread->abi, thread->number) & TREE_RULE_NO_RESULT);
	call_add(task, thread, ns, has_failed);
	return 0;
}

/* A member of the tree from its first instruction on; also called for the kernel's threads of a process. */
SEC("tp_btf/task_newtask")
int calls_new_task(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	struct task_struct *maker = task->flags & (PF_IO_WORKER | PF_USER_WORKER) ?
					    task->group_leader :
					    bpf_get_current_task_btf();
	struct thread *from = bpf_task_storage_get(&threads, maker, 0, 0);
	bool is_of_ours, is_member = from && has_members() &&
				     (scope == CALLS_SCOPE_TREE || task->tgid == maker->tgid);
	struct thread *thread;

	is_of_ours = maker->tgid == reader_tgid || (from && from->flags & THREAD_IS_OURS);
	if (task->flags & PF_KTHREAD || !(has_members() ? is_member : is_of_ours))
		return 0;
	thread = thread_make(task);
	if (!thread && is_member)
		__sync_fetch_and_add(&lost_threads, 1);
	if (thread && is_of_ours)
		thread->flags |= THREAD_IS_OURS;
	return 0;
}

/* Notes the call in which a thread that does not run waits already. */
static __always_inline void call_note(struct task_struct *task, struct thread *thread)
{
	struct call call;

	if (task->on_cpu || is_timed(thread) || is_ours(task, thread) ||
	    !(task->__state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)))
		return;
	call_read(task, user_registers(task), &call);
	if (call.number < 0)
		return;
	thread->number = call.number;
	thread->abi = call.abi;
	thread->flags |= THREAD_IS_EARLIER;
	time_begin(thread);
}

/* Marks a task that is not marked yet; whether the walk reports it, now or in a repetition. */
static __always_inline bool mark(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (thread)
		return thread->pass == walk_pass;
	if (walk_mode == CALLS_WALK_ROOT ?
		    process_number(task) != walk_pid :
		    !bpf_task_storage_get(&threads, task->group_leader, 0, 0) &&
			    (scope == CALLS_SCOPE_PROCESSES ||
			     !bpf_task_storage_get(&threads, task->real_parent, 0, 0)))
		return false;
	thread = thread_make(task);
	if (!thread) {
		unmarked_threads++;
		return false;
	}
	thread->pass = walk_pass;
	call_note(task, thread);
	return true;
}

static struct calls_record record;

static __always_inline void report(struct bpf_iter__task *context, struct task_struct *task)
{
	record.start_ns = task->group_leader->start_boottime;
	record.pid = process_number(task);
	record.tid = thread_number(task);
	bpf_seq_write(context->meta->seq, &record, sizeof(record));
}

/* A thread that runs, and was found in a call that began earlier, has left that call since. */
static __always_inline void report_call(struct bpf_iter__task *context, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (!thread || !is_timed(thread) || !is_inside(task, thread))
		return;
	record.number = thread->number;
	record.abi = thread->abi;
	record.enter_ns = thread->enter_ns;
	record.now_ns = bpf_ktime_get_ns();
	record.is_earlier = !!(thread->flags & THREAD_IS_EARLIER);
	if (!record.is_earlier || !task->on_cpu)
		report(context, task);
}

SEC("iter/task")
int calls_walk(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct thread *thread;

	if (!task)
		return 0;
	if (context->meta->seq_num == 0)
		reader_find();
	/* A leader that has ended still stands for the other threads of its process. */
	if (task->flags & PF_KTHREAD ||
	    (task->exit_state && BPF_CORE_READ(task, signal, live.counter) <= 0))
		return 0;
	record.number = -1;
	switch (walk_mode) {
	case CALLS_WALK_ROOT:
	case CALLS_WALK_FAMILY:
		if (mark(task) && task->pid == task->tgid)
			report(context, task);
		break;
	case CALLS_WALK_SCOPE:
		thread = thread_find(task, false);
		if (thread)
			call_note(task, thread);
		break;
	case CALLS_WALK_UNDER_WAY:
		report_call(context, task);
		break;
	}
	return 0;
}
