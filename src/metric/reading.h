/* SPDX-License-Identifier: MIT */
/*
 * Readings: metrics whose names the kernel chose.  Their descriptors are made at run time, from
 * the first pattern of readings.def that a name matches.
 */
#ifndef METRIC_READING_H
#define METRIC_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/metric.h"

/* The rows of readings.def; the name of each is its pattern. */
extern const struct metric readings[];
extern const size_t reading_count;

/* The first row that the name matches; the last row matches every name. */
const struct metric *reading_find(const char *name);

/*
 * The descriptor of a reading; it points to the name, which must outlive it.  Rows of readings.def
 * that begin with the same word are a family.
 */
struct metric reading_metric(const char *name);

/* Whether a row describes the reading.  One that no row describes is a plain number of the host. */
bool reading_is_known(const char *name);

#endif
