/* SPDX-License-Identifier: MIT */
#include "base/real.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Below this, whole numbers are exact, and as short as they get. */
#define WHOLE_MOST 1e15
/* 15 digits always survive a double; 17 are always enough. */
#define DIGITS_LEAST 15
#define DIGITS_MOST 17

size_t real_write(double value, char buffer[REAL_SIZE])
{
	int digits = DIGITS_LEAST, length;

	if (value >= 0 && value < WHOLE_MOST && value == (double)(uint64_t)value && !signbit(value))
		return (size_t)snprintf(buffer, REAL_SIZE, "%" PRIu64, (uint64_t)value);
	do
		length = snprintf(buffer, REAL_SIZE, "%.*g", digits, value);
	while (digits++ < DIGITS_MOST && strtod(buffer, NULL) != value);
	return (size_t)length;
}

static int compare_reals(const void *first, const void *second)
{
	double a = *(const double *)first, b = *(const double *)second;

	return (a > b) - (a < b);
}

void real_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_reals);
}
