/* SPDX-License-Identifier: MIT */
#include "store/ctprof/ctprof_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd_errors.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/ctprof/ctprof.h"

#define WINDOW_SIZE ((size_t)256 * 1024)
#define WINDOW_LOG_LIMIT 27 /* what the zstd tool accepts without an option */
#define LONG_NUMBER 19	    /* digits of 2^63 */

static const uint8_t frame_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

bool ctprof_is_likely(const void *bytes, size_t size)
{
	return size >= sizeof(frame_magic) && memcmp(bytes, frame_magic, sizeof(frame_magic)) == 0;
}

/* 16 MiB for any file, plus so much for each byte, but at most 4 GiB. */
uint64_t ctprof_limit(uint64_t file_size)
{
	const uint64_t floor = (uint64_t)16 << 20, each = 256, ceiling = (uint64_t)4 << 30;

	return file_size > (ceiling - floor) / each ? ceiling : floor + each * file_size;
}

static int fail(struct ctprof_stream *stream, const char *problem)
{
	stream->problem = problem;
	return -EBADMSG;
}

int ctprof_stream_open(struct ctprof_stream *stream, const void *bytes, size_t size,
		       bool compressed)
{
	*stream = (struct ctprof_stream){
		.input = { .src = bytes, .size = size },
		.left = ctprof_limit(size),
	};
	if (!compressed) {
		stream->next = bytes;
		stream->end = stream->next + size;
		stream->input.pos = size;
		return 0;
	}
	stream->window = malloc(WINDOW_SIZE);
	stream->decompressor = ZSTD_createDCtx();
	if (!stream->window || !stream->decompressor ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(stream->decompressor, ZSTD_d_windowLogMax,
						WINDOW_LOG_LIMIT)))
		return -ENOMEM;
	return 0;
}

void ctprof_stream_close(struct ctprof_stream *stream)
{
	ZSTD_freeDCtx(stream->decompressor);
	free(stream->window);
	*stream = (struct ctprof_stream){ 0 };
}

/*
 * Unpacks until something has come out or all is read; then the window is
 * empty.  The size in the frame's header is not trusted: the output is counted.
 */
static int refill(struct ctprof_stream *stream)
{
	ZSTD_outBuffer output = { .dst = stream->window, .size = WINDOW_SIZE };

	stream->next = stream->end = stream->window;
	if (!stream->decompressor)
		return 0;
	while (output.pos == 0) {
		size_t before = stream->input.pos;

		if (before == stream->input.size && stream->frame_left == 0)
			return 0;
		stream->frame_left =
			ZSTD_decompressStream(stream->decompressor, &output, &stream->input);
		if (ZSTD_getErrorCode(stream->frame_left) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_isError(stream->frame_left))
			return fail(stream, "it cannot be decompressed");
		if (output.pos == 0 && stream->input.pos == before)
			return fail(stream, "it is cut short");
	}
	if (output.pos > stream->left)
		return -EFBIG;
	stream->left -= output.pos;
	stream->end = stream->window + output.pos;
	return 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

int ctprof_stream_peek(struct ctprof_stream *stream, char *ret)
{
	bool at_end = false;
	int status;

	while (!at_end) {
		while (stream->next < stream->end && is_blank(*stream->next))
			stream->next++;
		if (stream->next < stream->end)
			break;
		status = refill(stream);
		if (status < 0)
			return status;
		at_end = stream->next == stream->end;
	}
	if (!at_end && *stream->next == '\0')
		return fail(stream, "it has a NUL byte");
	*ret = at_end ? '\0' : *stream->next;
	return 0;
}

int ctprof_stream_take(struct ctprof_stream *stream, char byte)
{
	char found;
	int status = ctprof_stream_peek(stream, &found);

	if (status < 0)
		return status;
	if (found != byte)
		return fail(stream, found ? "its JSON is wrong" : "its JSON is cut short");
	stream->next++;
	return 0;
}

int ctprof_stream_next(struct ctprof_stream *stream, char close, bool first, bool *ret_more)
{
	char found;
	int status = ctprof_stream_peek(stream, &found);

	if (status < 0)
		return status;
	*ret_more = found != close;
	if (found == close)
		stream->next++;
	else if (!first)
		return ctprof_stream_take(stream, ',');
	return 0;
}

/* Finds where a value ends: counts open brackets, and knows whether a string is open. */
struct scan {
	size_t depth;
	bool in_string, escaped, began;
	unsigned digits; /* in a row, outside strings */
	bool has_long_number;
};

static void scan_string(struct scan *scan, char byte)
{
	if (scan->escaped)
		scan->escaped = false;
	else if (byte == '\\')
		scan->escaped = true;
	else if (byte == '"')
		scan->in_string = false;
}

/* Whether the value ends before `byte`; it can do so only outside all brackets. */
static bool ends_before(const struct scan *scan, char byte)
{
	return scan->depth == 0 && scan->began &&
	       (byte == ',' || byte == ']' || byte == '}' || byte == ':' || is_blank(byte));
}

static void scan_byte(struct scan *scan, char byte)
{
	scan->began = true;
	if (scan->in_string) {
		scan_string(scan, byte);
		return;
	}
	if (byte >= '0' && byte <= '9') {
		if (++scan->digits == LONG_NUMBER)
			scan->has_long_number = true;
		return;
	}
	scan->digits = 0;
	if (byte == '"')
		scan->in_string = true;
	else if (byte == '{' || byte == '[')
		scan->depth++;
	else if ((byte == '}' || byte == ']') && scan->depth)
		scan->depth--;
}

/* Whether the value ended with `byte`. */
static bool ends_with(const struct scan *scan, char byte)
{
	return scan->depth == 0 && !scan->in_string && (byte == '"' || byte == '}' || byte == ']');
}

/* Advances in the window to the end of the value (true) or of the window (false). */
static bool scan_window(struct scan *scan, const char **cursor, const char *end)
{
	while (*cursor < end) {
		char byte = **cursor;

		if (!scan->in_string && ends_before(scan, byte))
			return true;
		scan_byte(scan, byte);
		++*cursor;
		if (ends_with(scan, byte))
			return true;
	}
	return false;
}

static size_t number_length(const char *text)
{
	return strspn(text, "+-.0123456789eE");
}

/* Copies a value with its long numbers in quotes. */
static void quote_long_numbers(const char *json, struct text *out)
{
	bool in_string = false;

	while (*json) {
		size_t length = in_string ? 0 : number_length(json);
		bool quoted = length >= LONG_NUMBER && *json != '0' &&
			      strspn(json, "0123456789") == length;

		if (length == 0) {
			if (*json == '\\' && json[1])
				length++;
			else if (*json == '"')
				in_string = !in_string;
			length++;
		}
		text_append_string(out, quoted ? "\"" : "");
		text_append(out, json, length);
		text_append_string(out, quoted ? "\"" : "");
		json += length;
	}
}

static int protect_numbers(struct text *value)
{
	CLEANUP(text_free) struct text copy = { 0 };
	struct text swapped = *value;

	quote_long_numbers(text_string(value), &copy);
	if (copy.failed)
		return -ENOMEM;
	*value = copy;
	copy = swapped;
	return 0;
}

int ctprof_stream_value(struct ctprof_stream *stream, struct text *ret)
{
	struct scan scan = { 0 };
	bool ended = false;
	char first;
	int status = ctprof_stream_peek(stream, &first);

	text_clear(ret);
	while (status == 0 && !ended) {
		const char *start = stream->next;

		ended = scan_window(&scan, &stream->next, stream->end);
		text_append(ret, start, (size_t)(stream->next - start));
		if (ret->failed)
			return -ENOMEM;
		if (ret->length > CTPROF_VALUE_MAX)
			return fail(stream, "it has a value larger than any can be");
		if (!ended)
			status = refill(stream);
		if (!ended && status == 0 && stream->next == stream->end)
			return fail(stream, "its JSON is cut short");
	}
	if (status < 0)
		return status;
	if (memchr(text_string(ret), '\0', ret->length))
		return fail(stream, "it has a NUL byte");
	return scan.has_long_number ? protect_numbers(ret) : 0;
}
