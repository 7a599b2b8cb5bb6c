/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as CSV: a header, then a line for each thread or group, or in the
 * long layout for each group and metric.  Values are in stored units, and empty
 * when absent.
 */
#ifndef RENDER_SNAPSHOT_CSV_H
#define RENDER_SNAPSHOT_CSV_H

#include <stdio.h>

struct snapshot_view;

/* Returns 0 or -ENOMEM. */
int snapshot_csv_print(const struct snapshot_view *view, FILE *out);

#endif
