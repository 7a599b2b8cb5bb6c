/* SPDX-License-Identifier: MIT */
/*
 * The loop of a session: what happens between the start of a tree and its end or the detach.
 * Private to the session: session.c sets it up and settles what came of it.
 */
#ifndef SESSION_WATCH_H
#define SESSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/run.h"
#include "session/launch.h"
#include "session/lines.h"
#include "session/live.h"
#include "session/phases.h"
#include "session/sampler.h"
#include "session/surroundings.h"
#include "trace/clocks.h"
#include "trace/tracer.h"

struct host;
struct session_options;

/* What could not be done, again and again. */
struct watch_failures {
	uint64_t all;
	unsigned in_a_row;
};

/* So many in a row, and it is not asked any more. */
#define WATCH_FAILURES_MOST 10

struct watch {
	const struct session_options *options;
	struct host *host;
	struct tracer *tracer;
	struct run *run;
	struct launch launch; /* pid -1: attached */
	struct surroundings surroundings;
	struct sampler sampler;
	struct lines lines;
	struct live live;
	struct phase_watch phases;
	int signal_fd;
	uint64_t signals_ns; /* when signals were taken last */
	pid_t self;

	uint64_t begin_ns;	  /* the command was let go, or we attached */
	uint64_t drain_ns;	  /* when the tracer is asked again */
	uint64_t drain_pause_ns;  /* how long after the last time */
	uint64_t listen_ns;	  /* not before then because of its descriptor */
	uint64_t deadline_ns;	  /* of -d; UINT64_MAX: none */
	uint64_t kill_ns;	  /* when a command that was asked to end is killed */
	uint64_t tree_line_ns;	  /* the last `tree` line */
	uint64_t tree_line_forks; /* and the state that it told of */
	double cores;		  /* busy between the last two samples */

	uint64_t events;      /* in this round */
	uint64_t unapplied;   /* events for which there was no memory */
	uint64_t lost_before; /* events that the tracer had lost at the last look */
	struct watch_failures drains, looks, waits;
	int failure;	/* why the tree is not looked at any more: a negative errno */
	int exec_error; /* why the command does not run: a negative errno */
	bool command_ended;
	int command_status; /* as wait() has it */
	uint64_t command_end_ns;
	bool looked_since_end; /* by someone who knew that the command had ended */
	bool is_outlived;      /* there were others by then, who are waited for */
	bool root_began;       /* there was an event of it */
	bool root_settled;     /* its end and that of its threads is in the tree */
	bool root_moved;       /* it did an exec: where it is now is to be looked at */
	bool timed_out;
	bool interrupted;
	bool done;
};

/* Until the command ended, nothing is left to watch, or someone said to stop. */
void watch_loop(struct watch *watch);

/* Hands all that happened to the tree, and the processes that ended to the lines. */
void watch_drain(struct watch *watch);

/*
 * Counts what failed and returns false.  After WATCH_FAILURES_MOST in a row processes that were
 * attached to are left; a command is waited for all the same, and it may work again until then.
 */
bool watch_worked(struct watch *watch, struct watch_failures *failures, int status);

/* Whom the tree belongs to: nobody waits for it but us. */
static inline bool watch_is_attached(const struct watch *watch)
{
	return watch->run->mode == RUN_ATTACH;
}

/* Passes on what was meant for the command; without one to pass it on to, ends the watch. */
void watch_take_signals(struct watch *watch);

/* Processes that ended go to the lines. */
void watch_take_ended(struct watch *watch);

/* A sink of events for a tracer; the context is the watch. */
int watch_take_event(void *context, const struct tree_event *event);

/* Looks into which cgroup the first process moved, as long as its number is its own. */
void watch_follow_root(struct watch *watch);

/* One look at all that live.  Only one that worked can say that nobody is left. */
void watch_sample(struct watch *watch, enum tracer_depth depth);

/* Whether the command itself has ended by now; keeps its status. */
bool watch_command_ended(struct watch *watch);

/* Tells the tree what wait() says when the tracer did not tell of the command's end. */
void watch_tell_end(struct watch *watch);

#endif
