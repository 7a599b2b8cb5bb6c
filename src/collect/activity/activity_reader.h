/* SPDX-License-Identifier: MIT */
/*
 * Collects what active threads do (model/record/activity.h) from the records of a walk.
 *
 *	number = activity_reader_begin(reader);		the program is told this number
 *	activity_reader_add(reader, record, ...);	for each active thread
 *	activity_reader_finish(reader);			names stacks, reads scopes
 */
#ifndef COLLECT_ACTIVITY_READER_H
#define COLLECT_ACTIVITY_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/activity/activity_scopes.h"
#include "base/error.h"
#include "model/record/activity.h"

struct activity_stacks;
struct host;
struct task_decoder;
struct task_record;

struct activity_reader {
	const struct host *host;
	struct activity activity; /* of the last walk */
	struct activity_stacks *stacks;
	struct activity_scopes scopes;
	uint64_t walk;	  /* its number */
	uint64_t walk_ns; /* when it began; CLOCK_MONOTONIC */
	uint64_t with_stack;
	uint32_t threads_per_user; /* at most, in a walk; 0: all */
	struct error no_stacks;
	bool is_due;   /* the next full sample is also such a walk */
	bool is_taken; /* the last one was */
};

int activity_reader_init(struct activity_reader *reader, const struct host *host); /* or -ENOMEM */
void activity_reader_clear(struct activity_reader *reader);

uint64_t activity_reader_begin(struct activity_reader *reader);
/* Adds a record that has activity.  0 or -ENOMEM. */
int activity_reader_add(struct activity_reader *reader, const struct task_decoder *decoder,
			const struct task_record *record);
/* Whether the walk may have more stacks. */
bool activity_reader_wants_stacks(const struct activity_reader *reader);
void activity_reader_finish(struct activity_reader *reader);

#endif
