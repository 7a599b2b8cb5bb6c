/* SPDX-License-Identifier: MIT */
/*
 * Words for the numeric codes in the scopes of a program.
 */
#ifndef RENDER_SCOPES_WORDS_H
#define RENDER_SCOPES_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct scope_losses;

/* What enum scope_stall means. */
extern const char *const scope_stall_words[];

/* One kind of loss: its key, and the words for a count of it. */
struct scope_loss_word {
	const char *key;
	const char *one, *many;
	size_t offset; /* in struct scope_losses */
};

#define SCOPE_LOSS_COUNT 9
extern const struct scope_loss_word scope_loss_words[SCOPE_LOSS_COUNT];

uint64_t scope_loss_count(const struct scope_losses *losses, size_t which);

#endif
