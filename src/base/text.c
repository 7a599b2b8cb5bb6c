/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/memory.h"

static void fail(struct text *text)
{
	text->failed = true;
	memory_note_missing();
}

static bool text_reserve(struct text *text, size_t more)
{
	if (text->failed || more > SIZE_MAX / 2 - text->length ||
	    array_reserve_bytes((void **)&text->data, &text->capacity, text->length + more + 1, 1) <
		    0)
		fail(text);
	return !text->failed;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
	if (!text_reserve(text, length))
		return;
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_append_string(struct text *text, const char *string)
{
	text_append(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0 || !text_reserve(text, (size_t)length)) {
		fail(text);
		return;
	}
	va_start(arguments, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

/* Length of a UTF-8 sequence by its first byte; 0 for a byte that cannot start one. */
static size_t sequence_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t text_character(const char *bytes, size_t length)
{
	const unsigned char *byte = (const unsigned char *)bytes;
	size_t needed = length ? sequence_length(byte[0]) : 0;

	if (needed == 0 || needed > length)
		return 0;
	for (size_t i = 1; i < needed; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	if (needed == 3 && ((byte[0] == 0xe0 && byte[1] < 0xa0) || /* overlong */
			    (byte[0] == 0xed && byte[1] >= 0xa0))) /* surrogate */
		return 0;
	if (needed == 4 && ((byte[0] == 0xf0 && byte[1] < 0x90) || /* overlong */
			    (byte[0] == 0xf4 && byte[1] >= 0x90))) /* past U+10FFFF */
		return 0;
	return needed;
}

/* The code point at `bytes`, which is UTF-8. */
static uint32_t code_point(const unsigned char *bytes, size_t length)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = bytes[0] & first[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	return code;
}

/* Whether a character reorders, splits or hides the text around it. */
static bool steers_text(uint32_t character)
{
	return character == 0x061c || character == 0x180e ||   /* Arabic, Mongolian marks */
	       (character >= 0x200b && character <= 0x200f) || /* no width, direction marks */
	       (character >= 0x2028 && character <= 0x202e) || /* separators, embeddings */
	       (character >= 0x2060 && character <= 0x206f) || /* joiners, isolates */
	       character == 0xfeff ||			       /* byte order mark */
	       (character >= 0xfff9 && character <= 0xfffb) || /* annotations */
	       (character >= 0xe0000 && character <= 0xe0fff); /* tags */
}

size_t text_printable(const char *bytes, size_t length)
{
	const unsigned char *byte = (const unsigned char *)bytes;
	size_t needed = text_character(bytes, length);

	if (needed == 1 && (byte[0] < 0x20 || byte[0] == 0x7f))
		return 0;
	if (needed == 2 && byte[0] == 0xc2 && byte[1] < 0xa0) /* C1 controls */
		return 0;
	if (needed > 1 && steers_text(code_point(byte, needed)))
		return 0;
	return needed;
}

void text_append_escaped(struct text *text, const char *bytes, size_t length)
{
	while (length) {
		size_t plain = 0;
		size_t step;

		while (plain < length && (step = text_printable(bytes + plain, length - plain)))
			plain += step;
		text_append(text, bytes, plain);
		bytes += plain;
		length -= plain;
		if (length) {
			text_format(text, "\\x%02x", (unsigned char)*bytes);
			bytes++;
			length--;
		}
	}
}

void text_clear(struct text *text)
{
	text->length = 0;
	text->failed = false;
	if (text->data)
		text->data[0] = '\0';
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

size_t text_words(const char *bytes, size_t length, bool *cut)
{
	size_t words = length;

	while (words && (bytes[words - 1] == '\0' || bytes[words - 1] == ' '))
		words--;
	/* One NUL or blank may be the end of the last word; more than one is padding. */
	if (words + 1 < length)
		*cut = false;
	return words;
}

size_t text_join_words(char *bytes, size_t length, bool cut)
{
	static const char mark[] = "...";
	size_t mark_length = strlen(mark);
	size_t joined = text_words(bytes, length, &cut);

	for (size_t i = 0; i < joined; i++)
		if (bytes[i] == '\0')
			bytes[i] = ' ';
	if (!cut || length < mark_length)
		return joined;
	memcpy(bytes + length - mark_length, mark, mark_length);
	return length;
}

/* Ranges of characters that take no column or two; every other one takes one. */
static const struct {
	uint32_t first, last;
	unsigned columns;
} odd_widths[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x200b, 0x200d, 0 },	  { 0x20d0, 0x20ff, 0 },
	{ 0x2e80, 0x303e, 2 },	 { 0x3041, 0xa4cf, 2 },	  { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },	 { 0xfe00, 0xfe0f, 0 },	  { 0xfe20, 0xfe2f, 0 },
	{ 0xfe30, 0xfe6f, 2 },	 { 0xff00, 0xff60, 2 },	  { 0xffe0, 0xffe6, 2 },
	{ 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
	{ 0x20000, 0x3fffd, 2 },
};

size_t text_columns(const char *character)
{
	size_t length = text_character(character, strnlen(character, 4));
	uint32_t code = length ? code_point((const unsigned char *)character, length) : 0;

	for (size_t i = 0; i < sizeof(odd_widths) / sizeof(odd_widths[0]); i++)
		if (code >= odd_widths[i].first && code <= odd_widths[i].last)
			return odd_widths[i].columns;
	return 1;
}

size_t text_width(const char *string)
{
	size_t width = 0;

	while (*string) {
		size_t length = text_character(string, strnlen(string, 4));

		width += length == 1 ? 1 : text_columns(string);
		string += length ? length : 1;
	}
	return width;
}

bool scan_u64(const char **cursor, uint64_t *ret)
{
	const char *digit = *cursor;
	uint64_t value = 0;

	if (*digit < '0' || *digit > '9')
		return false;
	for (; *digit >= '0' && *digit <= '9'; digit++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*digit - '0'), &value))
			return false;
	*cursor = digit;
	*ret = value;
	return true;
}

bool scan_i64(const char **cursor, int64_t *ret)
{
	bool negative = **cursor == '-';
	const char *digits = *cursor + negative;
	uint64_t magnitude;

	if (!scan_u64(&digits, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*cursor = digits;
	*ret = negative ? (int64_t)-magnitude : (int64_t)magnitude;
	return true;
}

bool parse_u64(const char *string, uint64_t *ret)
{
	uint64_t value;

	if (!scan_u64(&string, &value) || *string)
		return false;
	*ret = value;
	return true;
}

#define MINUTE_NS (60 * 1000000000ull)

/* From large to small: the parts of a duration come in this order, each unit once. */
static const struct {
	const char *names; /* as people write it */
	uint64_t ns;
} duration_units[] = {
	{ "d|day|days", 24 * 60 * MINUTE_NS },
	{ "h|hour|hours", 60 * MINUTE_NS },
	{ "m|min|mins", MINUTE_NS },
	{ "s|sec|secs", 1000000000 },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};

/* Reads digits after a decimal point, as a fraction of `unit`; less than 1 ns is dropped. */
static bool scan_fraction(const char **cursor, uint64_t unit, uint64_t *ret)
{
	const char *digit = *cursor;
	uint64_t fraction = 0;

	if (*digit == '.') {
		digit++;
		if (*digit < '0' || *digit > '9')
			return false;
		for (; *digit >= '0' && *digit <= '9'; digit++) {
			unit /= 10;
			fraction += unit * (uint64_t)(*digit - '0');
		}
	}
	*cursor = digit;
	*ret = fraction;
	return true;
}

/* Whether the word is one of "a|b|c". */
static bool is_one_of(const char *names, const char *word, size_t length)
{
	while (names) {
		size_t name = strcspn(names, "|");

		if (name == length && strncmp(names, word, length) == 0)
			return true;
		names = names[name] ? names + name + 1 : NULL;
	}
	return false;
}

/* Reads a number and its unit, one of those from *next on, and adds the time to *total. */
static bool scan_duration_part(const char **cursor, size_t *next, uint64_t *total)
{
	const char *suffix = *cursor + strspn(*cursor, "0123456789.");
	size_t length = strcspn(suffix, "0123456789.");
	uint64_t whole, fraction, part;

	while (*next < ARRAY_SIZE(duration_units) &&
	       !is_one_of(duration_units[*next].names, suffix, length))
		++*next;
	if (*next == ARRAY_SIZE(duration_units) || !scan_u64(cursor, &whole) ||
	    !scan_fraction(cursor, duration_units[*next].ns, &fraction) || *cursor != suffix ||
	    __builtin_mul_overflow(whole, duration_units[*next].ns, &part) ||
	    __builtin_add_overflow(part, fraction, &part) ||
	    __builtin_add_overflow(*total, part, total))
		return false;
	*cursor = suffix + length;
	++*next;
	return true;
}

static bool parse_seconds(const char *string, uint64_t *ret)
{
	uint64_t whole, fraction, total;

	if (!scan_u64(&string, &whole) || !scan_fraction(&string, 1000000000, &fraction) ||
	    *string || __builtin_mul_overflow(whole, 1000000000, &total) ||
	    __builtin_add_overflow(total, fraction, &total))
		return false;
	*ret = total;
	return true;
}

bool parse_duration_ns(const char *string, uint64_t *ret)
{
	uint64_t total = 0;
	size_t next = 0;

	if (parse_seconds(string, ret))
		return true;
	do {
		if (!scan_duration_part(&string, &next, &total))
			return false;
	} while (*string);
	*ret = total;
	return true;
}

size_t text_append_start(struct text *line, const char *string, size_t width)
{
	size_t taken = 0, at = 0;

	while (string[at]) {
		size_t bytes = text_character(string + at, strnlen(string + at, 4));
		size_t columns = text_columns(string + at);

		if (taken + columns > width)
			break;
		taken += columns;
		at += bytes ? bytes : 1;
	}
	text_append(line, string, at);
	return taken;
}

/* The rest of the string that takes at most so many columns. */
static const char *find_end(const char *string, size_t width)
{
	for (size_t left = text_width(string); left > width;) {
		size_t bytes = text_character(string, strnlen(string, 4));

		left -= text_columns(string);
		string += bytes ? bytes : 1;
	}
	return string;
}

size_t text_append_cut_at(struct text *line, const char *string, size_t width, size_t head)
{
	size_t full = text_width(string), taken;
	const char *end;

	if (full <= width || width == 0) {
		text_append_string(line, width ? string : "");
		return width ? full : 0;
	}
	taken = text_append_start(line, string, head) + 1;
	text_append_string(line, "…");
	end = find_end(string, width - taken);
	text_append_string(line, end);
	return taken + text_width(end);
}

size_t text_append_cut(struct text *line, const char *string, size_t width)
{
	return text_append_cut_at(line, string, width, width / 2);
}
