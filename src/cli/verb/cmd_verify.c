/* SPDX-License-Identifier: MIT */
/*
 * verify: checks a recording, or any other file that taskscope wrote, and saves what can be read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/args/store_args.h"
#include "cli/command.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "store/history/history.h"
#include "store/recording.h"

static struct {
	const char *repair;
} args;

static const struct option options[] = {
	{ 0, "repair", OPTION_TEXT, &args.repair, "OUT",
	  "copy what can be read of a recording to the new file OUT", NULL },
	{ 0 },
};

/* Each line as it is found: checking a large recording takes a while. */
static void print_fault(void *context, const char *sentence)
{
	struct page page;

	(void)context;
	page_open(&page, stdout);
	fprintf(page.out, "%s\n", sentence);
	if (page_close(&page) < 0)
		memory_note_missing();
}

static void print_right(const char *path)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_format(&line, "%s is complete and right",
		    strcmp(path, "-") == 0 ? "standard input" : path);
	print_fault(NULL, text_string(&line));
}

static int check_recording(const char *path, struct error *error)
{
	int faults = history_verify(path, print_fault, NULL, error);

	if (faults > 0)
		return error_set(error, -EBADMSG,
				 "%s is damaged in %d places: `taskscope verify %s --repair OUT` "
				 "saves the rest",
				 path, faults, path);
	if (faults == 0)
		print_right(path);
	return faults;
}

static int repair_recording(const char *path, struct error *error)
{
	CLEANUP(text_free) struct text line = { 0 };
	int left_out = history_repair(path, args.repair, print_fault, NULL, error);

	text_format(&line, "%s has all that can be read of %s; %d rows or ticks were left out",
		    args.repair, path, left_out);
	if (left_out >= 0)
		print_fault(NULL, text_string(&line));
	return left_out < 0 ? left_out : 0;
}

/* Files of one snapshot are right when they can be read wholly. */
static int check_file(const char *path, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = recording_read(path, &snapshot, error);

	if (status == 0)
		print_right(path);
	return status;
}

int verb_verify(char **words, int count, struct error *error)
{
	bool is_history;
	int status;

	if (count == 0)
		return error_set(error, -EINVAL, "verify takes the file to check");
	is_history = recording_is_history(words[0]);
	if (args.repair && !is_history)
		return error_set(error, -EINVAL, "%s is no recording: --repair is for one",
				 words[0]);
	if (args.repair && store_args_check(args.repair, error) < 0)
		return -EINVAL;
	if (args.repair)
		status = repair_recording(words[0], error);
	else
		status =
			is_history ? check_recording(words[0], error) : check_file(words[0], error);
	return status < 0 ? status : EXIT_DONE;
}

const struct command command_verify = {
	.name = "verify",
	.arguments = "FILE",
	.summary = "check that a recording or another file is complete and right",
	.description =
		"Of a recording (record --store) it checks SQLite's structure, the checksum and\n"
		"the content of every tick, their order, and that one-minute figures say what\n"
		"their ticks do. It prints a line for each fault. A recording may be checked\n"
		"while it is written. Files of a capture or a run are read wholly; - is one from\n"
		"standard input.\n"
		"\n"
		"--repair copies what can be read to a new recording. A tick that is damaged\n"
		"takes those after it with it, up to the next key frame.",
	.examples = "taskscope verify r.db\texit 0 when nothing is wrong\n"
		    "taskscope verify r.db --repair saved.db\tsave what can be read",
	.exits = "2\tthe file is damaged, or cannot be read",
	.reads = ".tscope .jsonl .ctprof.zst .db",
	.options = options,
	.words_max = 1,
};
