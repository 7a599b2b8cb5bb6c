/* SPDX-License-Identifier: MIT */
#include "store/run/run_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "model/counter.h"
#include "model/snapshot/snapshot.h"
#include "store/json_parse.h"
#include "store/run/run_lines.h"
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_replay.h"
#include "store/run/replay/run_values.h"
#include "store/snapshot_file.h"

/*
 * A value takes some 120 bytes of memory, however short it is in the file.  No
 * run needs more values than this in one line.
 */
#define VALUES_MAX ((size_t)2 << 20)

struct reader {
	struct run_lines lines;
	struct run *run;
	struct snapshot *host; /* of the run that begins next, or is being read */
	struct run_replay replay;
	bool has_metadata, has_summary;
	uint64_t runs;	  /* begun so far */
	uint64_t damaged; /* lines of this run that are not JSON objects */
	bool torn;	  /* the last line is damaged and has no newline */
	bool is_snapshot;
	uint64_t version; /* of the file, if it is not ours; else 0 */
	bool odd_summary; /* it does not say how the run ended, so somebody changed it */
};

static void close_reader(struct reader *reader)
{
	run_replay_free(&reader->replay);
	run_free(reader->run);
	snapshot_free(reader->host);
	run_lines_free(&reader->lines);
}

static void release_json(json_t **value)
{
	json_decref(*value);
}

/* Another run begins in the same file; the last one counts. */
static int begin_run(struct reader *reader)
{
	run_replay_free(&reader->replay);
	run_free(TAKE_PTR(reader->run));
	reader->has_metadata = reader->has_summary = reader->odd_summary = false;
	reader->damaged = 0;
	return run_new(&reader->run);
}

/* A summary of the first version has no version number. */
static int check_version(struct reader *reader, const json_t *line)
{
	uint64_t version = reader->has_metadata ? RUN_FILE_VERSION : 1;

	member_u64(line, "version", &version);
	reader->version = version == RUN_FILE_VERSION ? 0 : version;
	return reader->version ? -EPROTONOSUPPORT : 0;
}

static int read_metadata(struct reader *reader, json_t *line)
{
	int status = check_version(reader, line);

	if (status < 0)
		return status;
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
	return run_replay_sample(&reader->replay, line, reader->run);
}

static int read_tree(struct reader *reader, json_t *line)
{
	return run_replay_tree(&reader->replay, line, reader->run);
}

static int read_event(struct reader *reader, json_t *line)
{
	return run_replay_event(&reader->replay, line, reader->run);
}

static int read_exit(struct reader *reader, json_t *line)
{
	int32_t pid;

	if (!member_i32(line, "pid", &pid) || pid <= 0) {
		reader->damaged++;
		return 0;
	}
	return run_replay_exit(&reader->replay, line, reader->run);
}

/* A name that is too long for a reading is left out. */
static int read_governors(const json_t *line, struct snapshot *host)
{
	json_t *governors = json_object_get(line, "cpufreq_governor");
	const char *reason = member_text(json_object_get(line, "absent"), "cpufreq_governor");
	const char *cpu;
	json_t *governor;
	char name[SHEET_NAME_SIZE];
	int status = 0;

	json_object_foreach(governors, cpu, governor)
	{
		int length = snprintf(name, sizeof(name), RUN_GOVERNOR_READING "%s", cpu);

		if (json_is_string(governor) && length < (int)sizeof(name))
			status = snapshot_note_text(host, SHEET_HOST, name,
						    json_string_value(governor));
		if (status == -ENOMEM)
			return status;
	}
	return reason ? sheet_set_absent(&host->sheets[SHEET_HOST], RUN_GOVERNOR_READING "0",
					 reason) :
			0;
}

/* Reads the host, as far as the facts of a line describe it. */
static int read_env(struct reader *reader, json_t *line)
{
	struct snapshot *host = NULL;
	int status;

	if (snapshot_new(&host) < 0)
		return -ENOMEM;
	for (int id = 0; id < FACT_COUNT; id++) {
		const char *text = member_text(line, facts[id].name);
		uint64_t number;

		if (facts[id].is_text && text)
			snapshot_set_fact_text(host, (enum fact_id)id, text);
		else if (!facts[id].is_text && member_u64(line, facts[id].name, &number))
			snapshot_set_fact_number(host, (enum fact_id)id, number);
	}
	status = run_read_sheet(json_object_get(line, "readings"), host, &host->sheets[SHEET_HOST]);
	if (status == 0 && !json_object_get(line, "readings"))
		status = read_governors(line, host);
	if (status < 0) {
		snapshot_free(host);
		return status;
	}
	snapshot_free(reader->host);
	reader->host = host;
	return 0;
}

static int read_summary(struct reader *reader, json_t *line)
{
	int status = check_version(reader, line);

	if (status < 0)
		return status;
	if (reader->has_summary)
		status = begin_run(reader);
	if (status < 0)
		return status;
	reader->runs += !reader->has_metadata;
	reader->has_summary = true;
	/* The summary has better figures than the samples so far. */
	reader->run->sampling = (struct run_sampling){ 0 };
	reader->run->last = reader->run->previous = (struct run_sample){ 0 };
	status = run_read_start(line, reader->run);
	if (status == 0)
		status = run_replay_summary(&reader->replay, line, reader->run);
	if (status == 0)
		status = run_read_summary(line, reader->run);
	if (status == 0 && !reader->host && json_object_get(line, "environment"))
		status = read_env(reader, json_object_get(line, "environment"));
	reader->odd_summary = !run_read_end(line, reader->run);
	/* Its existence says that the run had ended. */
	if (reader->odd_summary)
		reader->run->end = RUN_EXITED;
	if (reader->odd_summary && !run_wall_ns(reader->run) &&
	    reader->replay.latest_ns > reader->run->begin_ns)
		reader->run->end_ns = reader->replay.latest_ns;
	return status;
}

static int read_states(struct reader *reader, json_t *line)
{
	return run_read_states(line, reader->run);
}

static int read_frame(struct reader *reader, json_t *line)
{
	return run_replay_frame(&reader->replay, line, reader->run);
}

static int read_stack(struct reader *reader, json_t *line)
{
	return run_replay_stack(&reader->replay, line, reader->run);
}

static const struct {
	const char *kind;
	int (*read)(struct reader *reader, json_t *line);
} kinds[] = {
	{ "env", read_env },	     { "metadata", read_metadata }, { "sample", read_sample },
	{ "tree", read_tree },	     { "event", read_event },	    { "exit", read_exit },
	{ "states", read_states },   { "frame", read_frame },	    { "stack", read_stack },
	{ "summary", read_summary },
};

/* An upper bound of the line's values: counts what comes before, between and around them. */
static size_t count_values(const char *line, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += line[i] == ',' || line[i] == '[' || line[i] == '{';
	return count;
}

/* Leaves *ret NULL when the line is not JSON.  Numbers too large for an integer become reals. */
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

/* Decides by the first line: a snapshot begins with bytes that no text has. */
static bool is_snapshot(const struct run_lines *lines)
{
	const char *bytes = text_string(&lines->line);

	return lines->number == 1 && snapshot_file_is_likely(bytes, lines->line.length);
}

static int read_lines(struct reader *reader)
{
	int status = run_new(&reader->run);

	while (status >= 0 && (status = run_lines_next(&reader->lines)) > 0) {
		reader->is_snapshot |= is_snapshot(&reader->lines);
		status = reader->is_snapshot ? -EBADMSG : read_line(reader);
		/* A file that is not text at all is not read to its end. */
		if (status == 0 && reader->damaged >= 100 && !reader->has_metadata)
			return -EBADMSG;
	}
	return status;
}

/* Notes what a reader of the report must know about the file. */
static int note_file(struct reader *reader)
{
	char note[80] = "";

	reader->run->losses.lines += reader->damaged;
	counter_add(&reader->run->losses.untracked_tasks, reader->run->tree->untracked);
	if (reader->runs > 1)
		snprintf(note, sizeof(note), "it has %llu runs, this is the last",
			 (unsigned long long)reader->runs);
	else if (reader->odd_summary)
		snprintf(note, sizeof(note), "its summary cannot be read in full");
	else if (reader->torn)
		snprintf(note, sizeof(note), "its last line is cut off");
	return note[0] ? run_add_source(reader->run, "file", SOURCE_PARTIAL, note) : 0;
}

static int finish(struct reader *reader)
{
	int status = 0;

	if (!reader->has_metadata && !reader->has_summary)
		return -EBADMSG;
	if (!reader->has_summary)
		status = run_replay_finish(&reader->replay, reader->run);
	if (status == 0)
		status = reader->run->tree->lacks_memory ? -ENOMEM : note_file(reader);
	run_find_root(reader->run);
	if (!reader->has_summary)
		run_learn_end(reader->run);
	return status == -ENOSPC ? 0 : status;
}

static int explain(const struct reader *reader, const char *name, int status, struct error *error)
{
	if (status == -EFBIG)
		return error_set(error, status,
				 "%s is not a file of run: line %llu is larger than any", name,
				 (unsigned long long)reader->lines.number);
	if (reader->version)
		return error_set(
			error, status,
			"%s is a run in version %llu of the format, and this taskscope reads "
			"version %d: run it again, or read it with the taskscope that wrote it",
			name, (unsigned long long)reader->version, RUN_FILE_VERSION);
	if (reader->is_snapshot)
		return error_set(error, status, "%s is a snapshot: `taskscope show` shows it",
				 name);
	if (status == -EBADMSG)
		return error_set(
			error, status,
			"%s is not a file of run: it has no line of kind metadata or summary",
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
		return explain(&reader, name, status, error);
	reader.run->host = TAKE_PTR(reader.host);
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

	file = fopen(path, "re");
	if (!file || fstat(fileno(file), &stat) < 0)
		return error_set(error, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(stat.st_mode))
		return error_set(error, -EISDIR, "%s is a directory, not a file of run", path);
	return run_file_read_stream(file, path, ret, error);
}
