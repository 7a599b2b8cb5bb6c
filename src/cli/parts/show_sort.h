/* SPDX-License-Identifier: MIT */
/*
 * The order of the groups that `show` shows, as people write it:
 *
 *	majflt,tasks:asc,group
 *
 * A word is a metric, tasks or group, and a direction: the largest first, names
 * from a to z, unless it says otherwise.
 */
#ifndef CLI_SHOW_SORT_H
#define CLI_SHOW_SORT_H

#include <stddef.h>

#include "analyze/group/group.h"
#include "analyze/group/sort_spec.h"

struct error;

/* Later keys decide among groups that are equal so far. */
struct show_sort {
	struct group_sort keys[SORT_KEYS_MAX];
	size_t count; /* 0: the usual order */
};

/* 0, or a negative errno with a sentence. */
int show_sort_parse(const char *list, struct show_sort *ret, struct error *error);

/* Sorts by the last key first, so that earlier ones decide.  0 or -ENOMEM. */
int show_sort_apply(const struct show_sort *sort, const struct group_sort *usual,
		    struct grouping *grouping);

#endif
