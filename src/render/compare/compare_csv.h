/* SPDX-License-Identifier: MIT */
/*
 * A comparison as CSV: a header, then a line for each row.  Values are in
 * stored units, and empty when absent.  A column with two numbers in text is
 * two columns here.
 */
#ifndef RENDER_COMPARE_CSV_H
#define RENDER_COMPARE_CSV_H

#include <stdio.h>

struct compare_view;

/* Returns 0 or -ENOMEM. */
int compare_csv_print(const struct compare_view *view, FILE *out);

#endif
