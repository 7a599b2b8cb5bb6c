/* SPDX-License-Identifier: MIT */
#include "collect/kernel_parse.h"

#include <stdbool.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"

/* A list of every second of 8192 CPUs takes about 20 KiB. */
#define LIST_MAX ((size_t)64 * 1024)

/* A piece of a line: up to a blank. */
struct piece {
	const char *start;
	size_t length;
};

struct parser {
	struct kernel_sink *sink;
	int bad;
	bool has_given; /* at least one value */
};

const char *const pressure_keys[PRESSURE_KEYS] = {
	"some avg10", "some avg60", "some avg300", "some total",
	"full avg10", "full avg60", "full avg300", "full total",
};

static bool is_key_character(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || strchr("_.:-", character);
}

static bool is_key(struct piece piece)
{
	for (size_t i = 0; i < piece.length; i++)
		if (!piece.start[i] || !is_key_character(piece.start[i]))
			return false;
	return piece.length > 0 && piece.length < KERNEL_KEY_SIZE / 2;
}

/* "MAJOR:MINOR" */
static bool is_device(struct piece piece)
{
	const char *cursor = piece.start;
	uint64_t number;

	return scan_u64(&cursor, &number) && *cursor++ == ':' && scan_u64(&cursor, &number) &&
	       cursor == piece.start + piece.length && piece.length < KERNEL_KEY_SIZE / 2;
}

static bool is_word(struct piece piece, const char *word)
{
	return piece.length == strlen(word) && memcmp(piece.start, word, piece.length) == 0;
}

static bool piece_number(struct piece piece, uint64_t *ret)
{
	const char *cursor = piece.start;

	return scan_u64(&cursor, ret) && cursor == piece.start + piece.length;
}

/* The next piece of the line that ends at `end`; of length 0 when there is none. */
static struct piece next_piece(const char **cursor, const char *end)
{
	struct piece piece;

	while (*cursor < end && (**cursor == ' ' || **cursor == '\t'))
		++*cursor;
	piece.start = *cursor;
	while (*cursor < end && **cursor != ' ' && **cursor != '\t')
		++*cursor;
	piece.length = (size_t)(*cursor - piece.start);
	return piece;
}

/* Puts pieces together with a blank between; both are checked to fit. */
static void set_key(struct kernel_value *value, struct piece first, struct piece second)
{
	char *to = value->key;

	memcpy(to, first.start, first.length);
	to += first.length;
	if (first.length && second.length)
		*to++ = ' ';
	if (second.length)
		memcpy(to, second.start, second.length);
	to[second.length] = '\0';
}

static int give(struct parser *parser, const struct kernel_value *value)
{
	parser->has_given = true;
	return parser->sink->take(parser->sink, value);
}

static int reject(struct parser *parser)
{
	parser->bad++;
	return 0;
}

static const struct piece nothing = { "", 0 };

static int give_number(struct parser *parser, struct piece first, struct piece second,
		       uint64_t number)
{
	struct kernel_value value = { .state = CELL_NUMBER, .number = number };

	set_key(&value, first, second);
	return give(parser, &value);
}

static int give_limit(struct parser *parser, const char *key, struct piece piece)
{
	struct piece name = { key, strlen(key) };
	struct kernel_value value = { .state = CELL_UNLIMITED };

	if (!is_word(piece, "max")) {
		value.state = CELL_NUMBER;
		if (!piece_number(piece, &value.number))
			return reject(parser);
	}
	set_key(&value, name, nothing);
	return give(parser, &value);
}

static int parse_number(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);
	uint64_t number;

	if (piece_number(piece, &number) && next_piece(&line, end).length == 0)
		return give_number(parser, nothing, nothing, number);
	return reject(parser);
}

static int parse_signed(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);
	const char *cursor = piece.start;
	int64_t number;

	if (scan_i64(&cursor, &number) && cursor == end)
		return give_number(parser, nothing, nothing, (uint64_t)number);
	return reject(parser);
}

static int parse_limit(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);

	if (next_piece(&line, end).length == 0)
		return give_limit(parser, "", piece);
	return reject(parser);
}

static int parse_pair(struct parser *parser, const char *line, const char *end)
{
	struct piece quota = next_piece(&line, end);
	struct piece period = next_piece(&line, end);
	int status = give_limit(parser, "quota_usec", quota);
	uint64_t number;

	if (status == 0 && piece_number(period, &number))
		return give_number(parser, (struct piece){ "period_usec", strlen("period_usec") },
				   nothing, number);
	parser->bad += status == 0;
	return status;
}

static int parse_key(struct parser *parser, const char *line, const char *end)
{
	struct piece key = next_piece(&line, end);
	struct piece value = next_piece(&line, end);
	uint64_t number;

	if (is_key(key) && piece_number(value, &number) && next_piece(&line, end).length == 0)
		return give_number(parser, key, nothing, number);
	return reject(parser);
}

/* Some controllers add percentages such as "cost.vrate=100.00", which are not counters. */
static bool is_fraction(struct piece piece)
{
	return piece.length && strspn(piece.start, "0123456789.") >= piece.length &&
	       memchr(piece.start, '.', piece.length);
}

static int parse_pair_of_device(struct parser *parser, struct piece device, struct piece piece)
{
	const char *sign = memchr(piece.start, '=', piece.length);
	struct piece key = { piece.start, sign ? (size_t)(sign - piece.start) : 0 };
	struct piece value;
	uint64_t number;

	if (!device.length || !is_key(key))
		return reject(parser);
	value = (struct piece){ sign + 1, piece.length - key.length - 1 };
	if (piece_number(value, &number))
		return give_number(parser, device, key, number);
	parser->bad += !is_fraction(value);
	return 0;
}

/* Some kernels forget the end of line after a device without numbers: the last device counts. */
static int parse_nested(struct parser *parser, const char *line, const char *end)
{
	struct piece device = { 0 };
	struct piece piece;
	int status = 0;

	while (status == 0 && (piece = next_piece(&line, end)).length) {
		if (is_device(piece))
			device = piece;
		else
			status = parse_pair_of_device(parser, device, piece);
	}
	return status;
}

/* The line "Total number" at the end is not about a device. */
static int parse_device(struct parser *parser, const char *line, const char *end)
{
	struct piece device = next_piece(&line, end);
	struct piece key = next_piece(&line, end);
	struct piece value = next_piece(&line, end);
	uint64_t number;

	if (is_word(device, "Total") && piece_number(key, &number) && value.length == 0)
		return 0;
	if (is_device(device) && is_key(key) && piece_number(value, &number))
		return give_number(parser, device, key, number);
	return reject(parser);
}

static int parse_list(struct parser *parser, const char *line, const char *end)
{
	struct kernel_value value = { .state = CELL_TEXT, .text = line };

	value.length = (size_t)(end - line);
	if (value.length <= LIST_MAX && strspn(line, "0123456789,-") >= value.length)
		return give(parser, &value);
	return reject(parser);
}

static void add_digit(uint64_t *number, unsigned digit)
{
	if (__builtin_mul_overflow(*number, 10, number) ||
	    __builtin_add_overflow(*number, digit, number))
		*number = UINT64_MAX;
}

/* Reads digits; returns how many there were. */
static size_t scan_digits(struct piece *piece, size_t most, uint64_t *number)
{
	size_t count = 0;

	for (; count < piece->length && piece->start[count] >= '0' && piece->start[count] <= '9';
	     count++)
		if (count < most)
			add_digit(number, (unsigned)(piece->start[count] - '0'));
	piece->start += count;
	piece->length -= count;
	return count;
}

/* A number with `decimals` digits after the point: fewer are filled up, more are cut off. */
static bool decimal_number(struct piece piece, size_t decimals, uint64_t *ret)
{
	uint64_t number = 0;
	size_t found = 0;

	if (!scan_digits(&piece, SIZE_MAX, &number))
		return false;
	if (decimals && piece.length && *piece.start == '.') {
		piece.start++;
		piece.length--;
		found = scan_digits(&piece, decimals, &number);
		if (!found)
			return false;
	}
	for (; found < decimals; found++)
		add_digit(&number, 0);
	*ret = number;
	return piece.length == 0;
}

static bool is_pressure_key(const char *key)
{
	for (size_t i = 0; i < PRESSURE_KEYS; i++)
		if (strcmp(key, pressure_keys[i]) == 0)
			return true;
	return false;
}

static int parse_pressure(struct parser *parser, const char *line, const char *end)
{
	struct piece name = next_piece(&line, end);
	struct piece piece;
	int status = 0;

	while (status == 0 && is_key(name) && (piece = next_piece(&line, end)).length) {
		const char *sign = memchr(piece.start, '=', piece.length);
		struct piece key = { piece.start, sign ? (size_t)(sign - piece.start) : 0 };
		struct kernel_value value = { .state = CELL_NUMBER };
		bool is_total = is_word(key, "total");

		if (!is_key(key))
			continue;
		set_key(&value, name, key);
		piece = (struct piece){ sign + 1, piece.length - key.length - 1 };
		if (is_pressure_key(value.key) &&
		    decimal_number(piece, is_total ? 0 : 2, &value.number))
			status = give(parser, &value);
	}
	return status;
}

static int parse_kib(struct parser *parser, const char *line, const char *end)
{
	struct piece key = next_piece(&line, end);
	struct piece value = next_piece(&line, end);
	struct piece unit = next_piece(&line, end);
	uint64_t number;

	if (!key.length || key.start[--key.length] != ':' || !is_key(key) ||
	    !piece_number(value, &number) || !is_word(unit, "kB") || next_piece(&line, end).length)
		return 0;
	return give_number(parser, key, nothing, number);
}

static const struct {
	int (*parse)(struct parser *parser, const char *line, const char *end);
	bool has_lines;	 /* else one value, which counts even when it is empty */
	bool has_values; /* a file without any makes no sense */
} formats[KERNEL_FORMAT_COUNT] = {
	[KERNEL_NUMBER] = { parse_number, false, false },
	[KERNEL_SIGNED] = { parse_signed, false, false },
	[KERNEL_LIMIT] = { parse_limit, false, false },
	[KERNEL_PAIR] = { parse_pair, false, false },
	[KERNEL_KEYS] = { parse_key, true, true },
	[KERNEL_NESTED] = { parse_nested, true, false },
	[KERNEL_DEVICES] = { parse_device, true, false },
	[KERNEL_LIST] = { parse_list, false, false },
	[KERNEL_PRESSURE] = { parse_pressure, true, true },
	[KERNEL_KIB] = { parse_kib, true, false },
};

int kernel_parse(enum kernel_format format, const char *text, struct kernel_sink *sink)
{
	struct parser parser = { .sink = sink };
	int status = 0;

	do {
		size_t length = strcspn(text, "\n");

		if (length || !formats[format].has_lines)
			status = formats[format].parse(&parser, text, text + length);
		text += length + (text[length] == '\n');
	} while (status == 0 && *text && formats[format].has_lines);
	if (formats[format].has_values && !parser.has_given && !parser.bad)
		parser.bad = 1;
	return status < 0 ? status : parser.bad;
}
