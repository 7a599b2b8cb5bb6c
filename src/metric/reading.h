/* SPDX-License-Identifier: MIT */
/*
 * What a reading is: a value under a name of the kernel's choice.  readings.def
 * has the patterns.
 */
#ifndef METRIC_READING_H
#define METRIC_READING_H

#include <stddef.h>

#include "metric/metric.h"

enum reading_kind {
	READING_COUNTER,
	READING_GAUGE,
	READING_PEAK,
	READING_LIMIT,
	READING_SETTING,
	READING_TEXT,
};

struct reading {
	const char *pattern;
	enum metric_unit unit;
	enum reading_kind kind;
	enum metric_section section;
	const char *help;
};

extern const struct reading readings[];
extern const size_t reading_count;

/* The first row that the name matches; there always is one. */
const struct reading *reading_find(const char *name);

/* Where the name's file or family stands in the table: all its rows begin with the same word. */
size_t reading_family(const char *name);

const char *reading_kind_name(enum reading_kind kind);

#endif
