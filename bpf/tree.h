/* SPDX-License-Identifier: MIT */
/*
 * What the programs that follow a tree of processes write, shared with their decoder.
 *
 * Each record begins with a struct tree_record_head and goes through the ring buffer when
 * something happens, or through an iterator when somebody looks.  Numbers of tasks are those of
 * the reader's PID namespace, 0 for a task outside of it.  Times are of CLOCK_MONOTONIC, start
 * times of CLOCK_BOOTTIME.  All counters are totals since the task is watched.
 */
#ifndef BPF_TREE_H
#define BPF_TREE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TREE_RECORD_COMM 16
#define TREE_RECORD_ARGUMENTS 4096
#define TREE_CPUS_MAX 512

enum tree_record_type {
	TREE_RECORD_FORK,
	TREE_RECORD_EXEC,
	TREE_RECORD_THREAD,
	TREE_RECORD_PROCESS,
	TREE_RECORD_SIGNAL,
	TREE_RECORD_COUNT,
};

/* Of a process the thread number is its own, and the start that of its leader. */
struct tree_record_head {
	__u32 size; /* all of the record */
	__u32 type;
	__s32 pid;
	__s32 tid;
	__u64 start_ns;
	__u64 time_ns;
};

struct tree_fork_record {
	struct tree_record_head head;
	__s32 parent_pid;
	__s32 inner_pid; /* in its own PID namespace */
	__u32 found;	 /* it lived before */
	__u32 reserved;
	char comm[TREE_RECORD_COMM];
};

/* Ends after `length` bytes of arguments. */
struct tree_exec_record {
	struct tree_record_head head;
	char comm[TREE_RECORD_COMM];
	__u32 length;
	__u32 cut;
	char arguments[TREE_RECORD_ARGUMENTS];
};

/* The end of a process. */
struct tree_process_record {
	struct tree_record_head head;
	__s32 status; /* as wait() has it */
	__s32 sender_pid;
	__u32 has_sender;
	__u32 has_peak;
	__u32 oom_killed;
	__u32 reserved;
	__u64 peak_pages;
	char sender_comm[TREE_RECORD_COMM];
};

struct tree_signal_record {
	struct tree_record_head head;
	__s32 number;
	__s32 sender_pid; /* 0: the kernel */
	char sender_comm[TREE_RECORD_COMM];
};

/*
 * What a thread used: a row is the usage (see usage.def) and where the kernel counts it.
 *
 *	KERNEL(id, path)	task->path
 *	COMPUTED(id)		by hand
 */
/* clang-format off */
#define TREE_USAGES(KERNEL, COMPUTED)                                                              \
	KERNEL(CPU,                  se.sum_exec_runtime)                                          \
	COMPUTED(USER)                                                                             \
	COMPUTED(SYSTEM)                                                                           \
	KERNEL(READ_BYTES,           ioac.read_bytes)                                              \
	KERNEL(WRITE_BYTES,          ioac.write_bytes)                                             \
	KERNEL(READ_CHARS,           ioac.rchar)                                                   \
	KERNEL(WRITE_CHARS,          ioac.wchar)                                                   \
	KERNEL(READ_CALLS,           ioac.syscr)                                                   \
	KERNEL(WRITE_CALLS,          ioac.syscw)                                                   \
	KERNEL(MINOR_FAULTS,         min_flt)                                                      \
	KERNEL(MAJOR_FAULTS,         maj_flt)                                                      \
	KERNEL(VOLUNTARY_SWITCHES,   nvcsw)                                                        \
	KERNEL(INVOLUNTARY_SWITCHES, nivcsw)

enum tree_usage {
#define TREE_USAGE_KERNEL(id, path) TREE_USAGE_##id,
#define TREE_USAGE_COMPUTED(id) TREE_USAGE_##id,
	TREE_USAGES(TREE_USAGE_KERNEL, TREE_USAGE_COMPUTED)
#undef TREE_USAGE_KERNEL
#undef TREE_USAGE_COMPUTED
	TREE_USAGE_COUNT,
};
/* clang-format on */

struct tree_usage_record {
	__u64 present; /* bit for each enum tree_usage */
	__u64 values[TREE_USAGE_COUNT];
};

struct tree_wait_record {
	__u64 ns;
	__u64 count;
	__u64 longest_ns;
};

/* Reasons to be off the CPU, in the order of waits.def. */
#define TREE_WAITS(WAIT)                                                                           \
	WAIT(DISK)                                                                                 \
	WAIT(LOCK)                                                                                 \
	WAIT(CONDITION)                                                                            \
	WAIT(NETWORK)                                                                              \
	WAIT(PIPE)                                                                                 \
	WAIT(TIMER)                                                                                \
	WAIT(POLL)                                                                                 \
	WAIT(CHILD)                                                                                \
	WAIT(MEMORY)                                                                               \
	WAIT(STOPPED)                                                                              \
	WAIT(OTHER)

enum tree_wait_reason {
#define TREE_WAIT_ENUM(id) TREE_WAIT_##id,
	TREE_WAITS(TREE_WAIT_ENUM)
#undef TREE_WAIT_ENUM
		TREE_WAIT_COUNT,
};

/* A power of two, so that an index can be masked. */
#define TREE_REASONS 16

/* Whole times off the CPU, whatever they were made of.  One that is not over is no shortest. */
struct tree_off_record {
	__u64 count;
	__u64 longest_ns;
	__u64 shortest_ns; /* 0: none is over yet */
};

struct tree_ledger_record {
	__u64 on_cpu_ns;
	struct tree_off_record off_cpu;
	struct tree_wait_record run_queue;
	struct tree_wait_record blocked[TREE_REASONS]; /* by enum tree_wait_reason */
};

#define TREE_CALL_BUCKETS 32
#define TREE_CALL_ERRORS 4

/* Which table of system calls a number is of. */
enum tree_abi {
	TREE_ABI_NATIVE,
	TREE_ABI_COMPAT,
	TREE_ABI_UNKNOWN,
};

/* One system call of a thread.  Errors: the number in the upper 16 bits, the count below. */
struct tree_call_record {
	__u32 number;
	__u32 abi;
	__u64 count;
	__u64 errors;
	__u64 total_ns;
	__u64 max_ns;
	__u64 socket_count;
	__u64 socket_ns;
	__u64 by_error[TREE_CALL_ERRORS];
	__u64 other_errors;
	__u32 buckets[TREE_CALL_BUCKETS]; /* stop at their maximum */
};

#define TREE_CALL_SLOTS 28	/* with each thread */
#define TREE_CALL_SLOTS_MORE 84 /* made when a thread needs them */
#define TREE_CALLS_MAX (TREE_CALL_SLOTS + TREE_CALL_SLOTS_MORE)

/* Who ended waits of a thread; of children with the same name, the last. */
struct tree_waker_record {
	__s32 pid; /* 0: an interrupt or the kernel */
	__s32 tid;
	__u64 reason;
	char comm[TREE_RECORD_COMM];
	__u64 count;
	__u64 total_ns;
	__u64 longest_ns;
};

#define TREE_WAKERS_MAX 16

enum tree_thread_flag {
	TREE_THREAD_ENDED = 1 << 0,
	TREE_THREAD_ON_CPU = 1 << 1,
	TREE_THREAD_BLOCKED = 1 << 2,	 /* for `reason` */
	TREE_THREAD_IN_SYSCALL = 1 << 3, /* `number` of `abi` */
	TREE_THREAD_HAS_CALLS = 1 << 4,	 /* the record's calls are all that there were */
	TREE_THREAD_RUN_QUEUE = 1 << 5,	 /* the kernel counts waits for a CPU */
};

/* Followed by call_count struct tree_call_record and waker_count struct tree_waker_record. */
struct tree_thread_record {
	struct tree_record_head head;
	char comm[TREE_RECORD_COMM];
	__u32 flags;
	__u32 state;	  /* task_struct.__state */
	__u32 exit_state; /* task_struct.exit_state */
	__u32 reason;
	__u32 abi;
	__u32 number;
	__u64 since_ns; /* it is blocked, or on its CPU */
	__u64 begin_ns; /* it is watched */
	struct tree_usage_record usage;
	struct tree_ledger_record ledger;
	__u64 unnamed_calls;
	__u64 unnamed_ns;
	__u32 call_count;
	__u32 waker_count;
};

/*
 * The rules of system calls: one byte for each number of each table, natives first.  The low six
 * bits are an enum tree_wait_reason, or one of the rules that look at the call's arguments.
 */
#define TREE_RULE_BY_FD 32   /* by what the descriptor in the first one is */
#define TREE_RULE_FUTEX 33   /* by the operation in the second one */
#define TREE_RULE_FCNTL 34   /* a lock for the commands that wait for one, else by descriptor */
#define TREE_RULE_RESTART 35 /* that of the call before, which it goes on with */
#define TREE_CALL_NUMBERS 512
#define TREE_RULE_MASK 0x3f
#define TREE_RULE_ENDLESS 0x80	 /* does not return: counted when entered */
#define TREE_RULE_NO_RESULT 0x40 /* what it returns is not a result */

/* How seeding goes. */
enum tree_seed {
	TREE_SEED_ARM,	   /* the process begins with its next exec */
	TREE_SEED_PROCESS, /* its threads belong to the tree from now on */
	TREE_SEED_FAMILY,  /* so do threads and children of members */
};

enum tree_loss {
	TREE_LOSS_EVENTS,  /* records that found the ring full */
	TREE_LOSS_THREADS, /* last accounts that did */
	TREE_LOSS_TASKS,   /* tasks that the kernel had no memory for */
	TREE_LOSS_CALLS,   /* calls that are counted under no name */
	TREE_LOSS_WAKERS,  /* waits whose waker was pushed out by others */
	TREE_LOSS_COUNT,
};

#endif
