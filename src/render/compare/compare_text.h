/* SPDX-License-Identifier: MIT */
/*
 * A comparison for people: what was compared, how the hosts differ, a table of
 * changes for each section, the groups that only one side has, and what the
 * tables leave open.
 */
#ifndef RENDER_COMPARE_TEXT_H
#define RENDER_COMPARE_TEXT_H

#include <stdio.h>

struct compare_view;
struct terminal;

/* Returns 0 or -ENOMEM. */
int compare_text_print(const struct compare_view *view, const struct terminal *terminal, FILE *out);

#endif
