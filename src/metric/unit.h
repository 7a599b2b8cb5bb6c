/* SPDX-License-Identifier: MIT */
/*
 * Prints and parses amounts as people write them, with three significant digits: "1.23 ms", "3.00
 * GiB", "12.3 K", "41.2 %".  Every amount that is printed as text goes through here.
 */
#ifndef METRIC_UNIT_H
#define METRIC_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct text;

/*
 * Whole numbers below the first step are exact ("512 B", "7").  A duration of ten minutes or more
 * is "12m 05s", "4h 05m", "3d 04h".
 */
void unit_format(struct text *out, enum metric_unit unit, uint64_t value);
void unit_format_real(struct text *out, enum metric_unit unit, double value);

/* A share of one, in percent: "41.2 %", "<0.01 %". */
void unit_format_share(struct text *out, double share);

/*
 * Reads an amount at *cursor and moves past it: digits, perhaps a point and more digits, then ns
 * us ms s m h d, B KiB MiB GiB TiB, K M G, % or nothing.  The value is in ns (UNIT_NS), bytes
 * (UNIT_BYTES), a count (UNIT_COUNT), a share of one (UNIT_RATIO: 20% is 0.2), or the plain number
 * (UNIT_LEVEL).  Returns false and leaves the cursor alone when there is no amount, or when
 * another letter or digit follows it.
 */
bool unit_scan(const char **cursor, double *ret, enum metric_unit *ret_unit);

enum amount_scan {
	AMOUNT_NONE,  /* there is no amount */
	AMOUNT_OTHER, /* it is of something else: seconds of bytes */
	AMOUNT_FITS,
	AMOUNT_SHARE, /* it was written in percent, and is a share of one: 20% is 0.2 */
};

/*
 * The same for a value of this unit, and converted to it.  A plain number is in it already, except
 * shares in hundredths of a percent, which are written in percent.  K M G T of bytes are KiB MiB GiB
 * TiB.  Moves the cursor unless there is no amount.
 */
enum amount_scan unit_scan_amount(const char **cursor, enum metric_unit unit, double *ret);

/* One unit for several numbers in a row or column: the unit that fits the largest of them. */
struct unit_scale {
	double size;	    /* in the base unit; 1: whole numbers are exact */
	const char *suffix; /* " ms" */
};

struct unit_scale unit_scale_for(enum metric_unit unit, double magnitude);

/*
 * Prints the number without its suffix, like unit_format_real(), but 0 has no decimal places, and
 * a number that three decimal places would round to 0 is printed as "<0.001".
 */
void unit_format_number(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			double value);

#endif
