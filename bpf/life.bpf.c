/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Follows the lives of the processes of a host: when they begin, execute, are renamed, get deadly
 * signals and end, and what they used.  It keeps no state for processes that have one thread, so
 * that it can stay on for months.
 *
 * Kernel threads are not followed.
 */
#include "life_end.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set by the reader before it walks. */
__u32 walk_mode = LIFE_WALK_NOTHING;
__s32 walk_pid = 0;
__u64 walk_pass = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct life_exec_record);
} exec_records SEC(".maps");

/* A member of the tree from its first instruction on. */
static __always_inline void membership_inherit(struct task_struct *task)
{
	struct task_struct *maker = task->flags & (PF_IO_WORKER | PF_USER_WORKER) ?
					    task->group_leader :
					    bpf_get_current_task_btf();
	__u64 *pass = bpf_task_storage_get(&members, maker, 0, 0);

	if (pass && !bpf_task_storage_get(&members, task, pass, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&lost_members, 1);
}

/* Also called for threads that the kernel makes for a process, as for io_uring. */
SEC("tp_btf/task_newtask")
int life_new_task(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];

	if (task->flags & PF_KTHREAD || !task->pid)
		return 0;
	if (scope == LIFE_SCOPE_TREE)
		membership_inherit(task);
	if (!is_member(task))
		return 0;
	if (task->pid == task->tgid)
		head_send(task, LIFE_RECORD_SPAWN);
	else
		group_join(task);
	return 0;
}

static __always_inline void exec_send(struct task_struct *task, struct life_exec_record *record)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 start = BPF_CORE_READ(mm, arg_start);
	__u64 length = BPF_CORE_READ(mm, arg_end) - start;
	__u64 kept = length < LIFE_RECORD_ARGUMENTS ? length : LIFE_RECORD_ARGUMENTS;
	__u64 size;

	barrier_var(kept);
	if (kept > LIFE_RECORD_ARGUMENTS)
		return;
	if (bpf_probe_read_user(record->arguments, kept, (void *)start) < 0)
		kept = 0;
	size = __builtin_offsetof(struct life_exec_record, arguments) + kept;
	barrier_var(size);
	if (size > sizeof(*record))
		return;
	head_fill(task, LIFE_RECORD_EXEC, size, &record->head);
	record->maxrss = BPF_CORE_READ(task, signal, maxrss);
	record->length = kept;
	record->cut = length > kept;
	if (bpf_ringbuf_output(&ring, record, size, ring_flags(record->head.time_ns)) < 0)
		loss_count(LIFE_RECORD_EXEC);
}

SEC("tp_btf/sched_process_exec")
int life_exec(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	__u32 zero = 0;
	struct life_exec_record *record = bpf_map_lookup_elem(&exec_records, &zero);

	if (record && is_member(task))
		exec_send(task, record);
	return 0;
}

/* An exec renames as well. */
SEC("tp_btf/task_rename")
int life_rename(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];
	const char *name = (const char *)arguments[1];
	struct life_rename_record *record;

	if (task->pid != task->tgid || task->flags & PF_KTHREAD ||
	    BPF_CORE_READ_BITFIELD(task, in_execve) || !is_member(task))
		return 0;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		loss_count(LIFE_RECORD_RENAME);
		return 0;
	}
	head_fill(task, LIFE_RECORD_RENAME, sizeof(*record), &record->head);
	record->comm[0] = record->comm[1] = 0;
	bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), name);
	bpf_ringbuf_submit(record, ring_flags(record->head.time_ns));
	return 0;
}

static __always_inline void signal_send(struct task_struct *target, __s32 number, __u64 info)
{
	struct task_struct *sender = bpf_get_current_task_btf();
	struct life_signal_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		loss_count(LIFE_RECORD_SIGNAL);
		return;
	}
	head_fill(target, LIFE_RECORD_SIGNAL, sizeof(*record), &record->head);
	record->number = number;
	record->sender_pid = 0;
	record->sender_comm[0] = record->sender_comm[1] = 0;
	if (!is_from_kernel(info, sender, target)) {
		record->sender_pid = process_number(sender);
		comm_copy(sender, record->sender_comm);
	}
	bpf_ringbuf_submit(record, ring_flags(record->head.time_ns));
}

SEC("tp_btf/signal_generate")
int life_signal(__u64 *arguments)
{
	__s32 number = (__s32)arguments[0];
	struct task_struct *target = (void *)arguments[2];
	__u64 info = 0;

	if (!is_fatal(number) || !is_delivered((__s32)arguments[4]))
		return 0;
	/* Read as a number, since to the verifier an argument is never a null pointer. */
	bpf_probe_read_kernel(&info, sizeof(info), arguments + 1);
	if (!(target->flags & PF_KTHREAD) && is_reported(target, number) && is_member(target))
		signal_send(target, number, info);
	return 0;
}

/* Kernels before 6.8 tell the number alone, which is that of the host's PID namespace. */
static __always_inline void oom_number_send(__s32 pid)
{
	struct life_record_head *record;

	if (reader_level)
		return;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		loss_count(LIFE_RECORD_OOM);
		return;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	record->type = LIFE_RECORD_OOM;
	record->pid = pid;
	record->time_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(record, ring_flags(record->time_ns));
}

SEC("tp_btf/mark_victim")
int life_oom(__u64 *arguments)
{
	if (bpf_core_field_exists(struct trace_event_raw_mark_victim, uid)) {
		struct task_struct *task = (void *)arguments[0];

		if (is_member(task))
			head_send(task, LIFE_RECORD_OOM);
	} else {
		oom_number_send((__s32)arguments[0]);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int life_exit(__u64 *arguments)
{
	struct task_struct *task = (void *)arguments[0];

	if (!(task->flags & PF_KTHREAD) && is_member(task))
		group_exit(task, is_last(task, arguments));
	return 0;
}

/* All other switches, of which there are many, cost only this check. */
SEC("tp_btf/sched_switch")
int life_switch(__u64 *arguments)
{
	__u32 state = arguments[3];

	if (state & TASK_DEAD)
		group_leave((struct task_struct *)arguments[1]);
	return 0;
}

/* Marks a task that is not marked yet; whether the walk reports it, now or in a repetition. */
static __always_inline bool mark(struct task_struct *task)
{
	__u64 *pass = bpf_task_storage_get(&members, task, 0, 0);
	__u64 now = walk_pass;

	if (pass)
		return *pass == walk_pass;
	if (walk_mode == LIFE_WALK_ROOT ?
		    process_number(task) != walk_pid :
		    !bpf_task_storage_get(&members, task->group_leader, 0, 0) &&
			    !bpf_task_storage_get(&members, task->real_parent, 0, 0))
		return false;
	if (bpf_task_storage_get(&members, task, &now, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return true;
	__sync_fetch_and_add(&lost_members, 1);
	return false;
}

static struct life_record_head found;

SEC("iter/task")
int life_walk(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	bool is_found;

	if (!task)
		return 0;
	if (context->meta->seq_num == 0) {
		reader_find();
		cpu_offsets_find();
	}
	/* A leader that has ended still stands for the other threads of its process. */
	if (walk_mode == LIFE_WALK_NOTHING || task->flags & PF_KTHREAD ||
	    (task->exit_state && BPF_CORE_READ(task, signal, live.counter) <= 0))
		return 0;
	is_found = walk_mode == LIFE_WALK_MEMBERS ? is_member(task) : mark(task);
	if (!is_found || task->pid != task->tgid)
		return 0;
	head_fill(task, LIFE_RECORD_MEMBER, sizeof(found), &found);
	bpf_seq_write(context->meta->seq, &found, sizeof(found));
	return 0;
}
