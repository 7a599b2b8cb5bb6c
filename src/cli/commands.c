/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

const struct command *const all_commands[] = {
#define VERB(name) &command_##name,
#include "cli/verbs.def"
	NULL,
};
