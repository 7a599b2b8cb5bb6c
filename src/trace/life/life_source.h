/* SPDX-License-Identifier: MIT */
/*
 * What the sources of lifecycle events share with lifecycle.c.  Private to src/trace/life.
 *
 *	lifecycle.c		opens a source, and drives it
 *	life_report.c		what happens to each event on its way to the sink
 *	life_table.c		what is known of the processes that live
 *	life_budget.c		how many events are sent one by one
 *	life_names.c		names of processes from snapshots, and which belong to the scope
 *	life_bpf.c, life_decoder.c, life_connector.c, life_polling.c	the sources
 */
#ifndef TRACE_LIFE_SOURCE_H
#define TRACE_LIFE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/life/life_budget.h"
#include "trace/life/life_report.h"
#include "trace/life/life_table.h"
#include "trace/life/lifecycle.h"

struct life_source {
	const char *name;
	const char *needs;  /* for people */
	const char *misses; /* as the end of a sentence; NULL: nothing */
	/* Fails with a sentence when it does not work here. */
	int (*open)(struct lifecycle *lifecycle, void **ret, struct error *error);
	/* NULL in a source that only polls. */
	int (*fd)(void *state);
	bool is_edge_triggered; /* its descriptor is readable longer than there is news */
	/* Sends what has happened.  0, or a negative errno; -EAGAIN: there may be more. */
	int (*drain)(void *state);
	/* Looks at a snapshot before names are taken from it; NULL: does nothing with it. */
	int (*poll)(void *state, const struct snapshot *snapshot);
	void (*losses)(void *state, struct lifecycle_losses *ret); /* NULL: it knows of none */
	void (*close)(void *state);
};

extern const struct life_source life_bpf, life_connector, life_polling;

struct lifecycle {
	const struct host *host;
	struct lifecycle_options options;
	char *cgroup; /* what options.cgroup points to */
	const struct life_source *source;
	void *state;
	char *reason;
	struct life_table table;
	struct life_budget budget;
	int wake_fd; /* an epoll of the source's descriptor and the timer; -1: none */
	int timer_fd;
	uint64_t cpu_ns;
	/* Set while events are sent. */
	life_event_sink *sink;
	void *context;
	uint64_t unix_offset_ns; /* from CLOCK_MONOTONIC */
	uint64_t last_ns;	 /* time of the last event */
	uint64_t sent;
	char command[TREE_ARGUMENTS_MAX + 1]; /* of the exec that is being sent */
};

/* Whether it follows a part of the host only. */
static inline bool lifecycle_has_scope(const struct lifecycle *lifecycle)
{
	return lifecycle->options.tree_pid || lifecycle->options.cgroup;
}

/* Identities have whole clock ticks. */
uint64_t life_whole_ticks(const struct lifecycle *lifecycle, uint64_t start_ns);

/*
 * Adds processes of the snapshot that the table does not have, and removes those that snapshots no
 * longer have.
 */
void life_names_learn(struct lifecycle *lifecycle, const struct snapshot *snapshot);

/*
 * Whether a process of the snapshot belongs to the tree or cgroup.  A process whose parent's
 * membership is not known yet does not.
 */
bool life_is_in_scope(const struct lifecycle *lifecycle, const struct snapshot *snapshot,
		      size_t row);
/* Sets in the table who belongs to the tree or cgroup. */
int life_names_mark(struct lifecycle *lifecycle, const struct snapshot *snapshot);
void life_forget_members(struct lifecycle *lifecycle);

/* The cgroup's number in the kernel. */
int life_find_cgroup(const struct lifecycle *lifecycle, uint64_t *ret, struct error *error);
/*
 * For sources that find members themselves: checks that what is to be followed exists, and makes
 * the root of the tree a member.
 */
int life_find_scope(struct lifecycle *lifecycle, struct error *error);

/* What a snapshot says of a process: whether it is a kernel thread, ... */
bool life_is_kernel_thread(const struct snapshot *snapshot, size_t row);
/* ... and a number that stands for its program's path; 0: not known. */
uint64_t life_program(const struct snapshot *snapshot, size_t row);

#endif
