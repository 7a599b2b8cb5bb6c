/* SPDX-License-Identifier: MIT */
/*
 * The past of a value in a few coarse points: enough to tell a spike or a leak, in memory that does
 * not grow.  Of the values between two points only the lowest is kept, so that short peaks do not
 * count, and a value that is freed again and again does not look as if it rose.
 */
#ifndef ANALYZE_PAST_VALUES_H
#define ANALYZE_PAST_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAST_POINTS 12

struct past_point {
	uint64_t ns;
	uint64_t value;
};

/* All zeros is empty and valid. */
struct past_values {
	struct past_point points[PAST_POINTS]; /* oldest first */
	size_t count;
};

/* Adds the value of a moment; the points will cover at least `window_ns`. */
void past_add(struct past_values *past, uint64_t ns, uint64_t value, double window_ns);

/* The lowest value since then; false when there is none. */
bool past_lowest(const struct past_values *past, uint64_t since_ns, uint64_t *ret);

/* The first point within the window before `ns`, the last one before it if there is one, or NULL. */
const struct past_point *past_begin(const struct past_values *past, uint64_t ns, double window_ns);

/*
 * Whether the values from that point on rise all the time: they never fell by more than a share of
 * the whole growth (`dip`), and grew in at least half of the steps, so that one jump is not a rise.
 */
bool past_rises(const struct past_values *past, const struct past_point *from, double dip);

#endif
