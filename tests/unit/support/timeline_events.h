/* SPDX-License-Identifier: MIT */
/* Events for a timeline, in microseconds from BEGIN on. */
#ifndef TESTS_UNIT_TIMELINE_EVENTS_H
#define TESTS_UNIT_TIMELINE_EVENTS_H

#include "model/path/timeline.h"

#define US UINT64_C(1000)
#define BEGIN (1000000 * US)

static inline struct timeline *make_timeline(void)
{
	struct timeline *timeline = NULL;

	assert_int_equal(timeline_new(&timeline), 0);
	return timeline;
}

static inline void take_fork(struct timeline *timeline, uint32_t serial, uint32_t creator,
			     uint64_t us)
{
	/* Numbers come again, as in a long run. */
	int32_t pid = 2 + (int32_t)(serial % 30000);
	struct tree_event event = {
		.type = TREE_FORK,
		.task = { pid, pid, serial },
		.time_ns = BEGIN + us * US,
		.fork = { .serial = serial, .creator = creator, .comm = "forked" },
	};

	timeline_take(timeline, &event);
}

static inline struct tree_event wait_event(uint32_t serial, uint32_t sequence, uint64_t block_us,
					   uint64_t run_us)
{
	int32_t pid = 2 + (int32_t)(serial % 30000);

	return (struct tree_event){
		.type = TREE_WAIT,
		.task = { pid, pid, serial },
		.wait = {
			.serial = serial,
			.sequence = sequence,
			.block_ns = BEGIN + block_us * US,
			.wake_ns = BEGIN + run_us * US,
			.run_ns = BEGIN + run_us * US,
			.reason = WAIT_PIPE,
		},
	};
}

static inline void take_end(struct timeline *timeline, uint32_t serial, uint64_t us)
{
	int32_t pid = 2 + (int32_t)(serial % 30000);
	struct tree_event event = {
		.type = TREE_THREAD,
		.task = { pid, pid, serial },
		.time_ns = BEGIN + us * US,
		.account = { .ended = true, .end_ns = BEGIN + us * US },
	};

	timeline_take(timeline, &event);
}

#endif
