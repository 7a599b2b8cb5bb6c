/* SPDX-License-Identifier: MIT */
/*
 * A tree of processes as it was watched: who was in it, what each used, where the time went.
 *
 * A tree is fed with events and owns all that is reachable from it.  What ended stays in the sums,
 * which never fall.  Memory is bounded: of the processes and threads that ended, those that used
 * or waited the most are kept (TREE_KEPT), the others are folded into one ledger and counted.
 * System calls of a thread are kept until its process was taken by tree_take_ended().
 */
#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree_event.h"

#define TREE_KEPT 4096
#define TREE_TOP_WAITS 16

struct tree_thread {
	struct task_key key;
	char comm[TREE_COMM_SIZE];
	bool ended, found;
	uint64_t begin_ns, end_ns; /* while watched */
	struct usage usage;
	struct ledger ledger;
	struct tree_now now;
	struct syscall_table syscalls;
	uint64_t unnamed_syscalls, unnamed_ns;
	struct tree_waker *wakers;
	size_t waker_count;

	/* Private: how the tree keeps it. */
	struct tree_process *process; /* NULL once the process is done with */
	size_t slot;		      /* in `live` of the process, or in `ended` of the tree */
	uint64_t seen_ns;	      /* the last event */
	bool accounted;		      /* there was an account */
};

/* Private: how the tree keeps a process. */
enum tree_stage {
	TREE_STAGE_LIVE,
	TREE_STAGE_CLOSING, /* the process ended, or all its threads did, but not both */
	TREE_STAGE_ENDED,   /* complete: waits to be taken */
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
	size_t silent;			      /* those of them without any account */
	uint64_t threads_seen;
	uint64_t seen_ns;
	struct usage threads;	 /* sum over the threads; `usage` has what the process said, too */
	uint64_t threads_end_ns; /* the latest end that an account told */
	struct tree_signal signal; /* the one that may end it; number 0: none */
	struct tree_level rss, fds;
	double fullness;      /* most descriptors open, by the limit */
	bool leader_replaced; /* another thread did an exec and is the leader from now on */
	bool command_due;     /* it was found: the first TREE_EXEC tells what it runs already */
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
	bool exited; /* the process said so; complete once its threads did too */
	bool oom_killed;
	uint32_t execs;
	uint64_t begin_ns, end_ns;
	struct tree_process_facts facts; /* of the last TREE_PROCESS; peaks kept */
	uint64_t peak_fds;
	uint64_t threads;   /* ever */
	struct usage usage; /* of all its threads, ended ones included */
	struct ledger ledger;
	struct syscall_table syscalls; /* filled by tree_take_ended() and tree_settle() */
	struct tree_thread **live;     /* its threads, ended ones as long as the process lives */
	size_t live_count, live_capacity;

	struct tree_process_state state; /* private */
};

/* How a process ended, from facts.status.  False when it is not known. */
bool tree_process_exit_code(const struct tree_process *process, int *ret);
bool tree_process_signal(const struct tree_process *process, int *ret);

/* One of the longest sums of waits: a thread, a reason, and who ended it most of the time. */
struct tree_wait {
	struct task_key thread;
	char comm[TREE_COMM_SIZE];
	enum wait_reason reason;
	uint64_t total_ns, longest_ns, count;
	uint64_t recorded_ns;	 /* of total_ns: waits whose waker was recorded, longer ones */
	struct tree_waker waker; /* total_ns 0: nobody is known */
};

/* How much of what was recorded that one ended, 0 to 1; of all where that is not known. */
double tree_wait_waker_share(const struct tree_wait *wait);

/* Counts that whoever filled the tree could not tell: what stands there means nothing. */
enum tree_unknown {
	TREE_UNKNOWN_FORKS = 1 << 0,
	TREE_UNKNOWN_EXECS = 1 << 1,
	TREE_UNKNOWN_MOST_PROCESSES = 1 << 2,
	TREE_UNKNOWN_MOST_THREADS = 1 << 3,
	TREE_UNKNOWN_OOM_KILLS = 1 << 4,
};

struct tree {
	/* Sums over all that ever was in it. */
	struct usage usage;
	struct ledger ledger;
	struct syscall_table syscalls; /* of what ended, and of the rest after tree_settle() */
	uint64_t unnamed_syscalls, unnamed_ns;
	uint64_t processes, threads; /* ever */
	uint64_t execs, forks;	     /* forks: processes that began while watched */
	uint64_t exited, signalled,
		failed; /* processes that ended; by a signal; with a code not 0 */
	uint64_t oom_kills;
	unsigned unknown; /* enum tree_unknown */
	/*
	 * CPU time of children that nobody saw, as their parents' waits tell it: a part of the
	 * usage of the tree, and of that of no process; in no ledger.
	 */
	uint64_t unseen_cpu_ns;
	uint64_t unaccounted_threads; /* ended without a last account: they have what was known */
	/* Now, and the most at one time. */
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
	/* Threads: live ones are at their process; these are kept ended ones. */
	struct tree_thread **ended;
	size_t ended_count;
	uint64_t folded_threads, folded_processes; /* ended, and not kept */
	struct ledger folded;

	struct tree_wait top_waits[TREE_TOP_WAITS]; /* set by tree_settle() */
	size_t top_wait_count;

	struct tree_index *index; /* private */
};

int tree_new(struct tree **ret);
void tree_free(struct tree *tree); /* NULL is allowed */
void tree_free_pointer(struct tree **tree);

/*
 * 0 or -ENOMEM.  An exec, a thread's fork, or an account that is not the last, of a process that is
 * not in the tree adds it as found: its fork was lost, or is yet to come.  A last account with a
 * start time of a thread that nothing is known of is added to the sums.  Other events of tasks
 * that are not in the tree are ignored, and counted in `strays`.
 */
int tree_apply(struct tree *tree, const struct tree_event *event);
uint64_t tree_strays(const struct tree *tree);

/* The process that has that number now, if it is in the tree and was not taken; or NULL. */
const struct tree_process *tree_find(const struct tree *tree, int32_t pid);

/* All events of one look were applied: notes the peak of what they add up to. */
void tree_sampled(struct tree *tree);

/*
 * Takes members that no event was about since then for ended, without a last account: for
 * after a look at all that live, when events were lost, and after what happened before the look was
 * applied, too.
 */
void tree_close_unseen(struct tree *tree, uint64_t since_ns);

/* No more events come: processes whose end is half known are complete as they are. */
void tree_finish(struct tree *tree);

/*
 * A process that ended, with all its threads, and was not taken before; NULL when there is none.
 * Its system calls, and with more than one thread also those of each, are there until the next
 * call, which frees them.
 */
const struct tree_process *tree_take_ended(struct tree *tree);

/*
 * After the last event: adds the system calls of those still alive to the sums and finds the
 * top waits.  Those of a process with one thread move from the thread to the process.
 */
int tree_settle(struct tree *tree);

/*
 * For who reads a saved run: an empty process in `all`, or a thread in `ended`, to be filled in.
 * NULL when there is no memory, or TREE_KEPT of them.
 */
struct tree_process *tree_add_process(struct tree *tree);
struct tree_thread *tree_add_thread(struct tree *tree);

/* Each thread that is kept, ended or not; returns a negative errno of the callback. */
typedef int tree_thread_visitor(void *context, const struct tree_process *process_or_null,
				const struct tree_thread *thread);
int tree_visit_threads(const struct tree *tree, tree_thread_visitor *visit, void *context);

#endif
