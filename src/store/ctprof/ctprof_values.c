/* SPDX-License-Identifier: MIT */
/* Converts single values of a ctprof file to our units, and checks what the snapshot costs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/dictionary.h"
#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"
#include "store/tscope/layout.h"

#define BYTES_OF_CELL 9 /* in memory */

int ctprof_bad(struct ctprof_reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!reader->problem[0])
		vsnprintf(reader->problem, sizeof(reader->problem), format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

static uint64_t sheet_cost(const struct sheet *sheet)
{
	return sheet->row_count * (CELLS_PER_SHEET_ROW + sheet->columns.count) +
	       sheet->columns.count * CELLS_PER_READING;
}

/* Assumes that every thread has every field. */
int ctprof_check_cost(const struct ctprof_reader *reader)
{
	const struct snapshot *snapshot = reader->snapshot;
	uint64_t cost = snapshot->task_count * (CELLS_PER_TASK + ctprof_field_count) +
			snapshot->process_count * CELLS_PER_PROCESS +
			dictionary_count(snapshot->strings) * (uint64_t)CELLS_PER_STRING +
			reader->text_bytes / BYTES_OF_CELL;

	for (int id = 0; id < SHEET_COUNT; id++)
		cost += sheet_cost(&snapshot->sheets[id]);
	return cost > reader->cell_limit ? -EFBIG : 0;
}

int ctprof_intern(struct ctprof_reader *reader, const char *text, uint32_t *ret)
{
	uint32_t known = dictionary_count(reader->snapshot->strings);
	size_t length = strlen(text);
	int status = snapshot_intern(reader->snapshot, text, length, ret);

	if (status == 0 && dictionary_count(reader->snapshot->strings) > known)
		reader->text_bytes += length;
	return status;
}

/* A long number comes in quotes: see ctprof_stream_value(). */
int ctprof_number(struct ctprof_reader *reader, const json_t *value, const char *key, uint64_t *ret)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*ret = (uint64_t)json_integer_value(value);
		return 0;
	}
	if (json_is_string(value) && parse_u64(json_string_value(value), ret))
		return 0;
	return ctprof_bad(reader, "%s is no whole number below 2^64", key);
}

static const json_t *get_member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

int ctprof_get_u64(struct ctprof_reader *reader, const json_t *object, const char *key,
		   bool *ret_given, uint64_t *ret)
{
	const json_t *value = get_member(object, key);

	*ret_given = value;
	return value ? ctprof_number(reader, value, key, ret) : 0;
}

int ctprof_get_i32(struct ctprof_reader *reader, const json_t *object, const char *key,
		   bool *ret_given, int32_t *ret)
{
	const json_t *value = get_member(object, key);

	*ret_given = value;
	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
	    json_integer_value(value) > INT32_MAX)
		return ctprof_bad(reader, "%s is no whole number of 32 bits", key);
	*ret = (int32_t)json_integer_value(value);
	return 0;
}

int ctprof_get_bool(struct ctprof_reader *reader, const json_t *object, const char *key,
		    bool *ret_given, bool *ret)
{
	const json_t *value = get_member(object, key);

	*ret_given = value;
	if (!value)
		return 0;
	if (!json_is_boolean(value))
		return ctprof_bad(reader, "%s is neither true nor false", key);
	*ret = json_is_true(value);
	return 0;
}

int ctprof_get_text(struct ctprof_reader *reader, const json_t *object, const char *key,
		    const char **ret)
{
	const json_t *value = get_member(object, key);

	if (value && !json_is_string(value))
		return ctprof_bad(reader, "%s is no text", key);
	*ret = json_string_value(value);
	return 0;
}

int ctprof_get_object(struct ctprof_reader *reader, const json_t *object, const char *key,
		      const json_t **ret)
{
	const json_t *value = get_member(object, key);

	if (value && !json_is_object(value))
		return ctprof_bad(reader, "%s is no object", key);
	*ret = value;
	return 0;
}

int ctprof_need_object(struct ctprof_reader *reader, const json_t *value, const json_t **ret)
{
	if (!json_is_object(value) && !json_is_null(value))
		return ctprof_bad(reader, "it is no object");
	*ret = json_is_object(value) ? value : NULL;
	return 0;
}

static int parse_policy(const char *text, uint64_t *ret)
{
	static const char unknown[] = "SCHED_UNKNOWN(";
	char buffer[32];

	for (uint64_t code = 0; code < 8; code++)
		if (strcmp(metric_category_text(UNIT_POLICY, code, buffer), text) == 0) {
			*ret = code;
			return 0;
		}
	if (strncmp(text, unknown, strlen(unknown)) != 0)
		return -EINVAL;
	text += strlen(unknown);
	return scan_u64(&text, ret) && strcmp(text, ")") == 0 ? 0 : -EINVAL;
}

int ctprof_get_policy(struct ctprof_reader *reader, const json_t *object, const char *key,
		      struct ctprof_value *ret)
{
	const char *text = NULL;
	int status = ctprof_get_text(reader, object, key, &text);

	ret->given = text;
	ret->told = text && *text;
	if (status == 0 && ret->told && parse_policy(text, &ret->number) < 0)
		return ctprof_bad(reader, "%s is no policy that is known", key);
	return status;
}

int ctprof_get_state(struct ctprof_reader *reader, const json_t *object, const char *key,
		     struct ctprof_value *ret)
{
	const char *text = NULL;
	int status = ctprof_get_text(reader, object, key, &text);

	ret->given = text;
	if (status < 0 || !text)
		return status;
	if (*text <= ' ' || *text > '~' || text[1])
		return ctprof_bad(reader, "%s is no letter", key);
	ret->told = *text != CTPROF_NO_STATE;
	ret->number = (uint64_t)*text;
	return 0;
}

static int format_cpus(struct ctprof_reader *reader, const uint64_t *words, size_t count,
		       uint64_t *ret)
{
	uint32_t text = 0;
	int status;

	text_clear(&reader->scratch);
	cpulist_format(words, count, &reader->scratch);
	if (reader->scratch.failed)
		return -ENOMEM;
	status = ctprof_intern(reader, text_string(&reader->scratch), &text);
	*ret = text;
	return status;
}

int ctprof_get_cpus(struct ctprof_reader *reader, const json_t *object, const char *key,
		    struct ctprof_value *ret)
{
	const json_t *list = get_member(object, key), *cpu;
	uint64_t words[CPULIST_MAX / 64];
	size_t used = 0, index;

	ret->given = list;
	ret->told = json_array_size(list) > 0;
	if (list && !json_is_array(list))
		return ctprof_bad(reader, "%s is no list", key);
	json_array_foreach(list, index, cpu)
	{
		uint64_t number = (uint64_t)json_integer_value(cpu);

		if (!json_is_integer(cpu) || number >= CPULIST_MAX)
			return ctprof_bad(reader, "%s names no CPU that can be", key);
		while (used <= number / 64)
			words[used++] = 0;
		words[number / 64] |= (uint64_t)1 << number % 64;
	}
	return ret->told ? format_cpus(reader, words, used, &ret->number) : 0;
}
