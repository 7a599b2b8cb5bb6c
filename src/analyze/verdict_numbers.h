/* SPDX-License-Identifier: MIT */
/*
 * Small sums with times and shares that may be missing or senseless.
 */
#ifndef ANALYZE_VERDICT_NUMBERS_H
#define ANALYZE_VERDICT_NUMBERS_H

#include "model/run.h"

/* value / whole, 0 when the whole is 0; never below 0 nor above 1. */
static inline double share_of(double value, double whole)
{
	if (whole <= 0 || value <= 0)
		return 0;
	return value < whole ? value / whole : 1;
}

static inline double at_least_0(double value)
{
	return value > 0 ? value : 0;
}

static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

static inline double usage_of(const struct run *run, enum usage_id id)
{
	return usage_has(&run->tree->usage, id) ? (double)run->tree->usage.values[id] : 0;
}

/* How far a value falls from 1 at `low` to 0 at `high`. */
static inline double falling(double value, double low, double high)
{
	return value <= low ? 1 : share_of(high - value, high - low);
}

#endif
