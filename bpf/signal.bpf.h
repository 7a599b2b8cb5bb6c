/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which signals say something about the life of a process, who sent them, and how it ended.
 */
#ifndef BPF_SIGNAL_BPF_H
#define BPF_SIGNAL_BPF_H

#include "kernel.bpf.h"

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGKILL 9
#define SIGPIPE 13
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGURG 23
#define SIGWINCH 28
#define SIGNALS 64
#define SEND_SIG_PRIV 1 /* instead of a pointer to a siginfo */

/* The outcome of sending a signal. */
#define SIGNAL_DELIVERED 0
#define SIGNAL_LOST_INFO 4 /* delivered, but without its details */

static __always_inline bool is_fatal(__s32 signal)
{
	return signal > 0 && signal <= SIGNALS && signal != SIGCHLD && signal != SIGCONT &&
	       signal != SIGURG && signal != SIGWINCH;
}

/*
 * As user space has it.  It is the same in all kernels: to ask for it would make the kernel search all its types, when
 * the program is loaded.
 */
struct kernel_siginfo {
	__s32 si_signo;
	__s32 si_errno;
	__s32 si_code;
};

/*
 * A signal that is marked SEND_SIG_PRIV or has a positive code comes from the kernel.  So does one
 * without details that a process sends to itself (a broken pipe).
 */
static __always_inline bool is_from_kernel(__u64 info, struct task_struct *sender,
					   struct task_struct *target)
{
	struct kernel_siginfo details = {};

	if (info == SEND_SIG_PRIV)
		return true;
	if (!info)
		return sender->tgid == target->tgid;
	bpf_probe_read_kernel(&details, sizeof(details), (const void *)info);
	return details.si_code > 0;
}

/*
 * Whether to report a signal.  One with a handler says little, unless people use it to end
 * programs.
 */
static __always_inline bool is_reported(struct task_struct *target, __s32 signal)
{
	const struct sighand_struct *handlers = BPF_CORE_READ(target, sighand);
	const char *actions = (const char *)&handlers->action;
	const struct k_sigaction *action =
		(const void *)(actions + (signal - 1) * bpf_core_type_size(struct k_sigaction));

	return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM ||
	       signal == SIGKILL || !BPF_CORE_READ(action, sa.sa_handler);
}

/* A signal that is ignored, or was already pending from another sender, ends nothing. */
static __always_inline bool is_delivered(__s32 result)
{
	return result == SIGNAL_DELIVERED || result == SIGNAL_LOST_INFO;
}

/* The status of a process as wait() has it, when its last thread exits. */
static __always_inline __s32 exit_status(struct task_struct *task)
{
	const struct signal_struct *signal = BPF_CORE_READ(task, signal);

	return BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT ?
		       BPF_CORE_READ(signal, group_exit_code) :
		       BPF_CORE_READ(task, group_leader, exit_code);
}

#endif
