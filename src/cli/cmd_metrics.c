/* SPDX-License-Identifier: MIT */
/*
 * metrics: what can be measured, and what each metric means.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "render/metric_list.h"

static struct {
	const char *format;
} args;

static const struct option options[] = {
	{ 0, "format", OPTION_TEXT, &args.format, "FORMAT", "how to print it", "text|json" },
	{ 0 },
};

int verb_metrics(char **words, int count, struct error *error)
{
	int status = 0;

	(void)words;
	(void)count;
	if (args.format && strcmp(args.format, "json") == 0)
		metric_list_json(stdout);
	else
		status = metric_list_text(stdout);
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

const struct command command_metrics = {
	.name = "metrics",
	.arguments = "",
	.summary = "list every metric and what it means",
	.description =
		"Lists every metric by section: its unit, kind and scope, how it is folded\n"
		"over a group, the kernel option that it needs, where each collector finds\n"
		"it, and what it means. The names are those that -m and -s take and that JSON\n"
		"and CSV have as keys.",
	.examples = "taskscope metrics\tall of them, for reading\n"
		    "taskscope metrics --format json\tfor programs",
	.options = options,
	.words_max = 0,
};
