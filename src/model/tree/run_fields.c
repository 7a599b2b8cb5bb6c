/* SPDX-License-Identifier: MIT */
#include "model/tree/run_fields.h"

#include <string.h>

#include "base/collection/array.h"
#include "model/profile/profile.h"

const struct run_field run_fields[] = {
#define RUN_FIELD(section, key, type, member)                                                      \
	{ RUN_SECTION_##section,	key, RUN_FIELD_##type, RUN_FIELD_OF_RUN,                           \
	  offsetof(struct run, member), 0 },
#define TREE_FIELD(section, key, type, member)                                                     \
	{ RUN_SECTION_##section,	 key, RUN_FIELD_##type, RUN_FIELD_OF_TREE,                         \
	  offsetof(struct tree, member), 0 },
#define TREE_COUNT(section, key, bit, member)                                                      \
	{ RUN_SECTION_##section,	 key, RUN_FIELD_COUNT, RUN_FIELD_OF_TREE,                          \
	  offsetof(struct tree, member), TREE_UNKNOWN_##bit },
#define PROFILE_FIELD(section, key, type, member)                                                  \
	{ RUN_SECTION_##section,	    key, RUN_FIELD_##type, RUN_FIELD_OF_PROFILE,                   \
	  offsetof(struct profile, member), 0 },
#include "model/tree/run_fields.def"
#undef RUN_FIELD
#undef TREE_FIELD
#undef TREE_COUNT
#undef PROFILE_FIELD
};

const size_t run_field_count = ARRAY_SIZE(run_fields);

bool run_field_is_known(const struct run *run, const struct run_field *field)
{
	if (run->tree->unknown & field->unknown || !run_field_at(run, field))
		return false;
	return field->unknown != TREE_UNKNOWN_OOM_KILLS || run->tree->oom_kills || !run->tracer ||
	       strcmp(run->tracer, "bpf") == 0;
}

const char *run_field_older_key(const char *key)
{
	static const struct {
		const char *key, *older;
	} renamed[] = {
		{ "processes_alive", "process_count" },
		{ "threads_alive", "thread_count" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(renamed[i].key, key) == 0)
			return renamed[i].older;
	return NULL;
}

static bool has_value(const void *at, enum run_field_type type)
{
	if (type == RUN_FIELD_OPTIONAL)
		return ((const struct run_number *)at)->present;
	return type != RUN_FIELD_REAL || ((const struct run_real *)at)->present;
}

bool run_section_is_known(const struct run *run, enum run_section section)
{
	for (size_t i = 0; i < run_field_count; i++) {
		const void *at = run_field_at(run, &run_fields[i]);

		if (run_fields[i].section == section && at && has_value(at, run_fields[i].type))
			return true;
	}
	return false;
}
