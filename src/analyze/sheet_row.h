/* SPDX-License-Identifier: MIT */
/*
 * What the two sides of a reading have to do with each other, as a row.
 */
#ifndef ANALYZE_SHEET_ROW_H
#define ANALYZE_SHEET_ROW_H

#include <stdint.h>

#include "analyze/comparison.h"

struct sheet_work;

/*
 * Fills in values, state, difference, rates and significance of the row of a key;
 * its section is the caller's.  `source` is what captures call the source of the
 * reading, for the reason when a side does not tell.  0 or -ENOMEM.
 */
int sheet_row_fill(struct sheet_work *work, uint32_t key, const char *source,
		   struct comparison_row *row);

#endif
