/* SPDX-License-Identifier: MIT */
/*
 * The sections of a comparison, and how to find them by name.
 */
#ifndef ANALYZE_COMPARE_SECTIONS_H
#define ANALYZE_COMPARE_SECTIONS_H

#include <stdint.h>

#include "analyze/compare/comparison.h"

#define ALL_COMPARE_SECTIONS ((1u << COMPARE_SECTION_COUNT) - 1)

/* Those that a person sees without asking: the details are some hundred rows. */
#define USUAL_COMPARE_SECTIONS (ALL_COMPARE_SECTIONS & ~(1u << COMPARE_HOST_DETAILS))

/* Sections of metrics; the others hold readings. */
#define METRIC_COMPARE_SECTIONS                                                                    \
	(1u << COMPARE_PRIMARY | 1u << COMPARE_DELAYS | 1u << COMPARE_DERIVED | 1u << COMPARE_HEAP)

/* The name in --sections, JSON and CSV. */
const char *compare_section_name(enum compare_section section);

/*
 * Parses a comma list of names, or "all", into bits.  Returns 0, or -EINVAL
 * with a sentence that lists all names and says where the mistake is.
 */
int compare_sections_parse(const char *list, uint32_t *ret, struct error *error);

#endif
