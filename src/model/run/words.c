/* SPDX-License-Identifier: MIT */
#include "model/run/words.h"

#include <string.h>

void words_append(struct text *out, const char *word, size_t length, bool is_first)
{
	if (!is_first)
		text_append(out, " ", 1);
	for (size_t i = 0; i < length; i++) {
		if (word[i] == ' ' || word[i] == '\\')
			text_append(out, "\\", 1);
		text_append(out, &word[i], 1);
	}
}

void words_join(struct text *out, const char *words, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t own = strnlen(words + at, length - at);

		words_append(out, words + at, own, at == 0);
		at += own + 1;
	}
}

bool words_next(const char **cursor, struct text *word)
{
	const char *at = *cursor;

	if (!at)
		return false;
	text_clear(word);
	for (; *at && *at != ' '; at++) {
		if (*at == '\\' && at[1])
			at++;
		text_append(word, at, 1);
	}
	*cursor = *at ? at + 1 : NULL;
	return true;
}
