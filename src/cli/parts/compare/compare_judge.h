/* SPDX-License-Identifier: MIT */
/*
 * Evaluates --fail-on for two sides.  Its conditions use groups and metrics of
 * their own, whichever are shown, and names as they are where a condition gives
 * a name.  So they need comparisons of their own.
 */
#ifndef CLI_COMPARE_JUDGE_H
#define CLI_COMPARE_JUDGE_H

#include <stddef.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/fail_on.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "render/compare/compare_view.h"

struct error;

/* Owns its findings, which point only to the conditions; all zeros is empty. */
struct judgement {
	struct arena arena;
	ARRAY_OF(struct compare_finding) findings; /* all but conditions that do not hold */
	size_t failed;
	size_t unknown; /* but for moot ones */
	size_t moot;	/* conditions that checked nothing: see fail_on.h */
};

/*
 * Evaluates every condition on the sides; `options` says how to compare them.
 * Returns 0, or an error with a sentence.
 */
int judge(const struct fail_on *fail_on, const struct compare_side *before,
	  const struct compare_side *after, const struct compare_options *options,
	  struct judgement *ret, struct error *error);
void judgement_clear(struct judgement *judgement);

/* Says on standard error which conditions hold and which could not be evaluated. */
void judgement_print(const struct judgement *judgement);

#endif
