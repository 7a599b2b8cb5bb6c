/* SPDX-License-Identifier: MIT */
#include "store/ctprof/ctprof_stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const struct size_limit ctprof_limit = { 16 << 20, 256, (uint64_t)4 << 30 };

bool ctprof_fail(struct ctprof_failure *failure, int status)
{
	if (failure->status == 0)
		failure->status = status;
	return false;
}

bool ctprof_bad(struct ctprof_failure *failure, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (failure->status == 0)
		vsnprintf(failure->problem, sizeof(failure->problem), format, arguments);
	va_end(arguments);
	return ctprof_fail(failure, -EBADMSG);
}

void ctprof_stream_open(struct ctprof_stream *stream, const void *bytes, size_t size,
			struct ctprof_failure *failure)
{
	*stream = (struct ctprof_stream){ .failure = failure,
					  .left = size_limit(&ctprof_limit, size) };
	stream->window = malloc(WINDOW_SIZE);
	if (decompressor_open(&stream->decompressor, bytes, size, WINDOW_LOG_LIMIT) < 0 ||
	    !stream->window)
		ctprof_fail(failure, -ENOMEM);
}

void ctprof_stream_close(struct ctprof_stream *stream)
{
	decompressor_close(&stream->decompressor);
	free(stream->window);
}

/* Unpacks more; false at the end, and then the window is empty. */
static bool refill(struct ctprof_stream *stream)
{
	size_t length = 0;
	int status = stream->failure->status;

	if (status == 0)
		status = decompressor_get(&stream->decompressor, stream->window, WINDOW_SIZE,
					  &length);
	if (status == 0 && length > stream->left)
		status = -EFBIG;
	if (status == -EBADMSG)
		ctprof_bad(stream->failure, "%s", stream->decompressor.problem);
	if (status < 0) {
		ctprof_fail(stream->failure, status);
		length = 0;
	}
	stream->left -= length;
	stream->next = stream->window;
	stream->end = stream->window + length;
	return length > 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

char ctprof_stream_peek(struct ctprof_stream *stream)
{
	do {
		while (stream->next < stream->end && is_blank(*stream->next))
			stream->next++;
	} while (stream->next == stream->end && refill(stream));
	if (stream->next == stream->end)
		return '\0';
	if (*stream->next == '\0')
		ctprof_bad(stream->failure, "it has a NUL byte");
	return *stream->next;
}

bool ctprof_stream_take(struct ctprof_stream *stream, char byte)
{
	char found = ctprof_stream_peek(stream);

	if (found != byte)
		return ctprof_bad(stream->failure,
				  found ? "its JSON is wrong" : "its JSON is cut short");
	stream->next++;
	return true;
}

bool ctprof_stream_next(struct ctprof_stream *stream, char close, bool first)
{
	if (ctprof_stream_peek(stream) == close) {
		stream->next++;
		return false;
	}
	if (!first)
		ctprof_stream_take(stream, ',');
	return stream->failure->status == 0;
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

static bool protect_numbers(struct text *value)
{
	CLEANUP(text_free) struct text copy = { 0 };
	struct text swapped = *value;

	quote_long_numbers(text_string(value), &copy);
	if (copy.failed)
		return false;
	*value = copy;
	copy = swapped;
	return true;
}

bool ctprof_stream_value(struct ctprof_stream *stream, struct text *ret)
{
	struct scan scan = { 0 };
	bool ended = false;

	ctprof_stream_peek(stream);
	text_clear(ret);
	while (stream->failure->status == 0 && !ended) {
		const char *start = stream->next;

		ended = scan_window(&scan, &stream->next, stream->end);
		text_append(ret, start, (size_t)(stream->next - start));
		if (ret->failed)
			return ctprof_fail(stream->failure, -ENOMEM);
		if (ret->length > CTPROF_VALUE_MAX)
			return ctprof_bad(stream->failure, "it has a value larger than any can be");
		if (!ended && !refill(stream))
			return ctprof_bad(stream->failure, "its JSON is cut short");
	}
	if (stream->failure->status < 0)
		return false;
	if (memchr(text_string(ret), '\0', ret->length))
		return ctprof_bad(stream->failure, "it has a NUL byte");
	if (scan.has_long_number && !protect_numbers(ret))
		return ctprof_fail(stream->failure, -ENOMEM);
	return true;
}
