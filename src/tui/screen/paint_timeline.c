/* SPDX-License-Identifier: MIT */
/* The newest events, below the table: when, what, and of which process. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "render/record/record_table.h"
#include "tui/screen/top_state.h"

/* So many lines: none, a few, many. */
static int lines_of(enum timeline_size size)
{
	int rows = display_rows();

	switch (size) {
	case TIMELINE_FEW:
		return rows >= 40 ? 4 : rows >= 24 ? 2 : rows >= 16 ? 1 : 0;
	case TIMELINE_MANY:
		return rows / 3;
	default:
		return 0;
	}
}

int top_timeline_rows(const struct top *top)
{
	int count = (int)top->moment.events.count, lines = lines_of(top->timeline);

	if (!top->moment.has_recorder)
		return 0;
	return lines < count ? lines : count;
}

void top_timeline_switch(struct top *top)
{
	top->timeline = top->timeline == TIMELINE_FEW  ? TIMELINE_MANY :
			top->timeline == TIMELINE_MANY ? TIMELINE_NONE :
							 TIMELINE_FEW;
	if (!top->moment.has_recorder)
		top_say(top, false,
			"no recorder runs, which would know the events: taskscope record");
	else if (!top->moment.events.count)
		top_say(top, false, "nothing happened in the five minutes before");
}

static enum style style_of(enum life_kind kind)
{
	return kind == LIFE_OOM || kind == LIFE_KILL	? STYLE_BAD :
	       kind == LIFE_SIGNAL || kind == LIFE_LOST ? STYLE_WARNING :
							  STYLE_PLAIN;
}

void top_paint_timeline(struct top *top, int row, int rows)
{
	/* The newest is the lowest, as in a log. */
	for (int i = rows; i-- > 0; row++) {
		const struct life_event *event = &top->moment.events.data[i];
		CLEANUP(text_free) struct text line = { 0 };

		event_line(&line, event);
		display_put(row, 0, display_columns(), style_of(event->kind), false,
			    text_string(&line));
	}
}
