/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_sections.h"

#include "analyze/group/selection.h"

static const char *const names[COMPARE_SECTION_COUNT] = {
#define COMPARE_SECTION(id, name, ...) [COMPARE_##id] = name,
#include "analyze/compare/compare_sections.def"
};

static const char all_names[] =
#define COMPARE_SECTION(id, name, ...) name ", "
#include "analyze/compare/compare_sections.def"
	"all";

const char *compare_section_name(enum compare_section section)
{
	return names[section];
}

int compare_sections_parse(const char *list, uint32_t *ret, struct error *error)
{
	return section_bits_parse(all_names, list, ret, error);
}
