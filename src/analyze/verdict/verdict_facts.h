/* SPDX-License-Identifier: MIT */
/*
 * The measured facts that a verdict weighs, all as times of the run so that they can be compared.
 *
 * Where the critical path is known, they are taken along it: what the wall time consisted of.  A
 * wait that another thread of the tree ended is no part of it, but what that thread did meanwhile.
 * Otherwise they are sums over all threads: `whole` is then the thread time on a CPU, in the queue
 * for one and in waits that cost something, at least the wall time; time in which nobody did any of
 * that is divided among the waits for work.
 *
 * What CPU time was spent on is known of the whole tree only; that on the path is divided alike.
 */
#ifndef ANALYZE_VERDICT_FACTS_H
#define ANALYZE_VERDICT_FACTS_H

#include "analyze/verdict/diagnosis.h"

/* Some calls together. */
struct call_sum {
	double count;
	double ns;
};

/* Calls whose time is weighed, by name; a name is in one list only. */
enum call_list {
	LIST_READ,
	LIST_WRITE,
	LIST_ASYNC, /* reads and writes that are handed in and collected */
	LIST_SYNC,
	LIST_POLL,
	LIST_YIELD,
	LIST_CONNECT,
	LIST_ACCEPT,
	LIST_WAIT, /* for children */
	LIST_REST,
	LIST_COUNT,
};

enum call_list call_list_of(const char *name);

/* Sums over all threads of the tree. */
struct tree_sums {
	double on_cpu, in_kernel, run_queue;
	double wait[WAIT_REASON_COUNT];
	double disk_waits, poll_waits, child_waits; /* how many */
	double processes;			    /* ever; so many can have been waited for */
	double blocked_in_calls;		    /* in calls that returned */
	double faults;
	struct call_sum calls, mappings, lists[LIST_COUNT];
	double connected;     /* connections that it made */
	double received;      /* network calls beside those */
	double again;	      /* calls that had nothing to give (EAGAIN) */
	struct call_sum vain; /* calls of one kind that nearly all failed alike; else none */
	const char *vain_name;
	double no_descriptor;  /* calls that failed because no file descriptor was free */
	double bytes_per_move; /* of reads and writes; negative: not known */
	double read_from_disk; /* 0 to 1: of the bytes moved */
};

/* What time on a CPU was for.  Each part is a lower estimate; the rest is CPU_COMPUTING. */
enum cpu_purpose {
	CPU_SPINNING,
	CPU_SYNCING, /* syncs, and the writes that belong to them */
	CPU_DISK,    /* reads and writes that waited for a disk */
	CPU_TINY,    /* moving a few bytes at a time */
	CPU_MAPPING,
	CPU_FAULTING,
	CPU_IN_KERNEL, /* most of the rest is the kernel's */
	CPU_COMPUTING,
	CPU_PURPOSES,
};

/* Calls for the end of a child that neither waited for it nor can have found one that ended. */
double vain_child_calls(const struct tree_sums *sums);
/* Whether nearly all of its calls are of one kind that fails again and again. */
bool fails_in_vain(const struct tree_sums *sums);
/* Divides the CPU time of the tree: fractions of 1, or all 0 when it used none. */
void verdict_cpu_split(const struct tree_sums *sums, double fractions[CPU_PURPOSES]);

/* How the threads of the tree share the computing. */
struct crew {
	/*
	 * 0 to 1: how long the threads that compute are blocked on locks and conditions, of that
	 * and their time on a CPU; a thread counts by its CPU time.
	 */
	double held_up;
	/* Threads that do the same, or wait for each other: the busiest one, then the others. */
	struct task_key busiest;
	char name[TREE_COMM_SIZE];
	double busiest_ns, others_ns; /* CPU time */
	double busiest_process_ns;    /* that of a whole process, not always the same one */
	double alone;	     /* 0 to 1: for how much of the time it outlasts others that compute */
	bool is_uneven;	     /* the busiest has by far the most */
	double kept_out;     /* 0 to 1: how long the others are blocked on locks */
	bool has_collectors; /* threads that do nothing but collect garbage */
	double open;	     /* waits in calls that had not returned at the end */
	double open_condition; /* that of the path's thread on a condition */
	double open_accepts;   /* those in accept() */
	bool is_traced;	       /* one is stopped by its tracer at the end */
};

void crew_gather(const struct run *run, struct crew *ret);

/* Whether a thread of that name collects garbage. */
bool crew_is_collector(const struct crew *crew, const char *thread);
/* Whether it is known only by what else there is not: it may have done other work for the program. */
bool crew_may_be_collector(const char *thread);

/* 0 to 1: the share of the time on a CPU in which stacks show the collector; 0 where it has no names. */
double verdict_collecting_stacks(const struct profile *profile);

/* Why the computing on the path took so long; the first that holds. */
enum computing {
	COMPUTING_COLLECTOR,
	COMPUTING_SERIALISED,
	COMPUTING_UNEVEN,
	COMPUTING_STAGE, /* of a pipeline */
	COMPUTING_CHILD, /* one that outlasts the others */
	COMPUTING_ITSELF,
};

/* What holds a stopped thread; as the object of its wait (see struct tree_wait_event), from 1 on. */
enum halt {
	HALT_STOPPED,
	HALT_TRACED,
	HALT_FROZEN,
	HALT_COUNT,
};

struct verdict_facts {
	const struct run *run;
	const struct critical_path *path; /* NULL: not known, or too much of it was not seen */
	bool has_cpu;			  /* on_cpu is measured */
	bool has_queue;			  /* the run queue is */
	bool has_ledger;		  /* waits are, by reason */
	bool is_sampled;		  /* those are estimates from samples */
	bool has_calls;			  /* system calls are */
	bool maps_memory;		  /* rather than touching what is mapped */
	bool has_limit_events;		  /* memory limits were reached */

	double wall, whole;   /* ns */
	double cores, online; /* online 0: not known */
	struct tree_sums sums;
	struct crew crew;

	/* Parts of `whole`: */
	double on_cpu;
	double cpu_for[CPU_PURPOSES];
	double handing_over[WAIT_REASON_COUNT]; /* cpu: two that answer each other do little else */
	double wait[WAIT_REASON_COUNT];
	double sync_wait;   /* the part of wait[WAIT_DISK] in syncs */
	double unexplained; /* waits without a reason, lost events, or nothing was measured */
	double queue;
	double quota;	  /* of it: because of cpu.max */
	double queue_own; /* the tree itself had the CPU, or wanted it too often */
	double starved;	  /* others had it, or the hypervisor */
	double stolen;	  /* the part of `starved` in which the hypervisor had it */
	double shared;	  /* others had it, no more than is usual on a machine with others */

	double contended; /* the part of on_cpu in which another waited for a lock, if serialised */
	double not_followed; /* the part of on_cpu that others did in waits too short to follow */

	enum computing computing;
	const struct path_part *who; /* the main part of the computing on the path, or NULL */
	double who_ns;		     /* and what its program computed */
	bool who_is_many;	     /* several threads of that did */
	double collecting;	     /* 0 to 1: how much of the computing is collecting garbage */
	enum halt halt;		     /* what wait[WAIT_STOPPED] mainly was */
	bool is_io_limited;	     /* it moves about as much as its cgroup may */
	double limit;		     /* in stalls at a memory limit */
	const struct tree_process *killed; /* for want of memory, or NULL: none that was kept */
	double answers;			   /* in polls of a client for the answers of its server */
	double timed;	 /* the part of wait[WAIT_CONDITION] that ended by a time limit */
	double map_wait; /* the part of wait[WAIT_MEMORY] that its own mapping calls explain */
	double pressed; /* others or it stalled on I/O: stands in for waits that were not measured */
	double forking; /* 0 to 1: the part of on_cpu that is starting short processes */
	double started; /* so many of them are on the path, at least */
};

/* Whether what it waits for is mainly another thread that wakes it, rather than events. */
bool verdict_is_woken(const struct verdict_facts *facts);

/* Whether others of the busiest thread's kind do not get a lock, so that it has the work. */
bool verdict_is_kept_out(const struct verdict_facts *facts);

void verdict_facts_gather(const struct run *run, struct verdict_facts *ret);

/*
 * Whether it waits for others' answers: it has few connections to servers, and is none itself.
 * *ret_sure: its sockets were read, so that is known rather than likely.
 */
bool verdict_is_client(const struct verdict_facts *facts, bool *ret_sure);

/* Sets sums.calls, sums.lists and what else is about calls. */
void verdict_calls_gather(struct verdict_facts *facts);

/* Sets what is taken from the path: path, whole, on_cpu, wait and the queue; and `halt`. */
void verdict_path_gather(struct verdict_facts *facts);
/* Sets `computing` and `who`. */
void verdict_path_explain(struct verdict_facts *facts);

/*
 * What limits a run from outside: quota, memory limit, pressure, the queue for CPUs; and how much
 * of its time is starting processes.  It takes from the times that the others have set.
 */
void verdict_limits_gather(struct verdict_facts *facts);

#endif
