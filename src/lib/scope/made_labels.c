/* SPDX-License-Identifier: MIT */
#include "lib/scope/made_labels.h"

#include <stddef.h>
#include <string.h>

#include "lib/scope/block.h"
#include "lib/scope/locks.h"
#include "lib/scope/sites.h"

/* Twice as many places as texts, so that a search soon meets an empty place. */
enum { PLACES = 2 * SCOPE_MADE_LABELS };

/* Numbers of labels, by a hash of the text and then in the next places; 0: empty, the search ends. */
static uint16_t places[PLACES];
static uint32_t used; /* written while holding LOCK_SITES */

static uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

static uint32_t hash(const char *text, size_t length)
{
	uint64_t sum = length, word = 0;

	for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		sum = mix(sum, word);
	}
	word = 0;
	for (size_t i = 0; i < length; i++)
		word = word << 8 | (unsigned char)text[i];
	return (uint32_t)mix(sum, word);
}

/* Returns the place of a text, or the empty one where it belongs; there is always one. */
static uint16_t *place_of(const char *text, size_t length)
{
	for (uint32_t i = hash(text, length);; i++) {
		uint16_t *place = &places[i % PLACES];
		uint32_t number = LOAD(*place);

		if (!number || label_is(number, text, length))
			return place;
	}
}

/* Another thread may have been faster. */
static uint32_t number_give(const char *text, size_t length)
{
	uint16_t *place;
	uint32_t number;

	lock_take(LOCK_SITES);
	place = place_of(text, length);
	number = *place;
	if (!number && used < SCOPE_MADE_LABELS) {
		number = label_number(text, length);
		STORE(*place, (uint16_t)number);
		STORE(used, used + (number != 0));
	}
	lock_release(LOCK_SITES);
	return number;
}

uint32_t made_label_number(const char *text)
{
	size_t length = label_length(text);
	uint32_t number = LOAD(*place_of(text, length));

	if (number || LOAD(used) >= SCOPE_MADE_LABELS)
		return number;
	return number_give(text, length);
}
