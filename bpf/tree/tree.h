/* SPDX-License-Identifier: MIT */
/*
 * The records that the programs which follow a tree of processes write, shared with their decoder.
 *
 * Each record begins with a struct tree_record_head.  It goes through the ring buffer when
 * something happens, or through an iterator when a reader asks.  Task numbers are those in the
 * reader's PID namespace, 0 for a task outside of it.  Times are of CLOCK_MONOTONIC, start times
 * of CLOCK_BOOTTIME.  All counters are totals since the task was first watched.
 */
#ifndef BPF_TREE_H
#define BPF_TREE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TREE_RECORD_COMM 16
#define TREE_RECORD_ARGUMENTS 4096

enum tree_record_type {
	TREE_RECORD_FORK,
	TREE_RECORD_EXEC,
	TREE_RECORD_THREAD,
	TREE_RECORD_PROCESS,
	TREE_RECORD_SIGNAL,
	TREE_RECORD_WAIT,
	TREE_RECORD_COUNT,
};

/*
 * In a record about a process, the thread number is the process's, and the start is its leader's.
 */
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
	__u32 found;	 /* it existed before it was found */
	__u32 serial;	 /* among the threads of the tree, from 1 on */
	__u32 creator;	 /* serial number of the thread that made it; 0: none of the tree */
	__u32 euid;
	char comm[TREE_RECORD_COMM];
};

/* The record ends after `length` bytes of arguments. */
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
	__u32 euid;
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
 * What a thread used.  A row is the metric and where the kernel counts it.
 *
 *	KERNEL(id, path)	task->path
 *	COMPUTED(id)		computed by the program
 */
/* clang-format off */
#define TREE_USAGES(KERNEL, COMPUTED)                                                              \
	KERNEL(run_time_ns,       se.sum_exec_runtime)                                             \
	COMPUTED(utime_ns)                                                                         \
	COMPUTED(stime_ns)                                                                         \
	KERNEL(read_bytes,        ioac.read_bytes)                                                 \
	KERNEL(write_bytes,       ioac.write_bytes)                                                \
	KERNEL(rchar,             ioac.rchar)                                                      \
	KERNEL(wchar,             ioac.wchar)                                                      \
	KERNEL(syscr,             ioac.syscr)                                                      \
	KERNEL(syscw,             ioac.syscw)                                                      \
	KERNEL(minflt,            min_flt)                                                         \
	KERNEL(majflt,            maj_flt)                                                         \
	KERNEL(voluntary_csw,     nvcsw)                                                           \
	KERNEL(nonvoluntary_csw,  nivcsw)                                                          \
	COMPUTED(net_rx_bytes)                                                                     \
	COMPUTED(net_tx_bytes)

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
	__u64 present; /* one bit for each enum tree_usage */
	__u64 values[TREE_USAGE_COUNT];
};

struct tree_wait_record {
	__u64 ns;
	__u64 count;
	__u64 longest_ns;
};

/* Reasons to be off the CPU. */
enum tree_wait_reason {
#define WAIT(id, name, kind, help) TREE_WAIT_##id,
#include "../src/metric/waits.def"
#undef WAIT
	TREE_WAIT_COUNT,
};

/* A power of two, so that an index can be masked to fit. */
#define TREE_REASONS 16

/*
 * Times off the CPU, from leave to return, whatever they consisted of.  A time that is not over
 * yet does not count as the shortest.
 */
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

/* The object of TREE_WAIT_STOPPED: what holds the thread. */
enum tree_stopped {
	TREE_STOPPED_SIGNAL = 1,
	TREE_STOPPED_TRACED,
	TREE_STOPPED_FROZEN,
};

/* What ended a wait, in the order of enum waker_class. */
enum tree_waker_class {
	TREE_WAKER_UNKNOWN,
	TREE_WAKER_INTERRUPT,
	TREE_WAKER_KERNEL,
	TREE_WAKER_MEMBER,
	TREE_WAKER_OUTSIDE,
};

/*
 * A time that a thread spent off its CPU, as struct tree_wait_event has it.  It is sent at the
 * switch after it, or, if that has not come yet, with the final sample.
 */
struct tree_off_cpu_record {
	struct tree_record_head head;
	__u32 serial;
	__u32 sequence;
	__u64 block_ns;
	__u64 wake_ns;
	__u64 run_ns;
	__u64 object;
	__u64 queued_tree_ns;
	__u64 queued_outside_ns;
	__u64 short_queued_ns;
	__u64 short_blocked_ns;
	__u32 short_count;
	__u32 forks;
	__u32 waker; /* the serial number of a member */
	__s32 waker_pid;
	__s32 waker_tid;
	__s32 queued_pid;
	__u8 reason;
	__u8 waker_class;
	__u8 short_reason;
	__u8 open;
	__u32 threshold_ns; /* shorter ones are not sent */
	__u64 waker_comm[TREE_RECORD_COMM / 8];
	__u64 queued_comm[TREE_RECORD_COMM / 8];
};

#define TREE_CALL_BUCKETS 32
#define TREE_CALL_ERRORS 4

/* Which table of system calls a number belongs to. */
enum tree_abi {
	TREE_ABI_NATIVE,
	TREE_ABI_COMPAT,
	TREE_ABI_UNKNOWN,
};

/*
 * What a thread did with one system call.  Errors: the number in the upper 16 bits, the count
 * below.
 */
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
	__u32 buckets[TREE_CALL_BUCKETS]; /* a full bucket stays at its maximum */
};

#define TREE_CALL_SLOTS 28	/* each thread has these */
#define TREE_CALL_SLOTS_MORE 84 /* allocated when a thread needs them */
#define TREE_CALLS_MAX (TREE_CALL_SLOTS + TREE_CALL_SLOTS_MORE)

enum tree_thread_flag {
	TREE_THREAD_ENDED = 1 << 0,
	TREE_THREAD_ON_CPU = 1 << 1,
	TREE_THREAD_BLOCKED = 1 << 2,	 /* for `reason` */
	TREE_THREAD_IN_SYSCALL = 1 << 3, /* `number` of `abi` */
	TREE_THREAD_HAS_CALLS = 1 << 4,	 /* the record has all of its calls */
	TREE_THREAD_RUN_QUEUE = 1 << 5,	 /* the kernel counts waits for a CPU */
};

/* Followed by call_count struct tree_call_record. */
struct tree_thread_record {
	struct tree_record_head head;
	char comm[TREE_RECORD_COMM];
	__u32 flags;
	__u32 state;	  /* task_struct.__state */
	__u32 exit_state; /* task_struct.exit_state */
	__u32 reason;
	__u32 abi;
	__u32 number;
	__u64 since_ns; /* since when it is blocked, or on its CPU */
	__u64 begin_ns; /* since when it is watched */
	struct tree_usage_record usage;
	struct tree_ledger_record ledger;
	__u64 unnamed_calls;
	__u64 unnamed_ns;
	__u32 call_count;
	__u32 reserved;
};

/*
 * The rules of system calls: one byte for each number of each table, the native table first.  The
 * low six bits are an enum tree_wait_reason, or one of the rules that check the call's arguments.
 */
#define TREE_RULE_BY_FD 32   /* by the kind of descriptor in the first one */
#define TREE_RULE_FUTEX 33   /* by the operation in the second one */
#define TREE_RULE_FCNTL 34   /* a lock for commands that wait for one; else by descriptor */
#define TREE_RULE_RESTART 35 /* the reason of the previous call, which it continues */
#define TREE_RULE_POLL 36    /* a sleep where both are 0: select() or poll() of nothing */
#define TREE_RULE_OPEN 37    /* by the kind of file that is being opened */
#define TREE_CALL_NUMBERS 512
#define TREE_RULE_MASK 0x3f
#define TREE_RULE_ENDLESS 0x80	 /* never returns: counted when entered */
#define TREE_RULE_NO_RESULT 0x40 /* its return value is not a result */

/*
 * What the result of a call on a socket means: one byte for each number of each table, like the
 * rules.  0: not a number of bytes.
 */
enum tree_traffic {
	TREE_TRAFFIC_RECEIVED = 1 << 0,
	TREE_TRAFFIC_SENT = 1 << 1,
	TREE_TRAFFIC_MESSAGES = 1 << 2, /* it is the number of messages; each has its bytes */
	TREE_TRAFFIC_FLAGS_3 = 1 << 3,	/* the third argument, */
	TREE_TRAFFIC_FLAGS_4 = 1 << 4,	/* or the fourth, says how to receive */
};

/*
 * Scopes of libtaskscope: where its memory has what we read (base/scope_layout.h), and what is kept
 * of them.
 */
#define TREE_SCOPE_ANNOUNCE 0x65706f63736b7461ULL
#define TREE_SCOPE_ANCHOR 128 /* in its header */
#define TREE_SCOPE_DEPTH 4    /* in the block of a thread */
#define TREE_SCOPE_PATH 144   /* likewise */
#define TREE_SCOPE_FRAMES 40

struct tree_scope_place {
	__u64 area_ns;	    /* when the memory was made, which tells programs of a process apart */
	__u64 self_offset;  /* from a thread's pointer to the address of its block */
	__u32 is_announced; /* before the first scope */
	__u32 reserved;
};

/*
 * What a process uses of the sums, by its number, whichever programs it runs.  A process that has
 * none lost all of its waits in scopes.
 */
#define TREE_SCOPE_PATHS_MAX 1024

struct tree_scope_use {
	__u32 paths; /* that have a sum */
	__u32 lost;  /* waits that have none */
};

/* Open scopes of a thread, outermost first; a label without a number is 0. */
struct tree_scope_key {
	__u64 area_ns;
	__s32 pid;
	__u32 depth;
	__u16 labels[TREE_SCOPE_FRAMES];
};

/* What seeding does. */
enum tree_seed {
	TREE_SEED_ARM,	   /* counting begins at the process's next exec */
	TREE_SEED_PROCESS, /* its threads belong to the tree from now on */
	TREE_SEED_FAMILY,  /* so do all threads and children of members */
};

enum tree_loss {
	TREE_LOSS_EVENTS,  /* records that found the ring full */
	TREE_LOSS_THREADS, /* final accounts that found the ring full */
	TREE_LOSS_TASKS,   /* tasks that the kernel had no memory for */
	TREE_LOSS_CALLS,   /* calls that are counted without their number */
	TREE_LOSS_WAITS,   /* times off the CPU that found the ring full */
	TREE_LOSS_SCOPES,  /* waits in scopes that could not be read, or found no room */
	TREE_LOSS_COUNT,
};

#endif
