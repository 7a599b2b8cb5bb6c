/* SPDX-License-Identifier: MIT */
/*
 * What a mistyped word may have been meant to be: every look-up in a table of
 * words offers the words of the table, and says the hint when it fails.
 *
 *	struct suggestion suggestion = suggest_for(word, length);
 *
 *	for each word of the table: suggest(&suggestion, name);
 *	error_set(error, -EINVAL, "there is no verb '%s'; %s", word,
 *		  suggestion_hint(&suggestion, "", "`taskscope help` lists them"));
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

struct suggestion {
	const char *word;
	size_t length;
	const char *best; /* NULL while no word is near */
	size_t best_length;
	unsigned cost;
	char hint[128];
};

/* The word is borrowed. */
struct suggestion suggest_for(const char *word, size_t length);

/* Offers a word, or all of a list "a|b|c" or "a, b, c".  They are borrowed too. */
void suggest(struct suggestion *suggestion, const char *candidate);
void suggest_list(struct suggestion *suggestion, const char *candidates);

/* "did you mean `mark`WORD?", or `otherwise` when no word that was offered is near. */
const char *suggestion_hint(struct suggestion *suggestion, const char *mark, const char *otherwise);

#endif
