/* SPDX-License-Identifier: MIT */
/*
 * verify: checks a recording, or any other file that taskscope wrote, and saves what can be read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/args/store_args.h"
#include "cli/args/view_args.h"
#include "cli/command.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "store/history/history.h"
#include "store/recording.h"

static struct {
	const char *repair;
	struct view_args view;
} args;

static const struct option options[] = {
	{ 0, "repair", OPTION_TEXT, &args.repair, "OUT",
	  "copy what can be read of a recording to the new file OUT", NULL },
	FORMAT_OPTION(args.view, "text|json"),
	{ 0 },
};

/* What was found, for programs. */
struct findings {
	struct arena arena;
	ARRAY_OF(const char *) faults;
};

static void findings_clear(struct findings *findings)
{
	array_free(&findings->faults);
	arena_clear(&findings->arena);
}

static bool is_json(void)
{
	return view_format(&args.view) == FORMAT_JSON;
}

static void keep_fault(struct findings *findings, const char *sentence)
{
	const char *kept = arena_copy(&findings->arena, sentence, strlen(sentence));

	if (!kept || array_append(&findings->faults, kept) < 0)
		memory_note_missing();
}

static void print_sentence(const char *sentence)
{
	struct page page;

	page_open(&page, stdout);
	fprintf(page.out, "%s\n", sentence);
	if (page_close(&page) < 0)
		memory_note_missing();
}

/* Each line as it is found: checking a large recording takes a while. */
static void note_fault(void *context, const char *sentence)
{
	if (is_json())
		keep_fault(context, sentence);
	else
		print_sentence(sentence);
}

static void print_right(const char *path)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_format(&line, "%s is complete and right",
		    strcmp(path, "-") == 0 ? "standard input" : path);
	if (!is_json())
		print_sentence(text_string(&line));
}

/* `left_out` is what a repair left out; below 0: nothing was repaired. */
static void print_json(const char *path, const struct findings *findings, bool is_right,
		       int left_out)
{
	struct json json = json_writer(stdout);

	json_begin_object(&json);
	json_member_string(&json, "file", path);
	json_member_bool(&json, "ok", is_right);
	json_member_strings(&json, "faults", findings->faults.data, findings->faults.count);
	if (left_out >= 0) {
		json_member_string(&json, "repaired", args.repair);
		json_member_u64(&json, "left_out", (uint64_t)left_out);
	}
	json_end_object(&json);
}

static int check_recording(const char *path, struct findings *findings, struct error *error)
{
	int faults = history_verify(path, note_fault, findings, error);

	if (faults > 0)
		return error_set(error, -EBADMSG,
				 "%s is damaged in %d places: `taskscope verify %s --repair OUT` "
				 "saves the rest",
				 path, faults, path);
	if (faults == 0)
		print_right(path);
	return faults;
}

static int repair_recording(const char *path, struct findings *findings, struct error *error)
{
	CLEANUP(text_free) struct text line = { 0 };
	int left_out = history_repair(path, args.repair, note_fault, findings, error);

	text_format(&line, "%s has all that can be read of %s; %d rows or ticks were left out",
		    args.repair, path, left_out);
	if (left_out >= 0 && is_json())
		print_json(path, findings, findings->faults.count == 0 && left_out == 0, left_out);
	else if (left_out >= 0)
		print_sentence(text_string(&line));
	return left_out < 0 ? left_out : 0;
}

/* Files of one snapshot are right when they can be read wholly. */
static int check_file(const char *path, struct findings *findings, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = recording_read(path, &snapshot, error);

	if (status == 0)
		print_right(path);
	else if (status == -EBADMSG)
		keep_fault(findings, error->message);
	return status;
}

int verb_verify(char **words, int count, struct error *error)
{
	CLEANUP(findings_clear) struct findings findings = { 0 };
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
		return repair_recording(words[0], &findings, error);
	status = is_history ? check_recording(words[0], &findings, error) :
			      check_file(words[0], &findings, error);
	if (is_json() && (status == 0 || status == -EBADMSG))
		print_json(words[0], &findings, status == 0, -1);
	return status;
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
		"takes those after it with it, up to the next key frame. --format json says the\n"
		"same as one object, with the exit status of text.",
	.examples = "taskscope verify r.db\texit 0 when nothing is wrong\n"
		    "taskscope verify r.db --repair saved.db\tsave what can be read\n"
		    "taskscope verify r.db --format json\tfor programs",
	.exits = "2\tthe file is damaged, or cannot be read",
	.reads = ".tscope .jsonl .ctprof.zst .db",
	.options = options,
	.words_max = 1,
};
