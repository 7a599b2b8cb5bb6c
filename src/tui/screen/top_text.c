/* SPDX-License-Identifier: MIT */
/* Pages of text, and the one with the keys. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "render/page.h"
#include "tui/screen/top_state.h"

void top_text_clear(struct text_page *page)
{
	for (size_t i = 0; i < page->lines.count; i++)
		free(page->lines.data[i]);
	array_free(&page->lines);
}

/* Lines are escaped here, since they have names of strangers in them. */
static void append_values(struct text *line, const char *format, va_list values)
{
	CLEANUP(free_pointer) char *made = NULL;
	int length = vasprintf(&made, format, values);

	if (length < 0)
		made = NULL;
	else
		text_append_escaped(line, made, (size_t)length);
}

static void append_line(struct text_page *page, const char *line)
{
	char *kept = strdup(line);

	if (kept && array_append(&page->lines, kept) < 0)
		free(kept);
}

void top_text_line(struct text_page *page, const char *format, ...)
{
	CLEANUP(text_free) struct text line = { 0 };
	va_list values;

	va_start(values, format);
	append_values(&line, format, values);
	va_end(values);
	append_line(page, text_string(&line));
}

void top_text_words(struct text_page *page, int indent, const char *format, ...)
{
	CLEANUP(text_free) struct text all = { 0 };
	size_t columns = (size_t)display_columns(), length;
	va_list values;
	const char *rest;

	/* On a narrow screen all of it is for the words. */
	indent = columns < 2 * (size_t)indent ? 2 : indent;
	va_start(values, format);
	append_values(&all, format, values);
	va_end(values);
	for (rest = text_string(&all); *rest; rest += length + (rest[length] == ' ')) {
		CLEANUP(text_free) struct text line = { 0 };
		size_t before = rest == text_string(&all) ? 0 : (size_t)indent;

		length = page_break(rest, strlen(rest), columns > before ? columns - before : 1);
		text_format(&line, "%*s", (int)before, "");
		text_append(&line, rest, length);
		append_line(page, text_string(&line));
	}
}

#define HELP_INDENT 32 /* where what keys do begins */

static void add_key(struct text_page *page, const struct key_info *key)
{
	char name[32];
	size_t i = 0;

	for (; key->name[i] && i + 1 < sizeof(name); i++)
		name[i] = (char)tolower(key->name[i]);
	name[i] = '\0';
	top_text_words(page, HELP_INDENT, "  %-16s %-12s %s", key->keys, name, key->help);
}

void top_show_keys(struct top *top)
{
	top_text_clear(&top->text);
	top->text.is_detail = false;
	top->mode = MODE_TEXT;
	top_text_line(&top->text, "Keys (Escape leads back; --keys NAME=KEY chooses others):");
	for (int id = 0; id < KEY_ID_COUNT; id++)
		add_key(&top->text, &key_table[id]);
}

/* What is right of so many columns; a character that is cut there is left out. */
static const char *text_after(const char *line, size_t columns)
{
	size_t width = text_width(line);

	if (columns >= width)
		return "";
	while (*line && width - text_width(line) < columns) {
		line++;
		while ((*line & 0xc0) == 0x80)
			line++;
	}
	return line;
}

void top_paint_text(struct top *top, int row, int rows)
{
	struct text_page *page = &top->text;
	size_t most = rows > 0 ? (size_t)rows : 0;

	if (page->is_verb && most) {
		CLEANUP(text_free) struct text title = { 0 };

		verb_page_title(top, &title);
		display_put(row++, 0, display_columns(), STYLE_TITLES, false, text_string(&title));
		most--;
	}
	top->page = most;
	if (page->first + most > page->lines.count)
		page->first = page->lines.count > most ? page->lines.count - most : 0;
	for (size_t i = page->first; i < page->lines.count && i - page->first < most; i++) {
		const char *line = page->lines.data[i];
		bool is_title = line[0] && line[0] != ' ';

		display_put(row++, 0, display_columns(), is_title ? STYLE_HEADING : STYLE_PLAIN,
			    false, text_after(line, page->shift));
	}
}
