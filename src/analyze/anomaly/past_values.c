/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/past_values.h"

#include <string.h>

void past_add(struct past_values *past, uint64_t ns, uint64_t value, double window_ns)
{
	struct past_point *newest = past->count ? &past->points[past->count - 1] : NULL;

	/* The newest point is not yet complete, and the oldest is outside the window. */
	if (newest && (double)(ns - newest->ns) < window_ns / (PAST_POINTS - 2)) {
		if (value < newest->value)
			newest->value = value;
		return;
	}
	if (past->count == PAST_POINTS) {
		past->count--;
		memmove(past->points, past->points + 1, past->count * sizeof(*past->points));
	}
	past->points[past->count++] = (struct past_point){ ns, value };
}

bool past_lowest(const struct past_values *past, uint64_t since_ns, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < past->count; i++) {
		const struct past_point *point = &past->points[i];

		if (point->ns < since_ns || (found && point->value >= *ret))
			continue;
		*ret = point->value;
		found = true;
	}
	return found;
}

const struct past_point *past_begin(const struct past_values *past, uint64_t ns, double window_ns)
{
	const struct past_point *begin = past->count ? past->points : NULL;

	for (size_t i = 1; i < past->count; i++)
		if ((double)(ns - past->points[i].ns) >= window_ns)
			begin = &past->points[i];
	return begin;
}

bool past_rises(const struct past_values *past, const struct past_point *from, double dip)
{
	const struct past_point *last = &past->points[past->count - 1];
	double growth = (double)last->value - (double)from->value;
	double steps = (double)(last - from), risen = 0;

	for (const struct past_point *point = from; point < last; point++) {
		double step = (double)point[1].value - (double)point->value;

		if (step < -growth * dip)
			return false;
		risen += step > growth / steps / 4;
	}
	return growth > 0 && risen >= steps / 2;
}
