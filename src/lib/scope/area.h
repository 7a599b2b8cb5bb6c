/* SPDX-License-Identifier: MIT */
/*
 * This room opens and closes scopes.  It writes them to memory that other processes can read;
 * base/scope_layout.h has its layout.
 *
 * The area is that memory.  A process has one, mapped at one address until the process ends, so that
 * pointers into it stay valid.
 */
#ifndef LIB_AREA_H
#define LIB_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

struct area {
	struct scope_header *header; /* NULL before the first start */
	int fd;			     /* -1: nobody outside can read it */
	int share_error;	     /* why nobody can: a negative errno */
	bool is_private;	     /* made by area_part() */
};

extern struct area area;

/* Makes the area at the first call.  Returns 0 or a negative errno. */
int area_open(void);

/*
 * In a forked child, right after the fork: replaces the parent's memory by a private copy.
 * `thread` is the block of the only thread that lives on, as it was before the fork; NULL: it had
 * none.  Returns false when there is no memory for that: this process then has no area and never
 * gets one.
 */
bool area_part(const struct scope_thread *thread, uint32_t slot);
/*
 * When a forked child uses scopes again, replaces its private copy by memory that readers can see.
 * Does nothing in any other process.  Meanwhile no thread may open or close scopes; a step that another thread counts at this moment
 * may be lost.
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
