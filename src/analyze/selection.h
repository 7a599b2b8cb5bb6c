/*
 * Metrics that a person picked, in the order picked, each once.
 *
 *	run_time_ns,majflt,*_delay_total_ns
 *
 * Each word is a metric's name or a glob over all of them, which gives its
 * metrics in table order.
 */
#ifndef ANALYZE_SELECTION_H
#define ANALYZE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/metric.h"

struct error;

struct selection {
	enum metric_id ids[METRIC_COUNT];
	size_t count;
};

/* Returns 0, or -EINVAL with a sentence that names the word and the metric nearest to it. */
int selection_parse(const char *list, struct selection *ret, struct error *error);

void selection_all(struct selection *selection);
void selection_add(struct selection *selection, enum metric_id id); /* at the end, unless it is in */
void selection_add_first(struct selection *selection, enum metric_id id);
bool selection_has(const struct selection *selection, enum metric_id id);

/* The metric whose name is nearest to a misspelt one. */
enum metric_id metric_nearest(const char *name);

#endif
