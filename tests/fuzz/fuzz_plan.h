/* SPDX-License-Identifier: MIT */
/*
 * One input through one of the procfs parsers, with everything in its plan.
 */
#ifndef TESTS_FUZZ_FUZZ_PLAN_H
#define TESTS_FUZZ_FUZZ_PLAN_H

#include "collect/proc/proc_parse.h"
#include "fuzz_text.h"

typedef void fuzz_parser(const char *text, const struct proc_plan *plan, struct proc_values *ret);

static inline void fuzz_plan(const uint8_t *data, size_t size, enum metric_place place,
			     enum metric_place group_place, fuzz_parser *parse)
{
	char *text = fuzz_text(data, size);
	struct proc_values values, again;
	struct proc_plan plan;

	proc_plan_init(&plan, place, group_place, NULL);
	fuzz_require(plan.count > 0 && plan.count < PROC_ITEMS);
	parse(text, &plan, &values);
	fuzz_require((values.present & ~(plan.own | plan.group)) == 0);
	parse(text, &plan, &again);
	fuzz_require(values.present == again.present && values.negative == again.negative);
	for (unsigned i = 0; i < plan.count; i++)
		fuzz_require(!(values.present >> i & 1) || values.raw[i] == again.raw[i]);
	free(text);
}

#endif
