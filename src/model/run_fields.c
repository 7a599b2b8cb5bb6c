#include "model/run_fields.h"

#include "base/array.h"

const struct run_field run_fields[] = {
#define RUN_FIELD(section, key, type, member)                                                      \
	{ RUN_SECTION_##section, key, RUN_FIELD_##type, false, offsetof(struct run, member) },
#define TREE_FIELD(section, key, type, member)                                                     \
	{ RUN_SECTION_##section, key, RUN_FIELD_##type, true, offsetof(struct tree, member) },
#include "model/run_fields.def"
#undef RUN_FIELD
#undef TREE_FIELD
};

const size_t run_field_count = ARRAY_SIZE(run_fields);
