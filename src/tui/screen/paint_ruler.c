/* SPDX-License-Identifier: MIT */
/* The recording as a line: where there are ticks and gaps, what happened, and which moment is shown. */
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tui/screen/top_state.h"

#define TIME_WIDTH 9 /* "10:05:59 " */

bool top_has_ruler(const struct top *top)
{
	return top->options->source->kind->ruler && display_rows() >= 14 && display_columns() >= 40;
}

void top_append_time_of_day(struct text *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	char time[TIME_WIDTH];
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(time, sizeof(time), "%H:%M:%S", &local))
		time[0] = '\0';
	text_append_string(out, time[0] ? time : "-");
}

static void put_time(int row, int column, uint64_t unix_ns)
{
	CLEANUP(text_free) struct text time = { 0 };

	top_append_time_of_day(&time, unix_ns);
	display_put(row, column, TIME_WIDTH, STYLE_PLAIN, false, text_string(&time));
}

/* The most telling mark of a part; letters, so that it is read without colour. */
static const struct {
	enum ruler_mark mark;
	const char *sign;
	enum style style;
} signs[] = {
	{ RULER_ANOMALY, "!", STYLE_BAD }, { RULER_JOB_EDGE, "J", STYLE_HEADING },
	{ RULER_EVENT, "*", STYLE_MORE },  { RULER_JOB, "=", STYLE_GOOD },
	{ RULER_TICK, "-", STYLE_PLAIN },
};

void top_paint_ruler(struct top *top, int row)
{
	const struct moment_source_kind *kind = top->options->source->kind;
	int width = display_columns() - 2 * TIME_WIDTH;
	struct ruler ruler = { .count = width < RULER_MOST ? (size_t)width : RULER_MOST };

	kind->ruler(top->options->source, &ruler);
	put_time(row, 0, ruler.from_unix_ns);
	for (size_t part = 0; part < ruler.count; part++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(signs) && !(ruler.marks[part] & signs[i].mark))
			i++;
		display_put(row, TIME_WIDTH + (int)part, 1,
			    i < ARRAY_SIZE(signs) ? signs[i].style : STYLE_PLAIN, part == ruler.at,
			    i < ARRAY_SIZE(signs) ? signs[i].sign :
			    part == ruler.at	  ? "^" :
						    " ");
	}
	put_time(row, TIME_WIDTH + (int)ruler.count + 1, ruler.to_unix_ns);
}
