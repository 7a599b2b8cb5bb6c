/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "metric/unit.h"
#include "render/compare/compare_words.h"
#include "render/table/table.h"
#include "render/value.h"

enum metric_unit compare_unit(const struct comparison_row *row)
{
	return row->metric->unit;
}

const char *compare_state_name(enum row_state state)
{
	static const char *const names[] = {
		[ROW_SAME] = "same", [ROW_CHANGED] = "changed", [ROW_NEW] = "new",
		[ROW_GONE] = "gone", [ROW_ABSENT] = "absent",	[ROW_RESET] = "reset",
	};

	return names[state];
}

const char *compare_mode_name(enum compare_mode mode)
{
	static const char *const names[] = {
		[COMPARE_AUTO] = "auto",
		[COMPARE_INTERVAL] = "interval",
		[COMPARE_POPULATION] = "population",
	};

	return names[mode];
}

static bool is_quotient(const struct comparison_row *row)
{
	enum formula_kind kind = row->metric->formula.kind;

	return kind == FORMULA_RATIO || kind == FORMULA_SHARE;
}

const struct compared_value *compare_reached(const struct comparison *comparison,
					     const struct comparison_row *row)
{
	if (comparison->mode == COMPARE_INTERVAL && is_quotient(row) &&
	    row->interval.shape != VALUE_ABSENT)
		return &row->interval;
	return &row->after;
}

bool compare_is_partial(const struct compared_value *value)
{
	return value->shape != VALUE_ABSENT && value->measured < value->population;
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

static bool is_share(enum metric_unit unit)
{
	return unit == UNIT_RATIO || unit == UNIT_CENTIPERCENT;
}

bool compare_percent(const struct comparison_row *row, double *ret)
{
	double before;

	if (row->state != ROW_CHANGED || !row->delta.known || is_share(compare_unit(row)) ||
	    !number_of(&row->before, &before) || before == 0)
		return false;
	*ret = row->delta.real / fabs(before) * 100;
	return true;
}

static bool has_runs(const struct significance *runs)
{
	return runs->before_low != runs->before_high || runs->after_low != runs->after_high;
}

static double magnitude_of(const struct compared_value *value)
{
	double number = 0;

	if (value->shape == VALUE_RANGE)
		return fmax(fabs((double)value->min), fabs((double)value->max));
	number_of(value, &number);
	return fabs(number);
}

/* One unit for both sides and their runs. */
static struct unit_scale scale_of(const struct comparison *comparison,
				  const struct comparison_row *row)
{
	double most =
		fmax(magnitude_of(&row->before), magnitude_of(compare_reached(comparison, row)));

	most = fmax(most,
		    fmax(fabs(row->significance.before_low), fabs(row->significance.before_high)));
	most = fmax(most,
		    fmax(fabs(row->significance.after_low), fabs(row->significance.after_high)));
	return unit_scale_for(compare_unit(row), most);
}

static void append_number(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			  const struct compared_value *value)
{
	bool exact = value->shape == VALUE_NUMBER && scale->size == 1 && !is_share(unit);
	double number = 0;

	number_of(value, &number);
	if (exact && value->is_signed)
		text_format(out, "%" PRId64, (int64_t)value->number);
	else if (exact)
		text_format(out, "%" PRIu64, value->number);
	else
		unit_format_number(out, unit, scale, number);
}

static void append_range(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			 double low, double high)
{
	unit_format_number(out, unit, scale, low);
	if (high == low)
		return;
	text_append_string(out, "..");
	unit_format_number(out, unit, scale, high);
}

/* For a category that not all have, appends how many have it. */
static void append_words(struct text *out, const struct compared_value *value,
			 const struct compared_value *other)
{
	compare_words_text(out, value->text ? value->text : "",
			   other && other->shape == VALUE_TEXT ? other->text : NULL);
	if (value->number && value->number < value->measured)
		text_format(out, " (%" PRIu64 "/%" PRIu32 ")", value->number, value->measured);
}

struct runs {
	double low, high;
};

static void append_value(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			 const struct compared_value *value, const struct runs *runs,
			 const struct compared_value *other)
{
	switch (value->shape) {
	case VALUE_ABSENT:
		text_append_string(out, "absent");
		break;
	case VALUE_NUMBER:
	case VALUE_REAL:
		append_number(out, unit, scale, value);
		if (runs && runs->low != runs->high) {
			text_append_string(out, " (");
			append_range(out, unit, scale, runs->low, runs->high);
			text_append_string(out, ")");
		}
		text_append_string(out, scale->suffix);
		break;
	case VALUE_RANGE:
		append_range(out, unit, scale, (double)value->min, (double)value->max);
		text_append_string(out, scale->suffix);
		break;
	case VALUE_TEXT:
		append_words(out, value, other);
		break;
	case VALUE_UNLIMITED:
		text_append_string(out, UNLIMITED);
		break;
	}
	text_append_string(out, compare_is_partial(value) ? "*" : "");
}

/* Whether nobody on this side can have a value: for exited threads only the work is known. */
static bool has_nobody(const struct comparison_row *row, const struct compared_value *value)
{
	return value->shape == VALUE_ABSENT &&
	       (row->state == ROW_CHANGED || row->state == ROW_SAME);
}

void compare_before_text(struct text *out, const struct comparison *comparison,
			 const struct comparison_row *row)
{
	struct unit_scale scale = scale_of(comparison, row);
	struct runs runs = { row->significance.before_low, row->significance.before_high };

	if (row->state == ROW_NEW || has_nobody(row, &row->before))
		text_append_string(out, "-");
	else
		append_value(out, compare_unit(row), &scale, &row->before,
			     has_runs(&row->significance) ? &runs : NULL, &row->after);
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

void compare_after_text(struct text *out, const struct comparison *comparison,
			const struct comparison_row *row)
{
	struct unit_scale scale = scale_of(comparison, row);
	struct runs runs = { row->significance.after_low, row->significance.after_high };

	if (row->state == ROW_GONE || has_nobody(row, compare_reached(comparison, row))) {
		text_append_string(out, "-");
		return;
	}
	text_append_string(out, course_of(comparison, row));
	append_value(out, compare_unit(row), &scale, compare_reached(comparison, row),
		     has_runs(&row->significance) ? &runs : NULL, &row->before);
}

void compare_value_text(struct text *out, const struct comparison_row *row,
			const struct compared_value *value)
{
	struct unit_scale scale = unit_scale_for(compare_unit(row), magnitude_of(value));

	append_value(out, compare_unit(row), &scale, value, NULL, NULL);
}

/* Appends a signed number, in the unit that suits it. */
static void append_change(struct text *out, enum metric_unit unit, double change)
{
	struct unit_scale scale = unit_scale_for(unit, fabs(change));

	text_append_string(out, change > 0 ? "+" : "");
	if (unit == UNIT_RATIO && fabs(change) < 0.0005)
		text_format(out, "%.2g", change);
	else
		unit_format_number(out, unit, &scale, change);
	text_append_string(out, scale.suffix);
}

void compare_delta_text(struct text *out, const struct comparison_row *row)
{
	const struct difference *delta = &row->delta;
	enum metric_unit unit = compare_unit(row);
	struct unit_scale scale;

	if (!delta->known) {
		text_append_string(out, row->state == ROW_CHANGED ? "changed" : "");
		return;
	}
	scale = unit_scale_for(unit, fabs(delta->real));
	if (delta->is_real || scale.size != 1 || is_share(unit))
		append_change(out, unit, delta->real);
	else
		text_format(out, "%s%" PRIu64 "%s",
			    !delta->magnitude  ? "" :
			    delta->is_negative ? "-" :
						 "+",
			    delta->magnitude, scale.suffix);
}

void compare_percent_text(struct text *out, const struct comparison_row *row)
{
	double percent;

	if (row->state != ROW_CHANGED) {
		text_append_string(out, compare_state_name(row->state));
	} else if (compare_percent(row, &percent)) {
		text_append_string(out, percent < 0 ? "" : "+");
		unit_format_share(out, percent / 100);
	} else if (row->delta.known && !is_share(compare_unit(row))) {
		text_append_string(out, "from 0");
	}
}

static void append_rate(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			bool known, double rate)
{
	if (known)
		unit_format_number(out, unit, scale, rate);
	else
		text_append_string(out, "-");
}

void compare_rate_text(struct text *out, const struct comparison *comparison,
		       const struct comparison_row *row)
{
	enum metric_unit unit = compare_unit(row);
	struct unit_scale scale;

	if (!row->has_rate)
		return;
	if (comparison->mode == COMPARE_INTERVAL) {
		scale = unit_scale_for(unit, fabs(row->per_second));
		unit_format_number(out, unit, &scale, row->per_second);
	} else {
		scale = unit_scale_for(unit, fmax(fabs(row->rate_before), fabs(row->rate_after)));
		append_rate(out, unit, &scale, row->has_rate_before, row->rate_before);
		text_append_string(out, "→");
		append_rate(out, unit, &scale, row->has_rate_after, row->rate_after);
	}
	text_format(out, "%s/s", scale.suffix);
}

void compare_value_csv(struct text *out, const struct compared_value *value)
{
	switch (value->shape) {
	case VALUE_ABSENT:
		break;
	case VALUE_NUMBER:
		if (value->is_signed)
			text_format(out, "%" PRId64, (int64_t)value->number);
		else
			text_format(out, "%" PRIu64, value->number);
		break;
	case VALUE_REAL:
		text_format(out, "%.17g", value->real);
		break;
	case VALUE_RANGE:
		text_format(out, "%" PRId64, value->min);
		if (value->max != value->min)
			text_format(out, "..%" PRId64, value->max);
		break;
	case VALUE_TEXT:
		csv_append(out, value->text ? value->text : "");
		break;
	case VALUE_UNLIMITED:
		text_append_string(out, UNLIMITED);
		break;
	}
}

void compare_delta_csv(struct text *out, const struct difference *delta)
{
	if (!delta->known)
		return;
	if (delta->is_real)
		text_format(out, "%.17g", delta->real);
	else
		text_format(out, "%s%" PRIu64, delta->is_negative && delta->magnitude ? "-" : "",
			    delta->magnitude);
}

void compare_value_json(struct json *json, const struct compared_value *value)
{
	switch (value->shape) {
	case VALUE_ABSENT:
		json_null(json);
		break;
	case VALUE_NUMBER:
		if (value->is_signed)
			json_i64(json, (int64_t)value->number);
		else
			json_u64(json, value->number);
		break;
	case VALUE_REAL:
		json_double(json, value->real);
		break;
	case VALUE_RANGE:
		json_begin_object(json);
		json_key(json, "min");
		json_i64(json, value->min);
		json_key(json, "max");
		json_i64(json, value->max);
		json_end_object(json);
		break;
	case VALUE_TEXT:
		json_string(json, value->text ? value->text : "");
		break;
	case VALUE_UNLIMITED:
		json_string(json, UNLIMITED);
		break;
	}
}

void compare_delta_json(struct json *json, const struct difference *delta)
{
	if (delta->is_real)
		json_double(json, delta->real);
	else
		json_difference(json, delta->is_negative, delta->magnitude);
}
