/* SPDX-License-Identifier: MIT */
/*
 * This room records a host, a tree or a cgroup: samples on absolute deadlines, events as they
 * happen, anomalies, into a store (store/history), and to JSON lines and the socket.
 *
 *	recorder.c		opens and closes everything; the event loop
 *	recorder_tick.c		one tick: sample, judge, keep, show
 *	recorder_events.c	what happens between ticks
 *	recorder_activity.c	what active threads do, each second
 *	recorder_syscalls.c	system calls by process
 *	strace_watch.c		the same by strace
 *	ended.c			what processes of a scope used that no tick saw
 *	recorder_context.c	what surrounds a process or the host at a moment
 *	recorder_losses.c	what the recorder itself could not do, counted
 *	recorder_answers.c	what clients of the socket can ask
 *	schedule, budget	when a tick is due, what it may cost
 *	rotated_lines, hook	JSON lines, commands that anomalies start
 *	server			the socket
 *	job			jobs: what their processes use, and what happens to them
 *
 * The recorder never fails because something could not be measured or written: it says so once,
 * counts it, and goes on.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/capture.h"
#include "model/record/anomaly.h"
#include "store/history/history.h"

struct error;

/* How system calls are recorded. */
enum record_syscalls {
	RECORD_SYSCALLS_NOT,
	RECORD_SYSCALLS_BPF,
	RECORD_SYSCALLS_STRACE, /* of a tree or cgroup only */
};

struct recorder_options {
	const char *store;
	const char *jsonl;  /* NULL: none */
	const char *socket; /* NULL: none */
	uint64_t interval_ns;
	uint64_t duration_ns; /* 0: until a signal */
	int32_t tree_pid;     /* 0: all processes */
	const char *cgroup;   /* NULL: all */
	enum task_lister lister;
	const char *events; /* "bpf", "connector", "polling"; NULL: the best that works */
	bool no_events;
	bool no_activity;
	enum record_syscalls syscalls;
	bool gpu; /* also ask about GPUs */
	uint32_t events_per_second; /* beyond that, events are counted instead of kept */
	struct history_retention retention;
	uint64_t jsonl_bytes;
	unsigned jsonl_files;
	struct anomaly_settings anomalies;
	const char *on_anomaly; /* NULL: nothing */
	/* Says a sentence to a person: when recording begins, and when something fails. */
	void (*note)(const char *sentence);
};

/*
 * Records until SIGINT, SIGTERM, SIGHUP or SIGQUIT, or the time is over, or the recorded tree has
 * ended.  0, or a negative errno with a sentence when it could not begin.
 */
int recorder_run(const struct recorder_options *options, struct error *error);

#endif
