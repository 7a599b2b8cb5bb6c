/* SPDX-License-Identifier: MIT */
#include "cli/args/grouping_args.h"

/* In the order of NORMALIZED_NAMES. */
enum {
	LITERAL_THREAD = 1u << 0,
	LITERAL_CGROUP = 1u << 1,
};

int grouping_args_read(const struct grouping_args *args, struct grouping_options *ret,
		       struct error *error)
{
	struct grouping_options options = {
		.literal_names = args->literal & LITERAL_THREAD,
		.literal_cgroups = args->literal & LITERAL_CGROUP,
		.ctprof_names = args->ctprof_names,
		.flatten = args->flatten.values,
		.flatten_count = args->flatten.count,
	};
	int status = grouping_options_check(&options, error);

	if (status < 0)
		return status;
	*ret = options;
	return 0;
}
