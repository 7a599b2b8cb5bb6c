/* SPDX-License-Identifier: MIT */
#include "collect/kernel_line.h"

#include <string.h>

#include "base/text.h"

const struct piece no_piece = { "", 0 };

struct piece kernel_next_piece(const char **cursor, const char *end)
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

static bool is_key_character(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || strchr("_.:-()/@", character);
}

bool kernel_is_key(struct piece piece)
{
	for (size_t i = 0; i < piece.length; i++)
		if (!piece.start[i] || !is_key_character(piece.start[i]))
			return false;
	return piece.length > 0 && piece.length < KERNEL_KEY_SIZE / 2;
}

bool kernel_is_word(struct piece piece, const char *word)
{
	return piece.length == strlen(word) && memcmp(piece.start, word, piece.length) == 0;
}

bool kernel_piece_number(struct piece piece, uint64_t *ret)
{
	const char *cursor = piece.start;

	return scan_u64(&cursor, ret) && cursor == piece.start + piece.length;
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

bool kernel_decimal(struct piece piece, size_t decimals, uint64_t *ret)
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

void kernel_set_key(struct kernel_value *value, struct piece first, struct piece second)
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

int kernel_give(struct kernel_parser *parser, const struct kernel_value *value)
{
	parser->has_given = true;
	return parser->sink->take(parser->sink, value);
}

int kernel_give_number(struct kernel_parser *parser, struct piece first, struct piece second,
		       uint64_t number)
{
	struct kernel_value value = { .state = CELL_NUMBER, .number = number };

	kernel_set_key(&value, first, second);
	return kernel_give(parser, &value);
}

int kernel_reject(struct kernel_parser *parser)
{
	parser->bad++;
	return 0;
}
