/* SPDX-License-Identifier: MIT */
/*
 * The causes that a verdict knows, each with the strength that the facts give
 * it: about the share of the time that it explains, 0 to 1.  A cause that ended
 * the run or made calls fail has more, so that no share of time outweighs it.
 */
#ifndef ANALYZE_VERDICT_RULES_H
#define ANALYZE_VERDICT_RULES_H

#include "analyze/verdict/verdict_facts.h"
#include "base/text.h"

struct verdict_rule {
	enum run_cause cause;
	double (*strength)(const struct verdict_facts *facts);
	/* The figures that support it: one line, or nothing. */
	void (*evidence)(const struct verdict_facts *facts, struct text *out);
};

/* In the order that decides when two are equally strong; CAUSE_NONE is the last. */
extern const struct verdict_rule verdict_rules[CAUSE_COUNT];

#endif
