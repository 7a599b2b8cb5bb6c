/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_sections.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static const char *const names[COMPARE_SECTION_COUNT] = {
#define COMPARE_SECTION(id, name, ...) [COMPARE_##id] = name,
#include "analyze/compare/compare_sections.def"
};

#define SECTIONS_ARE "sections are "
static const char all_names[] = SECTIONS_ARE
#define COMPARE_SECTION(id, name, ...) name ", "
#include "analyze/compare/compare_sections.def"
	"all";

const char *compare_section_name(enum compare_section section)
{
	return names[section];
}

static bool is_word(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* The bits of one word, 0 when it names nothing. */
static uint32_t bits_of(const char *word, size_t length)
{
	if (is_word(word, length, "all"))
		return ALL_COMPARE_SECTIONS;
	for (int section = 0; section < COMPARE_SECTION_COUNT; section++)
		if (is_word(word, length, names[section]))
			return 1u << section;
	return 0;
}

static int unknown_section(const char *word, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(word, length);

	suggest_list(&suggestion, all_names + strlen(SECTIONS_ARE));
	return error_set(error, -EINVAL, "there is no section '%.*s'; %s", (int)length, word,
			 suggestion_hint(&suggestion, "", all_names));
}

int compare_sections_parse(const char *list, uint32_t *ret, struct error *error)
{
	uint32_t sections = 0;
	const char *word = list;

	while (word) {
		size_t length = strcspn(word, ",");
		uint32_t bits = bits_of(word, length);
		int status;

		if (!bits) {
			status = unknown_section(word, length, error);
			return error_mark(error, status, list, (size_t)(word - list));
		}
		sections |= bits;
		word = word[length] ? word + length + 1 : NULL;
	}
	*ret = sections;
	return 0;
}
