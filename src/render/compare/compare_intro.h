/* SPDX-License-Identifier: MIT */
/*
 * What is printed before the tables of a comparison: what was compared, when,
 * in which mode and why, and how the hosts differ.
 */
#ifndef RENDER_COMPARE_INTRO_H
#define RENDER_COMPARE_INTRO_H

#include <stdio.h>

struct compare_view;
struct comparison;
struct table;
struct terminal;

/* Returns 0 or -ENOMEM. */
int compare_intro_print(const struct compare_view *view, const struct terminal *terminal,
			FILE *out);

/* The table of what differs between the hosts, for people and programs. */
void compare_add_host_columns(struct table *table);
void compare_put_host_changes(struct table *table, const struct comparison *comparison);

#endif
