/* SPDX-License-Identifier: MIT */
/*
 * Writes what a row of a comparison says: for people, as JSON and as CSV
 * fields.
 *
 *	text	both sides in one unit, the difference in its own; "-" where the group
 *		does not exist, "absent" where it was not measured, "max" for no limit; "*"
 *		at the end when only part of the group was measured; for several runs
 *		the median and (smallest..largest)
 *	JSON	numbers as they are; an object of min and max for a range, "max" for no limit
 *	CSV	the same without objects: min..max; empty when absent
 */
#ifndef RENDER_COMPARE_VALUE_H
#define RENDER_COMPARE_VALUE_H

#include <stdbool.h>

#include "analyze/compare/comparison.h"

struct json;
struct text;

enum metric_unit compare_unit(const struct comparison_row *row);
const char *compare_state_name(enum row_state state);
const char *compare_mode_name(enum compare_mode mode);

/*
 * The value that the difference leads to: the value after; for a ratio or an
 * average over an interval, the value of the interval alone.
 */
const struct compared_value *compare_reached(const struct comparison *comparison,
					     const struct comparison_row *row);

/* Whether there is a value, but not for the whole group. */
bool compare_is_partial(const struct compared_value *value);

/* The difference in percent of before; false when there is none, as for ratios. */
bool compare_percent(const struct comparison_row *row, double *ret);

void compare_before_text(struct text *out, const struct comparison *comparison,
			 const struct comparison_row *row);
void compare_after_text(struct text *out, const struct comparison *comparison,
			const struct comparison_row *row);
void compare_delta_text(struct text *out, const struct comparison_row *row);
void compare_percent_text(struct text *out, const struct comparison_row *row);
void compare_rate_text(struct text *out, const struct comparison *comparison,
		       const struct comparison_row *row);
/* A single value, in the unit that suits it. */
void compare_value_text(struct text *out, const struct comparison_row *row,
			const struct compared_value *value);

void compare_value_csv(struct text *out, const struct compared_value *value);
void compare_delta_csv(struct text *out, const struct difference *delta);

void compare_value_json(struct json *json, const struct compared_value *value);
void compare_delta_json(struct json *json, const struct difference *delta);

#endif
