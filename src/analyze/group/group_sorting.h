/* SPDX-License-Identifier: MIT */
/*
 * The order of the groups that `show` shows, as people write it:
 *
 *	majflt,tasks:asc,group
 *
 * A word is a metric, tasks, group or pid, and a direction: the largest first, names
 * from a to z and pids from 1 on, unless it says otherwise.
 */
#ifndef ANALYZE_GROUP_SORTING_H
#define ANALYZE_GROUP_SORTING_H

#include <stddef.h>

#include "analyze/group/group.h"
#include "analyze/group/sort_spec.h"

struct error;

/* Later keys decide among groups that are equal so far. */
struct group_sorting {
	struct group_sort keys[SORT_KEYS_MAX];
	size_t count; /* 0: the usual order */
};

/* What a person writes for it, without the direction. */
const char *group_sort_word(const struct group_sort *sort);
/* By something else than a metric, in the usual direction. */
struct group_sort group_sort_by(enum group_order order);

/* 0, or a negative errno with a sentence. */
int group_sorting_parse(const char *list, struct group_sorting *ret, struct error *error);

/* Sorts by the last key first, so that earlier ones decide.  0 or -ENOMEM. */
int group_sorting_apply(const struct group_sorting *sort, const struct group_sort *usual,
			struct grouping *grouping);

#endif
