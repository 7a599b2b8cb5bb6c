/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads that are followed without the kernel's help, and the telling of what
 * becomes of them.
 *
 * Who finds out about a task adds it here, hands over what it used, and ends it; events go to the
 * sink that was set last.  A member that was added is told of by members_announce() or with its first
 * other event.
 *
 * A parent is charged for the children that it waited for.  What it is charged beyond the accounts of
 * the children that were followed is the CPU time of those that nobody saw; it is told with the
 * parent as `unseen`, and never more than there was: charges are in whole ticks, rounded down.
 */
#ifndef TRACE_MEMBERS_H
#define TRACE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/number_map.h"
#include "model/tree_event.h"
#include "trace/counters.h"

struct host;
struct member;
struct proc_look;

struct member_thread {
	struct task_key key;
	struct member *process;
	size_t slot; /* in process->threads */
	bool announced;
	bool found; /* it lived before it was watched */
	uint64_t begin_ns;
	char comm[TREE_COMM_SIZE];
	char state;
	bool started;		       /* the next is known; one that was not found began with 0 */
	struct thread_counters before; /* when it was first watched */
	struct thread_counters since;  /* from then on */
	bool complete;		       /* that is all: it ended */
	uint64_t round;		       /* the last look that saw it */
};

/* A process. */
struct member {
	struct task_key key;
	int32_t parent_pid;
	uint64_t begin_ns; /* since when it is watched */
	size_t slot;	   /* in members.list */
	bool is_child;	   /* our own */
	bool announced;
	bool found;
	bool has_news;	    /* something of the above or below was not told yet */
	bool arguments_due; /* it runs a program that was not told yet */
	char comm[TREE_COMM_SIZE];
	int pidfd;	/* -1 for none */
	bool executed;	/* it ran a program of its own: see has_executed of struct proc_look */
	uint64_t image; /* see struct proc_look */
	uint64_t round;
	uint64_t thread_count; /* ever */
	ARRAY_OF(struct member_thread *) threads;
	bool has_peak;
	uint64_t peak_rss_bytes;
	bool has_status;
	int status;

	/* CPU time in ns: of its own, and of its children */
	uint64_t before_ns;	   /* of its own, before it was watched */
	uint64_t ended_ns;	   /* of threads that ended while watched */
	uint64_t waited_before_ns; /* what it was charged for children before */
	uint64_t waited_ns;	   /* what it is charged for by now */
	uint64_t known_ns;	   /* of ended children, by their own accounts */
	uint64_t unseen_ns;
};

struct members {
	const struct host *host;
	struct number_map processes, threads;
	struct number_map
		done; /* ended processes that are still listed; values are of no meaning */
	ARRAY_OF(struct member *) list;
	uint64_t lost_threads;		/* that ended without a last account */
	uint64_t round;			/* of looks */
	bool seeding;			/* tasks that are added now lived before */
	bool is_probed, lists_children; /* whether the kernel tells the children of a task */

	/* Where events go; the first failure of the sink is kept and ends the telling. */
	tree_event_sink *sink;
	void *context;
	int status;
};

void members_clear(struct members *members);

/* Sets the sink for what is told from now on, and forgets an old failure. */
void members_tell(struct members *members, tree_event_sink *sink, void *context);

struct member *members_find(const struct members *members, int32_t pid);
struct member_thread *members_find_thread(const struct members *members, int32_t tid);

/* Adds a process with its leader, or a thread.  NULL when there is no memory. */
struct member *members_add(struct members *members, const struct task_key *key, int32_t parent_pid,
			   uint64_t time_ns);
struct member_thread *members_add_thread(struct members *members, struct member *member,
					 const struct task_key *key, uint64_t time_ns);

/* What a task used before it was watched; for a process also what it was charged for. */
void member_thread_start(struct member_thread *thread, const struct proc_look *look);
void member_start(struct member *member, const struct proc_look *whole, uint64_t tick_ns);

/* What it used by now. */
void member_thread_learn(struct member_thread *thread, const struct proc_look *look);

/* Tells of members that were not told of, with the command line of those that run a program. */
void members_announce(struct members *members, uint64_t time_ns);

void members_announce_one(struct members *members, struct member *member, uint64_t time_ns);

/*
 * Tells that a process runs another program; reads its command line and name.  When it is gone,
 * `comm` is its name, or NULL.
 */
void members_exec(struct members *members, struct member *member, const char *comm,
		  uint64_t time_ns);

/* Tells a thread's account so far. */
void members_account(struct members *members, struct member_thread *thread, uint64_t time_ns);

/* Tells what is known of a live process, with what /proc says now. */
void members_facts(struct members *members, struct member *member, uint64_t time_ns);

/* Tells the last account of a thread and forgets it. */
void members_end_thread(struct members *members, struct member_thread *thread, uint64_t time_ns);

/* The same of a process with all threads that are left; those that are not complete count as lost. */
void members_end(struct members *members, struct member *member, uint64_t time_ns);

/*
 * Before an exec by a thread that is not the leader is told: the leader ended, and the thread has its
 * number from now on.
 */
void members_replace_leader(struct members *members, struct member_thread *heir, uint64_t time_ns);

/* Finds what it was charged for and nobody saw.  Only once all children that ended are known to. */
void member_settle_unseen(struct member *member);

/* The same when the CPU time of all its life and of all that it waited for is known. */
void member_settle_total(struct member *member, uint64_t total_ns);

#endif
