/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/real.h"
#include "base/text.h"

#define LINES_DEPTH 2

struct json json_writer(FILE *out)
{
	return (struct json){ .out = out };
}

struct json json_line_writer(FILE *out)
{
	return (struct json){ .out = out, .one_line = true };
}

/* Writes one member on each line down to depth LINES_DEPTH, for people who read it. */
static void new_line(struct json *json)
{
	if (json->one_line || json->depth > LINES_DEPTH)
		return;
	putc_unlocked('\n', json->out);
	for (int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* Writes what separates the previous value from the next one. */
static void separate(struct json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->has_member[json->depth])
		putc_unlocked(',', json->out);
	json->has_member[json->depth] = true;
	if (json->depth > 0)
		new_line(json);
}

static void begin(struct json *json, char bracket)
{
	separate(json);
	putc_unlocked(bracket, json->out);
	if (json->depth < JSON_DEPTH - 1)
		json->depth++;
	json->has_member[json->depth] = false;
}

static void end(struct json *json, char bracket)
{
	bool filled = json->has_member[json->depth];

	if (json->depth > 0)
		json->depth--;
	if (filled && json->depth < LINES_DEPTH)
		new_line(json);
	putc_unlocked(bracket, json->out);
	if (json->depth == 0)
		putc_unlocked('\n', json->out);
}

void json_begin_object(struct json *json)
{
	begin(json, '{');
}

void json_end_object(struct json *json)
{
	end(json, '}');
}

void json_begin_array(struct json *json)
{
	begin(json, '[');
}

void json_end_array(struct json *json)
{
	end(json, ']');
}

/* How many bytes at the start need no escaping: in most names, all of them. */
static size_t plain_length(const char *string)
{
	size_t length = 0;

	while (string[length] >= ' ' && string[length] <= '~' && string[length] != '"' &&
	       string[length] != '\\')
		length++;
	return length;
}

static void write_string(struct json *json, const char *string)
{
	FILE *out = json->out;
	size_t plain = plain_length(string), left;

	putc_unlocked('"', out);
	fwrite_unlocked(string, 1, plain, out);
	string += plain;
	left = strlen(string);
	while (left) {
		size_t step =
			json->exact ? text_character(string, left) : text_printable(string, left);

		if (step == 0) {
			fprintf(out, "\\\\x%02x", (unsigned char)*string);
			step = 1;
		} else if (step == 1 && (unsigned char)*string < ' ') {
			fprintf(out, "\\u%04x", (unsigned char)*string);
		} else {
			if (*string == '"' || *string == '\\')
				putc_unlocked('\\', out);
			fwrite_unlocked(string, 1, step, out);
		}
		string += step;
		left -= step;
	}
	putc_unlocked('"', out);
}

void json_key(struct json *json, const char *key)
{
	separate(json);
	write_string(json, key);
	putc_unlocked(':', json->out);
	if (!json->one_line && json->depth <= LINES_DEPTH)
		putc_unlocked(' ', json->out);
	json->after_key = true;
}

/* Not printf(), which takes several times as long: documents have millions of numbers. */
static void write_u64(FILE *out, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(digits + first, 1, sizeof(digits) - first, out);
}

void json_u64(struct json *json, uint64_t value)
{
	separate(json);
	write_u64(json->out, value);
}

void json_i64(struct json *json, int64_t value)
{
	json_difference(json, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_difference(struct json *json, bool is_negative, uint64_t magnitude)
{
	separate(json);
	if (is_negative && magnitude)
		putc_unlocked('-', json->out);
	write_u64(json->out, magnitude);
}

void json_double(struct json *json, double value)
{
	char buffer[REAL_SIZE];

	separate(json);
	if (isfinite(value))
		fwrite(buffer, 1, real_write(value, buffer), json->out);
	else
		fputs("null", json->out);
}

void json_fixed(struct json *json, double value, int places)
{
	char digits[400];
	int length = snprintf(digits, sizeof(digits), "%.*f", places, value);

	separate(json);
	if (!isfinite(value) || length < 0 || (size_t)length >= sizeof(digits)) {
		fputs("null", json->out);
		return;
	}
	while (memchr(digits, '.', (size_t)length) && strchr("0.", digits[length - 1]))
		length--;
	fwrite_unlocked(digits, 1, (size_t)length, json->out);
}

void json_bool(struct json *json, bool value)
{
	separate(json);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json)
{
	separate(json);
	fputs("null", json->out);
}

void json_raw(struct json *json, const char *value)
{
	separate(json);
	fputs(value, json->out);
}

void json_string(struct json *json, const char *string)
{
	separate(json);
	write_string(json, string);
}

void json_member_object(struct json *json, const char *key)
{
	json_key(json, key);
	json_begin_object(json);
}

void json_member_array(struct json *json, const char *key)
{
	json_key(json, key);
	json_begin_array(json);
}

void json_member_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

void json_member_i64(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

void json_member_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_member_string(struct json *json, const char *key, const char *string)
{
	json_key(json, key);
	json_string(json, string);
}

/* Writes null for a value that is not known. */
void json_member_known(struct json *json, const char *key, bool is_known, uint64_t value)
{
	json_key(json, key);
	if (is_known)
		json_u64(json, value);
	else
		json_null(json);
}

void json_member_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	if (text)
		json_string(json, text);
	else
		json_null(json);
}

void json_member_flag(struct json *json, const char *key, bool value)
{
	if (value)
		json_member_bool(json, key, true);
}

void json_member_nonzero(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_member_u64(json, key, value);
}

void json_member_given(struct json *json, const char *key, const char *string)
{
	if (string)
		json_member_string(json, key, string);
}

void json_member_fixed(struct json *json, const char *key, double value, int places)
{
	json_key(json, key);
	json_fixed(json, value, places);
}

void json_member_strings(struct json *json, const char *key, const char *const *strings,
			 size_t count)
{
	json_member_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_string(json, strings[i]);
	json_end_array(json);
}
