/* SPDX-License-Identifier: MIT */
/*
 * Events, which a tracer sends about the tree that it follows: tasks that appear, exec, get
 * signals and end, and accounts of their threads.
 *
 * Events of one task come in order.  An account (TREE_THREAD) holds totals since the thread was
 * first watched, so a later account replaces an earlier one and nothing is added twice.  The last
 * account has `ended` set; it may come after the TREE_PROCESS that ends its process.  Pointers are
 * valid during the call only.  Times are of CLOCK_MONOTONIC, start times of CLOCK_BOOTTIME.
 */
#ifndef MODEL_TREE_EVENT_H
#define MODEL_TREE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/syscall/syscall.h"
#include "model/tree/amounts.h"

#define TREE_COMM_SIZE 16
#define TREE_ARGUMENTS_MAX 4096

/*
 * Identifies a task, with the numbers of our PID namespace; together with the boot id, for ever.
 * A process has the key of its leader: tid equals pid.
 */
struct task_key {
	int32_t pid;
	int32_t tid;
	uint64_t start_ns; /* 0 when the source does not have it */
};

enum tree_event_type {
	TREE_FORK,    /* a process or thread is in the tree from now on */
	TREE_EXEC,    /* a process runs another program */
	TREE_THREAD,  /* what a thread has used so far */
	TREE_PROCESS, /* facts about a process as a whole; its end if `ended` is set */
	TREE_SIGNAL,  /* a signal whose default is to end or stop was sent to a member */
	TREE_OOM,     /* the kernel chose a process to free memory */
	TREE_WAIT,    /* a time that a thread spent off its CPU */
	TREE_EVENT_TYPE_COUNT,
};

/* Their names in files and JSON. */
extern const char *const tree_event_names[TREE_EVENT_TYPE_COUNT];

/* For TREE_FORK. */
struct tree_fork {
	int32_t parent_pid; /* for a thread: its own pid */
	int32_t inner_pid;  /* its number in its own PID namespace, 0 when not known */
	uint32_t serial;    /* as in struct tree_wait_event; 0: this tracer sends no waits */
	uint32_t creator;   /* the serial number of the thread that made it; 0: not a member */
	bool found;	    /* it lived before it was watched */
	bool has_uid;
	uint32_t uid; /* effective user */
	char comm[TREE_COMM_SIZE];
};

/* For TREE_EXEC, which also gives the command line of processes that were found. */
struct tree_exec {
	const char *arguments; /* NUL-separated, `length` bytes */
	size_t length;
	bool cut; /* there was more */
	char comm[TREE_COMM_SIZE];
};

/* What a thread does right now while it is off the CPU. */
struct tree_now {
	char state;	 /* as in /proc: R S D T t Z X I; 0 when not known */
	bool blocked;	 /* off CPU and not waiting for one */
	uint8_t reason;	 /* enum wait_reason, when blocked */
	bool in_syscall; /* then syscall_abi and syscall are set */
	uint8_t syscall_abi;
	uint32_t syscall;
	uint64_t since_ns; /* when it began to do so */
};

struct tree_syscall {
	enum syscall_abi abi;
	uint32_t number;
	/* For calls on a descriptor: how many were on sockets, and their time. */
	uint64_t socket_count;
	uint64_t socket_ns;
	struct syscall_stats stats;
};

/* A thread (or the kernel) that ended waits of another thread for one reason. */
struct tree_waker {
	enum wait_reason reason;
	int32_t waker_pid, waker_tid; /* 0: an interrupt or the kernel */
	char waker_comm[TREE_COMM_SIZE];
	uint64_t count;
	uint64_t total_ns;
	uint64_t longest_ns;
};

/* For TREE_THREAD. */
struct tree_account {
	bool ended;
	uint64_t end_ns;
	char comm[TREE_COMM_SIZE];
	struct amounts amounts;
	struct tree_now now;
	bool has_syscalls; /* the calls are set: in the last account, or on request */
	const struct tree_syscall *syscalls;
	size_t syscall_count;
	const struct syscall_table
		*named_syscalls;   /* from a file, in place of these two; or NULL */
	uint64_t unnamed_syscalls; /* calls that found no room for a row of their own */
	uint64_t unnamed_ns;
};

struct tree_saved;

/* For TREE_PROCESS: which facts are known. */
enum tree_process_part {
	TREE_PROCESS_STATUS = 1 << 0,
	TREE_PROCESS_PEAK_RSS = 1 << 1,
	TREE_PROCESS_RSS = 1 << 2,
	TREE_PROCESS_FDS = 1 << 3,
	TREE_PROCESS_FD_LIMIT = 1 << 4,
	TREE_PROCESS_SENDER = 1 << 5,
	TREE_PROCESS_THREADS = 1 << 6,
	TREE_PROCESS_UNSEEN = 1 << 7,
	TREE_PROCESS_UID = 1 << 8,
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
	uint64_t uid;	  /* effective user */
	uint64_t threads; /* in all */
	/*
	 * CPU time of children that the process waited for, beyond their own accounts: that of
	 * children that nobody saw, and of the last moments of others.  It only grows.  It belongs
	 * to the CPU time of the tree, not to that of the process.
	 */
	uint64_t unseen_cpu_ns;
	const struct tree_saved *saved; /* from a file; NULL in live events, and after the event */
};

/*
 * What a file says about a process as a whole.  Lines about single threads, or about an exec, may
 * be missing in it.
 */
struct tree_saved {
	struct amounts amounts;		/* of all its threads */
	struct syscall_table *syscalls; /* likewise */
	struct tree_exec program;	/* that it ran last */
	uint64_t execs;
	uint64_t peak_fds;
};

/* What ended a wait. */
enum waker_class {
	WAKER_UNKNOWN,	 /* nobody yet, or this kernel does not show whether an interrupt did */
	WAKER_INTERRUPT, /* a device, a timer, a packet from elsewhere */
	WAKER_KERNEL,	 /* a kernel thread */
	WAKER_MEMBER,	 /* a thread of the tree */
	WAKER_OUTSIDE,	 /* a thread that does not belong to the tree */
};

/*
 * For TREE_WAIT: a thread left its CPU at block_ns, could run again at wake_ns, and ran at run_ns.
 * If wake_ns equals block_ns, it was pushed off its CPU.
 *
 * Threads have serial numbers here, from 1 on, in the order in which they joined the tree: a
 * number is never used twice.  Each thread counts its times off the CPU that are sent, from 1 on;
 * a gap in `sequence` means that some were lost.  Times below a threshold, which can rise, are not
 * sent, but added up until the next one that is.  The final sample sends what is not over yet; if
 * that is followed by another event with the same `sequence`, the later one counts.
 */
struct tree_wait_event {
	uint32_t serial;
	uint32_t sequence;
	uint64_t block_ns, wake_ns, run_ns;
	bool open; /* not over when the watch ended: run_ns, and wake_ns if it is blocked, are then */
	uint8_t reason; /* enum wait_reason, unless it was pushed off its CPU */
	uint8_t waker_class;
	uint32_t waker;	   /* WAKER_MEMBER: its serial number */
	int32_t waker_pid, waker_tid; /* 0: an interrupt, or not known */
	char waker_comm[TREE_COMM_SIZE];
	/*
	 * Address of a futex; inode number of a file, pipe or socket; of WAIT_STOPPED 1 (a signal),
	 * 2 (a tracer) or 3 (the freezer); 0: none.
	 */
	uint64_t object;
	/* How long others had its CPU from wake_ns to run_ns; the rest of that time nobody had it. */
	uint64_t queued_tree_ns, queued_outside_ns;
	int32_t queued_pid; /* the one outside that had it longest */
	char queued_comm[TREE_COMM_SIZE];
	/* Since the last event of this thread: */
	uint64_t short_queued_ns, short_blocked_ns; /* in times below the threshold */
	uint32_t short_count;
	uint8_t short_reason; /* enum wait_reason of the longest of them */
	uint32_t forks;	      /* processes and threads that it made */
	uint64_t threshold_ns;
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
		struct tree_wait_event wait;
	};
};

/* Returns 0, or a negative errno that ends the walk. */
typedef int tree_event_sink(void *context, const struct tree_event *event);

#endif
