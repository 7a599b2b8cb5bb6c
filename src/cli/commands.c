/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <string.h>

const struct command *const all_commands[] = {
#define VERB(name) &command_##name,
#include "cli/verbs.def"
	NULL,
};

const struct command *topic_find(const char *name)
{
	return strcmp(name, topic_filter.name) == 0 ? &topic_filter : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; all_commands[i]; i++)
		if (strcmp(all_commands[i]->name, name) == 0)
			return all_commands[i];
	return NULL;
}
