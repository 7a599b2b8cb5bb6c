/* SPDX-License-Identifier: MIT */
/*
 * The fields of a filter, and whether the tasks of a snapshot match it.
 */
#ifndef ANALYZE_FILTER_MATCH_H
#define ANALYZE_FILTER_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/filter/filter.h"

struct filter_field_info {
	const char *name;
	/* The name as the number of a string; 0 when it is not known.  NULL: it has none. */
	uint32_t (*text)(const struct snapshot *snapshot, uint32_t task);
	/* False when it is not known.  NULL: it has none. */
	bool (*number)(const struct snapshot *snapshot, uint32_t task, double *ret);
	bool is_path;
	bool is_process; /* all threads of a process have the same */
	const char *absent;
	const char *help;
};

extern const struct filter_field_info filter_fields[FILTER_METRIC];

/* Whether the values of a term are names, and whether such a name may also be a number. */
bool filter_term_has_names(const struct filter_term *term);
bool filter_term_may_have_number(const struct filter_term *term);

enum {
	FILTER_NO,
	FILTER_YES,
	FILTER_ABSENT, /* plus the index of the term whose value is absent; no other term fails */
};

/*
 * What each task did on a CPU: percent of a core, by row; NAN where it is not known.  NULL: there
 * is no interval.
 */
typedef const double *filter_cpu;

/*
 * Judges all tasks of a snapshot, one byte each: see above.  The caller frees *ret.  0, -ENOMEM, or
 * -EINVAL with a sentence when a term is about what the snapshot cannot have.
 */
int filter_match(const struct filter *filter, const struct snapshot *snapshot, filter_cpu cpu,
		 uint8_t **ret, struct error *error);
/* The same by terms alone that may differ between the threads of a process. */
int filter_match_threads(const struct filter *filter, const struct snapshot *snapshot,
			 filter_cpu cpu, uint8_t **ret, struct error *error);

/* Why the value of a term is absent for tasks of the snapshot. */
const char *filter_absence(const struct filter_term *term, const struct snapshot *snapshot);

#endif
