/* SPDX-License-Identifier: MIT */
/*
 * A table of texts, each with a number.  The same text always gets the same number.  Number 0 is
 * the empty text and always there.  A text may contain any byte but NUL.
 *
 * The dictionary owns its texts; pointers stay valid until dictionary_free().
 */
#ifndef BASE_DICTIONARY_H
#define BASE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

struct dictionary;

/* Returns NULL when there is no memory. */
struct dictionary *dictionary_new(void);
void dictionary_free(struct dictionary *dictionary);

/* Returns 0 and the text's number, or -ENOMEM. */
int dictionary_add(struct dictionary *dictionary, const char *text, size_t length,
		   uint32_t *ret_id);

/* The text's number; 0 when it was never added. */
uint32_t dictionary_find(const struct dictionary *dictionary, const char *text, size_t length);

/* The text of a number that dictionary_add() gave; "" for any other. */
const char *dictionary_text(const struct dictionary *dictionary, uint32_t id);

/* One more than the highest number in use. */
uint32_t dictionary_count(const struct dictionary *dictionary);

#endif
