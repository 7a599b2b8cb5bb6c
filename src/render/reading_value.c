/* SPDX-License-Identifier: MIT */
#include "render/reading_value.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "metric/reading.h"
#include "metric/unit.h"
#include "model/snapshot.h"
#include "render/value.h"

static const char unlimited[] = "max";

static void number_text(struct text *out, const struct reading *reading, uint64_t value)
{
	if (reading->unit == UNIT_LEVEL)
		text_format(out, "%" PRId64, (int64_t)value);
	else if (reading->unit == UNIT_BOOL)
		text_append_string(out, value ? "yes" : "no");
	else
		unit_format(out, reading->unit, value);
}

void reading_text(struct text *out, const struct snapshot *snapshot,
		  const struct sheet_column *column, uint32_t row)
{
	uint64_t value;
	const char *text;

	switch (sheet_get(column, row, &value)) {
	case CELL_NUMBER:
		number_text(out, reading_find(column->name), value);
		break;
	case CELL_UNLIMITED:
		text_append_string(out, unlimited);
		break;
	case CELL_TEXT:
		text = snapshot_text(snapshot, (uint32_t)value);
		text_append_escaped(out, text, strlen(text));
		break;
	default:
		text_append_string(out, "-");
		break;
	}
}

void reading_csv(struct text *out, const struct snapshot *snapshot,
		 const struct sheet_column *column, uint32_t row)
{
	uint64_t value;

	switch (sheet_get(column, row, &value)) {
	case CELL_NUMBER:
		if (reading_find(column->name)->unit == UNIT_LEVEL)
			text_format(out, "%" PRId64, (int64_t)value);
		else
			text_format(out, "%" PRIu64, value);
		break;
	case CELL_UNLIMITED:
		text_append_string(out, unlimited);
		break;
	case CELL_TEXT:
		csv_append(out, snapshot_text(snapshot, (uint32_t)value));
		break;
	default:
		break;
	}
}

static void number_json(struct json *json, const struct reading *reading, uint64_t value)
{
	if (reading->unit == UNIT_LEVEL)
		json_i64(json, (int64_t)value);
	else if (reading->unit == UNIT_BOOL)
		json_bool(json, value != 0);
	else
		json_u64(json, value);
}

void reading_json(struct json *json, const struct snapshot *snapshot,
		  const struct sheet_column *column, uint32_t row)
{
	uint64_t value;

	switch (sheet_get(column, row, &value)) {
	case CELL_NUMBER:
		number_json(json, reading_find(column->name), value);
		break;
	case CELL_UNLIMITED:
		json_string(json, unlimited);
		break;
	case CELL_TEXT:
		json_string(json, snapshot_text(snapshot, (uint32_t)value));
		break;
	default:
		json_null(json);
		break;
	}
}
