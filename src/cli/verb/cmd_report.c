/* SPDX-License-Identifier: MIT */
/*
 * report: shows a job of a recording, or a saved run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/output_args.h"
#include "cli/args/store_args.h"
#include "cli/args/view_args.h"
#include "cli/option.h"
#include "cli/parts/job/report_job.h"
#include "export/exporter.h"
#include "model/tree/run.h"
#include "render/outcome/job_report_view.h"
#include "render/page.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "render/run/run_text.h"
#include "render/terminal.h"
#include "store/history/job/history_job_report.h"
#include "store/recording.h"

#define REPORT_FILES ".tscope .jsonl .ctprof.zst"
/* What --format html means where no -o says where to. */
#define HTML_OUTPUT "-.html"

static struct {
	struct view_args view;
	struct store_args store;
	struct option_list outputs;
	const char *socket, *step;
	bool latest;
} args;

static const struct option options[] = {
	{ 0, "latest", OPTION_FLAG, &args.latest, NULL, "the newest job, instead of a name", NULL },
	{ 0, "step", OPTION_TEXT, &args.step, "K", "only that step of the job", NULL },
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	FORMAT_OPTION(args.view, "text|json|html"),
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

/* Writes what -o and --format html ask for, or shows it. */
static int show_run(const struct run *run, struct error *error)
{
	struct diagnosis diagnosis = { 0 };

	if (args.outputs.count)
		return save(run, error);
	diagnose(run, &diagnosis);
	if (view_format(&args.view) == FORMAT_JSON)
		run_json_summary(stdout, run, diagnosis_json, &diagnosis, false);
	else
		print_text(run, &diagnosis);
	return EXIT_DONE;
}

static int report_file(const char *path, struct error *error)
{
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	int status = args.step ? error_set(error, -EINVAL, "--step is for jobs, not for files") :
				 recording_read_run(path, &saved, error);

	return status < 0 ? status : show_run(saved, error);
}

static int print_job(const struct job_report *report, struct error *error)
{
	struct json json = json_writer(stdout);
	struct page page;
	int status;

	if (view_format(&args.view) == FORMAT_JSON) {
		job_report_json(&json, report);
		return 0;
	}
	page_open(&page, stdout);
	status = job_report_text(page.out, &page.terminal, report,
				 view_limit(&args.view, RUN_TEXT_ROWS));
	if (page_close(&page) < 0 || status < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

static int report_job(const char *word, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(job_report_clear) struct job_report report = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;
	bool is_text = view_format(&args.view) == FORMAT_TEXT;
	int status = report_job_read(&args.store, args.socket, word, args.step, &history, &report,
				     error);

	if (status == 0 && !args.outputs.count)
		status = print_job(&report, error);
	if (status < 0 ||
	    (!args.outputs.count && !(args.view.verbose && is_text && report.has_run)))
		return status;
	status = report_job_run(history, args.socket, &report, &run, error);
	if (status == 0 && !args.outputs.count)
		putchar('\n');
	return status < 0 ? status : show_run(run, error);
}

int verb_report(char **words, int count, struct error *error)
{
	int status;

	if (count + args.latest != 1)
		return error_set(
			error, -EINVAL,
			count ? "--latest is the newest job: give no name with it" :
				"report takes the name of a job, its number as '#12' in quotes, "
				"--latest, the file of a run (run -o FILE), or - for standard "
				"input");
	if (args.view.format && strcmp(args.view.format, "html") == 0 && !args.outputs.count)
		args.outputs.values[args.outputs.count++] = HTML_OUTPUT;
	status = check_names(error);
	if (status < 0)
		return status;
	return !args.latest && report_word_is_file(words[0], REPORT_FILES) ?
		       report_file(words[0], error) :
		       report_job(args.latest ? NULL : words[0], error);
}

const struct command command_report = {
	.name = "report",
	.arguments = "[JOB|#N|FILE]",
	.summary = "the report of a job, or of a saved run",
	.description =
		"Shows one job of a recording: its outcome, what it used, its steps, system calls,\n"
		"signals, anomalies and files. A word is the name of a job, of which the newest is\n"
		"shown, or the number of one, #12. One with a / or the ending of a file is a file.\n"
		"Root's recorder answers for its store, which root alone can read, with jobs of\n"
		"yours. A section without data says so. The whole run, which `run --job` keeps as\n"
		"long as there is room, is shown below with -v, and written with -o or --format\n"
		"html.\n"
		"\n"
		"Of a file, which run and attach write with -o, a .tscope or .jsonl file, or with -\n"
		"either from standard input, it prints the same report as they did, the longer one\n"
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
	.examples =
		"taskscope report nightly\tthe last job of that name\n"
		"taskscope report --latest --format json\tof the last job, for programs\n"
		"taskscope report nightly --step 3 -o step.html\tits third step in a browser\n"
		"taskscope report build.tscope\tthe report of a build\n"
		"taskscope report build.tscope -v -n 0\twith all tables and rows\n"
		"taskscope report build.tscope -o build.html\tin a browser, with flame graphs\n"
		"taskscope report build.tscope -o -.folded | flamegraph.pl > build.svg\tits stacks as a flame graph\n"
		"taskscope report build.jsonl --format json | jq .verdict\tfor programs\n"
		"ssh host cat build.jsonl | taskscope report -\tfrom elsewhere",
	.reads = ".tscope .jsonl",
	.options = options,
	.words_max = 1,
};
