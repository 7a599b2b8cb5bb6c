/* SPDX-License-Identifier: MIT */
/*
 * The causes that a verdict knows, each with how strongly the facts speak for it: about the share
 * of the time that it explains, 0 to 1, and more for what ended the run or made calls fail, which
 * no share of time outweighs.
 */
#ifndef ANALYZE_VERDICT_RULES_H
#define ANALYZE_VERDICT_RULES_H

#include "analyze/verdict_facts.h"
#include "base/text.h"

struct verdict_rule {
	enum run_cause cause;
	double (*strength)(const struct verdict_facts *facts);
	/* The figures that speak for it: one line, or nothing. */
	void (*evidence)(const struct verdict_facts *facts, struct text *out);
};

/* In the order that decides when two are equally strong; CAUSE_NONE is the last. */
extern const struct verdict_rule verdict_rules[CAUSE_COUNT];

#endif
