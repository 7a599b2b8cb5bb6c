/* SPDX-License-Identifier: MIT */
/*
 * At most so many events a second are sent one by one.  The others are counted by user, program and
 * kind, and at least once a second a LIFE_LOST event for each program of a user says how many.
 *
 * A second without events saves up for a burst of one second's worth.  No user can take what others
 * need: each may send all that there is for ten seconds, then a quarter of it, and one who has sent
 * much lately leaves a part of each second to the others.  Kills by a signal count for the user alone,
 * and kills by the kernel for its memory are always sent.
 */
#ifndef TRACE_LIFE_BUDGET_H
#define TRACE_LIFE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/life_event.h"

#define LIFE_PROGRAMS_MAX 128	 /* programs that are told apart between two reports */
#define LIFE_PROGRAMS_OF_USER 64 /* of one user; the others of that user are one more */
#define LIFE_USERS_MAX 64	 /* who sent events lately */
#define LIFE_REPORT_NS UINT64_C(1000000000)

struct life_counted {
	char comm[TREE_COMM_SIZE]; /* "" for all that found no row */
	uint32_t uid;
	bool has_uid;
	uint64_t counts[LIFE_KIND_COUNT];
};

/* Credit is time: an event costs a second / per_second. */
struct life_credit {
	uint64_t ns;
	uint64_t saved_at_ns; /* CLOCK_MONOTONIC; 0: never */
};

struct life_user {
	uint32_t uid;
	bool has_uid;
	struct life_credit credit;
};

/* All zeros but `per_second` is a fresh one. */
struct life_budget {
	uint32_t per_second; /* 0: no limit */
	struct life_credit credit;
	struct life_user users[LIFE_USERS_MAX];
	size_t user_count;
	uint64_t since_ns; /* of the first event that was counted and not reported */
	size_t program_count;
	struct life_counted programs[LIFE_PROGRAMS_MAX + 1]; /* the last one has the rest */
	uint64_t counted;				     /* in all */
};

/* Whether to send an event that happened then (CLOCK_MONOTONIC).  If not, it was counted. */
bool life_budget_keeps(struct life_budget *budget, const struct life_event *event, uint64_t now_ns);

static inline bool life_budget_has_counts(const struct life_budget *budget)
{
	return budget->program_count || budget->programs[LIFE_PROGRAMS_MAX].counts[LIFE_LOST];
}

/* Whether there are counts that must be reported by now. */
bool life_budget_is_due(const struct life_budget *budget, uint64_t now_ns);

/*
 * Sends the counts as LIFE_LOST events that happened at `unix_ns`, and begins anew.  0 or what
 * the sink returned.
 */
int life_budget_report(struct life_budget *budget, uint64_t unix_ns, life_event_sink *sink,
		       void *context);

#endif
