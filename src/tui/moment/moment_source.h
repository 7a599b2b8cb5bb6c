/* SPDX-License-Identifier: MIT */
/*
 * Where moments come from: this host, a recording, or a file.
 */
#ifndef TUI_MOMENT_SOURCE_H
#define TUI_MOMENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct history;
struct host;
struct moment;
struct moment_source;
struct sampling;
struct snapshot;
struct task_key;
struct thread_wait;

enum move_kind {
	MOVE_ON,   /* to the next moment; of a live source, now */
	MOVE_BACK, /* to the one before */
	MOVE_BY,   /* by `ns` on, or back if it is negative */
	MOVE_TO,   /* to the newest at or before `unix_ns` */
	MOVE_FIRST,
	MOVE_LAST,
	MOVE_TO_NEXT_ANOMALY, /* to the first moment at or after an anomaly opened, after this one */
	MOVE_TO_LAST_ANOMALY, /* the same before this one */
	MOVE_TO_NEXT_EVENT,   /* to one at or after a signal, a kill, or a loss of events */
	MOVE_TO_LAST_EVENT,
	MOVE_TO_NEXT_JOB_EDGE, /* to one at or after the begin or end of a job */
	MOVE_TO_LAST_JOB_EDGE,
};

struct move {
	enum move_kind kind;
	int64_t ns;
	uint64_t unix_ns;
};

/* What happened in a part of a recording. */
enum ruler_mark {
	RULER_TICK = 1 << 0, /* there are moments; without it, a gap */
	RULER_EVENT = 1 << 1,
	RULER_JOB = 1 << 2, /* one runs */
	RULER_JOB_EDGE = 1 << 3,
	RULER_ANOMALY = 1 << 4,
};

#define RULER_MOST 512

/* The whole recording in equal parts, as many as a line has columns. */
struct ruler {
	uint64_t from_unix_ns, to_unix_ns;
	size_t count, at; /* of the parts; the one with the moment that is shown */
	uint8_t marks[RULER_MOST];
};

struct moment_source_kind {
	bool is_live;
	bool can_move; /* there are other moments than the next */
	int (*take)(struct moment_source *source, const struct move *move, struct moment *ret,
		    struct error *error);
	/* Each may be NULL.  Fills in ruler->count parts. */
	void (*ruler)(struct moment_source *source, struct ruler *ruler);
	/* What a thread waits for now; "" when that cannot be seen. */
	void (*read_wait)(struct moment_source *source, const struct task_key *thread,
			  struct thread_wait *ret);
	/* The recording that has the jobs of its moments; NULL, with a sentence: none has. */
	struct history *(*jobs)(struct moment_source *source, struct error *error);
	void (*close)(struct moment_source *source);
	/* Which metrics of threads later moments need, of METRIC_STORED; NULL: it has all anyway. */
	void (*want)(struct moment_source *source, const bool *wanted);
};

struct moment_source {
	const struct moment_source_kind *kind;
	const char *job; /* only jobs of this name are read; NULL: all.  Set by the next one */
};

/*
 * Replaces the moment by another.  0; -ENODATA, with a sentence, when there is no such moment, as
 * after the end of a recording: then the moment stays.  Or another negative errno with a sentence.
 */
int moment_source_take(struct moment_source *source, const struct move *move, struct moment *moment,
		       struct error *error);
/*
 * Moments have the jobs of that name only, which must live as long.  0, or a negative errno with a
 * sentence when there never was one.
 */
int moment_source_choose_job(struct moment_source *source, const char *name, struct error *error);
/* What a thread of the moment waits for, "" when it is not known; with `may_read` it is looked up. */
const char *moment_source_wait(struct moment_source *source, struct moment *moment,
			       const struct task_key *thread, bool may_read);
void moment_source_close(struct moment_source *source); /* NULL is allowed */
void moment_source_close_pointer(struct moment_source **source);

/*
 * Each returns 0 and a source to close, or a negative errno with a sentence.
 *
 * Live: the sampling is the caller's, and must live as long.  `store` is the path of the recording
 * that a recorder of this host writes, for its anomalies, events and jobs; NULL or a path where none is:
 * there are none.  `host` is read for what threads wait for.
 */
int live_source_open(struct sampling *sampling, const struct host *host, const char *store,
		     struct moment_source **ret, struct error *error);
/*
 * Of a recording, which the source closes in either case.  It has the moments of the last `age_ns` (0:
 * all); the first one that is taken, however one moves, is the first of these, or the newest at or before
 * `at_unix_ns` unless that is 0; UINT64_MAX is the newest.
 */
int store_source_open(struct history *history, uint64_t age_ns, uint64_t at_unix_ns,
		      struct moment_source **ret, struct error *error);
/* One snapshot, which the source frees in either case. */
int file_source_open(struct snapshot *snapshot, struct moment_source **ret, struct error *error);

#endif
