/* SPDX-License-Identifier: MIT */
/*
 * A pprof profile: gzipped protocol buffers in the layout of profile.proto, which pprof and many
 * viewers read.
 *
 * Each sample has three values: moments, time on the CPU and time off it; and labels for its
 * process, thread, wait and scope.  A location is a place in the code: a frame with those that are
 * inlined into it.  A mapping is a program or library with its build id; addresses count from the
 * beginning of its file, and for the kernel as it runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "export/exporters.h"
#include "export/proto.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"

/* Fields of the messages of profile.proto. */
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINED = 10
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };
enum {
	ROOT_SAMPLE_TYPE = 1,
	ROOT_SAMPLE = 2,
	ROOT_MAPPING = 3,
	ROOT_LOCATION = 4,
	ROOT_FUNCTION = 5,
	ROOT_STRING = 6,
	ROOT_TIME = 9,
	ROOT_DURATION = 10,
	ROOT_PERIOD_TYPE = 11,
	ROOT_PERIOD = 12,
	ROOT_DEFAULT_TYPE = 14
};

/* Texts of our own; those of the profile come after them in the table of strings. */
enum own_string {
	OWN_EMPTY,
	OWN_SAMPLES,
	OWN_COUNT,
	OWN_CPU,
	OWN_OFF_CPU,
	OWN_NANOSECONDS,
	OWN_PROCESS,
	OWN_THREAD,
	OWN_PID,
	OWN_TID,
	OWN_WAIT,
	OWN_SCOPE,
	OWN_NOT_CAPTURED,
	OWN_TRUNCATED,
	OWN_WAITS, /* the reasons begin here */
	OWN_STRINGS = OWN_WAITS + WAIT_REASON_COUNT,
};

static const char *const own_strings[OWN_WAITS] = {
	[OWN_EMPTY] = "",
	[OWN_SAMPLES] = "samples",
	[OWN_COUNT] = "count",
	[OWN_CPU] = "cpu",
	[OWN_OFF_CPU] = "off_cpu",
	[OWN_NANOSECONDS] = "nanoseconds",
	[OWN_PROCESS] = "process",
	[OWN_THREAD] = "thread",
	[OWN_PID] = "pid",
	[OWN_TID] = "tid",
	[OWN_WAIT] = "wait",
	[OWN_SCOPE] = "scope",
	[OWN_NOT_CAPTURED] = EXPORT_NOT_CAPTURED,
	[OWN_TRUNCATED] = EXPORT_TRUNCATED,
};

/* Locations and functions that stand for frames that are not there. */
enum { NOT_CAPTURED = 1, TRUNCATED = 2, STAND_INS = 2 };

struct writer {
	const struct run *run;
	const struct profile *profile;
	struct proto proto;
	struct text message, inner, line; /* being put together */
	struct dictionary *numbers; /* of what has been written, by its text: see number_of() */
	uint32_t *mappings;	    /* of each frame: the number of its mapping */
	uint32_t *functions;	    /* of each frame, likewise; 0: it has none */
	uint32_t *locations;	    /* of each frame that is alone at its place; 0: not yet */
	uint64_t location_count;
	bool failed;
};

static uint64_t string_of(uint32_t text)
{
	return text ? OWN_STRINGS - 1 + (uint64_t)text : 0;
}

/* Adds what was put together as a field of the profile. */
static void put(struct writer *writer, unsigned field)
{
	writer->failed |= writer->inner.failed || writer->line.failed;
	proto_message(proto_fields(&writer->proto), field, &writer->message);
	proto_flush(&writer->proto);
}

/*
 * Gives a number to a thing that its key names, from 1 on, in one sequence for all things; the same
 * key has the same number.  *ret_is_new says whether the thing must be written now.
 */
static uint32_t number_of(struct writer *writer, const struct text *key, bool *ret_is_new)
{
	uint32_t known = dictionary_count(writer->numbers), number = 0;

	if (key->failed ||
	    dictionary_add(writer->numbers, text_string(key), key->length, &number) < 0)
		writer->failed = true;
	*ret_is_new = dictionary_count(writer->numbers) > known;
	return number;
}

static void put_type(struct writer *writer, unsigned field, enum own_string name,
		     enum own_string unit)
{
	proto_number(&writer->message, TYPE_NAME, name);
	proto_number(&writer->message, TYPE_UNIT, unit);
	put(writer, field);
}

static void put_about(struct writer *writer)
{
	struct text *fields = proto_fields(&writer->proto);
	uint64_t hz = writer->profile->frequency_hz;

	put_type(writer, ROOT_SAMPLE_TYPE, OWN_SAMPLES, OWN_COUNT);
	put_type(writer, ROOT_SAMPLE_TYPE, OWN_CPU, OWN_NANOSECONDS);
	put_type(writer, ROOT_SAMPLE_TYPE, OWN_OFF_CPU, OWN_NANOSECONDS);
	proto_number(fields, ROOT_TIME, writer->run->begin_unix_ns);
	proto_number(fields, ROOT_DURATION, run_wall_ns(writer->run));
	put_type(writer, ROOT_PERIOD_TYPE, OWN_CPU, OWN_NANOSECONDS);
	proto_number(fields, ROOT_PERIOD, hz ? 1000000000 / hz : 0);
	proto_number(fields, ROOT_DEFAULT_TYPE, OWN_CPU);
}

static void put_string(struct writer *writer, const char *string)
{
	text_clear(&writer->message);
	text_append_escaped(&writer->message, string, strlen(string));
	put(writer, ROOT_STRING);
}

static void put_strings(struct writer *writer)
{
	uint32_t count = dictionary_count(writer->profile->texts);

	for (size_t i = 0; i < ARRAY_SIZE(own_strings); i++)
		put_string(writer, own_strings[i]);
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		put_string(writer, waits[i].name);
	for (uint32_t i = 1; i < count; i++)
		put_string(writer, profile_string(writer->profile, i));
}

static void put_function(struct writer *writer, uint64_t id, uint64_t name, uint64_t file)
{
	proto_number(&writer->message, FUNCTION_ID, id);
	proto_number(&writer->message, FUNCTION_NAME, name);
	proto_number(&writer->message, FUNCTION_SYSTEM_NAME, name);
	proto_number(&writer->message, FUNCTION_FILE, file);
	put(writer, ROOT_FUNCTION);
}

static void put_functions(struct writer *writer)
{
	CLEANUP(text_free) struct text key = { 0 };

	put_function(writer, NOT_CAPTURED, OWN_NOT_CAPTURED, 0);
	put_function(writer, TRUNCATED, OWN_TRUNCATED, 0);
	for (size_t i = 0; i < writer->profile->frames.count; i++) {
		const struct profile_frame *frame = &writer->profile->frames.data[i];
		bool is_new;

		if (!frame->function)
			continue;
		text_clear(&key);
		text_format(&key, "function %u %u", frame->function, frame->source);
		writer->functions[i] = STAND_INS + number_of(writer, &key, &is_new);
		if (is_new)
			put_function(writer, writer->functions[i], string_of(frame->function),
				     string_of(frame->source));
	}
}

/* What is known of a mapping from the frames in it. */
struct mapping {
	uint32_t id;
	uint32_t module, build_id;
	uint64_t end;
	bool has_functions, has_files, has_lines, has_inlined;
};

static void learn_mapping(struct mapping *mapping, const struct profile_frame *frame)
{
	mapping->module = frame->module;
	mapping->build_id = frame->build_id;
	if (frame->address >= mapping->end)
		mapping->end = frame->address == UINT64_MAX ? UINT64_MAX : frame->address + 1;
	mapping->has_functions |= frame->function != 0;
	mapping->has_files |= frame->source != 0;
	mapping->has_lines |= frame->line != 0;
	mapping->has_inlined |= frame->is_inlined;
}

static void put_mapping(struct writer *writer, const struct mapping *mapping)
{
	struct text *message = &writer->message;

	proto_number(message, MAPPING_ID, mapping->id);
	proto_number(message, MAPPING_LIMIT, mapping->end);
	proto_number(message, MAPPING_FILE, string_of(mapping->module));
	proto_number(message, MAPPING_BUILD_ID, string_of(mapping->build_id));
	proto_number(message, MAPPING_HAS_FUNCTIONS, mapping->has_functions);
	proto_number(message, MAPPING_HAS_FILES, mapping->has_files);
	proto_number(message, MAPPING_HAS_LINES, mapping->has_lines);
	proto_number(message, MAPPING_HAS_INLINED, mapping->has_inlined);
	put(writer, ROOT_MAPPING);
}

/* pprof takes the first mapping for the program itself, so those of the kernel come last. */
static int put_mappings(struct writer *writer)
{
	size_t count = writer->profile->frames.count;
	CLEANUP(free_pointer) struct mapping *list = calloc(count + 1, sizeof(*list));
	CLEANUP(text_free) struct text key = { 0 };
	struct dictionary *known = dictionary_new();
	uint32_t most = 0;

	for (size_t i = 0; i < 2 * count && list && known; i++) {
		const struct profile_frame *frame = &writer->profile->frames.data[i % count];
		uint32_t number = 0;

		if (frame->is_kernel != (i >= count) || !frame->module)
			continue;
		text_clear(&key);
		text_format(&key, "%u %u", frame->module, frame->build_id);
		writer->failed |= dictionary_add(known, text_string(&key), key.length, &number) < 0;
		if (!number)
			continue;
		list[number].id = writer->mappings[i % count] = number;
		learn_mapping(&list[number], frame);
		most = number > most ? number : most;
	}
	for (uint32_t i = 1; i <= most; i++)
		put_mapping(writer, &list[i]);
	dictionary_free(known);
	return list && known ? 0 : -ENOMEM;
}

static void add_line(struct writer *writer, uint64_t function, uint64_t line)
{
	proto_number(&writer->line, LINE_FUNCTION, function);
	proto_number(&writer->line, LINE_NUMBER, line);
	proto_message(&writer->message, LOCATION_LINE, &writer->line);
}

static void put_stand_in(struct writer *writer, uint64_t id)
{
	text_clear(&writer->message);
	proto_number(&writer->message, LOCATION_ID, id);
	add_line(writer, id, 0);
	put(writer, ROOT_LOCATION);
}

/*
 * The lines of a location are its inlined frames, innermost first, and the one that they are
 * inlined into.
 */
static void put_location(struct writer *writer, uint64_t id, const uint32_t *frames, size_t count)
{
	const struct profile_frame *outer = &writer->profile->frames.data[frames[count - 1]];

	text_clear(&writer->message);
	proto_number(&writer->message, LOCATION_ID, id);
	proto_number(&writer->message, LOCATION_MAPPING, writer->mappings[frames[count - 1]]);
	proto_number(&writer->message, LOCATION_ADDRESS, outer->address);
	for (size_t i = 0; i < count; i++)
		if (writer->functions[frames[i]])
			add_line(writer, writer->functions[frames[i]],
				 writer->profile->frames.data[frames[i]].line);
	put(writer, ROOT_LOCATION);
}

static uint64_t new_location(struct writer *writer, const uint32_t *frames, size_t count)
{
	put_location(writer, ++writer->location_count, frames, count);
	return writer->location_count;
}

/* The number of a place, written when it is new. */
static uint64_t location_of(struct writer *writer, const uint32_t *frames, size_t count)
{
	CLEANUP(text_free) struct text key = { 0 };
	uint32_t *known = &writer->locations[frames[0]], number;
	bool is_new;

	if (count == 1) {
		if (!*known)
			*known = (uint32_t)new_location(writer, frames, count);
		return *known;
	}
	for (size_t i = 0; i < count; i++)
		text_format(&key, "%s%u", i ? " " : "location ", frames[i]);
	number = number_of(writer, &key, &is_new);
	/* These numbers and those of other places must differ: the key's are above all of them. */
	if (is_new)
		put_location(writer, UINT32_MAX + (uint64_t)number, frames, count);
	return UINT32_MAX + (uint64_t)number;
}

/* Appends the locations of a stack, innermost first. */
static void add_locations(struct writer *writer, const struct profile_sample *sample,
			  struct text *ids)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(writer->profile, sample->node, frames), end;

	for (size_t i = 0; i < count; i = end) {
		end = i + 1;
		while (end < count && writer->profile->frames.data[frames[end - 1]].is_inlined)
			end++;
		proto_varint(ids, location_of(writer, frames + i, end - i));
	}
	if (!count)
		proto_varint(ids, NOT_CAPTURED);
	else if (sample->end != PROFILE_COMPLETE)
		proto_varint(ids, TRUNCATED);
}

static void add_label(struct writer *writer, enum own_string key, uint64_t text, uint64_t number)
{
	if (!text && !number)
		return;
	proto_number(&writer->inner, LABEL_KEY, key);
	proto_number(&writer->inner, LABEL_TEXT, text);
	proto_number(&writer->inner, LABEL_NUMBER, number);
	proto_message(&writer->message, SAMPLE_LABEL, &writer->inner);
}

static void put_sample(struct writer *writer, const struct profile_sample *sample)
{
	CLEANUP(text_free) struct text ids = { 0 };
	bool is_on_cpu = sample->kind == PROFILE_ON_CPU;

	add_locations(writer, sample, &ids); /* may write locations first */
	text_clear(&writer->message);
	proto_message(&writer->message, SAMPLE_LOCATIONS, &ids);
	proto_varint(&writer->inner, sample->count);
	proto_varint(&writer->inner, is_on_cpu ? sample->ns : 0);
	proto_varint(&writer->inner, is_on_cpu ? 0 : sample->ns);
	proto_message(&writer->message, SAMPLE_VALUES, &writer->inner);
	add_label(writer, OWN_PROCESS, string_of(sample->process_name), 0);
	add_label(writer, OWN_THREAD, string_of(sample->thread_name), 0);
	add_label(writer, OWN_PID, 0, (uint64_t)sample->task.pid);
	add_label(writer, OWN_TID, 0, (uint64_t)sample->task.tid);
	if (!is_on_cpu)
		add_label(writer, OWN_WAIT, OWN_WAITS + (uint64_t)sample->reason, 0);
	add_label(writer, OWN_SCOPE, string_of(sample->scope), 0);
	put(writer, ROOT_SAMPLE);
}

static void put_samples(struct writer *writer)
{
	put_stand_in(writer, NOT_CAPTURED);
	put_stand_in(writer, TRUNCATED);
	writer->location_count = STAND_INS;
	for (size_t i = 0; i < writer->profile->samples.count; i++)
		if (writer->profile->samples.data[i].kind != PROFILE_WAKER)
			put_sample(writer, &writer->profile->samples.data[i]);
}

static int open_writer(struct writer *writer, FILE *out)
{
	size_t frames = writer->profile->frames.count + 1;

	writer->numbers = dictionary_new();
	writer->mappings = calloc(frames, sizeof(*writer->mappings));
	writer->functions = calloc(frames, sizeof(*writer->functions));
	writer->locations = calloc(frames, sizeof(*writer->locations));
	return writer->numbers && writer->mappings && writer->functions && writer->locations ?
		       proto_open(&writer->proto, out) :
		       -ENOMEM;
}

static void close_writer(struct writer *writer)
{
	dictionary_free(writer->numbers);
	free(writer->mappings);
	free(writer->functions);
	free(writer->locations);
	text_free(&writer->message);
	text_free(&writer->inner);
	text_free(&writer->line);
}

static int write_pprof(const struct run *run, FILE *out, struct error *error)
{
	CLEANUP(close_writer)
	struct writer writer = { .run = run, .profile = run->profile };
	int status = open_writer(&writer, out), closed;

	(void)error;
	if (status < 0)
		return status;
	put_about(&writer);
	put_strings(&writer);
	put_functions(&writer);
	status = put_mappings(&writer);
	put_samples(&writer);
	closed = proto_close(&writer.proto);
	return status < 0 || writer.failed ? -ENOMEM : closed;
}

const struct exporter exporter_pprof = {
	.ending = ".pb.gz",
	.summary = "a profile for pprof",
	.is_binary = true,
	.needs_stacks = true,
	.write = write_pprof,
};
