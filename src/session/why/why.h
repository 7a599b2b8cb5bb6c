/* SPDX-License-Identifier: MIT */
/*
 * Answers why a process is slow, stuck or busy.  It attaches to the process for a short time,
 * judges that like a run, and adds what /proc says about its threads.
 *
 * The verdict is about the process alone, or, if it waits for children that do the work, about the
 * whole tree.
 */
#ifndef SESSION_WHY_H
#define SESSION_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "session/wait/wait_survey.h"
#include "session/why/process_state.h"

struct host;
struct text;

#define WHY_ANSWER 320

/* A thread, as the tracer and /proc show it. */
struct why_thread {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	char state;
	int reason;		      /* enum wait_reason for which it is blocked now, or -1 */
	char call[SYSCALL_NAME_SIZE]; /* the system call that it is in, "" for none */
	bool has_since;
	uint64_t since_ns; /* how long it has been blocked */
	bool at_least;	   /* it was already blocked when watching began */
	struct amounts amounts;
	bool has_waker;
	struct tree_waker waker; /* the one that ended most of its waits */
	double waker_share;
	int32_t giver_tid; /* the thread of its process that ended most waits on conditions; 0: none */
	const struct task_state *found; /* in why->after, or NULL */
	struct wait_object object;	/* what it waits for now */
};

/* Whether its time on a CPU is known. */
static inline bool why_has_times(const struct why_thread *thread)
{
	return amounts_has(&thread->amounts, AMOUNT_run_time_ns);
}

struct why {
	struct process_state before, after; /* `after` has no threads if it ended */
	bool ended;
	bool has_status;
	int status; /* as wait() has it */
	uint64_t watched_ns;
	struct run *run;      /* NULL when it could not be watched */
	struct error problem; /* why it could not be watched */
	bool judged;	      /* `diagnosis` is set */
	bool by_children;
	struct diagnosis diagnosis;
	struct wait_deadlock deadlock;
	char answer[WHY_ANSWER];	     /* one sentence without a full stop */
	ARRAY_OF(struct why_thread) threads; /* busiest first */
};

struct why_options {
	uint64_t duration_ns;
	bool stacks; /* also find out where in the code its threads stand: in run->profile */
};

/*
 * Watches the process for a while and gives the answer.  0, or a negative errno with a
 * sentence: -ESRCH when there is no such process.
 */
int why_ask(const struct host *host, int32_t pid, const struct why_options *options,
	    struct why **ret, struct error *error);
void why_free(struct why *why); /* NULL is allowed */
CLEANUP_POINTER(why_free, struct why)

/* Corrects reasons and the verdict by what the threads wait for. */
void why_judge_waits(struct why *why);

/* Says which thread of a deadlock waits for what. */
void why_describe_member(const struct wait_member *member, struct text *out);

/* Makes the sentence `answer` from all other members. */
void why_answer(struct why *why);

#endif
