/* SPDX-License-Identifier: MIT */
/*
 * Strings by number.  The same text always gets the same number; number 0 is
 * the empty string and is always there.  Texts are any bytes but NUL.
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

/* The text of a number that dictionary_add() gave; "" for any other. */
const char *dictionary_text(const struct dictionary *dictionary, uint32_t id);

/* Numbers in use: 0 up to, not including, this. */
uint32_t dictionary_count(const struct dictionary *dictionary);

#endif
