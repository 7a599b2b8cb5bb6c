/* SPDX-License-Identifier: MIT */
/* Converts single values of a ctprof file to our units, and checks what the snapshot costs. */
#include <errno.h>
#include <string.h>

#include "base/collection/dictionary.h"
#include "base/cpulist.h"
#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"
#include "store/tscope/layout.h"

#define BYTES_OF_CELL 9 /* in memory */

bool ctprof_check(struct ctprof_reader *reader, int status)
{
	if (status < 0)
		ctprof_fail(&reader->failure, status);
	return ctprof_is_good(reader);
}

static uint64_t sheet_cost(const struct sheet *sheet)
{
	return sheet->row_count * (CELLS_PER_SHEET_ROW + sheet->columns.count) +
	       sheet->columns.count * CELLS_PER_READING;
}

/* Assumes that every thread has every field. */
void ctprof_check_cost(struct ctprof_reader *reader)
{
	const struct snapshot *snapshot = reader->snapshot;
	uint64_t cost = snapshot->task_count * (CELLS_PER_TASK + ctprof_field_count) +
			snapshot->process_count * CELLS_PER_PROCESS +
			dictionary_count(snapshot->strings) * (uint64_t)CELLS_PER_STRING +
			reader->text_bytes / BYTES_OF_CELL;

	for (int id = 0; id < SHEET_COUNT; id++)
		cost += sheet_cost(&snapshot->sheets[id]);
	ctprof_check(reader, cost > reader->cell_limit ? -EFBIG : 0);
}

bool ctprof_intern(struct ctprof_reader *reader, const char *text, uint32_t *ret)
{
	uint32_t known = dictionary_count(reader->snapshot->strings);
	size_t length = strlen(text);

	if (!ctprof_check(reader, snapshot_intern(reader->snapshot, text, length, ret)))
		return false;
	if (dictionary_count(reader->snapshot->strings) > known)
		reader->text_bytes += length;
	return true;
}

/* A long number comes in quotes: see ctprof_stream_value(). */
bool ctprof_number(struct ctprof_reader *reader, const json_t *value, const char *key,
		   uint64_t *ret)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*ret = (uint64_t)json_integer_value(value);
		return true;
	}
	if (json_is_string(value) && parse_u64(json_string_value(value), ret))
		return true;
	return ctprof_bad(&reader->failure, "%s is no whole number below 2^64", key);
}

static const json_t *get_member(struct ctprof_reader *reader, const json_t *object, const char *key)
{
	const json_t *value = ctprof_is_good(reader) ? json_object_get(object, key) : NULL;

	return json_is_null(value) ? NULL : value;
}

bool ctprof_get_u64(struct ctprof_reader *reader, const json_t *object, const char *key,
		    uint64_t *ret)
{
	const json_t *value = get_member(reader, object, key);

	return value && ctprof_number(reader, value, key, ret);
}

bool ctprof_get_i32(struct ctprof_reader *reader, const json_t *object, const char *key,
		    int32_t *ret)
{
	const json_t *value = get_member(reader, object, key);

	if (!value)
		return false;
	if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
	    json_integer_value(value) > INT32_MAX)
		return ctprof_bad(&reader->failure, "%s is no whole number of 32 bits", key);
	*ret = (int32_t)json_integer_value(value);
	return true;
}

bool ctprof_get_bool(struct ctprof_reader *reader, const json_t *object, const char *key, bool *ret)
{
	const json_t *value = get_member(reader, object, key);

	if (value && !json_is_boolean(value))
		return ctprof_bad(&reader->failure, "%s is neither true nor false", key);
	if (value)
		*ret = json_is_true(value);
	return value;
}

const char *ctprof_get_text(struct ctprof_reader *reader, const json_t *object, const char *key)
{
	const json_t *value = get_member(reader, object, key);

	if (value && !json_is_string(value))
		ctprof_bad(&reader->failure, "%s is no text", key);
	return json_string_value(value);
}

const json_t *ctprof_get_object(struct ctprof_reader *reader, const json_t *object, const char *key)
{
	const json_t *value = get_member(reader, object, key);

	if (value && !json_is_object(value))
		ctprof_bad(&reader->failure, "%s is no object", key);
	return json_is_object(value) ? value : NULL;
}

const json_t *ctprof_need_object(struct ctprof_reader *reader, const json_t *value)
{
	if (!json_is_object(value) && !json_is_null(value))
		ctprof_bad(&reader->failure, "it is no object");
	return json_is_object(value) ? value : NULL;
}

static bool parse_policy(const char *text, uint64_t *ret)
{
	static const char unknown[] = "SCHED_UNKNOWN(";
	char buffer[32];

	for (*ret = 0; *ret < 8; ++*ret)
		if (strcmp(metric_category_text(UNIT_POLICY, *ret, buffer), text) == 0)
			return true;
	if (strncmp(text, unknown, strlen(unknown)) != 0)
		return false;
	text += strlen(unknown);
	return scan_u64(&text, ret) && strcmp(text, ")") == 0;
}

/* Gets a policy's code from its name. */
static void get_policy(struct ctprof_reader *reader, const json_t *object, const char *key,
		       struct ctprof_value *ret)
{
	const char *text = ctprof_get_text(reader, object, key);

	ret->given = text;
	ret->differs = text && *text;
	if (ret->differs && !parse_policy(text, &ret->number))
		ctprof_bad(&reader->failure, "%s is no policy that is known", key);
}

static void get_state(struct ctprof_reader *reader, const json_t *object, const char *key,
		      struct ctprof_value *ret)
{
	const char *text = ctprof_get_text(reader, object, key);

	ret->given = text;
	if (!text)
		return;
	if (*text <= ' ' || *text > '~' || text[1])
		ctprof_bad(&reader->failure, "%s is no letter", key);
	ret->differs = *text != CTPROF_NO_STATE;
	ret->number = (uint64_t)*text;
}

static uint32_t format_cpus(struct ctprof_reader *reader, const uint64_t *words, size_t count)
{
	uint32_t text = 0;

	text_clear(&reader->scratch);
	cpulist_format(words, count, &reader->scratch);
	if (ctprof_check(reader, reader->scratch.failed ? -ENOMEM : 0))
		ctprof_intern(reader, text_string(&reader->scratch), &text);
	return text;
}

/* Gets the number of a text such as "0-3,8" from a list of CPUs. */
static void get_cpus(struct ctprof_reader *reader, const json_t *object, const char *key,
		     struct ctprof_value *ret)
{
	const json_t *list = get_member(reader, object, key), *cpu;
	uint64_t words[CPULIST_MAX / 64];
	size_t used = 0, index;

	ret->given = list;
	ret->differs = json_array_size(list) > 0;
	if (list && !json_is_array(list))
		ctprof_bad(&reader->failure, "%s is no list", key);
	json_array_foreach(list, index, cpu)
	{
		uint64_t number = (uint64_t)json_integer_value(cpu);

		if (!json_is_integer(cpu) || number >= CPULIST_MAX) {
			ctprof_bad(&reader->failure, "%s names no CPU that can be", key);
			return;
		}
		while (used <= number / 64)
			words[used++] = 0;
		words[number / 64] |= (uint64_t)1 << number % 64;
	}
	if (ret->differs)
		ret->number = format_cpus(reader, words, used);
}

void ctprof_get_metric(struct ctprof_reader *reader, const struct ctprof_field *field,
		       const json_t *json, struct ctprof_value *ret)
{
	int32_t level = 0;
	bool flag = false;

	switch (field->form) {
	case CTPROF_POLICY:
		get_policy(reader, json, field->key, ret);
		return;
	case CTPROF_STATE:
		get_state(reader, json, field->key, ret);
		return;
	case CTPROF_CPUS:
		get_cpus(reader, json, field->key, ret);
		return;
	case CTPROF_SIGNED:
		ret->given = ctprof_get_i32(reader, json, field->key, &level);
		ret->number = (uint64_t)(int64_t)level;
		break;
	case CTPROF_BOOL:
		ret->given = ctprof_get_bool(reader, json, field->key, &flag);
		ret->number = flag;
		break;
	default:
		ret->given = ctprof_get_u64(reader, json, field->key, &ret->number);
	}
	ret->differs = ret->given && ret->number;
	if (field->form == CTPROF_TICKS)
		ret->number = metric_from_raw(ret->number, RAW_TICKS,
					      &(struct raw_scale){ .tick_ns = CTPROF_TICK_NS });
}
