/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64 /* bytes; nothing longer is compared */
#define SHORTEST_PREFIX 2
#define SHORTEST_PART 3

/*
 * The typed word is most likely the beginning of a word, then a typing mistake, then a part of a
 * word.
 */
enum { COST_BEGINNING = 1, COST_EDIT = 2, COST_PART = 3, COST_NONE = 1000 };

struct suggestion suggest_for(const char *word, size_t length)
{
	return (struct suggestion){ .word = word, .length = length, .cost = COST_NONE };
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with their neighbour to turn `a` into `b`. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3]
		     [WORD_MAX + 1]; /* of `b`'s beginnings: for this letter of `a` and two back */

	for (unsigned k = 0; k <= b_length; k++)
		rows[0][k] = k;
	for (unsigned i = 1; i <= a_length; i++) {
		unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned k = 1; k <= b_length; k++) {
			bool swapped =
				i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];

			row[k] = least(least(last[k], row[k - 1]) + 1,
				       last[k - 1] + (a[i - 1] != b[k - 1]));
			if (swapped)
				row[k] = least(row[k], before[k - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

/* Less than half of the word may change; in a word of two or three letters, one letter. */
static unsigned edit_limit(size_t length)
{
	return length < 2 ? 0 : length < 4 ? 1 : (unsigned)(length - 1) / 2;
}

static bool has_part(const char *text, size_t length, const char *part, size_t part_length)
{
	return memmem(text, length, part, part_length) != NULL;
}

static unsigned cost_of(const struct suggestion *suggestion, const char *candidate, size_t length)
{
	const char *word = suggestion->word;
	size_t word_length = suggestion->length;
	unsigned distance;

	if (word_length > WORD_MAX || length > WORD_MAX || !word_length)
		return COST_NONE;
	if (word_length == length && memcmp(word, candidate, length) == 0)
		return COST_NONE; /* refused for another reason: do not suggest it again */
	if (word_length >= SHORTEST_PREFIX && word_length <= length &&
	    strncmp(word, candidate, word_length) == 0)
		return COST_BEGINNING;
	distance = edit_distance(word, word_length, candidate, length);
	if (distance == 1 && edit_limit(word_length))
		return COST_EDIT;
	if (word_length >= SHORTEST_PART && has_part(candidate, length, word, word_length))
		return COST_PART;
	return distance <= edit_limit(word_length) ? COST_EDIT * distance : COST_NONE;
}

static void offer(struct suggestion *suggestion, const char *candidate, size_t length)
{
	unsigned cost = cost_of(suggestion, candidate, length);

	/* If two words are equally near, take the shorter one: it adds less to what was typed. */
	if (cost > suggestion->cost || cost == COST_NONE ||
	    (cost == suggestion->cost && length >= suggestion->best_length))
		return;
	suggestion->cost = cost;
	suggestion->best = candidate;
	suggestion->best_length = length;
}

void suggest(struct suggestion *suggestion, const char *candidate)
{
	offer(suggestion, candidate, strlen(candidate));
}

void suggest_list(struct suggestion *suggestion, const char *candidates)
{
	while (*candidates) {
		size_t length = strcspn(candidates, "|, ");

		offer(suggestion, candidates, length);
		candidates += length;
		candidates += strspn(candidates, "|, ");
	}
}

const char *suggestion_hint(struct suggestion *suggestion, const char *mark, const char *otherwise)
{
	if (!suggestion->best)
		return otherwise;
	snprintf(suggestion->hint, sizeof(suggestion->hint), "did you mean %s%.*s?", mark,
		 (int)suggestion->best_length, suggestion->best);
	return suggestion->hint;
}
