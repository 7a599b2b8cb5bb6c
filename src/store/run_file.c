/* SPDX-License-Identifier: MIT */
#include "store/run_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "store/container.h"
#include "store/ctprof.h"
#include "store/json_parse.h"
#include "store/run_lines.h"
#include "store/run_parts.h"
#include "store/run_rebuild.h"
#include "store/run_values.h"

/*
 * A value takes some 120 bytes of memory, whatever it takes in the file: so many of them in one
 * line are more than any run needs.
 */
#define VALUES_MAX ((size_t)2 << 20)

struct reader {
	struct run_lines lines;
	struct run *run;
	struct run_rebuild rebuild;
	bool has_metadata, has_summary;
	uint64_t runs;	  /* begun so far */
	uint64_t damaged; /* lines of this run that are no JSON objects */
	bool torn;	  /* the last one was one of them, and has no end */
	bool is_snapshot;
	bool odd_summary; /* it does not say how the run ended, so it is not ours as it was */
};

static void close_reader(struct reader *reader)
{
	run_rebuild_free(&reader->rebuild);
	run_free(reader->run);
	run_lines_free(&reader->lines);
}

static void release_json(json_t **value)
{
	json_decref(*value);
}

/* Another run begins in the same file: the last one counts. */
static int begin_run(struct reader *reader)
{
	run_rebuild_free(&reader->rebuild);
	run_free(TAKE_PTR(reader->run));
	reader->has_metadata = reader->has_summary = reader->odd_summary = false;
	reader->damaged = 0;
	return run_new(&reader->run);
}

static int read_metadata(struct reader *reader, json_t *line)
{
	int status = 0;

	if (reader->has_metadata || reader->has_summary)
		status = begin_run(reader);
	if (status < 0)
		return status;
	reader->has_metadata = true;
	reader->runs++;
	return run_read_about(line, reader->run);
}

static int read_sample(struct reader *reader, json_t *line)
{
	return run_rebuild_sample(&reader->rebuild, line, reader->run);
}

static int read_tree(struct reader *reader, json_t *line)
{
	return run_rebuild_tree(&reader->rebuild, line, reader->run);
}

static int read_event(struct reader *reader, json_t *line)
{
	return run_rebuild_event(&reader->rebuild, line);
}

static int read_exit(struct reader *reader, json_t *line)
{
	int32_t pid;

	if (!member_i32(line, "pid", &pid) || pid <= 0) {
		reader->damaged++;
		return 0;
	}
	return run_rebuild_exit(&reader->rebuild, line, reader->run);
}

static int read_summary(struct reader *reader, json_t *line)
{
	int status = 0;

	if (reader->has_summary)
		status = begin_run(reader);
	if (status < 0)
		return status;
	reader->runs += !reader->has_metadata;
	reader->has_summary = true;
	/* It knows better than the samples so far. */
	reader->run->sampling = (struct run_sampling){ 0 };
	reader->run->last = reader->run->previous = (struct run_sample){ 0 };
	status = run_read_summary(line, reader->run, reader->rebuild.exits == 0);
	reader->odd_summary = !run_read_end(line, reader->run);
	/* That there is one says that the run was over. */
	if (reader->odd_summary)
		reader->run->end = RUN_EXITED;
	if (reader->odd_summary && !run_wall_ns(reader->run) &&
	    reader->rebuild.latest_ns > reader->run->begin_ns)
		reader->run->end_ns = reader->rebuild.latest_ns;
	return status;
}

/* Others are left out: env is of the host. */
static const struct {
	const char *kind;
	int (*read)(struct reader *reader, json_t *line);
} kinds[] = {
	{ "metadata", read_metadata }, { "sample", read_sample }, { "tree", read_tree },
	{ "event", read_event },       { "exit", read_exit },	  { "summary", read_summary },
};

/* At least as many values as the line has: what stands before, between and around them. */
static size_t count_values(const char *line, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += line[i] == ',' || line[i] == '[' || line[i] == '{';
	return count;
}

/* Leaves *ret NULL when the line is no JSON.  Numbers that are too large for a whole one are real ones. */
static int parse_line(const struct text *line, json_t **ret)
{
	json_error_t error;
	int status = json_parse(line->data, line->length, 0, ret, &error);

	if (status == -EBADMSG && json_error_code(&error) == json_error_numeric_overflow)
		status = json_parse(line->data, line->length, JSON_DECODE_INT_AS_REAL, ret, &error);
	return status == -EBADMSG ? 0 : status;
}

static int read_line(struct reader *reader)
{
	CLEANUP(release_json) json_t *line = NULL;
	const struct text *text = &reader->lines.line;
	const char *kind;
	int status;

	reader->torn = false;
	if (!text->length)
		return 0;
	if (count_values(text->data, text->length) > VALUES_MAX)
		return -EFBIG;
	status = parse_line(text, &line);
	if (status < 0)
		return status;
	kind = json_is_object(line) ? member_text(line, "kind") : NULL;
	if (!kind) {
		reader->damaged++;
		reader->torn = !reader->lines.complete;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].read(reader, line);
	return 0;
}

/* By the first line: a snapshot begins with bytes that no text has. */
static bool is_snapshot(const struct run_lines *lines)
{
	const char *bytes = text_string(&lines->line);

	return lines->number == 1 && (container_is_likely(bytes, lines->line.length) ||
				      ctprof_is_likely(bytes, lines->line.length));
}

static int read_lines(struct reader *reader)
{
	int status = run_new(&reader->run);

	while (status >= 0 && (status = run_lines_next(&reader->lines)) > 0) {
		reader->is_snapshot |= is_snapshot(&reader->lines);
		status = reader->is_snapshot ? -EBADMSG : read_line(reader);
		/* What is no text at all is not read to its end. */
		if (status == 0 && reader->damaged >= 100 && !reader->has_metadata)
			return -EBADMSG;
	}
	return status;
}

/* What a reader of the report must know about the file. */
static int note_file(struct reader *reader)
{
	char note[80] = "";

	reader->run->losses.lines += reader->damaged;
	if (reader->runs > 1)
		snprintf(note, sizeof(note), "it has %llu runs, this is the last",
			 (unsigned long long)reader->runs);
	else if (reader->odd_summary)
		snprintf(note, sizeof(note), "its summary cannot be read in full");
	else if (reader->torn)
		snprintf(note, sizeof(note), "its last line is cut off");
	return note[0] ? run_add_source(reader->run, "file", "partial", note) : 0;
}

static bool began_before(const struct tree_process *process, const struct tree_process *other)
{
	if (process->key.start_ns && other->key.start_ns)
		return process->key.start_ns < other->key.start_ns;
	return process->begin_ns < other->begin_ns;
}

/* Its number may have been given again once it had ended: it is the first that had it. */
static void find_root(struct run *run)
{
	struct tree *tree = run->tree;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == run->pid &&
		    (!tree->root || began_before(tree->all[i], tree->root)))
			tree->root = tree->all[i];
}

static int finish(struct reader *reader)
{
	int status = 0;

	if (!reader->has_metadata && !reader->has_summary)
		return -EBADMSG;
	if (!reader->has_summary)
		status = run_rebuild_finish(&reader->rebuild, reader->run);
	if (status == 0)
		status = note_file(reader);
	find_root(reader->run);
	return status == -ENOSPC ? 0 : status;
}

static int tell_failure(const struct reader *reader, const char *name, int status,
			struct error *error)
{
	if (status == -EFBIG)
		return error_set(error, status,
				 "%s is no file of run: line %llu is larger than any", name,
				 (unsigned long long)reader->lines.number);
	if (reader->is_snapshot)
		return error_set(error, status, "%s is a snapshot: `taskscope show` shows it",
				 name);
	if (status == -EBADMSG)
		return error_set(error, status,
				 "%s is no file of run: it has no line of kind metadata or summary",
				 name);
	return error_set(error, status, "cannot read %s: %s", name, strerror(-status));
}

int run_file_read_stream(FILE *in, const char *name, struct run **ret, struct error *error)
{
	CLEANUP(close_reader) struct reader reader = { .lines = { .in = in } };
	int status = read_lines(&reader);

	if (status == 0)
		status = finish(&reader);
	if (status < 0)
		return tell_failure(&reader, name, status, error);
	*ret = TAKE_PTR(reader.run);
	return 0;
}

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

int run_file_read(const char *path, struct run **ret, struct error *error)
{
	CLEANUP(close_file) FILE *file = NULL;
	struct stat stat;

	if (strcmp(path, "-") == 0)
		return run_file_read_stream(stdin, "standard input", ret, error);
	file = fopen(path, "re");
	if (!file || fstat(fileno(file), &stat) < 0)
		return error_set(error, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(stat.st_mode))
		return error_set(error, -EISDIR, "%s is a directory, not a file of run", path);
	return run_file_read_stream(file, path, ret, error);
}
