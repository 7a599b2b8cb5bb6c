/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names and numbers of tasks, as the process that reads our records sees them.
 */
#ifndef BPF_IDENTITY_BPF_H
#define BPF_IDENTITY_BPF_H

#include "kernel.bpf.h"

/* The PID namespace in which task numbers are reported. */
__u32 reader_level = 0;
__u64 reader_namespace = 0;
__s32 reader_tgid = 0;

static __always_inline void upid_read(const struct pid *pid, __u32 level, struct upid *ret)
{
	const char *numbers = (const char *)&pid->numbers;

	bpf_probe_read_kernel(ret, sizeof(*ret), numbers + level * bpf_core_type_size(struct upid));
}

/* Call it in the reader's own context. */
static __always_inline void reader_find(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};

	reader_tgid = BPF_CORE_READ(task, tgid);
	reader_level = BPF_CORE_READ(pid, level);
	upid_read(pid, reader_level, &upid);
	reader_namespace = (__u64)upid.ns;
}

/* The number of `pid` as the reader sees it; 0 if it is outside the reader's namespace. */
static __always_inline __s32 pid_number(const struct pid *pid)
{
	struct upid upid = {};

	if (reader_level && BPF_CORE_READ(pid, level) < reader_level)
		return 0;
	upid_read(pid, reader_level, &upid);
	return (__u64)upid.ns == reader_namespace ? upid.nr : 0;
}

static __always_inline __s32 pid_inner_number(const struct pid *pid)
{
	struct upid upid = {};

	upid_read(pid, BPF_CORE_READ(pid, level), &upid);
	return upid.nr;
}

static __always_inline __s32 thread_number(struct task_struct *task)
{
	return reader_level ? pid_number(BPF_CORE_READ(task, thread_pid)) : task->pid;
}

static __always_inline __s32 process_number(struct task_struct *task)
{
	return reader_level ? pid_number(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID])) :
			      task->tgid;
}

/* The process that waits for the end of the task's process. */
static __always_inline __s32 parent_number(struct task_struct *task)
{
	return pid_number(BPF_CORE_READ(task, real_parent, signal, pids[PIDTYPE_TGID]));
}

static __always_inline void name_copy(void *ret, const void *name)
{
	((__u64 *)ret)[0] = ((const __u64 *)name)[0];
	((__u64 *)ret)[1] = ((const __u64 *)name)[1];
}

static __always_inline void comm_copy(struct task_struct *task, void *ret)
{
	name_copy(ret, &task->comm);
}

#endif
