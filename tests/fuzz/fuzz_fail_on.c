/* SPDX-License-Identifier: MIT */
/*
 * Conditions are written by people, and by scripts that put names into them.
 * One that is refused has a sentence, and a position inside the text; one that
 * is taken has everything that evaluating it needs.
 */
#include <math.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/fail_on.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "fuzz_text.h"

static void check_refused(const struct fail_on *fail_on, const struct error *error)
{
	fuzz_require(fail_on->conditions.count == 0);
	fuzz_require(error->message[0] != '\0');
	fuzz_require(error->caret <= strlen(error->excerpt));
}

/* A comparison of one row that the condition is about. */
static void check_taken(const struct fail_condition *condition)
{
	struct compared_group group = { .key = condition->glob ? condition->glob : "" };
	struct comparison_row row = {
		.metric = condition->metric,
		.state = ROW_CHANGED,
		.before = { .shape = VALUE_NUMBER, .number = 10 },
		.delta = { .known = true, .magnitude = 5, .real = 5 },
		.has_rate = true,
		.per_second = 5,
	};
	struct comparison comparison = {
		.mode = COMPARE_INTERVAL,
		.groups = { &group, 1, 1 },
		.rows = { &row, 1, 1 },
	};
	CLEANUP(fail_verdict_clear) struct fail_verdict verdict = { 0 };
	CLEANUP(text_free) struct text text = { 0 };

	fuzz_require(isfinite(condition->bound) || condition->bound != 0);
	fuzz_require(condition->metric);
	if (fail_condition_evaluate(condition, &comparison, condition->axis, &verdict) < 0)
		return;
	fuzz_require(verdict.passed + verdict.failed + verdict.noise + verdict.unknown +
			     verdict.moot ==
		     1);
	for (size_t i = 0; i < verdict.findings.count; i++)
		fail_finding_append(&verdict.findings.data[i], &comparison, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *text = fuzz_text(data, size);
	CLEANUP(fail_on_clear) struct fail_on fail_on = { 0 };
	struct error error = { 0 };

	if (fail_on_add(&fail_on, text, &error) < 0)
		check_refused(&fail_on, &error);
	else
		check_taken(&fail_on.conditions.data[0]);
	return 0;
}
