/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read and write them: "1.234 ms", "3.000 GiB", "12.345 K".
 */
#ifndef METRIC_UNIT_H
#define METRIC_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct text;

/* Exact below the first step ("512 B", "7"), else three decimals and a unit. */
void unit_format(struct text *out, enum metric_unit unit, uint64_t value);
/* The same, but a value below the first step that is not whole has two decimals, a ratio three. */
void unit_format_real(struct text *out, enum metric_unit unit, double value);

/*
 * Reads an amount at *cursor and moves past it: digits, perhaps a point and more
 * digits, then ns us ms s m h d, B KiB MiB GiB TiB, K M G, % or nothing.  The value is
 * in ns (UNIT_NS), bytes (UNIT_BYTES), a count (UNIT_COUNT), a share of one
 * (UNIT_RATIO: 20% is 0.2), or as it stands (UNIT_LEVEL).  False, and the cursor
 * unmoved, where there is none or another letter or digit follows.
 */
bool unit_scan(const char **cursor, double *ret, enum metric_unit *ret_unit);

/* A unit for numbers that stand side by side: that of the largest of them. */
struct unit_scale {
	double size;	    /* in the base unit; 1: whole numbers are exact */
	const char *suffix; /* " ms" */
};

struct unit_scale unit_scale_for(enum metric_unit unit, double magnitude);

/*
 * The number alone, without the suffix: as unit_format_real(), but 0 without places,
 * and one that three places would show as 0 though it is not is "<0.001".
 */
void unit_format_number(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			double value);

#endif
