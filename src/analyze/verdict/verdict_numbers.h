/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with times and shares that may be missing or wrong.
 */
#ifndef ANALYZE_VERDICT_NUMBERS_H
#define ANALYZE_VERDICT_NUMBERS_H

#include "model/tree/run.h"

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

/* An amount of the whole tree, 0 when it was not measured. */
static inline double amount_of(const struct run *run, enum amount_id id)
{
	return (double)amounts_get(&run->tree->amounts, id);
}

static inline double waited_ns(const struct amounts *amounts, enum wait_reason reason)
{
	return (double)amounts_waited(amounts, reason).ns;
}

static inline double waited_count(const struct amounts *amounts, enum wait_reason reason)
{
	return (double)amounts_waited(amounts, reason).count;
}

/* 1 up to `low`, 0 from `high` on, falling in between. */
static inline double falling(double value, double low, double high)
{
	return value <= low ? 1 : share_of(high - value, high - low);
}

#endif
