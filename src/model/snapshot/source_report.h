/* SPDX-License-Identifier: MIT */
/*
 * How well a source of a capture or of a run worked, and why not better.  A capture and a run list
 * their sources in the same way.
 */
#ifndef MODEL_SOURCE_REPORT_H
#define MODEL_SOURCE_REPORT_H

#include <stdint.h>

enum source_state {
	SOURCE_OK,	    /* every read that mattered worked */
	SOURCE_PARTIAL,	    /* some failed: see failed, reason */
	SOURCE_UNAVAILABLE, /* none worked: see reason */
	SOURCE_MISSING,	    /* the host does not have it */
	SOURCE_OFF,	    /* not asked for */
	SOURCE_NOT_BUILT,   /* no collector in the version that captured */
	SOURCE_STATE_COUNT,
};

struct source_report {
	const char *name;
	enum source_state state;
	const char *reason; /* NULL when ok, unless there was nothing to read */
	uint64_t read;
	uint64_t failed;
};

const char *source_state_name(enum source_state state);
/* The state of that name; SOURCE_UNAVAILABLE when there is none. */
enum source_state source_state_find(const char *name);

#endif
