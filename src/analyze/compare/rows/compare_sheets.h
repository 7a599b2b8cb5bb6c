/* SPDX-License-Identifier: MIT */
/*
 * Makes rows of the readings of two sides: cgroups with their limits and
 * pressure, memory of processes, the heap, the BPF scheduler, the host.
 *
 * Cgroups are grouped by the keys that tasks have on the cgroup axis.  In
 * cgroup v2 a value includes those of the cgroups below, so within one group
 * only rows without an ancestor in the same group are added.  Limits are not
 * added: equal ones show that value, others the range.  A limit that was not
 * read, one that nobody set and one of 0 stay different.
 *
 * Memory of processes is summed by the pattern of the process's name.
 */
#ifndef ANALYZE_COMPARE_SHEETS_H
#define ANALYZE_COMPARE_SHEETS_H

struct compare_options;
struct compare_side;
struct comparison;
struct rank_scale;
struct row_keeper;

/*
 * Passes the rows of readings that the options select to the keeper, and adds
 * the groups that they need to the comparison.  Mode and elapsed time must be
 * set.  Groups that already exist on the axis of a reading are used, with the
 * old names of their cgroups.  0 or -ENOMEM.
 */
int compare_sheets(const struct compare_side *sides, const struct compare_options *options,
		   const struct rank_scale *scale, struct row_keeper *keeper,
		   struct comparison *comparison);

#endif
