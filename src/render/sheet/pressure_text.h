/* SPDX-License-Identifier: MIT */
/*
 * Pressure of the host and of cgroups in one table: a line for each resource.
 */
#ifndef RENDER_PRESSURE_TEXT_H
#define RENDER_PRESSURE_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct snapshot;
struct terminal;

/* Cgroups: at most `limit`, 0 for all.  Returns 0 or -ENOMEM. */
int pressure_text_print(const struct snapshot *snapshot, size_t limit,
			const struct terminal *terminal, FILE *out);

#endif
