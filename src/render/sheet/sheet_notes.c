/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_view.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/sheet.h"

static const char *absent_note(const struct sheet *sheet, const struct column *column)
{
	return !sheet->row_count || column_measured(column, sheet->row_count) < sheet->row_count ?
		       column->absent :
		       NULL;
}

static const char *origin_note(const struct sheet *sheet, const struct column *column)
{
	return column_measured(column, sheet->row_count) ? column->origin : NULL;
}

/*
 * How a note begins, its kind, and how many of its words are shown (0: all).
 * An origin is shown down to its file, since the line within the file is much
 * like the name.
 */
static const struct {
	const char *heading;
	const char *(*of)(const struct sheet *sheet, const struct column *column);
	unsigned words;
} kinds[SHEET_NOTE_COUNT] = {
	[SHEET_NOTE_ORIGIN] = { "from ", origin_note, 3 },
	[SHEET_NOTE_ABSENT] = { "absent, ", absent_note, 0 },
};

/* The note of a column; NULL when it has none. */
struct note {
	const char *text;
	size_t length; /* of the words that are shown */
};

struct noted {
	const struct column *columns;
	const struct note *notes;
	size_t count;
};

static size_t telling_length(const char *text, unsigned words)
{
	size_t length = strcspn(text, " ");

	if (!words)
		return strlen(text);
	for (unsigned i = 1; i < words && text[length]; i++)
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

static struct note find_note(const struct sheet *sheet, enum sheet_note kind, uint32_t sections,
			     const struct column *column)
{
	struct note note = { 0 };

	if (!(sections >> column->metric->section & 1))
		return note;
	note.text = kinds[kind].of(sheet, column);
	if (note.text)
		note.length = telling_length(note.text, kinds[kind].words);
	return note;
}

static bool is_same(const struct noted *noted, size_t a, size_t b)
{
	const struct note *first = &noted->notes[a], *second = &noted->notes[b];

	return first->text && second->text && first->length == second->length &&
	       memcmp(first->text, second->text, first->length) == 0;
}

/* Whether two names share their first `length` bytes, which are whole words. */
static bool has_prefix(const char *name, const char *other, size_t length)
{
	return strncmp(name, other, length) == 0 && other[length] == ' ';
}

/*
 * Whether all columns that begin with the same words have the note too.  They
 * are next to each other; gives the first of them.
 */
static bool is_shared(const struct noted *noted, size_t index, size_t length, size_t *ret_first)
{
	const char *name = noted->columns[index].metric->name;
	size_t first = index, last = index;

	while (first > 0 && has_prefix(name, noted->columns[first - 1].metric->name, length))
		if (!is_same(noted, index, --first))
			return false;
	while (last + 1 < noted->count &&
	       has_prefix(name, noted->columns[last + 1].metric->name, length))
		if (!is_same(noted, index, ++last))
			return false;
	*ret_first = first;
	return last > first;
}

/* Appends the column's name; for the first of a family, the words that all of the family share. */
static void append_name(const struct noted *noted, size_t index, const char **before,
			struct text *out)
{
	const char *name = noted->columns[index].metric->name;
	size_t length = strcspn(name, " ");
	size_t first = index;

	while (name[length] && !is_shared(noted, index, length, &first))
		length += 1 + strcspn(name + length + 1, " ");
	if (first < index)
		return;
	text_append_string(out, *before);
	text_append_escaped(out, name, length);
	text_append_string(out, name[length] ? " *" : "");
	*before = ", ";
}

static bool is_repeated(const struct noted *noted, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same(noted, index, i))
			return true;
	return false;
}

static void append_lines(const struct noted *noted, const char *heading, struct text *out)
{
	for (size_t i = 0; i < noted->count; i++) {
		const char *before = ": ";

		if (!noted->notes[i].text || is_repeated(noted, i))
			continue;
		text_append_string(out, heading);
		text_append_escaped(out, noted->notes[i].text, noted->notes[i].length);
		for (size_t other = i; other < noted->count; other++)
			if (is_same(noted, i, other))
				append_name(noted, other, &before, out);
		text_append_string(out, "\n");
	}
}

int sheet_notes_append(const struct sheet *sheet, enum sheet_note kind, uint32_t sections,
		       struct text *out)
{
	size_t count = sheet->columns.count;
	CLEANUP(free_pointer) struct note *notes = calloc(count + 1, sizeof(*notes));
	const struct noted noted = { sheet->columns.data, notes, count };

	if (!notes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		notes[i] = find_note(sheet, kind, sections, &sheet->columns.data[i]);
	append_lines(&noted, kinds[kind].heading, out);
	return out->failed ? -ENOMEM : 0;
}
