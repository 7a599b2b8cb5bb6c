/* SPDX-License-Identifier: MIT */
/*
 * Groups that only one side has: a table of them, with their size.
 */
#ifndef RENDER_COMPARE_SIDES_H
#define RENDER_COMPARE_SIDES_H

#include <stdio.h>

struct compare_view;
struct terminal;

/* Prints nothing when there is none.  Returns 0 or -ENOMEM. */
int compare_sides_print(const struct compare_view *view, const struct terminal *terminal,
			FILE *out);

#endif
