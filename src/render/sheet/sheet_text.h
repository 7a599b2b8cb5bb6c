/* SPDX-License-Identifier: MIT */
/*
 * Shows the readings of one section as tables for people: cgroups, processes,
 * pressure, the host; below each, where values come from and why some are
 * missing.
 */
#ifndef RENDER_SHEET_TEXT_H
#define RENDER_SHEET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "metric/metric.h"

struct snapshot;
struct terminal;

/*
 * Prints at most `limit` rows of a table (0: all), and an empty line before
 * each table except the section's first (`is_first`).  Returns 0 or -ENOMEM.
 */
int sheet_text_print(const struct snapshot *snapshot, enum metric_section section, size_t limit,
		     bool is_first, const struct terminal *terminal, FILE *out);

#endif
