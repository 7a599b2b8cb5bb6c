/* SPDX-License-Identifier: MIT */
/*
 * Puts what a row of a comparison says into the cells of a table.  People read
 * both sides in one unit and the difference in its own; "-" where the group
 * does not exist, "absent" where it was not measured; for several runs the
 * median and (smallest..largest).  Programs get the stored values.
 */
#ifndef RENDER_COMPARE_VALUE_H
#define RENDER_COMPARE_VALUE_H

#include <stdbool.h>

#include "analyze/compare/comparison.h"

struct table;

const char *compare_state_name(enum row_state state);

/* Whether there is a value, but not for the whole group. */
bool compare_is_partial(const struct compared_value *value);

/* Puts one cell, or for programs one for each id of a column: see compare_view.c. */
typedef void compare_put(struct table *table, const struct comparison *comparison,
			 const struct comparison_row *row);

compare_put put_before;
/*
 * For people, the value that the difference leads to: of a ratio or an average
 * over an interval, the value of the interval alone.
 */
compare_put put_after;
compare_put put_arrow; /* for people: before and after in one cell */
compare_put put_interval;
compare_put put_difference;
compare_put put_percent;   /* the difference in percent of before; ratios have none */
compare_put put_rate;	   /* what was done in a second of an interval */
compare_put put_life_rate; /* of populations: in a second of the tasks' lives */
compare_put put_values;	   /* what the numbers are: amounts, or per second of what */
compare_put put_note;	   /* for people: what is to be known of the row in an interval */
compare_put put_uptime;	   /* age of the group's oldest task */
compare_put put_tags;	   /* the metric's scheduler class and kernel options */

/* Work in an interval is not divided by the total of a life. */
bool compare_has_percent(const struct comparison *comparison, const struct comparison_row *row);

/* A single value, in the unit that suits it. */
void put_compared(struct table *table, const struct comparison_row *row,
		  const struct compared_value *value);

#endif
