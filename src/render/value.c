/* SPDX-License-Identifier: MIT */
#include "render/value.h"

#include <string.h>
#include <time.h>

#include "base/text.h"
#include "metric/fold.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"

/* Treats a cell as a group of one. */
static void fold_cell(struct fold *fold, const struct snapshot *snapshot,
		      const struct column *column, enum cell_state state, uint64_t value)
{
	fold_init(fold, column->metric);
	if (state == CELL_UNLIMITED)
		fold_add_unlimited(fold);
	else if (state == CELL_TEXT || column->metric->kind == KIND_CPUSET)
		fold_add_text(fold, snapshot_text(snapshot, (uint32_t)value));
	else
		fold_add(fold, value);
	fold_finish(fold);
}

void put_column(struct table *table, const struct snapshot *snapshot, const struct column *column,
		uint32_t row)
{
	uint64_t value;
	enum cell_state state = column_get(column, row, &value);
	struct fold fold;

	if (state == CELL_ABSENT) {
		put_absent(table, NULL);
		return;
	}
	fold_cell(&fold, snapshot, column, state, value);
	/* A range of one is a number. */
	if (fold.shape == SHAPE_RANGE)
		put_cell(table, (struct cell){ .kind = TABLE_CELL_SIGNED,
					       .unit = column->metric->unit,
					       .low = fold.min });
	else
		put_fold(table, &fold);
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The name of a number gives its unit; a point in time is shown exactly. */
static enum metric_unit fact_unit(enum fact_id id)
{
	if (ends_with(facts[id].name, "_bytes"))
		return UNIT_BYTES;
	return id == FACT_duration_ns || id == FACT_uptime_ns ? UNIT_NS : UNIT_LEVEL;
}

void put_fact(struct table *table, const struct snapshot *snapshot, enum fact_id id)
{
	const struct fact *fact = &snapshot->facts[id];

	if (!fact->present)
		put_absent(table, NULL);
	else if (facts[id].is_text)
		put_text(table, fact->text ? fact->text : "");
	else
		put_amount(table, fact_unit(id), fact->number);
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
