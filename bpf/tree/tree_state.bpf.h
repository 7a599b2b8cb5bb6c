/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The state that the programs keep for each thread and process of the tree.
 *
 * A thread is a member of the tree when it has a struct thread_state in its task storage.  That
 * check is all that other tasks cost: at a switch, no task is looked up by its number.
 */
#ifndef BPF_TREE_STATE_BPF_H
#define BPF_TREE_STATE_BPF_H

#include "identity.bpf.h"
#include "tree.h"
#include "tree_stack.h"
#include "wait.bpf.h"

/*
 * Room for the final accounts of some 5,000 threads that end at once, before their reader gets a
 * CPU: each is about 3 KB with ten system calls.  The reader has the ring mapped twice.
 */
#define RING_BYTES (16 << 20)
#define PROCESSES_MAX (1 << 16)
#define RUNNABLE 0xff /* a reason: off its CPU, but ready to run */

enum phase {
	PHASE_ARMED,  /* nothing counts before its exec */
	PHASE_JOINED, /* on its CPU since it joined, at in_ns */
	PHASE_LEFT,   /* left its CPU at out_ns; it may be on one again */
	PHASE_ENDED,
};

/* The task, or interrupt, that woke a thread last. */
struct waker {
	__u32 class; /* enum tree_waker_class */
	__u32 serial;
	__s32 pid;
	__s32 tid;
	__u64 comm[2];
};

/* Times off the CPU that were too short to be sent, since the last one that was sent. */
struct short_waits {
	__u64 queued_ns;
	__u64 blocked_ns;
	__u64 longest_ns;
	__u32 count;
	__u32 reason; /* of the longest */
};

#define STACK_WAITS 8 /* a power of two, so that an index can be masked to fit */

/* Where a thread entered the kernel, and by which system call. */
struct stack_place {
	__u64 pc, sp;
	__u64 syscall; /* or TREE_STACK_NO_CALL */
};

/* Where a thread blocks, and how long it was blocked there that no stack stands for yet. */
struct stack_wait {
	struct stack_place place;
	__u64 ns;
	__u32 reason;
	__u32 has_stack; /* one was sent */
};

struct stack_debt {
	__u64 asked_ns;	  /* when a stack was asked for last */
	__u64 claimed_ns; /* of the block since out_ns, what a stack stands for */
	__u64 wait;	  /* the number of the wait of the block since out_ns, from 1 on; 0: none */
	__u64 is_owed;	  /* a stack, as follows, when its system call returns */
	struct stack_place place;
	__u64 ns;
	__u64 longest_ns;
	__u64 begin_ns;
	__u64 object;
	__u64 reason;
	__u64 kernel_size;
	__u64 kernel[TREE_STACK_FRAMES];
	__u64 own_size; /* of the stack that it copied when it left; 0: none */
	__u64 comm[2];	/* when a stack was sent last */
	struct stack_wait waits[STACK_WAITS];
};

/*
 * Written on the CPU that the thread leaves.  `sequence` is odd during that, for a sample from
 * another CPU.  The time off the CPU from out_ns on enters the ledger when the thread leaves its
 * CPU again: the scheduler then knows when the thread came, and how long it had waited for that.
 */
struct thread_state {
	__u32 sequence;
	__u8 phase;
	__u8 reason;
	__u64 in_ns; /* when it came onto the CPU that it left at out_ns */
	__u64 out_ns;
	__u64 arrival;	    /* the same as in_ns, by the scheduler's clock */
	__u64 clock_offset; /* from the scheduler's clock to ours, at out_ns */
	__u64 run_delay;    /* at out_ns */
	__u64 wake_ns;	    /* when it was woken since out_ns, if that is known; 0: not known */
	__u64 cpu_ns;	    /* CPU time, at out_ns */
	struct tree_ledger_record ledger;
	struct wait_memory wait;
	__u32 serial;
	__u32 off_sequence; /* of times off the CPU that were sent */
	__u32 forks;	    /* since out_ns */
	__u32 forks_before; /* before out_ns, since the last that was sent */
	__u32 creator;
	struct waker waker;	  /* who ended the time off the CPU since out_ns */
	struct waker early_waker; /* who woke it before it left: ends the next one */
	struct short_waits shorts;
	struct tree_scope_key scope; /* in which it left its CPU; depth 0: in none */
	__s32 pid;
	__s32 tid;
	__u64 start_ns;
	__u64 begin_ns;
	__u64 armed_cpu;	  /* CPU time at in_ns, before the exec */
	__u64 user_ns, system_ns; /* as last reported */
	__u64 base[TREE_USAGE_COUNT];
	__u64 seed_pass;  /* the pass that found it */
	__u64 lost_calls; /* not counted, for lack of memory */
	struct stack_debt debt;
};

struct process_state {
	__u32 is_root;
	__s32 threads; /* whose end was not seen yet */
	__s32 signal;  /* the last one that can end or stop it */
	__s32 sender_pid;
	__u32 has_peak;
	__u64 sender_comm[2];
	__u64 exec_maxrss; /* signal->maxrss when it began its program */
	__u64 peak_pages;  /* when it was about to end */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

/* Key: the thread-group number in the initial PID namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct process_state);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

const volatile __u32 want_calls = 0;
const volatile __u32 want_waits = 0;
const volatile __u32 since_start = 0; /* tasks that are found have counted from their start */

__u64 losses[TREE_LOSS_COUNT] = {};

static __always_inline void loss_count(enum tree_loss loss)
{
	__sync_fetch_and_add(&losses[loss], 1);
}

static __always_inline struct thread_state *thread_find(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* Readers poll from time to time; they are woken only when the ring is more than a quarter full. */
static __always_inline __u64 ring_flags(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4 ? BPF_RB_FORCE_WAKEUP :
									      BPF_RB_NO_WAKEUP;
}

#endif
