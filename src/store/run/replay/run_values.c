/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_values.h"

#include <math.h>
#include <string.h>

bool json_to_u64(const json_t *value, uint64_t *ret)
{
	double real;

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*ret = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!json_is_real(value))
		return false;
	real = json_real_value(value);
	if (!(real >= 0) || real >= 18446744073709551616.0)
		return false;
	*ret = (uint64_t)real;
	return true;
}

bool member_u64(const json_t *object, const char *key, uint64_t *ret)
{
	return json_to_u64(json_object_get(object, key), ret);
}

bool member_i32(const json_t *object, const char *key, int32_t *ret)
{
	uint64_t number;

	if (!member_u64(object, key, &number) || number > INT32_MAX)
		return false;
	*ret = (int32_t)number;
	return true;
}

void member_real(const json_t *object, const char *key, struct run_real *ret)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_number(value) && isfinite(json_number_value(value)))
		*ret = (struct run_real){ .present = true, .value = json_number_value(value) };
}

bool member_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

void member_number(const json_t *object, const char *key, struct run_number *ret)
{
	uint64_t number;

	if (member_u64(object, key, &number))
		*ret = (struct run_number){ .present = true, .value = number };
}

const char *member_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int digit_of(char byte)
{
	const char *digits = "0123456789abcdef";
	const char *at = byte ? strchr(digits, byte) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes a byte, or one that was written as \xNN because it is not a printable character. */
static char take_byte(const char **cursor)
{
	const char *at = *cursor;
	int high = at[0] == '\\' && at[1] == 'x' ? digit_of(at[2]) : -1;
	int low = high >= 0 ? digit_of(at[3]) : -1;
	int byte = high * 16 + low;

	if (low >= 0 && byte && (byte < ' ' || byte > '~')) {
		*cursor += 4;
		return (char)byte;
	}
	*cursor += 1;
	return at[0];
}

void member_bytes(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = member_text(object, key);
	size_t length = 0;

	if (!text)
		return;
	memset(ret, 0, size);
	while (*text && length < size - 1)
		ret[length++] = take_byte(&text);
}

void member_comm(const json_t *object, const char *key, char ret[TREE_COMM_SIZE])
{
	member_bytes(object, key, ret, TREE_COMM_SIZE);
}

void member_words(const json_t *object, const char *key, struct text *ret)
{
	const json_t *words = json_object_get(object, key);

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		while (word && *word) {
			char byte = take_byte(&word);

			text_append(ret, &byte, 1);
		}
		if (word)
			text_append(ret, "", 1);
	}
}
