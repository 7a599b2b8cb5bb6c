/* SPDX-License-Identifier: MIT */
#include "base/output/memory_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/text.h"

struct memory_stream {
	struct text text;
	size_t most;
	bool is_full;
	char **bytes;
	size_t *length;
};

static ssize_t append(void *cookie, const char *bytes, size_t length)
{
	struct memory_stream *stream = cookie;

	stream->is_full |= length > stream->most - stream->text.length;
	if (stream->is_full)
		return 0;
	text_append(&stream->text, bytes, length);
	return stream->text.failed ? 0 : (ssize_t)length;
}

static int end(void *cookie)
{
	struct memory_stream *stream = cookie;
	bool failed;

	text_append(&stream->text, "", 0);
	failed = stream->is_full || stream->text.failed || !stream->text.data;
	if (failed) {
		text_free(&stream->text);
	} else {
		*stream->bytes = stream->text.data;
		*stream->length = stream->text.length;
	}
	free(stream);
	return failed ? EOF : 0;
}

FILE *memory_stream_open_limited(char **bytes, size_t *length, size_t most)
{
	static const cookie_io_functions_t functions = { .write = append, .close = end };
	struct memory_stream *stream = malloc(sizeof(*stream));
	FILE *out = stream ? fopencookie(stream, "w", functions) : NULL;

	*bytes = NULL;
	*length = 0;
	if (!out) {
		free(stream);
		return NULL;
	}
	*stream = (struct memory_stream){ .most = most, .bytes = bytes, .length = length };
	return out;
}

FILE *memory_stream_open(char **bytes, size_t *length)
{
	return memory_stream_open_limited(bytes, length, SIZE_MAX);
}

char *memory_stream_line(FILE *out, char **bytes)
{
	if (fclose(out) != 0)
		return NULL;
	(*bytes)[strcspn(*bytes, "\n")] = '\0';
	return *bytes;
}
