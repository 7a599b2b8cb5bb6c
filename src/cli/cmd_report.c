/* SPDX-License-Identifier: MIT */
/*
 * report: a run that was saved, as text or as its summary.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/diagnosis.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/option.h"
#include "model/run.h"
#include "render/run_json.h"
#include "render/run_text.h"
#include "render/terminal.h"
#include "store/run_file.h"

#define ROWS_IN_TEXT 10

static struct {
	const char *format;
	struct option_number rows;
} args;

static const struct option options[] = {
	{ 0, "format", OPTION_TEXT, &args.format, "FORMAT", "how to print it", "text|json" },
	{ 'n', "limit", OPTION_NUMBER, &args.rows, "N",
	  "show N rows of each table, 0 for all (default: 10)", NULL },
	{ 0 },
};

static void print_text(const struct run *run, const struct diagnosis *diagnosis)
{
	struct terminal terminal = terminal_of(stdout);
	struct run_text_options text = {
		.color = terminal.colour,
		.width = terminal.width,
		.rows = args.rows.given ? args.rows.value : ROWS_IN_TEXT,
	};

	run_text_report(stdout, run, diagnosis, &text);
}

int verb_report(char **words, int count, struct error *error)
{
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	struct diagnosis diagnosis = { 0 };
	int status;

	if (count == 0)
		return error_set(error, -EINVAL,
				 "report takes the file of a run (run -o FILE), or - for "
				 "standard input");
	status = run_file_read(words[0], &saved, error);
	if (status < 0)
		return status;
	diagnose(saved, &diagnosis);
	if (args.format && strcmp(args.format, "json") == 0)
		run_json_summary(stdout, saved, &diagnosis, false);
	else
		print_text(saved, &diagnosis);
	return EXIT_DONE;
}

const struct command command_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "show a saved run again: its verdict and where its time went",
	.description =
		"Reads the JSON lines that run and attach write with -o, from a file or with -\n"
		"from standard input, and prints the same report; --format json prints the\n"
		"summary as one line. The verdict is made anew from the numbers in the file.\n"
		"\n"
		"A file that was cut off has no summary: the report is then put together from\n"
		"the processes that ended and the last sample, and says so. Lines that cannot be\n"
		"read are left out and counted. Of several runs in one file the last is shown.",
	.examples = "taskscope report build.jsonl\tthe report of a build\n"
		    "taskscope report build.jsonl -n 0\twith all rows\n"
		    "taskscope report build.jsonl --format json | jq .verdict\tfor programs\n"
		    "ssh host cat build.jsonl | taskscope report -\tfrom elsewhere",
	.options = options,
	.words_max = 1,
};
