/* SPDX-License-Identifier: MIT */
/*
 * A moment: all that a screen, or a line of JSON, shows of one time.  A source makes it
 * (moment_source.h): live, from a recording, or from a file.  No view knows which.
 *
 *	struct moment moment = { 0 };
 *	while (moment_source_take(source, &next, &moment, &error) == 0)
 *		show(&moment);
 *	moment_clear(&moment);
 *
 * The layer tui is the screen of `taskscope top`.  This room makes what it shows; analyze groups it,
 * and render has the values as text and JSON, as for every other verb.
 */
#ifndef TUI_MOMENT_H
#define TUI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/record/anomaly.h"
#include "model/record/host_sample.h"
#include "model/record/job/job.h"
#include "model/record/life_event.h"

struct history;
struct snapshot;

/* What a thread waited for: a reason (waits.def), or the kernel function in which it slept. */
struct thread_wait {
	int32_t tid;
	char what[32]; /* "": not known */
};

/* A job as it was at that time: one that ended later runs, and its figures are not known yet. */
struct moment_job {
	struct job job;
	uint64_t elapsed_ns; /* how long it has run, or ran; 0: not known */
	uint64_t usual_ns;   /* how long it took mostly when it succeeded; 0: it never did */
	size_t first_step, step_count; /* in the moment's steps, the oldest first */
};

/* A process of a job, as far as the recorder has told. */
struct job_member {
	int32_t pid;
	uint64_t start_ns;
	uint32_t job;	  /* place in the list of jobs */
	const char *step; /* NULL: none */
};

/* All zeros is empty and valid. */
struct moment {
	/* As it was read, with sheets.  Belongs to the source, which keeps it until it takes another. */
	const struct snapshot *read;
	/*
	 * Its tasks.  With interval_ns, counters are what was done since the moment before
	 * (analyze/compare/interval_snapshot.h); else they are totals.
	 */
	struct snapshot *tasks;
	struct host_sample sample;
	ARRAY_OF(struct anomaly) anomalies; /* open at that time */
	ARRAY_OF(struct life_event) events; /* of the last minutes, newest first */
	ARRAY_OF(struct thread_wait) waits;
	ARRAY_OF(struct moment_job) jobs; /* those that run first, then the newest */
	ARRAY_OF(struct job_step) steps;
	ARRAY_OF(struct job_member) members;
	const char
		*no_jobs;   /* why there are none to be known; NULL: the lists above are complete */
	struct arena arena; /* texts of events and jobs */
	uint64_t before_unix_ns; /* the moment before; 0: none */
	uint64_t
		asked_unix_ns; /* the time that was asked for, if it is between two moments; else 0 */
	bool is_live;
	bool has_recorder;     /* anomalies and events are known */
	bool recorder_is_gone; /* one was there before, and writes nothing any more */
};

void moment_clear(struct moment *moment);

/*
 * Fills in `read`, `tasks` and `sample` from a snapshot and the one before it, which may be NULL or of
 * another boot: then there are no rates.  0 or -ENOMEM.
 */
int moment_make(struct moment *moment, const struct snapshot *before, const struct snapshot *now);

/* Makes every counter absent, with this reason: what was done in an interval is not known yet. */
int moment_await_rates(struct moment *moment, const char *reason);

/*
 * Adds the anomalies that were open at some time of the span, and its events, at most `most`.  What
 * cannot be read is left out.
 */
void moment_add_past(struct moment *moment, struct history *history, uint64_t from_unix_ns,
		     uint64_t to_unix_ns, size_t most);

#endif
