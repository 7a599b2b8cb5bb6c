/* SPDX-License-Identifier: MIT */
/*
 * Real numbers: in order, and as text for programs, the shortest that reads back as the same number,
 * so that 0.72 is not 0.71999999999999997.
 */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#include <stddef.h>

#define REAL_SIZE 32

/* Writes a number that is finite; whole ones have no point.  Returns the length. */
size_t real_write(double value, char buffer[REAL_SIZE]);

/* The least first; none may be NaN. */
void real_sort(double *values, size_t count);

#endif
