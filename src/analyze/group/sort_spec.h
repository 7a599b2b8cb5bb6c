/* SPDX-License-Identifier: MIT */
/*
 * The order of groups, as people write it:
 *
 *	wait_time_ns,cpu_efficiency:asc
 *
 * Each word is a metric, stored or derived, and a direction: the largest first
 * unless it says asc.  Later words decide among groups that are equal so far.
 */
#ifndef ANALYZE_SORT_SPEC_H
#define ANALYZE_SORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/metric.h"

struct error;

#define SORT_KEYS_MAX 16

struct sort_key {
	enum metric_id metric;
	bool ascending;
};

struct sort_spec {
	struct sort_key keys[SORT_KEYS_MAX];
	size_t count;
};

/*
 * 0, or -EINVAL with a sentence and its position: for a metric that is unknown,
 * named twice or has no numbers, for an unknown direction, for an empty word.
 */
int sort_spec_parse(const char *text, struct sort_spec *ret, struct error *error);

#endif
