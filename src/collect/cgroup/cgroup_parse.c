/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_parse.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* A list of every second of 8192 CPUs takes about 20 KiB. */
#define LIST_MAX ((size_t)64 * 1024)

/* A piece of a line: up to a blank. */
struct piece {
	const char *start;
	size_t length;
};

struct parser {
	struct cgroup_sink *sink;
	int bad;
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
	return piece.length > 0 && piece.length < CGROUP_KEY_SIZE / 2;
}

/* "MAJOR:MINOR" */
static bool is_device(struct piece piece)
{
	const char *cursor = piece.start;
	uint64_t number;

	return scan_u64(&cursor, &number) && *cursor++ == ':' && scan_u64(&cursor, &number) &&
	       cursor == piece.start + piece.length && piece.length < CGROUP_KEY_SIZE / 2;
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
static void set_key(struct cgroup_value *value, struct piece first, struct piece second)
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

static int give_number(struct parser *parser, struct piece first, struct piece second,
		       uint64_t number)
{
	struct cgroup_value value = { .state = CELL_NUMBER, .number = number };

	set_key(&value, first, second);
	return parser->sink->take(parser->sink, &value);
}

static int give_limit(struct parser *parser, const char *key, struct piece piece)
{
	struct piece name = { key, strlen(key) };
	struct cgroup_value value = { .state = CELL_UNLIMITED };

	if (!is_word(piece, "max")) {
		value.state = CELL_NUMBER;
		if (!piece_number(piece, &value.number)) {
			parser->bad++;
			return 0;
		}
	}
	set_key(&value, name, (struct piece){ 0 });
	return parser->sink->take(parser->sink, &value);
}

static int parse_number(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);
	uint64_t number;

	if (piece_number(piece, &number) && next_piece(&line, end).length == 0)
		return give_number(parser, (struct piece){ "", 0 }, (struct piece){ 0 }, number);
	parser->bad++;
	return 0;
}

static int parse_signed(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);
	const char *cursor = piece.start;
	int64_t number;

	if (scan_i64(&cursor, &number) && cursor == end)
		return give_number(parser, (struct piece){ "", 0 }, (struct piece){ 0 },
				   (uint64_t)number);
	parser->bad++;
	return 0;
}

static int parse_limit(struct parser *parser, const char *line, const char *end)
{
	struct piece piece = next_piece(&line, end);

	if (next_piece(&line, end).length == 0)
		return give_limit(parser, "", piece);
	parser->bad++;
	return 0;
}

static int parse_pair(struct parser *parser, const char *line, const char *end)
{
	struct piece quota = next_piece(&line, end);
	struct piece period = next_piece(&line, end);
	int status = give_limit(parser, "quota_usec", quota);
	uint64_t number;

	if (status == 0 && piece_number(period, &number))
		return give_number(parser, (struct piece){ "period_usec", strlen("period_usec") },
				   (struct piece){ 0 }, number);
	parser->bad += status == 0;
	return status;
}

static int parse_key(struct parser *parser, const char *line, const char *end)
{
	struct piece key = next_piece(&line, end);
	struct piece value = next_piece(&line, end);
	uint64_t number;

	if (is_key(key) && piece_number(value, &number) && next_piece(&line, end).length == 0)
		return give_number(parser, key, (struct piece){ 0 }, number);
	parser->bad++;
	return 0;
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

	if (!device.length || !is_key(key)) {
		parser->bad++;
		return 0;
	}
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
	parser->bad++;
	return 0;
}

static int parse_list(struct parser *parser, const char *line, const char *end)
{
	struct cgroup_value value = { .state = CELL_TEXT, .text = line };

	value.length = (size_t)(end - line);
	if (value.length <= LIST_MAX && strspn(line, "0123456789,-") >= value.length)
		return parser->sink->take(parser->sink, &value);
	parser->bad++;
	return 0;
}

static const struct {
	int (*parse)(struct parser *parser, const char *line, const char *end);
	bool has_lines; /* else one value, which counts even when it is empty */
} formats[CGROUP_FORMAT_COUNT] = {
	[CGROUP_NUMBER] = { parse_number, false }, [CGROUP_SIGNED] = { parse_signed, false },
	[CGROUP_LIMIT] = { parse_limit, false },   [CGROUP_PAIR] = { parse_pair, false },
	[CGROUP_KEYS] = { parse_key, true },	   [CGROUP_NESTED] = { parse_nested, true },
	[CGROUP_DEVICES] = { parse_device, true }, [CGROUP_LIST] = { parse_list, false },
};

int cgroup_parse(enum cgroup_format format, const char *text, struct cgroup_sink *sink)
{
	struct parser parser = { .sink = sink };
	size_t length = strcspn(text, "\n");
	int status = 0;

	if (!formats[format].parse)
		return 0;
	if (!formats[format].has_lines) {
		status = formats[format].parse(&parser, text, text + length);
		return status < 0 ? status : parser.bad;
	}
	while (status == 0 && *text) {
		length = strcspn(text, "\n");
		if (length)
			status = formats[format].parse(&parser, text, text + length);
		text += length + (text[length] == '\n');
	}
	return status < 0 ? status : parser.bad;
}
