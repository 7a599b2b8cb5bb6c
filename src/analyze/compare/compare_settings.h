/* SPDX-License-Identifier: MIT */
/*
 * Makes rows of what a group is set to, rather than how much it has: ranges,
 * limits, categories, texts and sets of CPUs.  They are folded over all
 * snapshots of a side, group by group.
 */
#ifndef ANALYZE_COMPARE_SETTINGS_H
#define ANALYZE_COMPARE_SETTINGS_H

struct metric;
struct row_maker;

/* Takes a metric that is not compare_is_number().  0 or -ENOMEM. */
int compare_settings_rows(struct row_maker *maker, const struct metric *metric);
void compare_settings_clear(struct row_maker *maker);

#endif
