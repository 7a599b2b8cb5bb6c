/* SPDX-License-Identifier: MIT */
/*
 * The activity of a recording: what active threads did at each second (model/record/activity.h).
 * Rows of `activity` are of a walk, which has a row of its own also when nothing was active.  A
 * stack is kept once, by its hash.
 */
#ifndef STORE_HISTORY_ACTIVITY_H
#define STORE_HISTORY_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/history/history.h"

struct activity;

struct history_walk {
	const struct activity *activity;
	uint64_t missed;  /* seconds before this one that were not looked at */
	uint64_t cost_ns; /* before its rows are written; of a walk with a tick, half */
};

/*
 * Adds to the transaction, as those of history.h do.  -EAGAIN without a sentence: not before the
 * next tick, which says what boot this is.
 */
int history_add_activity(struct history *history, const struct history_walk *walk,
			 struct error *error);

enum activity_key {
#define ACTIVITY_KEY(id, ...) ACTIVITY_BY_##id,
#include "model/record/activity_keys.def"
	ACTIVITY_KEY_COUNT,
};

extern const struct activity_key_info {
	const char *name, *column;
	bool is_number;
} activity_keys[ACTIVITY_KEY_COUNT];

struct activity_query {
	struct history_span span;
	int32_t pid;	   /* 0: all */
	uint64_t start_ns; /* of that process, in this boot; 0: any with the number */
	enum activity_key keys[ACTIVITY_KEY_COUNT];
	size_t key_count;
	size_t limit; /* 0: all */
};

struct activity_totals {
	uint64_t walks;		       /* seconds that were looked at */
	uint64_t missed;	       /* and that were not */
	uint64_t samples;	       /* threads found active, over all walks */
	uint64_t stacks_left_out;      /* because there were too many */
	uint64_t threads_left_out;     /* of users who had more than their share, over all walks */
	uint64_t ticks, ticks_without; /* those at which activity was left out, of all */
	struct history_span span;      /* of the walks */
};

/* The values are in the order of the query's keys; NULL is not known, or there is none. */
struct activity_group {
	const char *const *values;
	uint64_t samples;
};

typedef int activity_group_sink(void *context, const struct activity_group *group);

int history_activity_totals(struct history *history, const struct activity_query *query,
			    struct activity_totals *ret, struct error *error);
/* Sums by the keys, the most samples first. */
int history_activity(struct history *history, const struct activity_query *query,
		     activity_group_sink *sink, void *context, struct error *error);
/* The newest walk at or before that time; 0 when there is none. */
uint64_t history_activity_at(struct history *history, uint64_t at_unix_ns);
/* A text of the table meta, to be freed; NULL when there is none. */
char *history_meta(struct history *history, const char *key);

#endif
