/* SPDX-License-Identifier: MIT */
/*
 * This room follows the lives of all processes of a host, or of a tree, for a recorder: when they
 * begin, execute, get deadly signals and end, and what they used.  Unlike a tracer (trace/tracer.h)
 * it does not look at what threads do in between, so that it can stay on for months.
 *
 *	bpf		kernel events: nothing is missed, losses are counted
 *	connector	the kernel's process connector and the exit records of taskstats
 *	polling		compares one snapshot with the next: misses what lives in between
 *
 * Used from one thread.  The sink is called from lifecycle_drain(), lifecycle_flush() and
 * lifecycle_poll() only.
 *
 * Events have wall-clock times: the kernel's monotonic ones, plus what the two clocks differ by when
 * they are read.  An event never gets an earlier monotonic time than the one before it.  When
 * somebody sets the clock, events that happened before and are read after get times by the new one.
 *
 * Kernel threads are not reported.
 */
#ifndef TRACE_LIFECYCLE_H
#define TRACE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/life_event.h"

struct error;
struct host;
struct snapshot;
struct lifecycle;

struct lifecycle_options {
	const char *source;  /* "bpf", "connector", "polling"; NULL: the best that works */
	const char *cgroup;  /* only processes in this cgroup and below; NULL: all */
	int32_t tree_pid;    /* only this process and its descendants; 0: all */
	uint32_t per_second; /* at most this many events are sent one by one; 0: no limit */
	/* Gets every event before that, also those that are only counted; NULL: nobody does. */
	life_event_sink *witness;
	void *witness_context;
	/* For tests; 0: as much as is normal. */
	uint32_t ring_bytes;	/* the kernel's buffer: a power of two, and whole pages */
	uint32_t processes_max; /* whose names are kept */
};

/* What was not kept so far.  Events that were lost or counted have LIFE_LOST events, too. */
struct lifecycle_losses {
	uint64_t ring[LIFE_KIND_COUNT]; /* the kernel's buffer was full; [LIFE_LOST]: in all */
	uint64_t counted;		/* beyond `per_second` */
	uint64_t processes;		/* whose names found no room, so that events lack them */
	uint64_t commands;		/* command lines likewise */
	uint64_t members;		/* of the tree, for which the kernel had no memory */
	uint64_t records;		/* of exits: what these threads used is not known */
	uint64_t bad_records;
};

/*
 * Opens the source that was asked for, or the first that works.  Events from now on are reported.
 * 0, or a negative errno with a sentence.
 */
int lifecycle_open(const struct host *host, const struct lifecycle_options *options,
		   struct lifecycle **ret, struct error *error);
void lifecycle_close(struct lifecycle *lifecycle); /* NULL is allowed */

struct lifecycle_kind {
	const char *name;
	const char *needs;  /* for people */
	const char *misses; /* as below */
};

/* The source at this place in the list, best first; false behind the last one. */
bool lifecycle_kind(size_t place, struct lifecycle_kind *ret);

/* "bpf", "connector" or "polling", and why better ones do not work (NULL: it is the best). */
const char *lifecycle_source(const struct lifecycle *lifecycle);
const char *lifecycle_reason(const struct lifecycle *lifecycle);
/* What the source can miss, as the end of a sentence; NULL: nothing. */
const char *lifecycle_misses(const struct lifecycle *lifecycle);

/*
 * Readable when there may be events, or counts to report: at once after a pause, else up to five
 * times a second.  -1: there is none, lifecycle_poll() sends all.
 */
int lifecycle_fd(const struct lifecycle *lifecycle);

/*
 * Sends the events since the last call, in the order of time.  Beyond `per_second`, events are
 * counted by program, and LIFE_LOST events say how many; so are those for which the kernel's buffer
 * had no room.  0, or a negative errno: the sink's, or the source's own.
 */
int lifecycle_drain(struct lifecycle *lifecycle, life_event_sink *sink, void *context);

/* Drains, and sends also the counts that are not due yet.  Before closing. */
int lifecycle_flush(struct lifecycle *lifecycle, life_event_sink *sink, void *context);

/*
 * Tells it what lives now.  Polling finds events in it; the others drain, and learn the names and
 * parents of processes that began before they were opened.  0 or a negative errno.
 */
int lifecycle_poll(struct lifecycle *lifecycle, const struct snapshot *snapshot,
		   life_event_sink *sink, void *context);

/*
 * Whether the process belongs to the tree or cgroup that was asked for; true for all processes
 * when neither was.  `start_ns` 0: not known.
 */
bool lifecycle_is_member(const struct lifecycle *lifecycle, int32_t pid, uint64_t start_ns);

void lifecycle_losses(const struct lifecycle *lifecycle, struct lifecycle_losses *ret);
/* CPU time that the calls above took, the sink included. */
uint64_t lifecycle_cpu_ns(const struct lifecycle *lifecycle);

#endif
