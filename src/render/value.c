/* SPDX-License-Identifier: MIT */
#include "render/value.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot.h"

static bool is_partial(const struct fold *fold)
{
	return fold->shape != SHAPE_ABSENT && fold->measured < fold->population;
}

static void append_range(struct text *out, const struct fold *fold)
{
	text_format(out, "%" PRId64, fold->min);
	if (fold->max != fold->min)
		text_format(out, "..%" PRId64, fold->max);
}

static void append_mode(struct text *out, const struct fold *fold)
{
	char buffer[32];

	text_append_string(out, metric_category_text(fold->metric->unit, fold->mode, buffer));
	if (fold->mode_count != fold->measured)
		text_format(out, " (%" PRIu32 "/%" PRIu32 ")", fold->mode_count, fold->measured);
}

static const char *list_of(const struct snapshot *snapshot, const struct fold *fold)
{
	return snapshot_text(snapshot, (uint32_t)fold->number);
}

static void append_cpus(struct text *out, const struct snapshot *snapshot, const struct fold *fold)
{
	const char *list = fold->uniform ? list_of(snapshot, fold) : "mixed";

	text_format(out, "%" PRId64, fold->min);
	if (fold->max != fold->min)
		text_format(out, "-%" PRId64, fold->max);
	text_append_string(out, fold->max == 1 ? " cpu (" : " cpus (");
	text_append_escaped(out, list, strlen(list));
	text_append_string(out, ")");
}

void value_text(struct text *out, const struct snapshot *snapshot, const struct fold *fold)
{
	switch (fold->shape) {
	case SHAPE_ABSENT:
		text_append_string(out, "-");
		break;
	case SHAPE_NUMBER:
		unit_format(out, fold->metric->unit, fold->number);
		break;
	case SHAPE_REAL:
		unit_format_real(out, fold->metric->unit, fold->real);
		break;
	case SHAPE_RANGE:
		append_range(out, fold);
		break;
	case SHAPE_MODE:
		append_mode(out, fold);
		break;
	case SHAPE_CPUS:
		append_cpus(out, snapshot, fold);
		break;
	}
	if (is_partial(fold))
		text_append_string(out, "*");
}

static void append_real(struct text *out, const struct fold *fold)
{
	if (!fold->has_number)
		text_format(out, "%.17g", fold->real);
	else if (fold->real < 0)
		text_format(out, "%" PRId64, (int64_t)fold->number);
	else
		text_format(out, "%" PRIu64, fold->number);
}

void value_csv(struct text *out, const struct snapshot *snapshot, const struct fold *fold)
{
	char buffer[32];

	switch (fold->shape) {
	case SHAPE_ABSENT:
		break;
	case SHAPE_NUMBER:
		text_format(out, "%" PRIu64, fold->number);
		break;
	case SHAPE_REAL:
		append_real(out, fold);
		break;
	case SHAPE_RANGE:
		append_range(out, fold);
		break;
	case SHAPE_MODE:
		csv_append(out, metric_category_text(fold->metric->unit, fold->mode, buffer));
		break;
	case SHAPE_CPUS:
		if (fold->uniform)
			csv_append(out, list_of(snapshot, fold));
		else
			text_format(out, "%" PRId64 "..%" PRId64 " cpus", fold->min, fold->max);
		break;
	}
}

static void json_category(struct json *json, enum metric_unit unit, uint64_t code)
{
	char buffer[32];

	if (unit == UNIT_BOOL)
		json_bool(json, code != 0);
	else
		json_string(json, metric_category_text(unit, code, buffer));
}

void value_json_real(struct json *json, const struct fold *fold)
{
	if (!fold->has_number)
		json_double(json, fold->real);
	else if (fold->real < 0)
		json_i64(json, (int64_t)fold->number);
	else
		json_u64(json, fold->number);
}

static void json_range(struct json *json, const struct fold *fold)
{
	json_key(json, "min");
	json_i64(json, fold->min);
	json_key(json, "max");
	json_i64(json, fold->max);
}

static void json_shape(struct json *json, const struct snapshot *snapshot, const struct fold *fold)
{
	switch (fold->shape) {
	case SHAPE_ABSENT:
		break;
	case SHAPE_NUMBER:
		json_member_u64(json, "value", fold->number);
		break;
	case SHAPE_REAL:
		json_key(json, "value");
		value_json_real(json, fold);
		break;
	case SHAPE_RANGE:
		json_range(json, fold);
		break;
	case SHAPE_MODE:
		json_key(json, "mode");
		json_category(json, fold->metric->unit, fold->mode);
		json_member_u64(json, "count", fold->mode_count);
		break;
	case SHAPE_CPUS:
		json_range(json, fold);
		if (fold->uniform)
			json_member_string(json, "list", list_of(snapshot, fold));
		break;
	}
}

void value_json(struct json *json, const struct snapshot *snapshot, const struct fold *fold)
{
	json_begin_object(json);
	json_shape(json, snapshot, fold);
	json_member_u64(json, "measured", fold->measured);
	json_end_object(json);
}

void value_json_cell(struct json *json, const struct snapshot *snapshot, enum metric_id id,
		     uint64_t value)
{
	switch (metrics[id].kind) {
	case KIND_ORDINAL:
		json_i64(json, (int64_t)value);
		break;
	case KIND_CATEGORY:
		json_category(json, metrics[id].unit, value);
		break;
	case KIND_CPUSET:
		json_string(json, snapshot_text(snapshot, (uint32_t)value));
		break;
	default:
		json_u64(json, value);
		break;
	}
}

static bool is_plain_number(const char *string)
{
	size_t sign = strspn(string, "+-") ? 1 : 0;

	return string[sign] >= '0' && string[sign] <= '9' &&
	       string[sign + strspn(string + sign, "0123456789.")] == '\0';
}

/* Whether a spreadsheet would compute the field; some take the wide forms of the letters too. */
static bool is_formula(const char *string)
{
	static const char *const beginnings[] = { "=",	    "+",      "-",	"@",
						  "\uff1d", "\uff0b", "\uff0d", "\uff20" };

	string += strspn(string, " \t\r\n");
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(string, beginnings[i], strlen(beginnings[i])) == 0)
			return !is_plain_number(string);
	return false;
}

void csv_append(struct text *out, const char *string)
{
	CLEANUP(text_free) struct text escaped = { 0 };
	bool has_formula = is_formula(string);
	const char *at;

	if (!has_formula && string[strcspn(string, ",\"\r\n")] == '\0') {
		text_append_escaped(out, string, strlen(string));
		return;
	}
	text_append_escaped(&escaped, string, strlen(string));
	text_append_string(out, has_formula ? "\"'" : "\"");
	for (at = text_string(&escaped); *at; at++)
		text_append_string(out, *at == '"' ? "\"\"" : (char[]){ *at, '\0' });
	text_append_string(out, "\"");
	out->failed |= escaped.failed;
}

/* Not strftime(): that would read the time zone of this host. */
void moment_text(struct text *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm time;

	if (gmtime_r(&seconds, &time))
		text_format(out, "%04d-%02d-%02d %02d:%02d:%02d UTC", time.tm_year + 1900,
			    time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}

void age_text(struct text *out, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (days)
		text_format(out, "%" PRIu64 "d %02" PRIu64 "h", days, hours % 24);
	else if (hours)
		text_format(out, "%" PRIu64 "h %02" PRIu64 "m", hours, minutes % 60);
	else if (minutes)
		text_format(out, "%" PRIu64 "m %02" PRIu64 "s", minutes, seconds % 60);
	else
		text_format(out, "%" PRIu64 ".%" PRIu64 "s", seconds, ns / 100000000 % 10);
}
