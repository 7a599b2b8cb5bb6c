/* SPDX-License-Identifier: MIT */
/*
 * Why a process does not get on, or what it burns: it is watched for a moment, judged like a run,
 * and what /proc says about its threads is put beside it.
 *
 * The verdict is that of the process alone; where it waits for children that do the work, it is
 * that of them all.
 */
#ifndef SESSION_WHY_H
#define SESSION_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/diagnosis.h"
#include "base/error.h"
#include "session/standing.h"

struct host;

#define WHY_ANSWER 320

/* A thread, from both views. */
struct why_thread {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	char state;
	int reason;		      /* enum wait_reason that it is blocked for now, or -1 */
	char call[SYSCALL_NAME_SIZE]; /* that it is in, "" for none */
	bool has_since;
	uint64_t since_ns; /* how long it is blocked already */
	bool at_least;	   /* it was so before it was watched */
	bool has_ledger;
	struct ledger ledger;
	bool has_waker;
	struct tree_waker waker; /* who ended most of its waits */
	double waker_share;
	const struct standing_thread *standing; /* or NULL; of why->after */
};

struct why {
	struct standing before, after; /* after has no threads when it ended */
	bool ended;
	bool has_status;
	int status; /* as wait() has it */
	uint64_t watched_ns;
	struct run *run;      /* NULL when it was not watched */
	struct error problem; /* why not */
	bool judged;	      /* the diagnosis is set */
	bool by_children;
	struct diagnosis diagnosis;
	char answer[WHY_ANSWER];	     /* one sentence without a full stop */
	ARRAY_OF(struct why_thread) threads; /* the busiest first */
};

/* -ESRCH when there is no such process, or another negative errno; each with a sentence. */
int why_ask(const struct host *host, int32_t pid, uint64_t duration_ns, struct why **ret,
	    struct error *error);
void why_free(struct why *why); /* NULL is allowed */
void why_free_pointer(struct why **why);

/* The sentence, from all the rest. */
void why_answer(struct why *why);

/* A state letter in words, NULL when there are none. */
const char *why_state_text(char state);

#endif
