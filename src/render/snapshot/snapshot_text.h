/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as a table for people, and below it what they should know about
 * the capture: when and how it was made, what was lost, why values are missing.
 */
#ifndef RENDER_SNAPSHOT_TEXT_H
#define RENDER_SNAPSHOT_TEXT_H

#include <stdio.h>

struct snapshot_view;
struct terminal;

/* Returns 0 or -ENOMEM. */
int snapshot_text_print(const struct snapshot_view *view, const struct terminal *terminal,
			FILE *out);

#endif
