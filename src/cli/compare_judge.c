#include "cli/compare_judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare_sections.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

void judgement_clear(struct judgement *judgement)
{
	array_free(&judgement->findings);
	arena_clear(&judgement->arena);
}

/* The axis on which a condition must be evaluated. */
static enum group_axis axis_of(const struct fail_condition *condition, enum group_axis usual)
{
	return condition->metric >= 0 && condition->has_axis ? condition->axis : usual;
}

/* Just what the conditions on one axis look at. */
static struct compare_options narrow(const struct fail_on *fail_on,
				     const struct compare_options *options, enum group_axis axis)
{
	struct compare_options narrowed = *options;

	narrowed.axis = axis;
	narrowed.metrics.count = 0;
	narrowed.sections = METRIC_COMPARE_SECTIONS;
	narrowed.limit = 0;
	narrowed.unchanged = true;
	narrowed.place_count = 0;
	for (size_t i = 0; i < fail_on->conditions.count; i++) {
		const struct fail_condition *condition = &fail_on->conditions.data[i];

		if (axis_of(condition, options->axis) != axis)
			continue;
		if (condition->metric >= 0)
			selection_add(&narrowed.metrics, (enum metric_id)condition->metric);
		else
			narrowed.sections = ALL_COMPARE_SECTIONS;
	}
	return narrowed;
}

static int keep_finding(struct judgement *judgement, const struct fail_finding *finding,
			const struct comparison *comparison)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	struct compare_finding kept = {
		.outcome = finding->outcome,
		.condition = finding->condition->text,
		.change = finding->change,
	};

	fail_finding_append(finding, comparison, &sentence);
	if (sentence.failed)
		return -ENOMEM;
	kept.sentence = arena_copy(&judgement->arena, text_string(&sentence), sentence.length);
	if (!kept.sentence)
		return -ENOMEM;
	if (finding->row) {
		const char *key = comparison->groups.data[finding->row->group].key;

		kept.group = arena_copy(&judgement->arena, key, strlen(key));
		if (!kept.group)
			return -ENOMEM;
	}
	return array_append(&judgement->findings, kept);
}

static int keep_verdict(struct judgement *judgement, const struct fail_verdict *verdict,
			const struct comparison *comparison)
{
	int status = 0;

	for (size_t i = 0; i < verdict->findings.count && status == 0; i++)
		status = keep_finding(judgement, &verdict->findings.data[i], comparison);
	judgement->failed += verdict->failed;
	judgement->unknown += verdict->unknown;
	return status;
}

static int judge_axis(const struct fail_on *fail_on, const struct comparison *comparison,
		      const struct compare_options *options, enum group_axis axis,
		      struct judgement *judgement)
{
	CLEANUP(fail_verdict_clear) struct fail_verdict verdict = { 0 };
	int status = 0;

	for (size_t i = 0; i < fail_on->conditions.count && status == 0; i++) {
		const struct fail_condition *condition = &fail_on->conditions.data[i];

		if (axis_of(condition, options->axis) == axis)
			status = fail_condition_evaluate(condition, comparison, axis, &verdict);
	}
	return status < 0 ? status : keep_verdict(judgement, &verdict, comparison);
}

static bool is_asked(const struct fail_on *fail_on, enum group_axis axis, enum group_axis usual)
{
	for (size_t i = 0; i < fail_on->conditions.count; i++)
		if (axis_of(&fail_on->conditions.data[i], usual) == axis)
			return true;
	return false;
}

int judge(const struct fail_on *fail_on, const struct compare_side *before,
	  const struct compare_side *after, const struct compare_options *options,
	  struct judgement *ret, struct error *error)
{
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
		struct compare_options narrowed;
		int status;

		if (!is_asked(fail_on, (enum group_axis)axis, options->axis))
			continue;
		narrowed = narrow(fail_on, options, (enum group_axis)axis);
		status = comparison_new(before, after, &narrowed, &comparison, error);
		if (status < 0)
			return status;
		status = judge_axis(fail_on, comparison, options, (enum group_axis)axis, ret);
		if (status < 0)
			return error_set(error, status, "cannot evaluate --fail-on: %s",
					 strerror(-status));
	}
	return 0;
}

/* The first few sentences of a kind, and how many more there are. */
static void print_outcome(const struct judgement *judgement, enum fail_outcome outcome,
			  const char *word, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < judgement->findings.count; i++) {
		const struct compare_finding *finding = &judgement->findings.data[i];

		if (finding->outcome != outcome || count++ >= most)
			continue;
		fprintf(stderr, "%s: %s\n", word, finding->sentence);
	}
	if (count > most)
		fprintf(stderr, "%s: %zu more; --format json tells all\n", word, count - most);
}

void judgement_print(const struct judgement *judgement)
{
	print_outcome(judgement, FAIL_FAILED, "failed", 20);
	print_outcome(judgement, FAIL_NOISE, "not failed", 5);
	print_outcome(judgement, FAIL_UNKNOWN, "not known", 5);
}
