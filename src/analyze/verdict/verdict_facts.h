/* SPDX-License-Identifier: MIT */
/*
 * The measured facts that a verdict weighs, all as times of the run so that
 * they can be compared.
 *
 * The scale is `demand`: the thread time spent on a CPU or lost in waits that
 * cost something, but at least the wall time.  So a busy tree is judged by what
 * its busy threads did, however many others wait for work, and a tree that did
 * little is judged by what it waited for.
 *
 * Time on a CPU is split by its purpose, as far as that is known; each part is
 * a lower estimate, and the rest is plain computing.
 */
#ifndef ANALYZE_VERDICT_FACTS_H
#define ANALYZE_VERDICT_FACTS_H

#include "analyze/verdict/diagnosis.h"

/* Some calls together. */
struct call_sum {
	double count;
	double ns;
};

struct verdict_facts {
	const struct run *run;
	bool has_cpu;	 /* on_cpu is measured */
	bool has_queue;	 /* run_queue is */
	bool has_ledger; /* waits are, by reason */
	bool is_sampled; /* those are estimates from samples */
	bool has_calls;	 /* system calls are */
	bool has_limit_events;

	double wall, demand, active; /* ns */
	double cores, online;	     /* online 0: not known */
	double on_cpu, in_kernel, run_queue;
	double wait[WAIT_REASON_COUNT]; /* without the long waits of threads that only wait */
	double parked, covered;		/* those, and others; see verdict_threads.h */
	bool in_turns;	   /* threads wake each other from many short waits on conditions */
	double contended;  /* those waits while they computed: in wait[WAIT_LOCK] */
	double lock_waits; /* how many, those included */
	double leader_wait[WAIT_REASON_COUNT];
	double idle;	    /* nobody did anything or waited for something that costs */
	double unexplained; /* waits without a reason, or none was measured */

	double call_overhead; /* ns that a call takes beside its latency */
	struct call_sum calls, moves, syncs, mappings, polls;
	double connects, accepts, network_calls;
	double no_descriptor; /* calls that failed because no file descriptor was free */
	double bytes_per_move;
	double faults;

	double sync_calls; /* on a CPU in syncs and the writes that belong to them */
	double sync;	   /* syncs and the writes that belong to them, waits included */
	double disk;	   /* waits for disks beside those */
	double disk_calls; /* on a CPU in reads and writes that involve a disk */
	double tiny;	   /* on a CPU to move a few bytes */
	double fault_time; /* on a CPU in page faults */
	double map_time;   /* on a CPU in calls that change memory maps */
	double handover[WAIT_REASON_COUNT]; /* on a CPU to hand over to another thread */
	double handshake; /* 0 to 1: reads of pipes and sockets wait for an answer of a few bytes */
	double computing; /* the rest on a CPU */

	double quota;	/* waiting for a CPU because of cpu.max */
	double stretch; /* for time on a CPU: with its part of a queue that is shared with others */
	double answering; /* in that queue after a partner woke it */
	double barged;	  /* in the queue after a lock was let go: others take it meanwhile */
	double starved;	  /* waiting for a CPU beyond what is usual on a shared machine */
	double own_queue; /* because the tree itself keeps all CPUs busy */
	double limit;	  /* in stalls at a memory limit */
	double pressed; /* others or it stalled on I/O: stands in for waits that were not measured */
	double fork_rate; /* processes a second */
	double forking;	  /* 0 to 1: most of it is starting short processes */
};

void verdict_facts_gather(const struct run *run, struct verdict_facts *ret);

/* Calls whose time is weighed, by name; a name is in one list only. */
enum call_list {
	LIST_READ,
	LIST_WRITE,
	LIST_SYNC,
	LIST_POLL,
	LIST_CONNECT,
	LIST_ACCEPT,
	LIST_REST,
	LIST_COUNT,
};

enum call_list call_list_of(const char *name);

/* Adds to `lists`, and sets the facts that are sums of calls. */
void verdict_calls_gather(struct verdict_facts *facts, struct call_sum lists[LIST_COUNT]);

/*
 * What limits a run from outside: quota, memory limit, pressure, the queue for
 * CPUs; and how much of its time is starting processes.  Call it last: it takes
 * from the times that the others have set.
 */
void verdict_limits_gather(struct verdict_facts *facts);

#endif
