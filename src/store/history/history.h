/* SPDX-License-Identifier: MIT */
/*
 * This room keeps a recording in one SQLite file, in WAL mode: snapshots in time, and what happened
 * in between.
 *
 * What people query by hand is plain rows (schema.def has the tables).  The full snapshot of each
 * tick is a blob in the column code of .tscope: a key frame now and then, and in between only the
 * tasks and readings that changed (frame.h).  So any instant can be read as a snapshot.
 *
 * There is one writer, which locks the file; any number of readers never block it.  All that is
 * added since the last commit is one transaction: a crash loses at most that.
 *
 * A file may come from a stranger: numbers and blobs in it are not trusted.  Times are wall clock
 * (unix_ns), except where a name says otherwise.
 */
#ifndef STORE_HISTORY_H
#define STORE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "metric/metric.h"
#include "model/record/anomaly.h"
#include "model/record/host_sample.h"
#include "model/record/life_event.h"

struct error;
struct history;
struct snapshot;

/* How long things are kept.  0 ns: nothing of it is kept; UINT64_MAX: for ever. */
struct history_retention {
	uint64_t raw_ns;      /* full snapshots and samples of the host: 24 h */
	uint64_t minutes_ns;  /* one-minute roll-ups: 7 days */
	uint64_t events_ns;   /* 30 days */
	uint64_t outcomes_ns; /* jobs, anomalies, patterns: 1 year */
	uint64_t bytes;	      /* the file, WAL included; what one commit adds may come on top */
};

extern const struct history_retention history_retention_defaults;

/*
 * Writing.
 *
 * Creates the file (0600) and the folders above it (0700), or opens an existing recording and goes
 * on; an older version is migrated.  -EBUSY when another recorder has it, -ENOTSUP for one of a
 * newer version.  A damaged file is renamed to NAME.damaged-TIME and a new one begun: then *ret_note
 * gets a sentence, which the caller frees; else NULL.
 */
int history_create(const char *path, const struct history_retention *retention,
		   struct history **ret, char **ret_note, struct error *error);

/*
 * The same for a few rows, by somebody who is no recorder: what it may have is what the last
 * recorder said.  Whoever wants to write meanwhile waits.
 */
int history_create_moment(const char *path, struct history **ret, char **ret_note,
			  struct error *error);

/*
 * A tick.  `sample` may have fewer figures than it could.  `missed` ticks were due before this one
 * and not taken.  `is_burst` is a sample out of turn, of some processes only, because of an
 * anomaly: it is kept by itself and is no part of the chain of changes.
 */
struct history_tick {
	const struct snapshot *snapshot;
	const struct host_sample *sample;
	uint64_t missed;
	uint64_t cost_ns; /* what taking it cost */
	const char *shed; /* what was left out to stay within the budget; NULL: nothing */
	bool is_burst;
};

/*
 * Each adds to the transaction.  0, or a negative errno with a sentence: -ENOSPC, -EROFS, -EIO ...;
 * the transaction is dropped then.  -EBADMSG: the file is damaged; with what is added next, or when it
 * is closed, it is set aside and a new one is begun.
 */
int history_add_tick(struct history *history, const struct history_tick *tick, struct error *error);
int history_add_event(struct history *history, const struct life_event *event, struct error *error);
/* An episode that opens is a new row; growing and closing update it. */
int history_put_anomaly(struct history *history, enum anomaly_change change,
			const struct anomaly *anomaly, struct error *error);
int history_set_meta(struct history *history, const char *key, const char *value,
		     struct error *error);
/*
 * Makes it durable.  When it fails (a full disk), the transaction is dropped.  What was lost so is
 * counted, and told when writing works again: ticks as `missed` of the next one, which has a key
 * frame, and events as a LIFE_LOST.
 */
int history_commit(struct history *history, struct error *error);
/* The sentence that a new file was begun, once; the caller frees it.  NULL: none was. */
char *history_take_note(struct history *history);
/* How many rows were dropped before their age, because the file was full. */
uint64_t history_dropped_rows(const struct history *history);
/* Drops what is too old or too much, and gives the space back.  Call it at the start and hourly. */
int history_expire(struct history *history, uint64_t now_unix_ns, struct error *error);

/* Closes one into which nothing was recorded; the file is removed if history_create() has made it. */
void history_abandon(struct history *history); /* NULL is allowed */

/*
 * Reading.  A file that does not exist is -ENOENT with a sentence; one that is no recording or is
 * damaged -EBADMSG.
 */
int history_open(const char *path, struct history **ret, struct error *error);
void history_close(struct history *history); /* NULL is allowed */
CLEANUP_POINTER(history_close, struct history)

/* A span of time, both ends included. */
struct history_span {
	uint64_t from_unix_ns, to_unix_ns;
};

/* From the earliest tick or minute to the tick that was added last; false when there is none. */
bool history_extent(struct history *history, struct history_span *ret);
/* When the newest that it has was recorded (a tick, an event, activity, a job); 0: nothing. */
uint64_t history_end(struct history *history);

/*
 * The snapshot of the newest tick at or before that time; 0: before the first one is -ENOENT with a
 * sentence.  Of a time that came twice, because the clock was set back, it is the second.  Beyond the raw retention it has the rows of the minute's processes, and says so in
 * FACT_resolution.  The caller frees it.
 */
int history_snapshot(struct history *history, uint64_t at_unix_ns, struct snapshot **ret,
		     struct error *error);

/* Newest first; `limit` 0: all.  Each returns 0 or what the sink returned, or an error. */
struct event_query {
	struct history_span span;
	uint32_t kinds; /* a bit for each enum life_kind; 0: all */
	int32_t pid;	/* 0: all */
	size_t limit;
	uint64_t after_id; /* only rows added after this one, oldest first: for followers */
};

int history_events(struct history *history, const struct event_query *query, life_event_sink *sink,
		   void *context, uint64_t *ret_last_id, struct error *error);

struct anomaly_query {
	struct history_span span;
	uint32_t rules; /* a bit for each enum anomaly_rule; 0: all */
	bool open_only;
	size_t limit;
};

int history_anomalies(struct history *history, const struct anomaly_query *query,
		      anomaly_sink *sink, void *context, struct error *error);

typedef int host_sample_sink(void *context, const struct host_sample *sample);
/* Samples of the host, newest first; one-minute means where the raw ones are gone. */
int history_samples(struct history *history, const struct history_span *span, size_t limit,
		    host_sample_sink *sink, void *context, struct error *error);

/* One point of a process's series: raw, or the least, mean and most of a minute. */
struct history_point {
	uint64_t unix_ns;
	struct task_key task;
	const char *comm;
	bool is_minute;
	double least, mean, most; /* equal when raw; rates per second of counters */
};

typedef int history_point_sink(void *context, const struct history_point *point);

struct series_query {
	struct history_span span;
	int32_t pid;	  /* 0: by name */
	const char *name; /* comm or program; NULL: by pid */
	enum metric_id metric;
	size_t limit;
};

/*
 * A metric of a process (or of all of that name) over time, oldest first; of more than `limit`
 * points the newest.  Counters come as rates.
 * -ENODATA with a sentence when the recording has no such metric.
 */
int history_series(struct history *history, const struct series_query *query,
		   history_point_sink *sink, void *context, struct error *error);

/*
 * Checks SQLite's integrity, every blob's checksum and decoding, the order of ticks, and the
 * roll-ups against what they stand for.  Calls `found` with a sentence for each fault; returns how
 * many there were, or a negative errno with a sentence.
 */
typedef void history_fault(void *context, const char *sentence);
int history_verify(const char *path, history_fault *found, void *context, struct error *error);

/* Copies what can be read into a new file.  Returns how many rows and ticks were left out. */
int history_repair(const char *path, const char *out, history_fault *found, void *context,
		   struct error *error);

#endif
