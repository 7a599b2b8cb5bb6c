/* SPDX-License-Identifier: MIT */
/*
 * anomalies: what a recorder found unusual.
 */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "render/page.h"
#include "render/record/record_json.h"
#include "render/record/record_table.h"
#include "render/table/table.h"

#define DEFAULT_AGE_NS (7 * 86400 * NS_PER_SECOND)

static struct {
	struct store_args store;
	struct view_args view;
	bool open;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	SINCE_OPTION(args.store, "those of the last TIME of the recording (default: 7d)"),
	{ 0, "open", OPTION_FLAG, &args.open, NULL, "only those that are not over", NULL },
	LIMIT_OPTION(args.view, "show the last N, 0 for all (default: 50)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

static int show(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct row_output *output = context;

	(void)change;
	if (output->format == FORMAT_JSON)
		anomaly_json(output->json, anomaly);
	else
		put_anomaly(output->table, anomaly);
	return output->table->failed ? -ENOMEM : 0;
}

struct anomaly_text {
	struct text lines;
	bool colour;
};

static int show_lines(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct anomaly_text *text = context;

	(void)change;
	anomaly_lines(&text->lines, anomaly, text->colour);
	return 0;
}

static int show_text(struct history *history, const struct anomaly_query *query,
		     struct error *error)
{
	struct anomaly_text text = { .colour = terminal_of(stdout).colour };
	struct page page;
	bool failed = false;
	int status = history_anomalies(history, query, show_lines, &text, error);

	if (status == 0) {
		page_open(&page, stdout);
		fputs(text.lines.length ? text_string(&text.lines) : "no anomalies\n", page.out);
		failed = page_close(&page) < 0 || text.lines.failed;
	}
	text_free(&text.lines);
	return failed ? error_set(error, -ENOMEM, "out of memory") : status;
}

int verb_anomalies(char **words, int count, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json;
	struct row_output output = { view_format(&args.view), &table, &json };
	struct anomaly_query query = {
		.open_only = args.open,
		.limit = view_limit(&args.view, 50),
	};
	int status = store_args_open(&args.store, &history, error);

	(void)words;
	(void)count;
	if (status == 0)
		query.span = store_args_span(&args.store, history, DEFAULT_AGE_NS);
	if (status < 0)
		return status;
	if (output.format == FORMAT_TEXT)
		return show_text(history, &query, error);
	anomaly_columns(&table);
	row_output_begin(&output, "anomalies");
	status = history_anomalies(history, &query, show, &output, error);
	return status < 0 ? status : row_output_end(&output, "no anomalies", error);
}

const struct command command_anomalies = {
	.name = "anomalies",
	.arguments = "",
	.summary = "what a recorder found unusual",
	.description =
		"Lists anomalies of a recording, newest first. An anomaly is an episode: it began\n"
		"when a rule was first met, and is over when the rule has not been met for a\n"
		"while. `peak` is the worst value meanwhile. `taskscope record --print-config`\n"
		"lists the thresholds.",
	.examples = "taskscope anomalies\tof the last week\n"
		    "taskscope anomalies --open\twhat is going on now",
	.options = options,
	.words_max = 0,
};
