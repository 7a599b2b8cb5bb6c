/* SPDX-License-Identifier: MIT */
#include "store/ctprof/ctprof_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMPRESSION_LEVEL 3
#define OUTPUT_STEP ((size_t)128 * 1024)

int ctprof_output_open(struct ctprof_output *output)
{
	*output = (struct ctprof_output){ .compressor = ZSTD_createCCtx() };
	if (!output->compressor ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(output->compressor, ZSTD_c_compressionLevel,
						COMPRESSION_LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(output->compressor, ZSTD_c_checksumFlag, 1)))
		output->status = -ENOMEM;
	return output->status;
}

void ctprof_output_close(struct ctprof_output *output)
{
	ZSTD_freeCCtx(output->compressor);
	text_free(&output->json);
	bytes_free(&output->file);
	*output = (struct ctprof_output){ 0 };
}

static int compress(struct ctprof_output *output, ZSTD_EndDirective end)
{
	ZSTD_inBuffer input = { .src = text_string(&output->json), .size = output->json.length };
	size_t left;

	if (output->json.failed)
		return -ENOMEM;
	do {
		ZSTD_outBuffer space = { .size = OUTPUT_STEP };

		space.dst = bytes_reserve(&output->file, OUTPUT_STEP);
		if (!space.dst)
			return -ENOMEM;
		left = ZSTD_compressStream2(output->compressor, &space, &input, end);
		if (ZSTD_isError(left))
			return -ENOMEM;
		output->file.size += space.pos;
	} while (input.pos < input.size || (end == ZSTD_e_end && left));
	return 0;
}

static void flush(struct ctprof_output *output, ZSTD_EndDirective end)
{
	if (output->status == 0)
		output->status = compress(output, end);
	if (output->json.length)
		output->last = output->json.data[output->json.length - 1];
	output->written += output->json.length;
	text_clear(&output->json);
}

int ctprof_output_finish(struct ctprof_output *output)
{
	flush(output, ZSTD_e_end);
	return output->status;
}

static char last_byte(const struct ctprof_output *output)
{
	return output->json.length ? output->json.data[output->json.length - 1] : output->last;
}

static void append_escape(struct text *json, unsigned char byte, bool is_character)
{
	char escape[8];

	if (byte == '"' || byte == '\\')
		snprintf(escape, sizeof(escape), "\\%c", byte);
	else
		snprintf(escape, sizeof(escape), is_character ? "\\u%04x" : "\\\\x%02x", byte);
	text_append_string(json, escape);
}

/* How many leading bytes are ASCII and need no escape in JSON. */
static size_t plain_length(const char *bytes)
{
	size_t length = 0;

	while ((signed char)bytes[length] >= 0x20 && bytes[length] != '"' && bytes[length] != '\\')
		length++;
	return length;
}

/* Appends the character at `bytes`, which is not plain.  Returns the bytes that it took. */
static size_t append_character(struct text *json, const char *bytes)
{
	size_t step = text_character(bytes, strnlen(bytes, 4));

	if (step > 1)
		text_append(json, bytes, step);
	else
		append_escape(json, (unsigned char)*bytes, step == 1);
	return step ? step : 1;
}

static void append_string(struct text *json, const char *string)
{
	text_append(json, "\"", 1);
	while (*string) {
		size_t plain = plain_length(string);

		text_append(json, string, plain);
		string += plain;
		if (*string)
			string += append_character(json, string);
	}
	text_append(json, "\"", 1);
}

/* Writes what comes before a value: a comma, its key. */
static struct text *begin_value(struct ctprof_output *output, const char *key)
{
	char last;

	if (output->json.length >= OUTPUT_STEP)
		flush(output, ZSTD_e_continue);
	last = last_byte(output);
	if (last && last != '{' && last != '[')
		text_append(&output->json, ",", 1);
	if (key) {
		append_string(&output->json, key);
		text_append(&output->json, ":", 1);
	}
	return &output->json;
}

void ctprof_output_begin(struct ctprof_output *output, const char *key, char bracket)
{
	text_append(begin_value(output, key), &bracket, 1);
}

void ctprof_output_end(struct ctprof_output *output, char bracket)
{
	text_append(&output->json, &bracket, 1);
}

/* Most of the file is numbers: this is several times as fast as a format string. */
static void append_number(struct text *json, uint64_t value, bool is_negative)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (is_negative)
		digits[--at] = '-';
	text_append(json, digits + at, sizeof(digits) - at);
}

void ctprof_output_u64(struct ctprof_output *output, const char *key, uint64_t value)
{
	append_number(begin_value(output, key), value, false);
}

void ctprof_output_i64(struct ctprof_output *output, const char *key, int64_t value)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

	append_number(begin_value(output, key), magnitude, value < 0);
}

void ctprof_output_bool(struct ctprof_output *output, const char *key, bool value)
{
	text_append_string(begin_value(output, key), value ? "true" : "false");
}

void ctprof_output_null(struct ctprof_output *output, const char *key)
{
	text_append_string(begin_value(output, key), "null");
}

void ctprof_output_text(struct ctprof_output *output, const char *key, const char *text)
{
	append_string(begin_value(output, key), text);
}
