/* SPDX-License-Identifier: MIT */
/*
 * System calls of the processes that are recorded (--syscalls): by process and call, read at each tick.
 *
 * Within a tick, and until the next one, recorder_syscalls_since_tick() gives what was added since the
 * tick before, each sum once: by adding these up, any group of processes has its calls, also those of
 * processes that began and ended between two ticks.
 */
#ifndef RECORD_RECORDER_SYSCALLS_H
#define RECORD_RECORDER_SYSCALLS_H

#include <stdbool.h>

#include "base/collection/array.h"
#include "model/record/process_call.h"

struct calls;
struct calls_losses;
struct strace_losses;
struct error;
struct json;
struct process;
struct process_figures;
struct strace_watch;
struct recorder;

/* Part of struct recorder.  All zeros: they are not recorded. */
struct recorder_syscalls {
	struct calls *calls;	     /* NULL: not by BPF */
	struct strace_watch *strace; /* NULL: not by strace */
	char *reason;	/* why there are none, although they were asked for; NULL: there are */
	bool is_paused; /* to stay within the budget */
	ARRAY_OF(struct process_call) last;  /* by process, the most time first */
	ARRAY_OF(struct process_call) ended; /* by strace, since the last tick */
	uint64_t lost_rows;		     /* of strace, for lack of memory */
};

/* Whether system calls are recorded; else the sink below is never called. */
bool recorder_has_syscalls(const struct recorder *recorder);
/* Calls the sink for each process and call of the last tick.  0, or what the sink returned if that is not 0. */
int recorder_syscalls_since_tick(const struct recorder *recorder, process_call_sink *sink,
				 void *context);

/* For the recorder itself: begins as the options say, and says in the store why it cannot. */
void recorder_begin_syscalls(struct recorder *recorder);
/* At each tick: reads them, and later adds them to the store. */
void recorder_take_syscalls(struct recorder *recorder);
int recorder_keep_syscalls(struct recorder *recorder, struct error *error);
/* At the end: lets all processes go, and adds what strace has to say to the store. */
void recorder_finish_syscalls(struct recorder *recorder);
/* After what is left out has changed. */
void recorder_shed_syscalls(struct recorder *recorder);
void recorder_end_syscalls(struct recorder *recorder);
struct calls_losses recorder_syscall_losses(const struct recorder *recorder);
struct strace_losses recorder_strace_losses(const struct recorder *recorder);
/* With strace: the processes that are traced at the moment. */
void recorder_traced_json(struct json *json, const struct recorder *recorder);

/* Adds the calls of a process that took most time since the tick before to its figures. */
void recorder_syscall_figures(const struct recorder *recorder, const struct process *process,
			      struct process_figures *ret);
/* The call in which it spent most time, and the share of all time in calls; NULL: not known. */
const char *recorder_syscall_hotspot(const struct recorder *recorder, const struct process *process,
				     double *ret_share);

#endif
