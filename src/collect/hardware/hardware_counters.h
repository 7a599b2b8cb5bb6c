/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters of a tree of processes: perf events that children inherit.
 *
 * Events that are compared with each other are in one group, which the kernel counts at the same
 * times.  If there are more groups than counters, each counts only part of the time, and its
 * values are scaled.  A machine with two kinds of cores has a PMU for each, and an event counts
 * only on its kind; so there is a group for each PMU, and both are added up before scaling.
 */
#ifndef COLLECT_HARDWARE_COUNTERS_H
#define COLLECT_HARDWARE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"

struct host;
struct run_hardware;

#define HARDWARE_GROUP_MAX 4
#define HARDWARE_PMUS_MAX 2
/* More threads than this are not attached to: each needs a descriptor for every event. */
#define HARDWARE_TASKS_MAX 128

enum hardware_event {
	HARDWARE_CYCLES,
	HARDWARE_INSTRUCTIONS,
	HARDWARE_CACHE_REFERENCES,
	HARDWARE_CACHE_MISSES,
	HARDWARE_BRANCH_MISSES,
	HARDWARE_STALLED_FRONTEND,
	HARDWARE_STALLED_BACKEND,
	HARDWARE_EVENT_COUNT,
};

/* A perf event: its type and number for perf_event_open(2), and the group that it is in. */
struct hardware_kind {
	uint32_t type;
	uint64_t config;
	unsigned group;
};

/* A reading of a group: how long it was meant to count, how long it did, and its values. */
struct hardware_reading {
	uint64_t enabled_ns, running_ns;
	uint64_t values[HARDWARE_GROUP_MAX];
};

/*
 * The value at a place of the groups of all PMUs, scaled to the time that they were meant to
 * count.  False when they never counted.
 */
bool hardware_scale(const struct hardware_reading *pmus, size_t count, size_t place, uint64_t *ret);

/* What read(2) gives for a group of `count` events.  False when it is not that. */
bool hardware_parse(const void *bytes, size_t length, size_t count, struct hardware_reading *ret);

/* One group of one task on one PMU. */
struct hardware_group {
	int32_t tid;
	unsigned group;
	size_t count;
	enum hardware_event events[HARDWARE_GROUP_MAX];
	int fds[HARDWARE_GROUP_MAX]; /* the leader first */
};

struct hardware_counters {
	const struct hardware_kind *kinds; /* by enum hardware_event */
	uint32_t pmus[HARDWARE_PMUS_MAX];  /* types of the PMUs; 0: the only one */
	size_t pmu_count;
	bool own_only;			  /* threads inherit the counters, child processes do not */
	bool only_user;			  /* we may not count in the kernel */
	int errors[HARDWARE_EVENT_COUNT]; /* why an event is not counted: a negative errno, or 0 */
	ARRAY_OF(struct hardware_group) groups;
	size_t task_count;
	bool has_more_tasks; /* than HARDWARE_TASKS_MAX */
};

/* The events of enum hardware_event. */
extern const struct hardware_kind hardware_kinds[HARDWARE_EVENT_COUNT];

void hardware_open(struct hardware_counters *counters, const struct host *host,
		   const struct hardware_kind kinds[HARDWARE_EVENT_COUNT], bool own_only);
/*
 * Counts a task and what it starts, from now on, or from its next exec.  Events that cannot be
 * counted are left out.  0 or -ENOMEM.
 */
int hardware_add(struct hardware_counters *counters, pid_t tid, bool at_exec);
/* Sets the values so far; an event that a task lacks is absent. */
void hardware_result(const struct hardware_counters *counters, struct run_hardware *ret);
/*
 * Why events are not counted, or not all, as a sentence in the buffer; NULL when all are.  Events
 * that this machine does not have are not mentioned if it has others.
 */
const char *hardware_reason(const struct hardware_counters *counters, const struct host *host,
			    char *buffer, size_t size);
bool hardware_counts_any(const struct hardware_counters *counters);
void hardware_close(struct hardware_counters *counters);

#endif
