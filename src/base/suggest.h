/* SPDX-License-Identifier: MIT */
/*
 * Guesses which word a mistyped word was meant to be.  A look-up that fails in a table of words
 * offers each word of the table and puts the hint into its error message.
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

/* The caller keeps the word, which must live as long as the suggestion. */
struct suggestion suggest_for(const char *word, size_t length);

/* Offers a word, or all of a list "a|b|c" or "a, b, c".  The caller keeps them, too. */
void suggest(struct suggestion *suggestion, const char *candidate);
void suggest_list(struct suggestion *suggestion, const char *candidates);

/* Returns "did you mean `mark`WORD?", or `otherwise` when no offered word is near. */
const char *suggestion_hint(struct suggestion *suggestion, const char *mark, const char *otherwise);

#endif
