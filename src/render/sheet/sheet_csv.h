/* SPDX-License-Identifier: MIT */
/*
 * Readings as CSV: a line for each that is not absent.
 *
 *	table,row,reading,value,unit
 */
#ifndef RENDER_SHEET_CSV_H
#define RENDER_SHEET_CSV_H

#include <stdint.h>
#include <stdio.h>

struct snapshot;

/* Returns 0 or -ENOMEM. */
int sheet_csv_print(const struct snapshot *snapshot, uint32_t sections, FILE *out);

#endif
