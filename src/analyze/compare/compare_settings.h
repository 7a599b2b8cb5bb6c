/* SPDX-License-Identifier: MIT */
/*
 * Makes rows of what a group is set to, rather than how much it has: ranges,
 * limits, categories, texts and sets of CPUs.  They are folded over all
 * snapshots of a side, group by group.
 */
#ifndef ANALYZE_COMPARE_SETTINGS_H
#define ANALYZE_COMPARE_SETTINGS_H

#include <stddef.h>

struct comparison_row;
struct metric;
struct row_maker;

/* Takes a metric that is not compare_is_number().  0 or -ENOMEM. */
int compare_settings_begin(struct row_maker *maker, const struct metric *metric);

/* Folds both sides of one group, and notes whether they are equal in the maker's work. */
void compare_settings_fold(struct row_maker *maker, size_t group);

/* Of the group that was just folded: the score of its row, and its values.  0 or -ENOMEM. */
double compare_settings_score(const struct row_maker *maker, const struct comparison_row *row);
int compare_settings_fill(const struct row_maker *maker, struct comparison_row *row);

#endif
