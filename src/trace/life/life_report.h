/* SPDX-License-Identifier: MIT */
/*
 * What a source tells about a process: an event, and what the table of processes needs to complete
 * it and those that follow.
 */
#ifndef TRACE_LIFE_REPORT_H
#define TRACE_LIFE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/life_event.h"

struct lifecycle;

struct life_report {
	/*
	 * Without wall clock.  Name, parent, user and command line are completed from the table
	 * where the source does not have them.
	 */
	struct life_event event;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	bool is_found;	  /* nothing happened: the process lives, and belongs to what is followed */
	/* LIFE_EXEC: NUL-separated words; NULL: not known. */
	const char *arguments;
	size_t length;
	bool cut;
	/* LIFE_EXEC, LIFE_EXIT: peak RSS of all programs that the process ran so far. */
	bool has_maxrss;
	uint64_t maxrss_bytes;
	bool oom_killed;		  /* LIFE_EXIT */
	char sender_comm[TREE_COMM_SIZE]; /* of a signal */
};

/*
 * Completes the event, remembers what later ones need, and sends it to the sink, or counts it if
 * there are too many.  0 or a negative errno, the sink's.
 */
int life_report_send(struct lifecycle *lifecycle, const struct life_report *report);

/* Sends a LIFE_LOST event. */
int life_report_lost(struct lifecycle *lifecycle, uint64_t lost, const char *details);

#endif
