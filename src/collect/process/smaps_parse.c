/* SPDX-License-Identifier: MIT */
#include "collect/process/smaps_parse.h"

#include <string.h>

#include "base/text.h"

static bool is_key(const char *key, size_t length)
{
	if (length == 0 || length > SMAPS_KEY_MAX)
		return false;
	for (size_t i = 0; i < length; i++)
		if (key[i] <= ' ' || key[i] > '~')
			return false;
	return true;
}

static const char *skip_blanks(const char *cursor)
{
	return cursor + strspn(cursor, " \t");
}

static bool parse_line(const char *line, const char *end, struct smaps_value *ret)
{
	const char *colon = memchr(line, ':', (size_t)(end - line));
	struct smaps_value value = { .key = line };
	const char *cursor;

	if (!colon || !is_key(line, (size_t)(colon - line)))
		return false;
	value.key_length = (size_t)(colon - line);
	cursor = skip_blanks(colon + 1);
	if (!scan_u64(&cursor, &value.kib))
		return false;
	cursor = skip_blanks(cursor);
	if (strncmp(cursor, "kB", 2) != 0 || skip_blanks(cursor + 2) != end)
		return false;
	*ret = value;
	return true;
}

bool smaps_next(const char **cursor, struct smaps_value *ret)
{
	while (**cursor) {
		const char *line = *cursor;
		const char *end = line + strcspn(line, "\n");

		*cursor = end + (*end == '\n');
		if (parse_line(line, end, ret))
			return true;
	}
	return false;
}

static bool find_key(const char *text, const char *key, size_t length, uint64_t *ret_kib)
{
	struct smaps_value value;

	while (smaps_next(&text, &value)) {
		if (value.key_length == length && memcmp(value.key, key, length) == 0) {
			*ret_kib = value.kib;
			return true;
		}
	}
	return false;
}

bool smaps_sum(const char *text, const char *keys, uint64_t *ret_kib)
{
	uint64_t sum = 0, kib;

	for (;;) {
		size_t length = strcspn(keys, " ");

		if (!find_key(text, keys, length, &kib))
			return false;
		if (__builtin_add_overflow(sum, kib, &sum))
			sum = UINT64_MAX;
		if (!keys[length])
			break;
		keys += length + strspn(keys + length, " +");
	}
	*ret_kib = sum;
	return true;
}
