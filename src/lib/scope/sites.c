/* SPDX-License-Identifier: MIT */
#include "lib/scope/sites.h"

#include <string.h>

#include "lib/scope/area.h"
#include "lib/scope/locks.h"

/* The second and later bytes of a character in UTF-8. */
static int is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t label_length(const char *label)
{
	size_t length = strnlen(label, SCOPE_LABEL_SIZE);

	if (length < SCOPE_LABEL_SIZE)
		return length;
	length--;
	for (size_t cut = length; cut > length - 4; cut--) {
		if (!is_continuation(label[cut]))
			return cut;
	}
	return length; /* not UTF-8: cut anywhere */
}

bool label_is(uint32_t number, const char *text, size_t length)
{
	const char *label = area_labels()[number].text;

	return memcmp(label, text, length) == 0 && !label[length];
}

/* Returns 0 when the label is not there. */
static uint32_t label_find(const char *text, size_t length)
{
	for (uint32_t i = 1; i < area.header->label_count; i++) {
		if (label_is(i, text, length))
			return i;
	}
	return 0;
}

/* Writes the text before it raises the count, since readers read only labels below the count. */
static uint32_t label_add(const char *text, size_t length)
{
	uint32_t number = area.header->label_count;

	if (number >= SCOPE_LABELS)
		return 0;
	memcpy(area_labels()[number].text, text, length);
	__atomic_store_n(&area.header->label_count, number + 1, __ATOMIC_RELEASE);
	return number;
}

uint32_t label_number(const char *text, size_t length)
{
	uint32_t number = label_find(text, length);

	return number ? number : label_add(text, length);
}

static uint32_t site_number(struct taskscope_site *site)
{
	uint32_t number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);
	const char *label = __atomic_load_n(&site->label, __ATOMIC_ACQUIRE);

	if (number)
		return number; /* another thread was faster */
	label = label ? label : "";
	number = label_number(label, label_length(label));
	if (!number) {
		__atomic_add_fetch(&area.header->lost_labels, 1, __ATOMIC_RELEASE);
		number = SITE_LOST;
	}
	__atomic_store_n(&site->number, number, __ATOMIC_RELEASE);
	return number;
}

uint32_t site_register(struct taskscope_site *site)
{
	uint32_t number;

	lock_take(LOCK_SITES);
	number = site_number(site);
	lock_release(LOCK_SITES);
	return number == SITE_LOST ? 0 : number;
}
