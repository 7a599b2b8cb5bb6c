/* SPDX-License-Identifier: MIT */
/*
 * A tree of processes while it is watched: its members, what each used, and where their time went.
 *
 * A tree is built from events and owns everything that is reachable from it.  The sums include
 * members that ended, and never fall.  Memory is bounded: of the processes and threads that ended,
 * the TREE_KEPT that used or waited the most are kept; the others are added up by program
 * (TREE_PROGRAMS).  A thread's system calls are kept until tree_take_ended() took its process.
 */
#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/tree/tree_event.h"

#define TREE_KEPT 4096
/* Processes that are read from a file: those, and all that lived at the end. */
#define TREE_READ_MAX (128 * 1024)
/* At most this many threads are at live processes: events of more are ignored and counted. */
#define TREE_THREADS_MAX (256 * 1024)
#define TREE_PROGRAMS 1024
#define TREE_TOP_WAITS 16
/* The program name for threads whose process nobody saw. */
#define TREE_UNSEEN "(unseen)"

struct tree_thread {
	struct task_key key;
	char comm[TREE_COMM_SIZE];
	bool ended, found;
	uint64_t begin_ns, end_ns; /* while watched */
	struct amounts amounts;
	struct tree_now now;
	struct syscall_table syscalls;
	uint64_t unnamed_syscalls, unnamed_ns;
	struct tree_waker *wakers;
	size_t waker_count, waker_capacity;

	char program[TREE_COMM_SIZE]; /* once it ended: the name of its process; "": not known */

	/* Private: how the tree keeps it. */
	struct tree_process *process; /* NULL once the process was freed or kept */
	size_t slot;		      /* in `live` of the process, or in `ended` of the tree */
	uint64_t seen_ns;	      /* the last event */
};

/* Private: how the tree keeps a process. */
enum tree_stage {
	TREE_STAGE_LIVE,
	TREE_STAGE_CLOSING, /* the process ended, or all its threads did, but not both */
	TREE_STAGE_ENDED,   /* complete, and not yet taken */
	TREE_STAGE_TAKEN,
	TREE_STAGE_KEPT,
};

struct tree_level { /* what a live process adds to a sum that can fall */
	bool known;
	uint64_t value;
};

struct tree_process_state {
	enum tree_stage stage;
	struct tree_process *next, *previous; /* of the same stage */
	size_t slot;			      /* in `all` */
	size_t running;			      /* threads that did not end */
	uint64_t threads_seen;
	uint64_t seen_ns;
	uint64_t threads_end_ns;   /* the latest end in an account of its threads */
	struct tree_signal signal; /* the one that may end it; number 0: none */
	struct tree_level rss, fds;
	double fullness;      /* most open descriptors, divided by the limit */
	bool leader_replaced; /* another thread did an exec and is the leader now */
	bool command_due;     /* it was found: its first TREE_EXEC only gives its command line */
	bool status_counted;
	bool syscalls_counted; /* `syscalls` is complete, and in the tree's sum */
};

struct tree_process {
	struct task_key key;
	int32_t parent_pid;
	int32_t inner_pid;
	char comm[TREE_COMM_SIZE];
	char *arguments; /* NUL-separated; NULL when not known */
	size_t arguments_length;
	bool arguments_cut;
	bool found;  /* lived before it was watched */
	bool exited; /* its end was reported; complete once its threads ended too */
	bool oom_killed;
	uint32_t execs;
	uint64_t begin_ns, end_ns;
	struct tree_process_facts facts; /* of the last TREE_PROCESS, but peaks never fall */
	uint64_t peak_fds;
	uint64_t threads;	       /* ever */
	struct amounts amounts;	       /* of all its threads, ended ones included */
	struct syscall_table syscalls; /* filled by tree_take_ended() and tree_sum_up() */
	struct tree_thread **live;     /* its threads; also ended ones while the process lives */
	size_t live_count, live_capacity;

	struct tree_process_state state; /* private */
};

/* How a process ended, from facts.status.  False when it is not known. */
bool tree_process_exit_code(const struct tree_process *process, int *ret);
bool tree_process_signal(const struct tree_process *process, int *ret);

/* Whether it ended by a signal, or with a code other than 0. */
bool tree_process_failed(const struct tree_process *process);

/* Sums over processes of one program, with all their threads. */
struct program_sums {
	char comm[TREE_COMM_SIZE];
	uint64_t processes, threads, failures;
	uint64_t begin_ns, end_ns; /* the first begin and the last end */
	bool has_peak_rss;
	uint64_t peak_rss_bytes; /* of the largest */
	struct amounts amounts;
};

void program_add(struct program_sums *program, const struct tree_process *process);

/* One of the longest sums of waits: of one thread for one reason, with the main waker. */
struct tree_wait {
	struct task_key thread;
	char comm[TREE_COMM_SIZE];
	enum wait_reason reason;
	uint64_t total_ns, longest_ns, count;
	uint64_t recorded_ns;	 /* part of total_ns whose waker was recorded: longer waits only */
	struct tree_waker waker; /* total_ns 0: no waker is known */
};

/*
 * The share (0 to 1) of recorded_ns that this waker ended; of total_ns where recorded_ns is not
 * known.
 */
double tree_wait_waker_share(const struct tree_wait *wait);

/* Counts of the tree that are not known: their members mean nothing. */
enum tree_unknown {
	TREE_UNKNOWN_FORKS = 1 << 0,
	TREE_UNKNOWN_EXECS = 1 << 1,
	TREE_UNKNOWN_MOST_PROCESSES = 1 << 2,
	TREE_UNKNOWN_MOST_THREADS = 1 << 3,
	TREE_UNKNOWN_OOM_KILLS = 1 << 4,
};

struct tree {
	/* Sums over all members ever. */
	struct amounts amounts;
	struct syscall_table syscalls; /* of ended members; after tree_sum_up() of all */
	uint64_t unnamed_syscalls, unnamed_ns;
	bool lacks_memory;	     /* some calls are unnamed for want of memory */
	uint64_t processes, threads; /* ever */
	uint64_t execs, forks;	     /* forks: processes that began while watched */
	uint64_t exited, signalled,
		failed; /* processes that ended; by a signal; with a code not 0 */
	uint64_t oom_kills;
	unsigned unknown; /* enum tree_unknown */
	/*
	 * CPU time of children that nobody saw, as charged to the parents that waited for them.
	 * It is not in the amounts: add it.
	 */
	uint64_t unseen_cpu_ns;
	uint64_t dropped_wakers;      /* waits whose waker found no room */
	uint64_t untracked;	      /* processes and threads that there was no room for */
	uint64_t unaccounted_threads; /* ended without a last account: the one before it counts */
	/* Now, and the most at any time. */
	uint64_t live_processes, live_threads;
	uint64_t most_processes, most_threads;
	uint64_t rss_bytes, peak_rss_bytes; /* sum over live processes, by the samples */
	uint64_t largest_rss_bytes;	    /* highest peak of a single process */
	bool has_rss, has_peak_rss;
	uint64_t open_fds; /* sum over live processes */
	bool has_fds;
	struct tree_process *fullest; /* the process nearest to its descriptor limit, or NULL */

	struct tree_process *root; /* the command, or the first of those attached to */
	/* All live processes, and of the ended ones those that were kept. */
	struct tree_process **all;
	size_t count, capacity;
	/* Ended threads that were kept; live threads are at their process. */
	struct tree_thread **ended;
	size_t ended_count;
	uint64_t folded_threads, folded_processes; /* ended, and not kept */
	struct amounts folded;			   /* sums of these threads */
	struct program_sums *programs;		   /* sums of these processes alone */
	size_t program_count, program_capacity;
	struct program_sums other_programs; /* those that found no room; its `comm` is empty */

	struct tree_wait top_waits[TREE_TOP_WAITS]; /* set by tree_sum_up() */
	size_t top_wait_count;

	struct tree_index *index; /* private */
};

int tree_new(struct tree **ret);
void tree_free(struct tree *tree); /* NULL is allowed */
CLEANUP_POINTER(tree_free, struct tree)

/*
 * Applies an event.  0 or -ENOMEM.  If the process is not in the tree, an exec, a thread's fork, or
 * an account that is not the last adds it as found: its fork was lost, or comes later.  The last
 * account of an unknown thread, if it has a start time, is added to the sums.  Other events of
 * tasks that are not in the tree are ignored, and counted.
 */
int tree_apply(struct tree *tree, const struct tree_event *event);
uint64_t tree_unmatched_events(const struct tree *tree); /* that were ignored */

/* The process that has this number now and was not taken yet, or NULL. */
const struct tree_process *tree_find(const struct tree *tree, int32_t pid);

/* Adds what a process used before it was watched, in threads that had ended by then. */
void tree_add_past(struct tree *tree, int32_t pid, const struct amounts *past);

/* Call it after all events of one sample were applied: updates the peaks of sums over processes. */
void tree_sampled(struct tree *tree);

/*
 * Ends all members that had no event since `since_ns`, without a last account.  For use when
 * events were lost: call it after a sample of all live members, and after all events from before
 * that sample were applied as well.
 */
void tree_close_unseen(struct tree *tree, uint64_t since_ns);

/* Call it after the last event: processes whose end is only partly known count as complete. */
void tree_finish(struct tree *tree);

/*
 * Takes the next process that ended with all its threads; NULL when there is none.  Its system
 * calls, and those of each thread if it had several, are valid until the next call, which frees
 * them.
 */
const struct tree_process *tree_take_ended(struct tree *tree);

/*
 * Call it after the last event: adds the system calls of live members to the sums and finds the
 * top waits.  The calls of a process with one thread move from the thread to the process.
 */
void tree_sum_up(struct tree *tree);

/*
 * For code that reads a saved run: add an empty process to `all`, or an empty thread to `ended`,
 * for the caller to fill in.  NULL when memory runs out, or there are TREE_READ_MAX processes, or
 * TREE_KEPT threads.
 */
struct tree_process *tree_add_process(struct tree *tree);
struct tree_thread *tree_add_thread(struct tree *tree);
/* The same for a live thread of a process.  NULL when memory runs out. */
struct tree_thread *tree_attach_thread(struct tree_process *process);

/* The same for the process that the file names as the fullest; nothing when it has none. */
void tree_set_fullest(struct tree *tree, const struct task_key *key);

/* Adds an ended process that is not kept to the sums of its program. */
void tree_fold_process(struct tree *tree, const struct tree_process *process);

/*
 * Calls `visit` for each thread that is kept, ended or not.  Stops at a negative errno of `visit`
 * and returns it.
 */
typedef int tree_thread_visitor(void *context, const struct tree_process *process_or_null,
				const struct tree_thread *thread);
int tree_visit_threads(const struct tree *tree, tree_thread_visitor *visit, void *context);

#endif
