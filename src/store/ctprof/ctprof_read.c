/* SPDX-License-Identifier: MIT */
/*
 * Reads a .ctprof.zst file into a snapshot: the outermost object, and those
 * parts of it that are too large to be parsed at once.
 */
#include "store/ctprof/ctprof_read.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "store/ctprof/ctprof.h"
#include "store/ctprof/ctprof_stream.h"
#include "store/json_parse.h"

struct document {
	struct ctprof_reader reader;
	struct ctprof_stream stream;
	struct text value; /* the JSON of the value in hand */
	uint32_t seen;	   /* a bit for each member */
	const char *where; /* the part that is being read, for the sentence */
	bool in_thread;
};

static int read_threads(struct document *document);
static int read_cgroups(struct document *document);

/* Members of the outermost object: parsed whole, or read piece by piece. */
static const struct {
	const char *key;
	int (*read)(struct ctprof_reader *reader, const json_t *value);
	int (*read_parts)(struct document *document);
} members[] = {
	{ "captured_at_unix_ns", ctprof_read_captured, NULL },
	{ "host", ctprof_read_host, NULL },
	{ "threads", NULL, read_threads },
	{ "cgroup_stats", NULL, read_cgroups },
	{ "probe_summary", ctprof_read_probe, NULL },
	{ "parse_summary", ctprof_read_parse, NULL },
	{ "taskstats_summary", ctprof_read_taskstats, NULL },
	{ "psi", ctprof_read_pressure, NULL },
	{ "sched_ext", ctprof_read_sched_ext, NULL },
};

static const char *parse_problem(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_invalid_utf8:
		return "a text is not UTF-8";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text has a NUL character";
	case json_error_duplicate_key:
		return "a key is there twice";
	case json_error_numeric_overflow:
		return "a number is too large";
	case json_error_stack_overflow:
		return "its JSON is nested too deeply";
	default:
		return "its JSON is wrong";
	}
}

static void release_json(json_t **value)
{
	json_decref(*value);
}

/* Takes the next value and parses it. */
static int parse_value(struct document *document, json_t **ret)
{
	json_error_t error;
	int status = ctprof_stream_value(&document->stream, &document->value);

	if (status < 0)
		return status;
	status = json_parse(text_string(&document->value), document->value.length,
			    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, ret, &error);
	if (status == -EBADMSG)
		return ctprof_bad(&document->reader, "%s", parse_problem(&error));
	return status;
}

/* Takes a key and its colon; *ret is always a text. */
static int parse_key(struct document *document, json_t **ret)
{
	json_t *key;
	int status = parse_value(document, &key);

	if (status < 0)
		return status;
	status = json_is_string(key) ? ctprof_stream_take(&document->stream, ':') :
				       ctprof_bad(&document->reader, "its JSON is wrong");
	if (status < 0) {
		json_decref(key);
		return status;
	}
	*ret = key;
	return 0;
}

/* Begins a list or object; *ret_begun is false for null. */
static int begin_parts(struct document *document, char bracket, bool *ret_begun)
{
	CLEANUP(release_json) json_t *value = NULL;
	char first;
	int status = ctprof_stream_peek(&document->stream, &first);

	if (status < 0)
		return status;
	*ret_begun = first == bracket;
	if (*ret_begun)
		return ctprof_stream_take(&document->stream, bracket);
	status = parse_value(document, &value);
	if (status == 0 && !json_is_null(value))
		status = ctprof_bad(&document->reader, "it is no %s",
				    bracket == '[' ? "list" : "object");
	return status;
}

static int read_thread(struct document *document)
{
	CLEANUP(release_json) json_t *thread = NULL;
	int status;

	document->in_thread = true;
	status = parse_value(document, &thread);
	if (status == 0)
		status = ctprof_read_thread(&document->reader, thread);
	if (status == 0)
		document->in_thread = false;
	return status;
}

static int read_cgroup(struct document *document)
{
	CLEANUP(release_json) json_t *path = NULL;
	CLEANUP(release_json) json_t *cgroup = NULL;
	int status = parse_key(document, &path);

	if (status == 0)
		status = parse_value(document, &cgroup);
	if (status < 0)
		return status;
	return ctprof_read_cgroup(&document->reader, json_string_value(path), cgroup);
}

/* Reads every element of a list or object that has begun. */
static int read_elements(struct document *document, char close,
			 int (*read)(struct document *document))
{
	bool more = true, first = true;
	int status = 0;

	while (status == 0 && more) {
		status = ctprof_stream_next(&document->stream, close, first, &more);
		if (status == 0 && more)
			status = read(document);
		first = false;
	}
	return status;
}

static int read_threads(struct document *document)
{
	bool begun = false;
	int status = begin_parts(document, '[', &begun);

	return status < 0 || !begun ? status : read_elements(document, ']', read_thread);
}

static int read_cgroups(struct document *document)
{
	bool begun = false;
	int status = begin_parts(document, '{', &begun);

	return status < 0 || !begun ? status : read_elements(document, '}', read_cgroup);
}

static int find_member(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strcmp(members[i].key, key) == 0)
			return (int)i;
	return -1;
}

/* An unknown member is parsed too: a file that is not valid JSON is refused. */
static int read_value(struct document *document, int member)
{
	CLEANUP(release_json) json_t *value = NULL;
	int status = parse_value(document, &value);

	if (status < 0 || member < 0)
		return status;
	return members[member].read(&document->reader, value);
}

static int read_member(struct document *document)
{
	CLEANUP(release_json) json_t *key = NULL;
	int status = parse_key(document, &key);
	int member;

	if (status < 0)
		return status;
	member = find_member(json_string_value(key));
	if (member < 0)
		return read_value(document, member);
	document->where = members[member].key;
	if (document->seen & 1u << member)
		return ctprof_bad(&document->reader, "it is there twice");
	document->seen |= 1u << member;
	status = members[member].read_parts ? members[member].read_parts(document) :
					      read_value(document, member);
	if (status == 0)
		document->where = NULL;
	return status;
}

static int read_members(struct document *document)
{
	int status = ctprof_stream_take(&document->stream, '{');

	return status < 0 ? status : read_elements(document, '}', read_member);
}

static int read_document(struct document *document)
{
	char last;
	int status = read_members(document);

	if (status == 0)
		status = ctprof_stream_peek(&document->stream, &last);
	if (status < 0)
		return status;
	if (last)
		return ctprof_bad(&document->reader, "something follows after its end");
	if (!(document->seen & 1u << find_member("threads")))
		return ctprof_bad(&document->reader, "it has no threads, so it is something else");
	status = ctprof_finish_threads(&document->reader);
	return status < 0 ? status : ctprof_finish_capture(&document->reader);
}

static int tell_failure(struct document *document, const char *name, int status,
			struct error *error)
{
	struct ctprof_reader *reader = &document->reader;
	const char *problem = reader->problem[0] ? reader->problem : document->stream.problem;
	char where[64] = "";

	if (status == -EFBIG)
		return error_set(error, status,
				 "%s is damaged: it claims more than a file of its size can hold",
				 name);
	if (status != -EBADMSG)
		return error_set(error, status, "cannot read %s: not enough memory", name);
	if (document->in_thread)
		snprintf(where, sizeof(where), "in thread %zu, ", reader->threads + 1);
	else if (document->where)
		snprintf(where, sizeof(where), "in %s, ", document->where);
	return error_set(error, status, "%s is not a ctprof file, or damaged: %s%s", name, where,
			 problem);
}

static void close_document(struct document *document)
{
	ctprof_stream_close(&document->stream);
	snapshot_free(document->reader.snapshot);
	text_free(&document->reader.scratch);
	text_free(&document->value);
}

static int decode(const char *name, const void *bytes, size_t size, bool compressed,
		  struct snapshot **ret, struct error *error)
{
	CLEANUP(close_document) struct document document = { 0 };
	int status = ctprof_stream_open(&document.stream, bytes, size, compressed);

	document.reader.cell_limit = ctprof_limit(size) / CTPROF_BYTES_PER_CELL;
	if (status == 0)
		status = snapshot_new(&document.reader.snapshot);
	if (status == 0)
		status = read_document(&document);
	if (status < 0)
		return tell_failure(&document, name, status, error);
	*ret = TAKE_PTR(document.reader.snapshot);
	return 0;
}

int ctprof_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		  struct error *error)
{
	return decode(name, bytes, size, true, ret, error);
}

int ctprof_decode_json(const char *name, const char *json, size_t size, struct snapshot **ret,
		       struct error *error)
{
	return decode(name, json, size, false, ret, error);
}
