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
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"

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

/* Treats a cell as a group of one. */
static struct fold fold_of(const struct snapshot *snapshot, const struct column *column,
			   uint32_t row)
{
	struct fold fold;
	uint64_t value;

	fold_init(&fold, column->metric);
	switch (column_get(column, row, &value)) {
	case CELL_NUMBER:
		if (column->metric->kind == KIND_CPUSET)
			fold_add_text(&fold, snapshot_text(snapshot, (uint32_t)value));
		else
			fold_add(&fold, value);
		break;
	case CELL_TEXT:
		fold_add_text(&fold, snapshot_text(snapshot, (uint32_t)value));
		break;
	case CELL_UNLIMITED:
		fold_add_unlimited(&fold);
		break;
	default:
		break;
	}
	fold_finish(&fold);
	return fold;
}

void put_column(struct table *table, const struct snapshot *snapshot, const struct column *column,
		uint32_t row)
{
	struct fold fold = fold_of(snapshot, column, row);

	put_fold(table, &fold);
}

void cell_json(struct json *json, const struct snapshot *snapshot, const struct column *column,
	       uint32_t row)
{
	struct fold fold = fold_of(snapshot, column, row);

	switch (fold.shape) {
	case SHAPE_NUMBER:
		if (column->metric->unit == UNIT_BOOL)
			json_bool(json, fold.number != 0);
		else if (column->metric->unit == UNIT_LEVEL)
			json_i64(json, (int64_t)fold.number);
		else
			json_u64(json, fold.number);
		break;
	case SHAPE_RANGE:
		json_i64(json, fold.min);
		break;
	case SHAPE_MODE:
		json_category(json, column->metric->unit, fold.mode);
		break;
	case SHAPE_TEXT:
		json_string(json, fold.text);
		break;
	case SHAPE_UNLIMITED:
		json_string(json, UNLIMITED);
		break;
	default:
		json_null(json);
		break;
	}
}

/* Not strftime(): that would use the time zone of this host. */
void moment_text(struct text *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm time;

	if (gmtime_r(&seconds, &time))
		text_format(out, "%04d-%02d-%02d %02d:%02d:%02d UTC", time.tm_year + 1900,
			    time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}
