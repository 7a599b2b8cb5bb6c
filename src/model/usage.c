/* SPDX-License-Identifier: MIT */
#include "model/usage.h"

#include "model/counter.h"

const char *const usage_names[USAGE_COUNT] = {
#define USAGE(id, name) [USAGE_##id] = (name),
#include "model/usage.def"
#undef USAGE
};

void usage_add(struct usage *sum, const struct usage *part)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		if (usage_has(part, i))
			counter_add(&sum->values[i], part->values[i]);
	sum->present |= part->present;
}

void usage_raise(struct usage *usage, const struct usage *later)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		if (usage_has(later, i))
			counter_raise(&usage->values[i], later->values[i]);
	usage->present |= later->present;
}

void usage_grown(const struct usage *before, const struct usage *after, struct usage *ret)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		ret->values[i] = after->values[i] - before->values[i];
	ret->present = after->present;
}
