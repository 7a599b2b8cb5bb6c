/* SPDX-License-Identifier: MIT */
/* The page as a whole: header, table or what is in its place, what was said, and the keys. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"
#include "tui/screen/top_state.h"

/* The end of a long line is where one types. */
static void paint_prompt(const struct top *top, int row)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t columns = (size_t)display_columns();
	const char *shown;

	text_append_string(&line, top_prompt_label(top));
	text_append_string(&line, text_string(&top->typed));
	shown = text_string(&line);
	while (*shown && text_width(shown) >= columns) {
		size_t length = text_character(shown, strlen(shown));

		shown += length ? length : 1;
	}
	display_put(row, 0, (int)columns, STYLE_HEADING, false, shown);
	display_cursor(row, (int)text_width(shown));
}

/* The last line: what is typed, else the keys. */
static void paint_footer(struct top *top, int row)
{
	int column = 0, columns = display_columns();

	if (top->mode == MODE_PROMPT) {
		paint_prompt(top, row);
		return;
	}
	for (int id = 0; id < KEY_ID_COUNT; id++) {
		const struct key_info *key = &key_table[id];
		char word[64];

		if (!key->label[0])
			continue;
		snprintf(word, sizeof(word), "%.*s", key_first_length(key), key->keys);
		if (column + (int)strlen(word) + (int)strlen(key->label) > columns)
			break;
		column += display_put(row, column, columns, STYLE_HEADING, false, word);
		column += display_put(row, column, columns, STYLE_PLAIN, true, key->label);
		column++;
	}
}

static bool has_message(const struct top *top)
{
	return top->message.length > 0;
}

static void paint_message(const struct top *top, int row)
{
	display_put(row, 0, display_columns(), top->message_is_bad ? STYLE_BAD : STYLE_HEADING,
		    false, text_string(&top->message));
}

void top_paint(struct top *top)
{
	int rows = display_rows(), header = top_header_rows(top);
	int last = rows - 1, timeline = 0, body;

	display_begin();
	top_paint_header(top, header);
	if (top_has_ruler(top))
		top_paint_ruler(top, header++);
	if (top->mode != MODE_MENU && top->mode != MODE_TEXT)
		timeline = top_timeline_rows(top);
	body = last - header - timeline - has_message(top);
	if (top->mode == MODE_TEXT)
		top_paint_text(top, header, body);
	else if (top->mode == MODE_MENU)
		top_paint_menu(top, header, body);
	else if (top->shows_jobs)
		top_paint_jobs(top, header, body);
	else
		top_paint_table(top, header, body);
	top_paint_timeline(top, header + body, timeline);
	if (has_message(top))
		paint_message(top, last - 1);
	paint_footer(top, last);
	display_end();
}
