/* SPDX-License-Identifier: MIT */
#include "collect/kernel_parse.h"

#include <string.h>

#include "base/text.h"
#include "collect/kernel_line.h"
#include "collect/kernel_tables.h"

/* A list of every second of 8192 CPUs takes about 20 KiB. */
#define LIST_MAX ((size_t)64 * 1024)

const char *const pressure_keys[PRESSURE_KEYS] = {
	"some avg10", "some avg60", "some avg300", "some total",
	"full avg10", "full avg60", "full avg300", "full total",
};

/* "MAJOR:MINOR" */
static bool is_device(struct piece piece)
{
	const char *cursor = piece.start;
	uint64_t number;

	return scan_u64(&cursor, &number) && *cursor++ == ':' && scan_u64(&cursor, &number) &&
	       cursor == piece.start + piece.length && piece.length < KERNEL_KEY_SIZE / 2;
}

static int give_limit(struct kernel_parser *parser, const char *key, struct piece piece)
{
	struct piece name = { key, strlen(key) };
	struct kernel_value value = { .state = CELL_UNLIMITED };

	if (!kernel_is_word(piece, "max")) {
		value.state = CELL_NUMBER;
		if (!kernel_piece_number(piece, &value.number))
			return kernel_reject(parser);
	}
	kernel_set_key(&value, name, no_piece);
	return kernel_give(parser, &value);
}

static int parse_number(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece piece = kernel_next_piece(&line, end);
	uint64_t number;

	if (kernel_piece_number(piece, &number) && kernel_next_piece(&line, end).length == 0)
		return kernel_give_number(parser, no_piece, no_piece, number);
	return kernel_reject(parser);
}

static int parse_signed(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece piece = kernel_next_piece(&line, end);
	const char *cursor = piece.start;
	int64_t number;

	if (scan_i64(&cursor, &number) && cursor == end)
		return kernel_give_number(parser, no_piece, no_piece, (uint64_t)number);
	return kernel_reject(parser);
}

static int parse_limit(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece piece = kernel_next_piece(&line, end);

	if (kernel_next_piece(&line, end).length == 0)
		return give_limit(parser, "", piece);
	return kernel_reject(parser);
}

static int parse_pair(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece quota = kernel_next_piece(&line, end);
	struct piece period = kernel_next_piece(&line, end);
	int status = give_limit(parser, "quota_usec", quota);
	uint64_t number;

	if (status == 0 && kernel_piece_number(period, &number))
		return kernel_give_number(parser,
					  (struct piece){ "period_usec", strlen("period_usec") },
					  no_piece, number);
	parser->bad += status == 0;
	return status;
}

static int parse_key(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece key = kernel_next_piece(&line, end);
	struct piece value = kernel_next_piece(&line, end);
	uint64_t number;

	if (kernel_is_key(key) && kernel_piece_number(value, &number) &&
	    kernel_next_piece(&line, end).length == 0)
		return kernel_give_number(parser, key, no_piece, number);
	return kernel_reject(parser);
}

/* Some controllers add percentages such as "cost.vrate=100.00", which are not counters. */
static bool is_fraction(struct piece piece)
{
	return piece.length && strspn(piece.start, "0123456789.") >= piece.length &&
	       memchr(piece.start, '.', piece.length);
}

static int parse_pair_of_device(struct kernel_parser *parser, struct piece device,
				struct piece piece)
{
	const char *sign = memchr(piece.start, '=', piece.length);
	struct piece key = { piece.start, sign ? (size_t)(sign - piece.start) : 0 };
	struct piece value;
	uint64_t number;

	if (!device.length || !kernel_is_key(key))
		return kernel_reject(parser);
	value = (struct piece){ sign + 1, piece.length - key.length - 1 };
	if (kernel_piece_number(value, &number))
		return kernel_give_number(parser, device, key, number);
	parser->bad += !is_fraction(value);
	return 0;
}

/* Some kernels forget the end of line after a device without numbers: the last device counts. */
static int parse_nested(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece device = { 0 };
	struct piece piece;
	int status = 0;

	while (status == 0 && (piece = kernel_next_piece(&line, end)).length) {
		if (is_device(piece))
			device = piece;
		else
			status = parse_pair_of_device(parser, device, piece);
	}
	return status;
}

/* The line "Total number" at the end is not about a device. */
static int parse_device(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece device = kernel_next_piece(&line, end);
	struct piece key = kernel_next_piece(&line, end);
	struct piece value = kernel_next_piece(&line, end);
	uint64_t number;

	if (kernel_is_word(device, "Total") && kernel_piece_number(key, &number) &&
	    value.length == 0)
		return 0;
	if (is_device(device) && kernel_is_key(key) && kernel_piece_number(value, &number))
		return kernel_give_number(parser, device, key, number);
	return kernel_reject(parser);
}

static int parse_list(struct kernel_parser *parser, const char *line, const char *end)
{
	struct kernel_value value = { .state = CELL_TEXT, .text = line };

	value.length = (size_t)(end - line);
	if (value.length <= LIST_MAX && strspn(line, "0123456789,-") >= value.length)
		return kernel_give(parser, &value);
	return kernel_reject(parser);
}

static bool is_pressure_key(const char *key)
{
	for (size_t i = 0; i < PRESSURE_KEYS; i++)
		if (strcmp(key, pressure_keys[i]) == 0)
			return true;
	return false;
}

static int parse_pressure(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece name = kernel_next_piece(&line, end);
	struct piece piece;
	int status = 0;

	while (status == 0 && kernel_is_key(name) &&
	       (piece = kernel_next_piece(&line, end)).length) {
		const char *sign = memchr(piece.start, '=', piece.length);
		struct piece key = { piece.start, sign ? (size_t)(sign - piece.start) : 0 };
		struct kernel_value value = { .state = CELL_NUMBER };
		bool is_total = kernel_is_word(key, "total");

		if (!kernel_is_key(key))
			continue;
		kernel_set_key(&value, name, key);
		piece = (struct piece){ sign + 1, piece.length - key.length - 1 };
		if (is_pressure_key(value.key) &&
		    kernel_decimal(piece, is_total ? 0 : 2, &value.number))
			status = kernel_give(parser, &value);
	}
	return status;
}

static int parse_kib(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece key = kernel_next_piece(&line, end);
	struct piece value = kernel_next_piece(&line, end);
	struct piece unit = kernel_next_piece(&line, end);
	uint64_t number;

	if (!key.length || key.start[--key.length] != ':' || !kernel_is_key(key) ||
	    !kernel_piece_number(value, &number) || !kernel_is_word(unit, "kB") ||
	    kernel_next_piece(&line, end).length)
		return 0;
	return kernel_give_number(parser, key, no_piece, number);
}

static const struct {
	int (*parse)(struct kernel_parser *parser, const char *line, const char *end);
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
	[KERNEL_STAT] = { kernel_parse_stat, true, true },
	[KERNEL_LOADS] = { kernel_parse_loads, false, false },
	[KERNEL_MEMINFO] = { kernel_parse_meminfo, true, true },
	[KERNEL_DISKS] = { kernel_parse_disk, true, false },
	[KERNEL_INTERFACES] = { kernel_parse_interface, true, false },
	[KERNEL_SOCKETS] = { kernel_parse_sockets, true, true },
	[KERNEL_INTERRUPTS] = { kernel_parse_interrupt, true, false },
};

int kernel_parse(enum kernel_format format, const char *text, struct kernel_sink *sink)
{
	struct kernel_parser parser = { .sink = sink };
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
