/* SPDX-License-Identifier: MIT */
/*
 * Writes the files that are made from the tables when taskscope is built.  It
 * runs on the machine that builds:
 *
 *	describe man [VERB|TOPIC]	a manual page, as scdoc source
 *	describe metrics		the manual page of the metrics
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "render/metric_list.h"

static bool describe(const char *what, const char *which)
{
	const struct command *command = which ? command_find(which) : NULL;

	if (which && !command)
		command = topic_find(which);
	if (strcmp(what, "metrics") == 0)
		return metric_list_man(stdout) == 0;
	if (strcmp(what, "man") != 0)
		return false;
	if (command)
		man_command(stdout, command);
	else if (!which)
		man_overview(stdout, all_commands);
	return command || !which;
}

int main(int count, char **words)
{
	if (count >= 2 && describe(words[1], count > 2 ? words[2] : NULL))
		return fflush(stdout) == 0 ? 0 : 1;
	fprintf(stderr, "describe: cannot describe %s\n", count >= 2 ? words[1] : "nothing");
	return 1;
}
