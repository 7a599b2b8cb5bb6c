/* SPDX-License-Identifier: MIT */
/*
 * Rows of metrics: for every group that a side has, and every metric that is
 * asked for.
 *
 * Of a counter in an interval the difference is the work of tasks that stayed,
 * that were born, and of threads that ended.  A task whose counter fell began
 * again and is not counted; a row is a reset when no other task tells anything.
 * Counters that are worked out from several reads may waver: those count as they
 * are, falls included, so that sums stay exact.
 *
 * Everything else is what B has less what A has.
 */
#ifndef ANALYZE_COMPARE_METRICS_H
#define ANALYZE_COMPARE_METRICS_H

#include "metric/metric.h"

struct comparison;
struct compare_layout;
struct compare_options;
struct rank_scale;
struct row_keeper;

enum compare_section compare_section_of(enum metric_id id);

/* 0 or -ENOMEM. */
int compare_metrics(const struct compare_layout *layout, const struct compare_options *options,
		    const struct rank_scale *scale, struct row_keeper *keeper,
		    struct comparison *comparison);

#endif
