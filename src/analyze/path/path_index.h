/* SPDX-License-Identifier: MIT */
/* The steps of a timeline by thread, and which waker counts for each. */
#ifndef ANALYZE_PATH_INDEX_H
#define ANALYZE_PATH_INDEX_H

#include "model/path/timeline.h"

/* So long before and after its end is reported, a thread may still work for who waits for its end. */
#define PATH_EXIT_NS 10000000

struct path_index {
	const struct timeline *timeline;
	uint32_t *order;  /* numbers of steps, by thread, in the order of time */
	uint32_t *first;  /* where the steps of each thread begin in `order`; one more: its end */
	uint32_t *source; /* where in `order` the step is whose waker counts */
};

int path_index_init(struct path_index *index, const struct timeline *timeline);
void path_index_free(struct path_index *index);

static inline const struct timeline_step *path_step(const struct path_index *index, uint32_t at)
{
	return &index->timeline->steps.data[index->order[at]];
}

/* Its reason; WAIT_CHILD for a wait for events that came with the end of a member. */
uint8_t path_step_reason(const struct path_index *index, const struct timeline_step *step);

/* The place of the thread's first step that ends after that time. */
uint32_t path_index_find(const struct path_index *index, uint32_t thread, uint64_t time_ns);

#endif
