/* SPDX-License-Identifier: MIT */
/*
 * The memory that is shared with readers: see base/scope_layout.h.  One for the process, mapped at
 * one address until its end, so that pointers into it stay good.
 */
#ifndef LIB_AREA_H
#define LIB_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

struct area {
	struct scope_header *header; /* NULL before the first start */
	int fd;			     /* -1: nobody outside can read it */
	int share_error;	     /* then: why, a negative errno */
};

extern struct area area;

/* Makes it at the first call.  0 or a negative errno. */
int area_open(void);

/* A copy of a block while other threads move its counters: for area_part(). */
void area_keep(const struct scope_thread *thread, struct scope_thread *ret);
/*
 * In a forked child, at once: a private copy takes the place of the parent's memory.  `thread` is the
 * block of the only thread that lives on, as it was before the fork; NULL: it had none.  False when
 * there is no memory for that: then this process has no area, and gets none.
 */
bool area_part(const struct scope_thread *thread, uint32_t slot);
/*
 * In a forked child, when it uses scopes again: memory of its own that readers can see.  No thread
 * may open or close scopes meanwhile; a counter that another thread moves in this moment may miss it.
 */
void area_share(void);

static inline struct scope_thread *area_thread(uint32_t slot)
{
	return (struct scope_thread *)((char *)area.header + SCOPE_THREAD_OFFSET +
				       (size_t)slot * SCOPE_THREAD_SIZE);
}

static inline struct scope_label *area_labels(void)
{
	return (struct scope_label *)((char *)area.header + SCOPE_LABEL_OFFSET);
}

static inline struct scope_statistic *area_retired(void)
{
	return (struct scope_statistic *)((char *)area.header + SCOPE_RETIRED_OFFSET);
}

#endif
