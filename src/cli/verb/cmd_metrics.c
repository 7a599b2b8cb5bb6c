/* SPDX-License-Identifier: MIT */
/*
 * metrics: lists what can be measured, and what each metric means.
 */
#include <errno.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/args/view_args.h"
#include "render/metric_list.h"
#include "render/page.h"

static struct {
	struct view_args view;
} args;

static const struct option options[] = {
	FORMAT_OPTION(args.view, "text|json"),
	{ 0 },
};

static int print_page(void)
{
	struct page page;
	int status;

	page_open(&page, stdout);
	status = metric_list_text(page.out, page.terminal.width);
	return page_close(&page) < 0 ? -ENOMEM : status;
}

int verb_metrics(char **words, int count, struct error *error)
{
	int status = 0;

	(void)words;
	(void)count;
	if (view_format(&args.view) == FORMAT_JSON)
		metric_list_json(stdout);
	else
		status = print_page();
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
