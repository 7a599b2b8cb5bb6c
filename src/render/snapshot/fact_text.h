/* SPDX-License-Identifier: MIT */
/*
 * Shows what is known about the host, a line for each fact.
 */
#ifndef RENDER_FACT_TEXT_H
#define RENDER_FACT_TEXT_H

#include <stdio.h>

struct snapshot;
struct terminal;

/* Returns 0 or -ENOMEM. */
int fact_text_print(const struct snapshot *snapshot, const struct terminal *terminal, FILE *out);

#endif
