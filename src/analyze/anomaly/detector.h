/* SPDX-License-Identifier: MIT */
/*
 * This room finds anomalies in what a recorder sees: rules over one snapshot after the other, with
 * a bounded memory of the past.  Pure: the times come from the snapshots and events.
 *
 * An episode opens when its rule begins to hold and closes when it no longer does, with hysteresis:
 * a value around the threshold makes one episode, not many.  When a process ends, its episodes
 * close.  A process is known by its number and start time, never by its number alone.
 */
#ifndef ANALYZE_ANOMALY_DETECTOR_H
#define ANALYZE_ANOMALY_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/anomaly.h"
#include "model/record/host_sample.h"

struct detector;
struct life_event;
struct snapshot;
struct text;

/* 0 or -ENOMEM. */
int detector_new(const struct anomaly_settings *settings, struct detector **ret);
void detector_free(struct detector *detector); /* NULL is allowed */

/*
 * Takes a tick: the snapshot, and the sample of the host made from it.  The sink gets every episode
 * that opens, changes its value, becomes more severe, or closes.  0, -ENOMEM, or what the sink returned.
 */
int detector_take(struct detector *detector, const struct snapshot *now,
		  const struct host_sample *host, anomaly_sink *sink, void *context);

/* Takes an event: an OOM kill opens and closes an episode. */
int detector_take_event(struct detector *detector, const struct life_event *event,
			anomaly_sink *sink, void *context);

/* The evidence of an OOM kill: the victim, the largest processes, and those that grew the most. */
void detector_describe_oom(const struct detector *detector, const struct life_event *event,
			   struct text *out);

/* Closes all that is open, when the recorder ends. */
int detector_finish(struct detector *detector, uint64_t unix_ns, anomaly_sink *sink, void *context);

/* The open episodes, in the order in which they opened. */
size_t detector_open_count(const struct detector *detector);
const struct anomaly *detector_open(const struct detector *detector, size_t index);

/* Whether some open episode concerns this process, so that it is worth sampling more often. */
bool detector_concerns(const struct detector *detector, int32_t pid, uint64_t start_ns);

/*
 * How many processes of the latest tick could not be followed because there were too many, and how
 * many of its episodes found no room.
 */
uint64_t detector_lost(const struct detector *detector);

#endif
