/* SPDX-License-Identifier: MIT */
/*
 * capture: writes every thread of the host to one file, and prints one line
 * about it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/args/capture_args.h"
#include "cli/args/output_args.h"
#include "cli/command.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "render/snapshot/capture_note.h"
#include "store/snapshot_file.h"

static struct {
	struct capture_args capture;
	const char *output;
	bool quiet;
} args;

static const struct option options[] = {
	{ 'o', "output", OPTION_TEXT, &args.output, "FILE",
	  "file to write; the ending of its name says the format; - is standard output", NULL },
	CAPTURE_OPTIONS(args.capture),
	{ 'q', "quiet", OPTION_FLAG, &args.quiet, NULL, "no summary line", NULL },
	{ 0 },
};

static int check_output(const char *path, struct error *error)
{
	int status = path ? snapshot_file_check_name(path, error) :
			    error_set(error, -EINVAL, "capture needs -o FILE to write to");

	return status < 0 ? status : output_check_binary(path, error);
}

static void print_summary(const struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text line = { 0 };
	struct page page;
	struct stat file;

	capture_note(snapshot, &line);
	if (snapshot->filter.text) {
		text_append_string(&line, "; ");
		filter_note(&snapshot->filter, &line);
	}
	text_append_string(&line, "; ");
	if (file_is_standard_output(args.output))
		text_append_string(&line, "standard output");
	else
		text_append_escaped(&line, args.output, strlen(args.output));
	if (!file_is_standard_output(args.output) && stat(args.output, &file) == 0) {
		text_append_string(&line, ", ");
		unit_format(&line, UNIT_BYTES, (uint64_t)file.st_size);
	}
	page_open(&page, stderr);
	fprintf(page.out, "%s\n", text_string(&line));
	if (page_close(&page) < 0)
		memory_note_missing();
}

/* The file says what it was limited to; a capture's own limits are noted already. */
static int note_filter(struct snapshot *snapshot, struct error *error)
{
	const struct fact *limits = &snapshot->facts[FACT_filter];
	CLEANUP(text_free) struct text both = { 0 };

	if (!snapshot->filter.text)
		return 0;
	text_format(&both, "%s%s%s", limits->present ? limits->text : "",
		    limits->present ? ", " : "", snapshot->filter.text);
	if (both.failed || snapshot_set_fact_text(snapshot, FACT_filter, both.data) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int verb_capture(char **words, int count, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = check_output(args.output, error);

	(void)words;
	(void)count;
	if (status == 0)
		status = capture_args_take(&args.capture, &snapshot, error);
	/*
	 * Some text in the snapshot may be cut short: no file is better than
	 * one that hides that.
	 */
	if (status == 0 && memory_was_missing())
		status = error_set(error, -ENOMEM, "out of memory: no snapshot was written");
	if (status == 0)
		status = note_filter(snapshot, error);
	if (status == 0)
		status = snapshot_file_write(snapshot, args.output, error);
	if (status == 0 && !args.quiet)
		print_summary(snapshot);
	return status;
}

const struct command command_capture = {
	.name = "capture",
	.arguments = "",
	.summary = "write every thread of the host into one file",
	.description =
		"Reads every process and thread once and writes a .tscope file: identity, names,\n"
		"cgroups and all metrics (`taskscope metrics` lists them). The file replaces an\n"
		"older one of that name in one step, or not at all. A name that ends\n"
		"in .ctprof.zst gives a file that ktstr's ctprof reads; what that format has no\n"
		"place for is lost, and in it what was not measured is 0. -o - writes a .tscope\n"
		"file to standard output, -o -.ctprof.zst the other.\n"
		"\n"
		"With -p, -c, -u or --filter the file has only the tasks that match, and says so.\n"
		"\n"
		"The BPF task iterator lists the tasks where it may (CAP_BPF and CAP_PERFMON),\n"
		"else procfs does. What could not be measured is absent from the file, with the\n"
		"reason; `taskscope doctor` says what would change that. One line on standard\n"
		"error says what was captured and what was lost.",
	.examples =
		"taskscope capture -o before.tscope\tthe whole host\n"
		"taskscope capture -p 1234,5678 -o two.tscope\ttwo processes with all their threads\n"
		"taskscope capture --cgroup /system.slice -o slice.tscope\tone part of the cgroup tree\n"
		"taskscope capture --filter 'user=www,root rss_bytes>1G' -o large.tscope\tonly tasks that match\n"
		"taskscope capture -o host.ctprof.zst\tthe whole host, for ktstr\n"
		"ssh host taskscope capture -o - | taskscope show -\tthe threads of another host\n"
		"taskscope capture --source procfs --no-cmdline -o plain.tscope\twithout BPF and command lines",
	.options = options,
	.words_max = 0,
};
