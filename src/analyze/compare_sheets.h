/* SPDX-License-Identifier: MIT */
/*
 * Readings of two sides made into rows: cgroups and their limits and pressure,
 * memory of processes, the heap, the BPF scheduler, the host.
 *
 * Cgroups are grouped by the keys that tasks have on the cgroup axis.  A value of
 * cgroup v2 contains those of the cgroups below, so within one group only rows
 * are added that have no ancestor in the same group.  Limits are not added: when
 * all are the same it is that, else the range; a limit that was not read, one
 * that nobody set and one of 0 stay apart.
 *
 * Memory of processes is summed by the pattern of the process's name.
 */
#ifndef ANALYZE_COMPARE_SHEETS_H
#define ANALYZE_COMPARE_SHEETS_H

#include <stddef.h>

struct compare_options;
struct compare_side;
struct comparison;

/*
 * Who gets the rows of each reading, before those of the next are made: the
 * comparison's from `first` on.  Thousands of cgroups have hundreds of readings,
 * and most rows are not worth keeping.  0 or a negative errno, which ends it.
 */
struct reading_taker {
	int (*take)(void *context, size_t first);
	void *context;
};

/*
 * Appends the rows of readings that the options ask for, and the groups that
 * they need.  Mode and elapsed time must be set; groups that are there on the
 * axis of a reading are used, with the names that their cgroups had before.
 * Shares and scores are left at 0.  A NULL taker leaves all rows where they are.
 * 0, -ENOMEM, or what the taker says.
 */
int compare_sheets(struct comparison *comparison, const struct compare_side *before,
		   const struct compare_side *after, const struct compare_options *options,
		   const struct reading_taker *taker);

#endif
