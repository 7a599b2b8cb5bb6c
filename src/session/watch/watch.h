/* SPDX-License-Identifier: MIT */
/*
 * Watches a tree in one event loop, from its start to its end or the detach.  Private to the
 * session: session.c opens it and takes its results.
 *
 * Each part has a struct with all its state, registers itself in the loop, and is changed by one
 * file only:
 *
 *	watch_command	the command: its exec, its end, its time limit	watch_command.c
 *	watch_signals	signals that are passed on			watch_signals.c
 *	watch_events	events from the tracer				watch_events.c
 *	watch_samples	samples of all members, on deadlines		watch_samples.c
 *	watch_members	which members count, and since when		watch_members.c
 *	watch_deadlock	threads that wait for each other		watch_deadlock.c
 *	hardware	counters of the processors, energy		watch_hardware.c
 *	watch_gpu	GPUs						watch_gpu.c
 *	watch_output	JSON lines					watch.c, base/output/lines.c
 *	stacks		where in the code they are			session/stack
 */
#ifndef SESSION_WATCH_H
#define SESSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/loop.h"
#include "collect/hardware/energy.h"
#include "collect/hardware/hardware_counters.h"
#include "model/tree/run.h"
#include "session/phase/phases.h"
#include "session/watch/launch.h"
#include "base/output/lines.h"
#include "session/watch/live.h"
#include "session/watch/sampler.h"
#include "session/stack/stack_watch.h"
#include "session/watch/limits.h"
#include "session/watch/watch_gpu.h"
#include "trace/tracer.h"

struct session_options;

/* Why something is absent with --since-process-start. */
#define WATCH_UNKNOWN_PAST                                                                         \
	"it is not known for the time before attaching, and --since-process-start was given"

/* Failures of something that is tried again and again. */
struct watch_failures {
	uint64_t all;
	unsigned in_a_row;
};

/* After this many failures in a row it is not tried any more. */
#define WATCH_FAILURES_MOST 10

struct watch_command {
	struct launch launch; /* pid -1: attached */
	struct loop_fd exec, end;
	struct loop_timer limit; /* -d */
	struct loop_timer kill;	 /* kills a command that was asked to end and did not */
	int exec_error;		 /* why it does not run: a negative errno */
	bool timed_out;
	bool ended;
	int status; /* as wait() has it */
	uint64_t end_ns;
	bool sampled_since_end; /* a sample was taken after we learned of its end */
	bool is_outlived;	/* other members outlived it, and we wait for them */
};

enum { WATCH_SIGNALS_MAX = 8 }; /* more than there are kinds that we take */

struct watch_signals {
	int fd;
	struct loop_fd ready;
	struct signalfd_siginfo arrived[WATCH_SIGNALS_MAX];
	size_t arrived_count; /* those that were not judged yet */
	uint64_t empty_ns;    /* when there were no more to read */
	uint64_t judged_ns;   /* up to when all that arrived were judged */
	bool interrupted;
	bool asked_to_end; /* the command got a signal that may end it */
};

struct watch_events {
	struct loop_fd ready;	  /* the tracer's descriptor */
	struct loop_timer due;	  /* when the tracer is drained in any case */
	struct loop_timer listen; /* when we listen to its descriptor again */
	bool is_called;		  /* its descriptor was ready in this round */
	uint64_t pause_ns;	  /* the pause after the last drain */
	uint64_t count;		  /* events since the last drain */
	uint64_t unapplied;	  /* events for which there was no memory */
	struct watch_failures failures;
	bool root_began; /* there was an event of the root process */
	bool root_done;	 /* its end and that of its threads are in the tree */
	bool root_moved; /* it did an exec: read its cgroup again */
};

struct watch_samples {
	struct sampler sampler;
	struct loop_timer due;
	struct loop_timer waits_due; /* for tracers that sample waits */
	struct watch_failures failures;
	uint64_t lost_before;	  /* events that the tracer had lost by the last sample */
	double cores;		  /* cores busy between the last two samples */
	uint64_t tree_line_ns;	  /* when the last `tree` line was written */
	uint64_t tree_line_forks; /* the number of forks in that line */
};

struct watch_deadlock {
	struct loop_timer due;
	uint64_t pause_ns; /* until the next search */
	bool is_late;	   /* the last search could not be done in its time */
};

/* The processes that were started or attached to, by their numbers; start_ns 0: not known yet. */
struct watch_members {
	struct task_key *roots;
	size_t root_count;
};

struct watch_output {
	struct lines lines;
	struct loop_timer due;
	struct loop_fd room; /* the reader has room again */
};

struct watch {
	const struct session_options *options;
	struct host *host;
	struct tracer *tracer;
	struct run *run;
	struct loop loop;
	pid_t self;
	uint64_t begin_ns; /* when the command was released, or we attached */
	int failure;	   /* why the tree is not read any more: a negative errno */
	struct watch_command command;
	struct watch_signals signals;
	struct watch_events events;
	struct watch_samples samples;
	struct watch_members members;
	struct watch_deadlock deadlock;
	struct watch_output output;
	struct live live;
	struct phase_watch phases;
	struct stack_watch *stacks; /* NULL: there are none */
	struct limits limits;
	struct hardware_counters counters;
	struct energy energy;
	struct watch_gpu gpu;
};

/* Registers nothing yet.  0 or a negative errno. */
int watch_open(struct watch *ret, const struct session_options *options);
/* Needs the run and the tracer.  Registers everything; times count from begin_ns. */
int watch_start(struct watch *watch);
/* Runs until the command ended, nothing is left to watch, or the loop is stopped. */
void watch_loop(struct watch *watch);
/* Frees all that it owns; members may be NULL. */
void watch_close(struct watch *watch);

/*
 * Returns whether `status` is a success, and counts failures.  After WATCH_FAILURES_MOST in a row
 * we detach from attached processes.  A command is still waited for, and reading it may work
 * again.
 */
bool watch_worked(struct watch *watch, struct watch_failures *failures, int status);

/* Whether we attached, so that the watch ends with the tree and not with a command. */
static inline bool watch_is_attached(const struct watch *watch)
{
	return watch->run->mode == RUN_ATTACH;
}

void watch_init_command(struct watch *watch);
int watch_start_command(struct watch *watch);
/* Whether the command itself has ended by now; keeps its status. */
bool watch_command_ended(struct watch *watch);

void watch_init_signals(struct watch *watch);
int watch_start_signals(struct watch *watch);
/* Reads signals that have arrived.  Returns whether there were any. */
bool watch_read_signals(struct watch *watch);
/*
 * Passes on those that were read and were meant for the command; without a command, ends the
 * watch.
 */
void watch_judge_signals(struct watch *watch);

void watch_init_deadlock(struct watch *watch);
void watch_start_deadlock(struct watch *watch);
/* Searches for a deadlock of members, if some are blocked; takes a second at most. */
void watch_find_deadlock(struct watch *watch);
void watch_forget_deadlock(struct watch *watch);

void watch_init_events(struct watch *watch);
int watch_start_events(struct watch *watch);
/* Drains the tracer: applies events to the tree, and writes a line for each process that ended. */
void watch_drain(struct watch *watch);
/* The sink for the tracer's events; the context is the watch. */
int watch_take_event(void *context, const struct tree_event *event);
/* Writes a line for each process that ended. */
void watch_take_ended(struct watch *watch);
/* Takes the signals that have arrived.  Needed before watch_take_ended(), which forgets senders. */
void watch_take_signals(struct watch *watch);
/* Adds the command's end to the tree, from wait(), if the tracer did not report it. */
void watch_apply_end(struct watch *watch);
/*
 * Reads which cgroup the root process is in now, while it is certain that the number is still its
 * own.
 */
void watch_follow_root(struct watch *watch);

/* Says which processes are started or attached to; before anything is drained.  0 or -ENOMEM. */
int watch_know_roots(struct watch *watch, const int32_t *pids, size_t count);
/* With --since-process-start the run begins with the first of them. */
void watch_begin_with_roots(struct watch *watch);
/* Whether an event is about a process that does not count; counts those that begin. */
bool watch_leaves_out(struct watch *watch, const struct tree_event *event);
/* Removes from an event what does not count. */
void watch_adapt_event(struct watch *watch, struct tree_event *event);
/* Sets the sources that do not count; after those of the tracer.  0 or -ENOMEM. */
int watch_report_members(struct watch *watch);
/* Prepares to count what the processors do; counts energy from now on. */
void watch_open_hardware(struct watch *watch);
/* Counts the held command from its exec on, or all living members from now on.  0 or -ENOMEM. */
int watch_count_command(struct watch *watch, int32_t pid);
int watch_count_members(struct watch *watch);
/* Sets the sources of both.  0 or -ENOMEM. */
int watch_report_hardware(struct watch *watch);
/* Keeps in the run what was counted.  0 or -ENOMEM. */
int watch_finish_hardware(struct watch *watch);

/* Takes the first sample of processes that were attached to.  0 or -ENOMEM. */
int watch_begin_samples(struct watch *watch);

void watch_init_samples(struct watch *watch);
void watch_start_samples(struct watch *watch);
/*
 * Takes a sample of all live members.  Only a sample that worked can show that no member is left.
 */
void watch_sample(struct watch *watch, enum tracer_depth depth);

/*
 * Call it once, after the loop: takes the last samples, completes the run, and writes the summary
 * (finish.c).  0 or -ENOMEM.
 */
int watch_finish(struct watch *watch);

#endif
