/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_value.h"

#include <math.h>

#include "metric/unit.h"
#include "render/compare/compare_parts.h"
#include "render/table/table.h"

const char *compare_state_name(enum row_state state)
{
	static const char *const names[] = {
		[ROW_SAME] = "same", [ROW_CHANGED] = "changed", [ROW_NEW] = "new",
		[ROW_GONE] = "gone", [ROW_ABSENT] = "absent",	[ROW_RESET] = "reset",
	};

	return names[state];
}

bool compare_has_percent(const struct comparison *comparison, const struct comparison_row *row)
{
	return comparison->mode != COMPARE_INTERVAL || row->values == VALUES_PER_TASK_SECOND;
}

bool compare_is_partial(const struct compared_value *value)
{
	return value->shape != VALUE_ABSENT && value->measured < value->population;
}

static const struct compared_value *reached(const struct comparison *comparison,
					    const struct comparison_row *row)
{
	enum formula_kind kind = row->metric->formula.kind;

	if (comparison->mode == COMPARE_INTERVAL &&
	    (kind == FORMULA_RATIO || kind == FORMULA_SHARE) && row->interval.shape != VALUE_ABSENT)
		return &row->interval;
	return &row->after;
}

/* The value as a number; false when it is not one. */
static bool number_of(const struct compared_value *value, double *ret)
{
	if (value->shape == VALUE_REAL)
		*ret = value->real;
	else if (value->shape == VALUE_NUMBER && value->is_signed)
		*ret = (double)(int64_t)value->number;
	else if (value->shape == VALUE_NUMBER)
		*ret = (double)value->number;
	else
		return false;
	return true;
}

static double magnitude_of(const struct compared_value *value)
{
	double number = 0;

	if (value->shape == VALUE_RANGE)
		return fmax(fabs((double)value->min), fabs((double)value->max));
	number_of(value, &number);
	return fabs(number);
}

/* The largest number of both sides and their runs. */
static double largest(const struct comparison *comparison, const struct comparison_row *row)
{
	const struct significance *runs = &row->significance;
	double values = fmax(magnitude_of(&row->before), magnitude_of(reached(comparison, row)));
	double before = fmax(fabs(runs->before_low), fabs(runs->before_high));

	return fmax(fmax(values, before), fmax(fabs(runs->after_low), fabs(runs->after_high)));
}

/* Puts a value; people see of a long text what the other side does not have. */
static void put_value(struct table *table, const struct comparison_row *row,
		      const struct compared_value *value, struct cell_scale scale,
		      const struct compared_value *other)
{
	static const enum cell_kind kinds[] = {
		[VALUE_ABSENT] = TABLE_CELL_EMPTY, [VALUE_NUMBER] = TABLE_CELL_NUMBER,
		[VALUE_REAL] = TABLE_CELL_REAL,	   [VALUE_RANGE] = TABLE_CELL_RANGE,
		[VALUE_TEXT] = TABLE_CELL_TEXT,	   [VALUE_UNLIMITED] = TABLE_CELL_UNLIMITED,
	};
	struct cell cell = {
		.kind = kinds[value->shape],
		/* What is true or false can differ by 1, so it is a number here. */
		.unit = row->metric->unit == UNIT_BOOL ? UNIT_LEVEL : row->metric->unit,
		.measured = value->measured,
		.population = value->population,
		.number = value->number,
		.is_rate = row->values != VALUES_AMOUNT,
	};

	if (value->shape == VALUE_NUMBER && value->is_signed)
		cell.kind = TABLE_CELL_SIGNED;
	if (value->shape == VALUE_RANGE)
		cell.high = value->max;
	if (value->shape == VALUE_TEXT)
		cell.count = value->number ? (uint32_t)value->number : value->measured;
	if (value->shape == VALUE_TEXT)
		compare_words(table, value->text,
			      other && other->shape == VALUE_TEXT ? other->text : NULL);
	else if (value->shape == VALUE_ABSENT)
		text_append_string(put_begin(table), "absent");
	else if (table_is_for_people(table))
		cell.scale = table_scale(table, scale);
	put_cell(table, cell);
}

void put_compared(struct table *table, const struct comparison_row *row,
		  const struct compared_value *value)
{
	put_value(table, row, value, (struct cell_scale){ .largest = magnitude_of(value) }, NULL);
}

/* Whether nobody on this side can have a value: for exited threads only the work is known. */
static bool has_nobody(const struct comparison_row *row, const struct compared_value *value)
{
	return value->shape == VALUE_ABSENT &&
	       (row->state == ROW_CHANGED || row->state == ROW_SAME);
}

/* The word before a peak or a low that changed during an interval. */
static const char *course_of(const struct comparison *comparison, const struct comparison_row *row)
{
	bool is_mark = row->metric->kind == KIND_PEAK || row->metric->kind == KIND_LOW;

	if (!is_mark || comparison->mode != COMPARE_INTERVAL || row->state != ROW_CHANGED ||
	    !row->delta.known)
		return "";
	return row->delta.is_negative ? "fell to " : "rose to ";
}

void put_before(struct table *table, const struct comparison *comparison,
		const struct comparison_row *row)
{
	const struct significance *runs = &row->significance;
	struct cell_scale scale = { 0, runs->before_low, runs->before_high };

	if (!table_is_for_people(table)) {
		put_compared(table, row, &row->before);
	} else if (row->state == ROW_NEW || has_nobody(row, &row->before)) {
		put_absent(table, NULL);
	} else {
		scale.largest = largest(comparison, row);
		put_value(table, row, &row->before, scale, &row->after);
	}
}

void put_after(struct table *table, const struct comparison *comparison,
	       const struct comparison_row *row)
{
	const struct significance *runs = &row->significance;
	struct cell_scale scale = { 0, runs->after_low, runs->after_high };
	const struct compared_value *value = reached(comparison, row);

	if (!table_is_for_people(table)) {
		put_compared(table, row, &row->after);
	} else if (row->state == ROW_GONE || has_nobody(row, value)) {
		put_absent(table, NULL);
	} else {
		scale.largest = largest(comparison, row);
		text_append_string(put_begin(table), course_of(comparison, row));
		put_value(table, row, value, scale, &row->before);
	}
}

void put_interval(struct table *table, const struct comparison *comparison,
		  const struct comparison_row *row)
{
	(void)comparison;
	if (row->interval.shape == VALUE_ABSENT)
		put_empty(table);
	else
		put_compared(table, row, &row->interval);
}

static enum style mark_of(const struct comparison_row *row)
{
	if (!row->delta.known || row->delta.real == 0)
		return STYLE_PLAIN;
	return row->delta.is_negative ? STYLE_LESS : STYLE_MORE;
}

void put_difference(struct table *table, const struct comparison *comparison,
		    const struct comparison_row *row)
{
	const struct difference *delta = &row->delta;
	struct cell cell = { .kind = TABLE_CELL_CHANGE,
			     .unit = row->metric->unit,
			     .is_rate = row->values != VALUES_AMOUNT };

	(void)comparison;
	table_mark(table, mark_of(row));
	if (!delta->known) {
		put_word(table, row->state == ROW_CHANGED ? "changed" : "");
		return;
	}
	if (delta->is_real) {
		cell.real = delta->real;
	} else {
		cell.kind = TABLE_CELL_DELTA;
		cell.number = delta->magnitude;
		cell.high = delta->is_negative && delta->magnitude ? -1 : 0;
	}
	put_cell(table, cell);
}

void put_percent(struct table *table, const struct comparison *comparison,
		 const struct comparison_row *row)
{
	bool is_share = row->metric->unit == UNIT_RATIO || row->metric->unit == UNIT_CENTIPERCENT;
	bool has_change = row->state == ROW_CHANGED && row->delta.known && !is_share &&
			  compare_has_percent(comparison, row);
	struct cell cell = { .kind = TABLE_CELL_PERCENT };
	double before = 0;

	table_mark(table, mark_of(row));
	if (has_change && number_of(&row->before, &before) && before != 0) {
		cell.real = row->delta.real / fabs(before) * 100;
		put_cell(table, cell);
	} else if (row->state != ROW_CHANGED) {
		put_word(table, compare_state_name(row->state));
	} else {
		put_word(table, has_change ? "from 0" : "");
	}
}

/* "0.40 s by ended threads": what in the row the tasks that live did not do. */
static void append_ended(struct text *out, const struct comparison *comparison,
			 const struct comparison_row *row)
{
	uint64_t children = row->metric == &metrics[METRIC_run_time_ns] ?
				    comparison->groups.data[row->group].children_ns :
				    0;

	if (row->by_ended) {
		unit_format(out, row->metric->unit, row->by_ended);
		text_append_string(out, " by ended threads");
	}
	if (children) {
		text_append_string(out, row->by_ended ? ", and " : "and ");
		unit_format(out, UNIT_NS, children);
		text_append_string(out, " by children");
	}
}

void put_note(struct table *table, const struct comparison *comparison,
	      const struct comparison_row *row)
{
	enum restart restart = comparison->groups.data[row->group].restart;
	struct text *cell;

	if (!table_is_for_people(table)) {
		put_known(table, row->by_ended, row->by_ended);
		return;
	}
	cell = put_begin(table);
	if (row->values == VALUES_PER_TASK_SECOND)
		text_append_string(cell,
				   restart == RESTART_WHOLE ? "restarted" : "restarted in part");
	else if (row->state != ROW_CHANGED)
		text_append_string(cell, compare_state_name(row->state));
	else
		append_ended(cell, comparison, row);
	put_end(table);
}

void put_values(struct table *table, const struct comparison *comparison,
		const struct comparison_row *row)
{
	static const char *const names[] = {
		[VALUES_AMOUNT] = "amount",
		[VALUES_PER_SECOND] = "per_second",
		[VALUES_PER_TASK_SECOND] = "per_task_second",
	};

	(void)comparison;
	put_text(table, names[row->values]);
}

static void put_known_rate(struct table *table, bool is_known, double rate)
{
	if (is_known)
		put_real(table, rate);
	else
		put_empty(table);
}

static void append_rate(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			bool is_known, double rate)
{
	if (is_known)
		unit_format_number(out, unit, scale, rate);
	else
		text_append_string(out, "-");
}

/* "1.00→2.50 ms/s" */
static void append_rates(struct text *out, const struct comparison_row *row)
{
	double most = fmax(fabs(row->rate_before), fabs(row->rate_after));
	enum metric_unit unit = row->metric->unit;
	struct unit_scale scale = unit_scale_for(unit, most);

	append_rate(out, unit, &scale, row->has_rate_before, row->rate_before);
	text_append_string(out, "→");
	append_rate(out, unit, &scale, row->has_rate_after, row->rate_after);
	text_format(out, "%s/s", scale.suffix);
}

void put_rate(struct table *table, const struct comparison *comparison,
	      const struct comparison_row *row)
{
	struct cell cell = { .kind = TABLE_CELL_REAL,
			     .unit = row->metric->unit,
			     .is_rate = true,
			     .real = row->per_second };

	(void)comparison;
	if (row->has_rate)
		put_cell(table, cell);
	else
		put_empty(table);
}

void put_life_rate(struct table *table, const struct comparison *comparison,
		   const struct comparison_row *row)
{
	(void)comparison;
	if (table_is_for_people(table)) {
		if (row->has_rate)
			append_rates(put_begin(table), row);
		put_empty(table);
	} else {
		put_known_rate(table, row->has_rate && row->has_rate_before, row->rate_before);
		put_known_rate(table, row->has_rate && row->has_rate_after, row->rate_after);
	}
}
