/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The system call that a thread is in, with its first arguments, and the rule that says what one
 * waits for that is blocked in it.
 */
#ifndef BPF_CALL_BPF_H
#define BPF_CALL_BPF_H

#include "kernel.bpf.h"
#include "tree/tree.h"

/* A system call, read from the registers on the kernel stack. */
struct call {
	__u32 abi;
	__s32 number; /* negative: not in one */
	__u64 first;
	__u64 second;
	__u64 third;
};

static __always_inline bool is_arm64(void)
{
	return bpf_core_field_exists(struct pt_regs___arm64, syscallno);
}

static __always_inline __u32 task_abi(struct task_struct *task)
{
	if (is_arm64())
		return task->thread_info.flags & TIF_32BIT_ARM64 ? TREE_ABI_COMPAT :
								   TREE_ABI_NATIVE;
	if (bpf_core_field_exists(task->thread_info.status) && task->thread_info.status & TS_COMPAT)
		return TREE_ABI_COMPAT;
	return TREE_ABI_NATIVE;
}

/* Those with which a task entered the kernel.  Asking for them is not cheap, so that is done once. */
static __always_inline struct pt_regs *user_registers(struct task_struct *task)
{
	return (struct pt_regs *)bpf_task_pt_regs(task);
}

static __always_inline void call_read(struct task_struct *task, struct pt_regs *registers,
				      struct call *ret)
{
	ret->abi = task_abi(task);
	if (is_arm64()) {
		struct pt_regs___arm64 *arm64 = (void *)registers;

		ret->number = arm64->syscallno;
		ret->first = arm64->orig_x0;
		ret->second = arm64->user_regs.regs[1];
		ret->third = arm64->user_regs.regs[2];
	} else {
		ret->number = (__s32)registers->orig_ax;
		ret->first = ret->abi == TREE_ABI_COMPAT ? registers->bx : registers->di;
		ret->second = ret->abi == TREE_ABI_COMPAT ? registers->cx : registers->si;
		ret->third = registers->dx;
		if (ret->number > 0 && ret->number & X32_SYSCALL_BIT)
			ret->abi = TREE_ABI_UNKNOWN;
	}
}

/* By number: native system calls, then compatible ones. */
const volatile __u8 rules[2 * TREE_CALL_NUMBERS] = {};

static __always_inline __u32 rule_of(__u32 abi, __u32 number)
{
	__u32 index = abi == TREE_ABI_COMPAT ? number + TREE_CALL_NUMBERS : number;

	if (number >= TREE_CALL_NUMBERS || abi == TREE_ABI_UNKNOWN)
		return TREE_WAIT_OTHER;
	barrier_var(index);
	return rules[index & (2 * TREE_CALL_NUMBERS - 1)];
}

#endif
