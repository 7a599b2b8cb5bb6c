/* SPDX-License-Identifier: MIT */
/*
 * What goes with the failure of jobs, looked for while a host is recorded and kept as patterns.
 *
 * Nobody waits for it: jobs are read in pages, one in a turn of the loop, and compared in a thread, which has
 * nothing of the store.
 */
#ifndef RECORD_PATTERN_SEARCH_H
#define RECORD_PATTERN_SEARCH_H

#include <pthread.h>

#include "base/loop.h"
#include "record/job/past_jobs.h"
#include "store/history/job/history_jobs.h"

/* How far back a recorder looks, and how often. */
#define CORRELATE_SPAN_NS (UINT64_C(7) * 86400 * 1000000000)
#define CORRELATE_EVERY_NS (UINT64_C(1800) * 1000000000)

/* A search is over: what it found was added to the transaction, or there was an error with a sentence. */
typedef void pattern_search_ended(void *context, int status, const struct error *error);

struct pattern_search {
	struct loop *loop;
	struct history *history;
	pattern_search_ended *ended;
	void *context;
	uint64_t now_unix_ns; /* of this search */
	struct loop_timer due;
	struct loop_fd compared;
	int compared_fd;
	pthread_t thread;
	bool is_reading, is_comparing;
	struct job_query query;
	struct past_jobs past;
	struct correlation found;
	int status; /* of the thread */
};

/* The search stays where it is until it is closed.  0 or a negative errno. */
int pattern_search_open(struct pattern_search *search, struct loop *loop, struct history *history,
			pattern_search_ended *ended, void *context);
/* Waits for the thread.  All zeros, and one that was not opened, are allowed. */
void pattern_search_close(struct pattern_search *search);

/* Compares jobs of the week before that time, once the deadline has come (CLOCK_MONOTONIC); a time of 0 is then. */
void pattern_search_plan(struct pattern_search *search, uint64_t deadline_ns, uint64_t now_unix_ns);

#endif
