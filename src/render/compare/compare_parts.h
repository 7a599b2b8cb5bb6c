/* SPDX-License-Identifier: MIT */
/*
 * What surrounds the tables of changes on the page of a comparison.
 */
#ifndef RENDER_COMPARE_PARTS_H
#define RENDER_COMPARE_PARTS_H

#include <stdio.h>

struct compare_view;
struct comparison;
struct table;
struct terminal;
struct text;

/*
 * Before them: what was compared, when, in which mode and why, and how the hosts
 * differ.  Returns 0 or -ENOMEM.
 */
int compare_intro_print(const struct compare_view *view, const struct terminal *terminal,
			FILE *out);

/* The table of what differs between the hosts, for people and programs. */
void compare_add_host_columns(struct table *table);
void compare_put_host_changes(struct table *table, const struct comparison *comparison);

/*
 * Appends a text of one side to the next cell.  For people a long one, such as
 * the list of the scheduler's features, is shortened to what the other side does
 * not have; `other` is NULL when there is none.
 */
void compare_words(struct table *table, const char *words, const char *other);

/* The groups that only one side has, with their size, if any.  Returns 0 or -ENOMEM. */
int compare_sides_print(const struct compare_view *view, const struct terminal *terminal,
			FILE *out);

/*
 * Appends a line for each reason why values are missing, with the metrics and
 * readings that it concerns: first those that one side lacks, then the metrics
 * that no side has.
 */
void compare_absence_append(const struct compare_view *view, struct text *out);

#endif
