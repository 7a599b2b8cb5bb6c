/* SPDX-License-Identifier: MIT */
/*
 * Rows of what a group is set to, rather than how much it has: ranges, categories
 * and sets of CPUs.  Folded over all snapshots of a side, group by group.
 */
#ifndef ANALYZE_COMPARE_SETTINGS_H
#define ANALYZE_COMPARE_SETTINGS_H

#include <stdint.h>

#include "analyze/comparison.h"

struct compare_layout;
struct row_keeper;

struct compare_settings {
	const struct compare_layout *layout;
	struct comparison *comparison;
	double tasks; /* of both sides */
	/* Members of each group: of SCOPE_THREAD and of SCOPE_PROCESS, for each run. */
	struct member_list {
		uint32_t *first; /* by group, and one more */
		uint32_t *rows;
		uint32_t *cpu_counts; /* plus one, by the list's number; 0: not counted yet */
	} * lists;
};

/* Layout and comparison must outlive it.  0, or -ENOMEM and there is nothing to clear. */
int compare_settings_init(struct compare_settings *settings, const struct compare_layout *layout,
			  struct comparison *comparison);
void compare_settings_clear(struct compare_settings *settings);

/* A metric that is not compare_is_number().  0 or -ENOMEM. */
int compare_settings_rows(struct compare_settings *settings, enum metric_id id,
			  enum compare_section section, struct row_keeper *keeper);

#endif
