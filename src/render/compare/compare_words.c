/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_parts.h"

#include <stdbool.h>
#include <string.h>

#include "render/table/table.h"

/* A text longer than this is long; and how many bytes of a list of words are shown. */
#define LONG_TEXT 60
#define SHORT_LIST 40

static bool has_word(const char *words, const char *word, size_t length)
{
	while (*words) {
		size_t own = strcspn(words, " ");

		if (own == length && strncmp(words, word, length) == 0)
			return true;
		words += own + strspn(words + own, " ");
	}
	return false;
}

/* Appends the words that the other side does not have, the first few of them. */
static void append_lone_words(struct text *out, const char *words, const char *other)
{
	size_t room = SHORT_LIST, more = 0;

	text_append_string(out, "…");
	for (size_t length; *words; words += length + strspn(words + length, " ")) {
		length = strcspn(words, " ");
		if (!length || has_word(other, words, length))
			continue;
		if (more || length > room) {
			more++;
			continue;
		}
		room -= length;
		text_append_string(out, " ");
		text_append(out, words, length);
	}
	if (more)
		text_format(out, " and %zu more", more);
}

static void append_start(struct text *out, const char *words)
{
	size_t length = LONG_TEXT;

	while (((unsigned char)words[length] & 0xc0) == 0x80)
		length--;
	text_append(out, words, length);
	text_append_string(out, "…");
}

void compare_words(struct table *table, const char *words, const char *other)
{
	bool is_long = strlen(words) > LONG_TEXT || (other && strlen(other) > LONG_TEXT);
	struct text *out = put_begin(table);

	if (!is_long || !table_is_for_people(table))
		text_append_string(out, words);
	else if (other && strcmp(words, other) != 0)
		append_lone_words(out, words, other);
	else
		append_start(out, words);
}
