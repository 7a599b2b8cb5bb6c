/* SPDX-License-Identifier: MIT */
/*
 * report: shows a saved run, as text or as its summary.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/output_args.h"
#include "cli/args/view_args.h"
#include "cli/option.h"
#include "export/exporter.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "render/run/run_text.h"
#include "render/terminal.h"
#include "store/recording.h"

static struct {
	struct view_args view;
	struct option_list outputs;
} args;

static const struct option options[] = {
	FORMAT_OPTION(args.view, "text|json"),
	LIMIT_OPTION(args.view, "show N rows of each table, 0 for all (default: 8)"),
	VERBOSE_OPTION(args.view, REPORT_VERBOSE_HELP),
	{ 'o', "output", OPTION_LIST, &args.outputs, "FILE",
	  "print nothing, but write a page for a browser (.html), folded stacks (.folded) or a profile for pprof (.pb.gz)",
	  NULL },
	{ 0 },
};

static void print_text(const struct run *run, const struct diagnosis *diagnosis)
{
	struct terminal terminal = terminal_of(stdout);

	if (run_text_page(stdout, &terminal, run, diagnosis, view_limit(&args.view, RUN_TEXT_ROWS),
			  args.view.verbose) < 0)
		memory_note_missing();
}

/* Refuses a name before any file is written. */
static int check_names(struct error *error)
{
	CLEANUP(text_free) struct text endings = { 0 };
	int status = 0;

	exporter_append_endings(&endings);
	for (size_t i = 0; i < args.outputs.count && status == 0; i++) {
		const char *path = args.outputs.values[i];
		const struct exporter *exporter = exporter_find(path);

		if (!exporter)
			return error_set(
				error, -EINVAL,
				"cannot write to '%s': what report writes ends in one of %s%s",
				path, text_string(&endings),
				strcmp(path, "-") == 0 ? ", such as -.folded" : "");
		if (exporter->is_binary)
			status = output_check_binary(path, error);
	}
	return status;
}

static int save(const struct run *run, struct error *error)
{
	int first = 0;

	for (size_t i = 0; i < args.outputs.count; i++) {
		const char *path = args.outputs.values[i];
		int status = exporter_save(exporter_find(path), run, path, error);

		first = first < 0 ? first : status;
	}
	return first;
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
	status = check_names(error);
	if (status == 0)
		status = recording_read_run(words[0], &saved, error);
	if (status < 0)
		return status;
	if (args.outputs.count)
		return save(saved, error);
	diagnose(saved, &diagnosis);
	if (view_format(&args.view) == FORMAT_JSON)
		run_json_summary(stdout, saved, diagnosis_json, &diagnosis, false);
	else
		print_text(saved, &diagnosis);
	return EXIT_DONE;
}

const struct command command_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "show a saved run again: its verdict and where its time went",
	.description =
		"Reads what run and attach write with -o, a .tscope or .jsonl file, or with -\n"
		"either from standard input, and prints the same report, the longer one\n"
		"with -v; --format json prints the summary as one line. The verdict is made anew\n"
		"from the numbers in the file.\n"
		"\n"
		"A .jsonl file that was cut off has no summary: the report is then put together\n"
		"from the processes that ended and the last sample, and says so. Lines that\n"
		"cannot be read are left out and counted. Of several runs in one file the last\n"
		"is shown.\n"
		"\n"
		"With -o it writes the run for other programs instead; several -o are allowed.\n"
		"-o -.folded writes folded stacks to standard output.",
	.examples = "taskscope report build.tscope\tthe report of a build\n"
		    "taskscope report build.tscope -v -n 0\twith all tables and rows\n"
		    "taskscope report build.tscope -o build.html\tin a browser, with flame graphs\n"
		    "taskscope report build.tscope -o -.folded | flamegraph.pl > build.svg\tits stacks as a flame graph\n"
		    "taskscope report build.jsonl --format json | jq .verdict\tfor programs\n"
		    "ssh host cat build.jsonl | taskscope report -\tfrom elsewhere",
	.reads = ".tscope .jsonl",
	.options = options,
	.words_max = 1,
};
