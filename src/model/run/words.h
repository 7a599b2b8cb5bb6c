/* SPDX-License-Identifier: MIT */
/*
 * Joins the words of a command line into one text, and splits it again.  There is a blank between
 * two words, and a backslash before each blank or backslash inside a word.
 */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

void words_append(struct text *out, const char *word, size_t length, bool is_first);
/* Joins words that each end with a NUL; the last one may lack it. */
void words_join(struct text *out, const char *words, size_t length);

/* Replaces the content of `word` with the next word at *cursor, unescaped; false at the end. */
bool words_next(const char **cursor, struct text *word);

#endif
