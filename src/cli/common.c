/* SPDX-License-Identifier: MIT */
#include "cli/common.h"

#include "cli/option.h"

struct common_args common_args;

const struct option common_options[] = {
	{ 0, "color", OPTION_TEXT, &common_args.color, "WHEN",
	  "when to use colours (default: auto, on a terminal and without NO_COLOR)",
	  "auto|always|never" },
	{ 0 },
};
