/* SPDX-License-Identifier: MIT */
/*
 * The records of stacks, which have a ring of their own, shared with their decoder.
 *
 * A record is a struct tree_stack_record, then the addresses of the kernel's functions, innermost
 * first, then the bytes of the user stack from the stack pointer on.
 */
#ifndef BPF_TREE_STACK_H
#define BPF_TREE_STACK_H

#include "tree.h"

#define TREE_STACK_FRAMES 64
#define TREE_STACK_BYTES 32768 /* of a user stack; the rest is cut off */
#define TREE_STACK_TAIL (8 * TREE_STACK_FRAMES + TREE_STACK_BYTES)
#define TREE_STACK_NO_CALL 0xffffffff

/* Registers are in the order in which the kernel saves them (struct pt_regs, or user_pt_regs). */
#define TREE_STACK_REGISTERS 34
#define TREE_STACK_X86_64_REGISTERS 21
#define TREE_STACK_X86_64_PC 16
#define TREE_STACK_X86_64_CS 17
#define TREE_STACK_X86_64_SP 19
#define TREE_STACK_ARM64_SP 31
#define TREE_STACK_ARM64_PC 32
#define TREE_STACK_ARM64_STATE 33

/* The type of a record's head. */
enum tree_stack_kind {
	TREE_STACK_ON_CPU,
	TREE_STACK_OFF_CPU,
	TREE_STACK_WAKER,
	TREE_STACK_KINDS,
};

enum tree_stack_flag {
	TREE_STACK_HAS_REGISTERS = 1 << 0, /* all of them */
	TREE_STACK_UNREAD = 1 << 1,	   /* there is a user stack, but it could not be read */
	/* The thread is still blocked: the reader can copy its stack as long as `switches` stays. */
	TREE_STACK_BLOCKED = 1 << 2,
};

struct tree_stack_record {
	struct tree_record_head head;
	char comm[TREE_RECORD_COMM];
	__u64 weight_ns;
	__u64 inferred_ns; /* of other blocks at the same place, for which this stack stands */
	__u64 begin_ns;
	__u64 object;
	__u32 syscall;
	__u8 reason;
	__u8 flags;
	__u16 kernel_count;
	__u32 user_size;
	__s32 woken_pid, woken_tid; /* TREE_STACK_WAKER */
	__u32 wanted_size; /* of TREE_STACK_BLOCKED: how much of the user stack is in use */
	__u64 woken_start_ns;
	__u64 switches;
	__u64 pc, sp;		     /* also known without the stack; 0: not known */
	struct tree_scope_key scope; /* depth 0: in none; then the rest means nothing */
	__u64 registers[TREE_STACK_REGISTERS];
};

/* The programs that have a buffer on each CPU, in which they put a record together. */
enum tree_stack_user {
	TREE_STACK_OF_EVENT,
	TREE_STACK_OF_SAMPLE,
	TREE_STACK_USERS,
};

enum tree_stack_loss {
	TREE_STACK_DROPPED,
	TREE_STACK_DROPPED_NS,
	TREE_STACK_DROPPED_CPU_NS, /* of those: on the CPU */
	TREE_STACK_NOT_READ,
	TREE_STACK_SHORT_NS,
	TREE_STACK_FAULT_NS,
	TREE_STACK_WAKERS,
	TREE_STACK_UNSEEN, /* wakings after long blocks */
	TREE_STACK_LOSSES,
};

#endif
