/* SPDX-License-Identifier: MIT */
/*
 * What a tracer tells about the tree that it follows: tasks that appear, exec, are signalled and
 * end, and accounts of their threads.
 *
 * Events of one task come in order.  Accounts (TREE_THREAD) are totals since the thread is
 * watched, so a later one replaces an earlier one and none is added twice; the last one has
 * `ended`.  It may come after the TREE_PROCESS that ends its process.  Pointers are valid during
 * the call only.  Times are of CLOCK_MONOTONIC, start times of CLOCK_BOOTTIME.
 */
#ifndef MODEL_TREE_EVENT_H
#define MODEL_TREE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ledger.h"
#include "model/syscall.h"
#include "model/usage.h"

#define TREE_COMM_SIZE 16
#define TREE_ARGUMENTS_MAX 4096

/*
 * A task, in the numbers of our PID namespace.  With the boot id it names the task for ever.
 * A process is named by its leader: tid equals pid.
 */
struct task_key {
	int32_t pid;
	int32_t tid;
	uint64_t start_ns; /* 0 when the source does not tell */
};

enum tree_event_type {
	TREE_FORK,    /* a process or thread is in the tree from now on */
	TREE_EXEC,    /* a process runs another program */
	TREE_THREAD,  /* the account of a thread so far */
	TREE_PROCESS, /* what is known of a process as a whole; its end, with `ended` */
	TREE_SIGNAL,  /* a signal whose default is to end or stop was sent to a member */
	TREE_OOM,     /* the kernel chose a process to free memory */
	TREE_EVENT_TYPE_COUNT,
};

/* Of TREE_FORK. */
struct tree_fork {
	int32_t parent_pid; /* for a thread: its own pid */
	int32_t inner_pid;  /* its number in its own PID namespace, 0 when not known */
	bool found;	    /* it lived before it was watched */
	char comm[TREE_COMM_SIZE];
};

/* Of TREE_EXEC, and of processes that were found. */
struct tree_exec {
	const char *arguments; /* NUL-separated, `length` bytes */
	size_t length;
	bool cut; /* there was more */
	char comm[TREE_COMM_SIZE];
};

/* What a thread that is off its CPU does right now. */
struct tree_now {
	char state;	 /* as in /proc: R S D T t Z X I; 0 when not known */
	bool blocked;	 /* off CPU and not waiting for one */
	uint8_t reason;	 /* enum wait_reason, when blocked */
	bool in_syscall; /* then syscall_abi and syscall are set */
	uint8_t syscall_abi;
	uint32_t syscall;
	uint64_t since_ns; /* when that began */
};

struct tree_syscall {
	enum syscall_abi abi;
	uint32_t number;
	/* Of a call by descriptor: those on sockets. */
	uint64_t socket_count;
	uint64_t socket_ns;
	struct syscall_stats stats;
};

/* Who ended waits of a thread for one reason. */
struct tree_waker {
	enum wait_reason reason;
	int32_t waker_pid, waker_tid; /* 0: an interrupt or the kernel */
	char waker_comm[TREE_COMM_SIZE];
	uint64_t count;
	uint64_t total_ns;
	uint64_t longest_ns;
};

/* Of TREE_THREAD. */
struct tree_account {
	bool ended;
	uint64_t end_ns;
	char comm[TREE_COMM_SIZE];
	struct usage usage;
	struct ledger ledger;
	struct tree_now now;
	bool has_syscalls; /* the next two are set: in the last account, and when asked for */
	const struct tree_syscall *syscalls;
	size_t syscall_count;
	uint64_t unnamed_syscalls; /* calls that found no room under their name: in no row */
	uint64_t unnamed_ns;
	const struct tree_waker *wakers; /* only when asked for */
	size_t waker_count;
};

/* Of TREE_PROCESS.  What is not known stays without its bit. */
enum tree_process_part {
	TREE_PROCESS_STATUS = 1 << 0,
	TREE_PROCESS_PEAK_RSS = 1 << 1,
	TREE_PROCESS_RSS = 1 << 2,
	TREE_PROCESS_FDS = 1 << 3,
	TREE_PROCESS_FD_LIMIT = 1 << 4,
	TREE_PROCESS_SENDER = 1 << 5,
	TREE_PROCESS_USAGE = 1 << 6, /* for sources that know processes but not threads */
	TREE_PROCESS_THREADS = 1 << 7,
	TREE_PROCESS_UNSEEN = 1 << 8,
};

struct tree_process_facts {
	unsigned present; /* enum tree_process_part */
	bool ended;
	uint64_t end_ns;
	int status; /* as wait() has it */
	int32_t sender_pid;
	char sender_comm[TREE_COMM_SIZE];
	uint64_t peak_rss_bytes; /* of the program that it ran last */
	uint64_t rss_bytes;
	uint64_t fds, fd_limit;
	uint64_t threads; /* in all */
	/*
	 * CPU time of children that it waited for, beyond what their own accounts say: of those
	 * that nobody saw, and of the last moments of others.  Grows; belongs to the tree's CPU
	 * time (USAGE_CPU), not to that of the process.
	 */
	uint64_t unseen_cpu_ns;
	struct usage usage;
};

struct tree_signal {
	int number;
	int32_t sender_pid; /* 0: the kernel */
	char sender_comm[TREE_COMM_SIZE];
};

struct tree_event {
	enum tree_event_type type;
	struct task_key task;
	uint64_t time_ns;
	union {
		struct tree_fork fork;
		struct tree_exec exec;
		struct tree_account account;
		struct tree_process_facts process;
		struct tree_signal signal;
	};
};

/* Returns 0, or a negative errno that ends the walk. */
typedef int tree_event_sink(void *context, const struct tree_event *event);

#endif
