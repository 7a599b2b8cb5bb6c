/* SPDX-License-Identifier: MIT */
/*
 * Sections of a comparison by their names.
 */
#ifndef ANALYZE_COMPARE_SECTIONS_H
#define ANALYZE_COMPARE_SECTIONS_H

#include <stdint.h>

#include "analyze/comparison.h"

#define ALL_COMPARE_SECTIONS ((1u << COMPARE_SECTION_COUNT) - 1)

/* Those of metrics; the others are of readings. */
#define METRIC_COMPARE_SECTIONS                                                                    \
	(1u << COMPARE_PRIMARY | 1u << COMPARE_DELAYS | 1u << COMPARE_DERIVED | 1u << COMPARE_HEAP)

/* As --sections, JSON and CSV say it. */
const char *compare_section_name(enum compare_section section);

/*
 * A comma list of names, or "all", as bits.  Returns 0, or -EINVAL with a
 * sentence that names all of them and where the mistake is.
 */
int compare_sections_parse(const char *list, uint32_t *ret, struct error *error);

#endif
