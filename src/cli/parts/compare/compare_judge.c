/* SPDX-License-Identifier: MIT */
#include "cli/parts/compare/compare_judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/compare_sections.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

void judgement_clear(struct judgement *judgement)
{
	array_free(&judgement->findings);
	arena_clear(&judgement->arena);
}

/* How groups must be made for a condition. */
struct lens {
	enum group_axis axis;
	enum fail_names names;
};

static bool is_for(const struct lens *lens, const struct fail_condition *condition,
		   enum group_axis usual)
{
	bool has_own = !metric_is_reading(condition->metric) && condition->has_axis;

	return lens->axis == (has_own ? condition->axis : usual) &&
	       lens->names == fail_condition_names(condition);
}

static void use_lens(const struct lens *lens, struct compare_options *options)
{
	options->axis = lens->axis;
	options->grouping.literal_names |= lens->names == FAIL_NAMES_LITERAL;
	options->grouping.literal_cgroups |= lens->names == FAIL_NAMES_LITERAL;
	options->grouping.always_patterns = lens->names == FAIL_NAMES_PATTERNS;
}

/* Selects only what the conditions of one lens need. */
static struct compare_options narrow(const struct fail_on *fail_on,
				     const struct compare_options *options, const struct lens *lens)
{
	struct compare_options narrowed = *options;

	use_lens(lens, &narrowed);
	narrowed.metrics.count = 0;
	narrowed.sections = METRIC_COMPARE_SECTIONS;
	narrowed.metrics_only = true;
	narrowed.limit = 0;
	narrowed.unchanged = true;
	narrowed.place_count = 0;
	for (size_t i = 0; i < fail_on->conditions.count; i++) {
		const struct fail_condition *condition = &fail_on->conditions.data[i];

		if (!is_for(lens, condition, options->axis))
			continue;
		if (!metric_is_reading(condition->metric)) {
			selection_add(&narrowed.metrics, metric_number(condition->metric));
			continue;
		}
		narrowed.sections = ALL_COMPARE_SECTIONS;
		narrowed.metrics_only = false;
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
	judgement->moot += verdict->moot;
	return status;
}

static int evaluate(const struct fail_on *fail_on, const struct comparison *comparison,
		    const struct lens *lens, enum group_axis usual, struct judgement *judgement)
{
	CLEANUP(fail_verdict_clear) struct fail_verdict verdict = { 0 };
	int status = 0;

	for (size_t i = 0; i < fail_on->conditions.count && status == 0; i++) {
		const struct fail_condition *condition = &fail_on->conditions.data[i];

		if (is_for(lens, condition, usual))
			status = fail_condition_evaluate(condition, comparison, lens->axis,
							 &verdict);
	}
	return status < 0 ? status : keep_verdict(judgement, &verdict, comparison);
}

static bool is_asked(const struct fail_on *fail_on, const struct lens *lens, enum group_axis usual)
{
	for (size_t i = 0; i < fail_on->conditions.count; i++)
		if (is_for(lens, &fail_on->conditions.data[i], usual))
			return true;
	return false;
}

static int judge_through(const struct lens *lens, const struct fail_on *fail_on,
			 const struct compare_side *before, const struct compare_side *after,
			 const struct compare_options *options, struct judgement *judgement,
			 struct error *error)
{
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	struct compare_options narrowed = narrow(fail_on, options, lens);
	int status = comparison_new(before, after, &narrowed, &comparison, error);

	if (status < 0)
		return status;
	status = evaluate(fail_on, comparison, lens, options->axis, judgement);
	if (status < 0)
		return error_set(error, status, "cannot evaluate --fail-on: %s", strerror(-status));
	return 0;
}

int judge(const struct fail_on *fail_on, const struct compare_side *before,
	  const struct compare_side *after, const struct compare_options *options,
	  struct judgement *ret, struct error *error)
{
	int status = 0;

	for (int i = 0; i < FAIL_NAMES_COUNT * AXIS_COUNT && status == 0; i++) {
		struct lens lens = { .axis = (enum group_axis)(i / FAIL_NAMES_COUNT),
				     .names = (enum fail_names)(i % FAIL_NAMES_COUNT) };

		if (is_asked(fail_on, &lens, options->axis))
			status = judge_through(&lens, fail_on, before, after, options, ret, error);
	}
	return status;
}

/*
 * Prints the first few sentences of a kind, and how many more there are.  A
 * moot finding has no group.
 */
static void print_outcome(const struct judgement *judgement, enum fail_outcome outcome,
			  bool is_moot, const char *word, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < judgement->findings.count; i++) {
		const struct compare_finding *finding = &judgement->findings.data[i];

		if (finding->outcome != outcome || !finding->group != is_moot || count++ >= most)
			continue;
		fprintf(stderr, "%s: %s\n", word, finding->sentence);
	}
	if (count > most)
		fprintf(stderr, "%s: %zu more; --format json has all\n", word, count - most);
}

void judgement_print(const struct judgement *judgement)
{
	print_outcome(judgement, FAIL_FAILED, false, "failed", 20);
	print_outcome(judgement, FAIL_NOISE, false, "not failed", 5);
	print_outcome(judgement, FAIL_UNKNOWN, false, "not known", 5);
	print_outcome(judgement, FAIL_UNKNOWN, true, "not checked", 20);
}
