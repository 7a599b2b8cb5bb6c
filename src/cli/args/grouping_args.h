/* SPDX-License-Identifier: MIT */
/*
 * The options that say how names become keys, for every verb that groups tasks.
 *
 *	static struct grouping_args grouping_args;
 *	static const struct option options[] = {
 *		GROUPING_OPTIONS(grouping_args),
 *		{ 0 },
 *	};
 */
#ifndef CLI_GROUPING_ARGS_H
#define CLI_GROUPING_ARGS_H

#include "analyze/group/group.h"
#include "cli/option.h"

struct error;

struct grouping_args {
	unsigned literal; /* bits of NORMALIZED_NAMES */
	struct option_list flatten;
	bool ctprof_names;
};

#define NORMALIZED_NAMES "thread|cgroup"

/* clang-format off */
#define GROUPING_OPTIONS(args)                                                                     \
	{ 0, "no-normalize", OPTION_SET, &(args).literal, "NAMES", "group by names, not by patterns; without =NAMES by all of them", NORMALIZED_NAMES }, \
	{ 0, "flatten", OPTION_LIST, &(args).flatten, "GLOB", "cgroups that match are one group, e.g. '/user.slice/**'; of several the first counts", NULL }, \
	{ 0, "ctprof-names", OPTION_FLAG, &(args).ctprof_names, NULL, "group names as ctprof does: short hexadecimal words are {H}, and several threads of one name are a pattern", NULL }
/* clang-format on */

/*
 * The globs still belong to the arguments.  Returns 0, or an error with a
 * sentence when one is wrong.
 */
int grouping_args_read(const struct grouping_args *args, struct grouping_options *ret,
		       struct error *error);

#endif
