/* SPDX-License-Identifier: MIT */
/*
 * The plain numbers of a run, as rows of run_fields.def.  The code that writes a run and the code
 * that reads one back use the same table.
 */
#ifndef MODEL_RUN_FIELDS_H
#define MODEL_RUN_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/tree/run.h"

/* The JSON object of the summary that holds the number. */
enum run_section {
	RUN_SECTION_COUNTS, /* the summary itself */
	RUN_SECTION_HOST,   /* in "pressure" */
	RUN_SECTION_CGROUP, /* in "pressure" */
	RUN_SECTION_HARDWARE,
	RUN_SECTION_GPU,
	RUN_SECTION_SAMPLING,
	RUN_SECTION_SAMPLED,
	RUN_SECTION_LOSSES,
	RUN_SECTION_SELF,
	RUN_SECTION_PROFILE,
	RUN_SECTION_STACK_LOSSES, /* in "profile" */
};

enum run_field_type {
	RUN_FIELD_COUNT,
	RUN_FIELD_NONZERO,
	RUN_FIELD_SMALL,
	RUN_FIELD_OPTIONAL,
	RUN_FIELD_REAL,
};

/* The struct that holds the number. */
enum run_field_owner {
	RUN_FIELD_OF_RUN,
	RUN_FIELD_OF_TREE,
	RUN_FIELD_OF_PROFILE,
};

struct run_field {
	enum run_section section;
	const char *key;
	enum run_field_type type;
	enum run_field_owner owner;
	size_t offset;
	unsigned unknown; /* enum tree_unknown: the bit that marks it as not known; or 0 */
};

extern const struct run_field run_fields[];
extern const size_t run_field_count;

/*
 * Whether the number is known.  OOM kills are known only to the tracer by BPF, unless there were
 * some; nothing about a profile is known where there is none.
 */
bool run_field_is_known(const struct run *run, const struct run_field *field);

/* The name of the same number in older files, or NULL. */
const char *run_field_older_key(const char *key);
/* Whether a section has any number that is known. */
bool run_section_is_known(const struct run *run, enum run_section section);

/* Where the number is; NULL when the run has no profile and the number belongs to it. */
static inline void *run_field_at(const struct run *run, const struct run_field *field)
{
	const void *const owners[] = { run, run->tree, run->profile };
	const void *owner = owners[field->owner];

	return owner ? (char *)owner + field->offset : NULL;
}

#endif
