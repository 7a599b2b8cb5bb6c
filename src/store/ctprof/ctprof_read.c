/* SPDX-License-Identifier: MIT */
/*
 * Reads a .ctprof.zst file into a snapshot: the outermost object, and those
 * parts of it that are too large to be parsed at once.
 */
#include "store/ctprof/ctprof_read.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "store/ctprof/ctprof.h"
#include "store/json_parse.h"

struct document {
	struct ctprof_reader reader;
	struct ctprof_stream stream;
	struct text value; /* the JSON of the value in hand */
	uint32_t seen;	   /* a bit for each member */
	const char *where; /* the part that is being read, for the sentence */
	bool in_thread;
};

static void read_threads(struct document *document);
static void read_cgroups(struct document *document);

/* Members of the outermost object: read piece by piece, parsed whole, or by the table of cells. */
static const struct {
	const char *key;
	void (*read_parts)(struct document *document);
	void (*read)(struct ctprof_reader *reader, const json_t *value);
	enum ctprof_object object;
} members[] = {
	{ "captured_at_unix_ns", .read = ctprof_read_captured },
	{ "host", .read = ctprof_read_host },
	{ "threads", .read_parts = read_threads },
	{ "cgroup_stats", .read_parts = read_cgroups },
	{ "probe_summary", .object = CTPROF_OBJECT_PROBE },
	{ "parse_summary", .read = ctprof_read_parse },
	{ "taskstats_summary", .object = CTPROF_OBJECT_TASKSTATS },
	{ "psi", .read = ctprof_read_pressure },
	{ "sched_ext", .object = CTPROF_OBJECT_SCHED_EXT },
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

/* Takes the next value and parses it; NULL after a failure. */
static json_t *parse_value(struct document *document)
{
	struct ctprof_failure *failure = &document->reader.failure;
	json_t *value = NULL;
	json_error_t error;
	int status;

	if (!ctprof_stream_value(&document->stream, &document->value))
		return NULL;
	status = json_parse(text_string(&document->value), document->value.length,
			    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &value, &error);
	if (status == -EBADMSG)
		ctprof_bad(failure, "%s", parse_problem(&error));
	else if (status < 0)
		ctprof_fail(failure, status);
	return status < 0 ? NULL : value;
}

/* Takes a key and its colon: a text, or NULL after a failure. */
static json_t *parse_key(struct document *document)
{
	json_t *key = parse_value(document);

	if (key && !json_is_string(key))
		ctprof_bad(&document->reader.failure, "its JSON is wrong");
	if (ctprof_is_good(&document->reader) && ctprof_stream_take(&document->stream, ':'))
		return key;
	json_decref(key);
	return NULL;
}

static void read_thread(struct document *document)
{
	json_auto_t *thread = NULL;

	document->in_thread = true;
	thread = parse_value(document);
	if (thread)
		ctprof_read_thread(&document->reader, thread);
	if (ctprof_is_good(&document->reader))
		document->in_thread = false;
}

static void read_cgroup(struct document *document)
{
	json_auto_t *path = parse_key(document);
	json_auto_t *cgroup = path ? parse_value(document) : NULL;

	if (cgroup)
		ctprof_read_cgroup(&document->reader, json_string_value(path), cgroup);
}

/* Reads every element of a list or object that has begun. */
static void read_elements(struct document *document, char close,
			  void (*read)(struct document *document))
{
	for (bool first = true; ctprof_stream_next(&document->stream, close, first); first = false)
		read(document);
}

/* Reads the elements of a list or object, or null. */
static void read_parts(struct document *document, char open, char close,
		       void (*read)(struct document *document))
{
	json_auto_t *value = NULL;

	if (ctprof_stream_peek(&document->stream) == open) {
		ctprof_stream_take(&document->stream, open);
		read_elements(document, close, read);
		return;
	}
	value = parse_value(document);
	if (!json_is_null(value))
		ctprof_bad(&document->reader.failure, "it is no %s",
			   open == '[' ? "list" : "object");
}

static void read_threads(struct document *document)
{
	read_parts(document, '[', ']', read_thread);
}

static void read_cgroups(struct document *document)
{
	read_parts(document, '{', '}', read_cgroup);
}

static int find_member(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strcmp(members[i].key, key) == 0)
			return (int)i;
	return -1;
}

static void read_value(struct document *document, int member)
{
	json_auto_t *value = parse_value(document);

	if (!value || member < 0)
		return;
	if (members[member].read)
		members[member].read(&document->reader, value);
	else
		ctprof_read_object(&document->reader, value, members[member].object);
}

/* An unknown member is parsed too: a file that is not valid JSON is refused. */
static void read_member(struct document *document)
{
	json_auto_t *key = parse_key(document);
	int member = key ? find_member(json_string_value(key)) : -1;

	if (member >= 0) {
		document->where = members[member].key;
		if (document->seen & 1u << member)
			ctprof_bad(&document->reader.failure, "it is there twice");
		document->seen |= 1u << member;
	}
	if (member >= 0 && members[member].read_parts)
		members[member].read_parts(document);
	else
		read_value(document, member);
	if (ctprof_is_good(&document->reader))
		document->where = NULL;
}

static void read_document(struct document *document)
{
	struct ctprof_reader *reader = &document->reader;

	if (ctprof_stream_take(&document->stream, '{'))
		read_elements(document, '}', read_member);
	if (ctprof_is_good(reader) && ctprof_stream_peek(&document->stream))
		ctprof_bad(&reader->failure, "something follows after its end");
	if (!(document->seen & 1u << find_member("threads")))
		ctprof_bad(&reader->failure, "it has no threads, so it is something else");
	if (ctprof_is_good(reader))
		ctprof_finish_threads(reader);
	if (ctprof_is_good(reader))
		ctprof_finish_capture(reader);
}

static int explain(struct document *document, const char *name, struct error *error)
{
	struct ctprof_reader *reader = &document->reader;
	int status = reader->failure.status;
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
			 reader->failure.problem);
}

static void close_document(struct document *document)
{
	ctprof_stream_close(&document->stream);
	snapshot_free(document->reader.snapshot);
	text_free(&document->reader.scratch);
	text_free(&document->value);
}

int ctprof_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		  struct error *error)
{
	CLEANUP(close_document) struct document document = { 0 };
	struct ctprof_reader *reader = &document.reader;

	ctprof_stream_open(&document.stream, bytes, size, &reader->failure);
	reader->cell_limit = size_limit(&ctprof_limit, size) / CTPROF_BYTES_PER_CELL;
	if (ctprof_check(reader, snapshot_new(&reader->snapshot)))
		read_document(&document);
	if (!ctprof_is_good(reader))
		return explain(&document, name, error);
	*ret = TAKE_PTR(reader->snapshot);
	return 0;
}
