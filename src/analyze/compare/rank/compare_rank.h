/* SPDX-License-Identifier: MIT */
/*
 * Ranks rows by importance.  A row's score is
 *
 *	weight of the metric  x  share  x  magnitude
 *
 * all from 0 to 1.  The share is the row's part in all that moved in its
 * resource on the whole host, in the resource's own unit: so the lone mover of a
 * rare metric has the small share that it is worth.  The magnitude says how large
 * the change is for the host, on a logarithmic scale from the resource's noise
 * floor (0) to the host's whole amount of it (1).
 *
 * A ratio has no amount of its own: its score is how far it moved from its old
 * value, times the score that its first input would have.
 */
#ifndef ANALYZE_COMPARE_RANK_H
#define ANALYZE_COMPARE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct comparison;
struct comparison_row;
struct snapshot;

enum resource {
	RESOURCE_NONE,
	RESOURCE_CPU,	   /* ns on a CPU */
	RESOURCE_WAIT,	   /* ns waiting */
	RESOURCE_IO,	   /* bytes moved */
	RESOURCE_MEMORY,   /* bytes held */
	RESOURCE_FAULTS,   /* page faults */
	RESOURCE_SWITCHES, /* context switches, wake-ups, other events */
	RESOURCE_TASKS,	   /* threads, descriptors */
	RESOURCE_COUNT,
};

struct rank_scale {
	double capacity[RESOURCE_COUNT]; /* what the host has, in the resource's unit */
	double moved[RESOURCE_COUNT];	 /* of all groups, 0 until it is measured */
};

/* The metric that measures each resource, METRIC_COUNT for RESOURCE_NONE. */
extern const enum metric_id resource_metrics[RESOURCE_COUNT];

/* For an interval of elapsed_ns; 0: since the host booted.  What moved is not known yet. */
void rank_scale_init(struct rank_scale *scale, const struct snapshot *snapshot,
		     uint64_t elapsed_ns);

/*
 * All that moved in the metric's resource, in the metric's unit.  `total` is what
 * moved in the metric alone, which is the answer where nothing else is known.
 */
double rank_whole(const struct rank_scale *scale, const struct metric *metric, double total);

enum part_kind {
	PART_PLAIN,	  /* of the same tasks: user time of CPU time */
	PART_OF_EXITED,	  /* what threads did that ended */
	PART_OF_CHILDREN, /* what processes did that ended and were waited for */
};

/*
 * The metric that a metric is a part of or repeats, METRIC_COUNT for none.  Kinds
 * of parts after `most` stand for themselves.
 */
enum metric_id rank_whole_of(enum metric_id part, enum part_kind most);

/* Whether a reading repeats another, whose name is then written: an average of pressure its total. */
bool rank_repeats(const struct metric *reading, char *ret_name, size_t size);

/* The score of a change that is `share` of the metric's whole change; the amount has no sign. */
double rank_amount(const struct rank_scale *scale, const struct metric *metric, double amount,
		   double share);

/* An upper bound for the score of a change with this share; cheap. */
double rank_bound(const struct metric *metric, double share);

/* The score of a ratio that was `before` and is `now`; amount and share are its first input's. */
double rank_ratio(const struct rank_scale *scale, const struct metric *metric, double before,
		  double now, double amount, double share);

/* The score of a changed text, limit or range in a group with this share of all tasks. */
double rank_setting(const struct metric *metric, double share_of_tasks);

/* Compares rows that are otherwise equal: by section, group's key, metric. */
int rank_tie(const struct comparison *comparison, const struct comparison_row *a,
	     const struct comparison_row *b);

/*
 * Orders the rows by their groups' places, if there are any (compare_options),
 * then by score; equal ones by section, group's key and metric, else as they
 * were.  0 or -ENOMEM.
 */
int rank_rows(struct comparison *comparison, const uint32_t *places, size_t place_count);

/* Groups that are not in the order, such as those of readings only, come last. */
static inline uint32_t rank_place(const uint32_t *places, size_t place_count, uint32_t group)
{
	return group < place_count ? places[group] : UINT32_MAX;
}

#endif
