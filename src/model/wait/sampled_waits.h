/* SPDX-License-Identifier: MIT */
/*
 * Waits of a thread that are known from samples of its state.
 *
 * The time on CPUs and in the queue for one is counted exactly, so the time that a thread was
 * blocked is what is left of its wall time.  Samples only divide this time among the reasons, in
 * proportion to how often each was found.  So the parts add up to the wall time, and no part ever
 * falls: time that was credited once stays with its reason.
 */
#ifndef MODEL_SAMPLED_WAITS_H
#define MODEL_SAMPLED_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tree/amounts.h"

struct sampled_waits {
	bool is_sampled;			/* it was found at least once, blocked or not */
	uint32_t found[WAIT_REASON_COUNT];	/* how often it was found blocked, ever */
	uint32_t uncredited[WAIT_REASON_COUNT]; /* the same since time was last credited */
	uint32_t running;			/* how often it was not blocked since then */
	uint64_t ns[WAIT_REASON_COUNT];		/* credited */
};

/* What is known about the samples of a run; absent where waits were not sampled. */
struct wait_sampling {
	uint64_t samples;     /* that found a thread blocked */
	uint64_t all_samples; /* running threads included */
	uint64_t interval_ns; /* average time between two samples of a thread */
	uint64_t
		threads_unsampled; /* that ended before they were sampled: their waits are unknown */
};

/* Notes a sample that found it blocked, or running. */
void sampled_waits_note(struct sampled_waits *sampled, enum wait_reason reason);
void sampled_waits_note_running(struct sampled_waits *sampled);

/*
 * Credits what `blocked_ns`, the whole time that the thread was blocked, has grown by.  Goes by the
 * samples since the last time, or by all where there are none.  Before the thread was found blocked
 * once, nothing is credited.  If it `ended` by then, these were short waits, whose reason is not
 * known: WAIT_OTHER.
 */
void sampled_waits_credit(struct sampled_waits *sampled, uint64_t blocked_ns, bool ended);

/*
 * The same for a thread that ended unseen, so that `off_ns`, all of its wall time that is not known
 * to be on a CPU, may be in part.  As much of the growth is credited as samples found it blocked.
 */
void sampled_waits_credit_unseen(struct sampled_waits *sampled, uint64_t off_ns);

/* Sets the times of all reasons; leaves them absent when it was never sampled. */
void sampled_waits_fill(const struct sampled_waits *sampled, struct amounts *amounts);

/*
 * By how much a reason's share of the blocked time may be wrong, with a probability of 95 %: the
 * largest such error of all reasons, 0 to 1.
 */
double sampled_waits_error(const struct amounts *amounts, uint64_t samples);

#endif
