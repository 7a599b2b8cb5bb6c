/* SPDX-License-Identifier: MIT */
/*
 * Members: the processes and threads of a tree that is followed without BPF. This module keeps
 * what they used and sends events about them.
 *
 * A tracer that finds a task adds it here, passes on what it used, and ends it.  Events go to the
 * sink that was set last.  The fork event of a new member is sent by members_announce(), or before
 * its first other event.
 *
 * The kernel charges a parent for the children that it waited for.  The part of that charge that
 * no followed child accounts for is the CPU time of children that nobody saw; it is reported as
 * `unseen` of the parent.  It is never too high, since charges are in whole ticks, rounded down.
 */
#ifndef TRACE_MEMBERS_H
#define TRACE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "host/deadline_run.h"
#include "model/tree/tree_event.h"
#include "trace/bpf/counters.h"
#include "trace/proc/state_sampler.h"
#include "trace/proc/thread_state.h"

struct error;
struct host;
struct member;
struct proc_sample;

struct member_thread {
	struct task_key key;
	struct member *process;
	size_t slot; /* in process->threads */
	bool announced;
	bool found; /* it lived before it was watched */
	uint64_t begin_ns;
	char comm[TREE_COMM_SIZE];
	char state;
	bool started;	       /* `before` is set; a thread that was not found starts at 0 */
	struct amounts before; /* what it had used when it was first watched */
	struct amounts since;  /* what it used from then on */
	bool complete;	       /* `since` is final: it ended, and was read or reported then */
	uint64_t round;	       /* the last sample that found it */
	struct thread_files files;
	struct sampled_waits waits;
};

/* A process. */
struct member {
	struct task_key key;
	int32_t parent_pid;
	uint64_t begin_ns; /* when watching it began */
	size_t slot;	   /* in members.list */
	bool is_child;	   /* our own */
	bool announced;
	bool found;
	bool has_news;	    /* something above or below was not reported yet */
	bool arguments_due; /* the command line of its program was not reported yet */
	char comm[TREE_COMM_SIZE];
	int pidfd;	       /* -1 for none */
	bool executed;	       /* it did an exec: see has_executed of struct proc_sample */
	uint64_t image;	       /* see struct proc_sample */
	uint64_t thread_count; /* ever */
	ARRAY_OF(struct member_thread *) threads;
	uint64_t last_end_ns; /* of a thread; 0: none has ended */
	bool has_uid;
	uint64_t uid;
	bool has_peak;
	uint64_t peak_rss_bytes;
	bool has_status;
	int status;

	/* CPU time in ns: of its own, and of its children */
	uint64_t before_ns;	   /* of its own, before it was watched */
	uint64_t ended_ns;	   /* of threads that ended while watched */
	uint64_t waited_before_ns; /* what it was charged for children before it was watched */
	uint64_t waited_ns;	   /* what it was charged for children so far */
	uint64_t known_ns;	   /* of ended children, from their own accounts */
	uint64_t unseen_ns;
};

struct members {
	const struct host *host;
	struct deadline_threads reader;
	struct number_map processes, threads;
	struct number_map done; /* ended processes that /proc still lists; values mean nothing */
	ARRAY_OF(struct member *) list;
	uint64_t begin_ns;     /* of the first member that was ever added; 0: none was */
	uint64_t lost_threads; /* threads that ended without a last account */
	uint64_t round;	       /* number of the current sample */
	struct state_sampler states;
	bool since_start;		/* what found tasks used before they were watched counts */
	bool seeding;			/* tasks that are added now began before we watched */
	bool is_probed, lists_children; /* whether the kernel lists the children of a task */

	/*
	 * Where events go.  After the first failure of the sink, which is kept, no more are sent.
	 */
	tree_event_sink *sink;
	void *context;
	int status;
};

/* 0, or a negative errno and a sentence when this proc does not show our PID namespace. */
int members_open(struct members *members, const struct host *host, struct error *error);
void members_clear(struct members *members);

/* Sets the sink for all further events, and forgets an old failure. */
void members_set_sink(struct members *members, tree_event_sink *sink, void *context);

struct member *members_find(const struct members *members, int32_t pid);
struct member_thread *members_find_thread(const struct members *members, int32_t tid);

/* Adds a process with its leader, or a thread.  NULL when there is no memory. */
struct member *members_add(struct members *members, const struct task_key *key, int32_t parent_pid,
			   uint64_t time_ns);
struct member_thread *members_add_thread(struct members *members, struct member *member,
					 const struct task_key *key, uint64_t time_ns);

/*
 * Set what a task used before it was watched; for a process also what it was charged for children.
 */
void member_thread_start(const struct members *members, struct member_thread *thread,
			 const struct proc_sample *sample);
void member_start(struct member *member, const struct proc_sample *whole, uint64_t tick_ns);

/* Updates what it used so far; the leader also gives the peak RSS of the process. */
void member_thread_learn(struct member_thread *thread, const struct proc_sample *sample);

/* Sends the fork events that are due, with the command line of processes that did an exec. */
void members_announce(struct members *members, uint64_t time_ns);

void members_announce_one(struct members *members, struct member *member, uint64_t time_ns);

/*
 * Reports an exec, with the command line and name of the process as read from /proc.  If the
 * process is gone, `comm` is used as its name; it may be NULL.
 */
void members_exec(struct members *members, struct member *member, const char *comm,
		  uint64_t time_ns);

/* Reports a thread's account: the last one if it `ended`. */
void members_account(struct members *members, struct member_thread *thread, uint64_t time_ns,
		     bool ended);

/* Reports the facts of all processes, with what /proc says now. */
void members_facts(struct members *members);

/* Reports the end of a process.  Only for members_end(), which also forgets it. */
void members_report_end(struct members *members, struct member *member, uint64_t time_ns);

/* Reports the last account of a thread and forgets the thread. */
void members_end_thread(struct members *members, struct member_thread *thread, uint64_t time_ns);

/*
 * The same for a process with all threads that are left; threads that are not complete count as
 * lost.
 */
void members_end(struct members *members, struct member *member, uint64_t time_ns);

/*
 * Call it before reporting an exec by a thread that is not the leader: ends the leader and gives
 * its number to the thread.
 */
void members_replace_leader(struct members *members, struct member_thread *heir, uint64_t time_ns);

/*
 * Computes the CPU time that it was charged for children that nobody saw.  Call it only when the
 * end of every ended child is known.
 */
void member_update_unseen(struct member *member);

/*
 * The same when total_ns is known: its own CPU time plus that of all children that it waited for.
 */
void member_set_total(struct member *member, uint64_t total_ns);

#endif
