/* SPDX-License-Identifier: MIT */
/*
 * What the files of the recorder share.  Private to src/record.
 */
#ifndef RECORD_RECORDER_STATE_H
#define RECORD_RECORDER_STATE_H

#include "base/loop.h"
#include "record/pace/budget.h"
#include "record/ended.h"
#include "record/hook.h"
#include "record/job/pattern_search.h"
#include "record/recorder.h"
#include "record/recorder_syscalls.h"
#include "record/lines/rotated_lines.h"
#include "record/pace/schedule.h"
#include "render/record/record_json.h"

struct detector;
struct host;
struct job_tracker;
struct json;
struct lifecycle;
struct process;
struct process_total;
struct server;
struct snapshot;

/* A fault that lasts is reported when it begins and when it is over, not at each tick. */
struct recorder_fault {
	bool lasts;
	uint64_t count;
};

/* A tick: the snapshot, and what was made from it. */
struct recorder_tick {
	struct snapshot *snapshot; /* NULL: there was none yet */
	struct process_total *cpu; /* by process row */
	struct host_sample sample;
	char *jobs; /* what sample.jobs points to */
};

/* Kinds of losses: see recorder_losses.c. */
#define RECORDER_LOSSES 19

struct recorder {
	const struct recorder_options *options;
	struct host *host;
	struct loop loop;
	struct loop_fd signals;
	int signal_fd;
	struct loop_timer tick_due, end_due, commit_due, burst_due, activity_due;
	struct schedule schedule;
	struct expiry expiry;
	struct budget budget;
	struct sampling *sampling;
	struct lifecycle *life; /* NULL: no events */
	struct loop_fd life_ready;
	struct detector *detector;
	struct history *history;
	struct rotated_lines lines;
	struct hooks hooks;
	struct server *server; /* NULL: none */
	struct job_tracker *jobs;
	struct recorder_tick last, previous;
	struct ended_processes ended;	  /* of a scope, since the last tick */
	uint64_t ticks;			  /* taken */
	uint64_t pending;		  /* events since the last commit */
	uint64_t begin_ns;		  /* CLOCK_MONOTONIC */
	uint64_t missed;		  /* ticks since the last one that was kept */
	uint64_t cpu_ns;		  /* of this process at the last tick */
	uint64_t cpu_read_ns;		  /* when that was read; CLOCK_MONOTONIC */
	uint64_t undetected;		  /* processes and episodes that found no room, by tick */
	uint64_t losses[RECORDER_LOSSES]; /* as the store has them */
	struct recorder_fault sample_fault, store_fault, lines_fault, events_fault, anomaly_fault,
		patterns_fault;
	/* Sampling more often the processes that anomalies concern. */
	struct sampling *burst;
	int32_t *burst_pids;
	size_t burst_count;
	uint64_t burst_cost_ns; /* CPU since the last tick */
	/* Activity: see recorder_activity.c. */
	bool has_activity, has_noted_stacks;
	struct schedule activity_schedule;
	struct budget activity_budget;
	uint64_t activity_missed; /* seconds since the last walk that was kept */
	struct recorder_fault activity_fault;
	struct pattern_search patterns;
	char *gpu_lacks; /* why there are no figures of GPUs, "" if there are; NULL: not known yet */
	struct recorder_syscalls syscalls;
	struct recorder_fault syscalls_fault;
	int failure; /* ended the loop */
};

/* recorder_tick.c */
void recorder_take_tick(void *recorder);
void recorder_tick_clear(struct recorder_tick *tick);
/* What a process of the last tick did since the one before. */
struct process_figures recorder_figures(const struct recorder *recorder, uint32_t row);

/* recorder_activity.c */
void recorder_begin_activity(struct recorder *recorder);
/* Before a tick: lets its walk look at activity if that is due. */
void recorder_plan_activity(struct recorder *recorder);
/*
 * After a walk that was to look at it; begin_cpu_ns is our CPU time when its cost began.  A walk that a
 * tick shared costs each of them half.
 */
int recorder_keep_activity(struct recorder *recorder, uint64_t begin_cpu_ns, bool shares_walk,
			   struct error *error);
void recorder_take_activity(void *recorder);
/* Whether it is left out to stay within the budget. */
bool recorder_sheds_activity(const struct recorder *recorder);

/* recorder_events.c */
/* What was added is committed soon. */
void recorder_note_pending(struct recorder *recorder);
void recorder_drain(void *recorder);
void recorder_take_burst(void *recorder);
/* Takes the events up to this snapshot. */
void recorder_poll(struct recorder *recorder, const struct snapshot *snapshot);
void recorder_commit(void *recorder);
/* Sinks; the context is the recorder.  The witness sees events that are only counted, too. */
int recorder_witness(void *recorder, const struct life_event *event);
int recorder_take_event(void *recorder, const struct life_event *event);
int recorder_take_anomaly(void *recorder, enum anomaly_change change,
			  const struct anomaly *anomaly);

/* Counts a fault; says the sentence when it begins, and that it is over when `status` is 0 again. */
void recorder_judge(struct recorder *recorder, struct recorder_fault *fault, int status,
		    const struct error *error, const char *what);

/* recorder_gpu.c: after a sample, says and keeps why there are no figures of GPUs. */
void recorder_note_gpu(struct recorder *recorder);

/* recorder_losses.c: adds counts that changed to the store; says them to a person. */
void recorder_keep_losses(struct recorder *recorder);
void recorder_say_losses(const struct recorder *recorder);

/* recorder_context.c */
struct recorder_context {
	int64_t row; /* of a process in the last tick; -1: none */
	bool shows_command;
	bool has_hotspot;		/* looks for the system call that it was in most */
	bool has_host;			/* the whole sample of the host */
	const struct life_event *event; /* tells of a process that is in no tick; NULL: none does */
};
void recorder_context_json(struct json *json, const struct recorder *recorder,
			   const struct recorder_context *context);
/* The first open anomalies of one process, or of all (NULL), as the member "anomalies". */
void recorder_anomalies_json(struct json *json, const struct recorder *recorder,
			     const struct process *process, size_t most);

/* recorder_answers.c: starts the server. */
int recorder_serve(struct recorder *recorder, struct error *error);

#endif
