/* SPDX-License-Identifier: MIT */
/*
 * What matters first.  A row's score is
 *
 *	weight of the metric  x  share  x  magnitude
 *
 * all from 0 to 1.  The share is the part that the group has in all change of the
 * metric; the magnitude says how much that change is to the host, on a scale of
 * logarithms from the resource's noise floor (0) to what the host has of it (1).
 * So a large part of nothing scores nothing, and neither does a large percentage
 * of a small base.
 *
 * A ratio has no amount of its own: it scores by how far it went from what it
 * was, times the score that its first input would have.
 */
#ifndef ANALYZE_COMPARE_RANK_H
#define ANALYZE_COMPARE_RANK_H

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

/* What the host has of each resource, in its unit. */
struct rank_scale {
	double capacity[RESOURCE_COUNT];
};

/* Over an interval of elapsed_ns; 0: over the life of the host. */
void rank_scale_init(struct rank_scale *scale, const struct snapshot *snapshot,
		     uint64_t elapsed_ns);

/*
 * The score of a change that is `share` of all change in the metric; the amount
 * is without its sign.
 */
double rank_amount(const struct rank_scale *scale, enum metric_id id, double amount, double share);

/* What the score of a change with this share is at most; cheap. */
double rank_bound(enum metric_id id, double share);

/* Of a ratio that was `before` and is `now`; amount and share are of its first input. */
double rank_ratio(const struct rank_scale *scale, enum metric_id id, double before, double now,
		  double amount, double share);

/* Of a text or a range that changed in a group with this share of all tasks. */
double rank_setting(enum metric_id id, double share_of_tasks);

/* Gives the rows from `first` on, which are all of one reading, their shares and scores. */
void rank_readings(const struct rank_scale *scale, struct comparison *comparison, size_t first);

/* Whether a row comes before another, all else being equal: section, group's key, metric. */
int rank_tie(const struct comparison *comparison, const struct comparison_row *a,
	     const struct comparison_row *b);

/*
 * Orders the rows by score; equal ones by section, group's key and metric, or as
 * they were.  0 or -ENOMEM.
 */
int rank_rows(struct comparison *comparison);

#endif
