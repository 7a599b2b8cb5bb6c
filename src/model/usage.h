/* SPDX-License-Identifier: MIT */
/*
 * What was used, as rows of usage.def; each value knows whether it was measured.
 */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

enum usage_id {
#define USAGE(id, name) USAGE_##id,
#include "model/usage.def"
#undef USAGE
	USAGE_COUNT,
};

extern const char *const usage_names[USAGE_COUNT];

struct usage {
	uint64_t values[USAGE_COUNT];
	uint32_t present; /* bit for each usage_id */
};

static inline bool usage_has(const struct usage *usage, enum usage_id id)
{
	return usage->present >> id & 1;
}

static inline void usage_set(struct usage *usage, enum usage_id id, uint64_t value)
{
	usage->values[id] = value;
	usage->present |= 1U << id;
}

/* Adds what is present there; a sum is present when any part is. */
void usage_add(struct usage *sum, const struct usage *part);

/* Raises each value to what a later look says; a look that says less than before is ignored. */
void usage_raise(struct usage *usage, const struct usage *later);

/* What is to be added to sums that contain a usage which rose from `before` to `after`. */
void usage_grown(const struct usage *before, const struct usage *after, struct usage *ret);

#endif
