/* SPDX-License-Identifier: MIT */
/*
 * Evaluates conditions over a comparison.
 */
#include <math.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/fail_on.h"
#include "analyze/group/glob.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"

/* The axis that the row's group is on; AXIS_COUNT for none: the host. */
static enum group_axis axis_of_row(const struct comparison_row *row, enum group_axis axis)
{
	if (!metric_is_reading(row->metric))
		return axis;
	switch (row->section) {
	case COMPARE_SMAPS:
		return AXIS_PCOMM;
	case COMPARE_CGROUP:
	case COMPARE_LIMITS:
	case COMPARE_MEMORY_STAT:
	case COMPARE_MEMORY_EVENTS:
	case COMPARE_CGROUP_PRESSURE:
		return AXIS_CGROUP;
	default:
		return AXIS_COUNT;
	}
}

static bool is_named(const struct fail_condition *condition, const struct comparison_row *row)
{
	return strcmp(row->metric->name, condition->metric->name) == 0;
}

static bool value_number(const struct compared_value *value, double *ret)
{
	switch (value->shape) {
	case VALUE_NUMBER:
		*ret = value->is_signed ? (double)(int64_t)value->number : (double)value->number;
		return true;
	case VALUE_REAL:
		*ret = value->real;
		return true;
	default:
		return false;
	}
}

static double relative(double change, double before)
{
	if (before == 0)
		return change == 0 ? 0 : copysign(INFINITY, change);
	return change / fabs(before);
}

/* Why a row has no difference. */
static const char *why_unknown(const struct comparison_row *row)
{
	switch (row->state) {
	case ROW_NEW:
		return "only the second side has it";
	case ROW_GONE:
		return "only the first side has it";
	case ROW_RESET:
		return "the counter began again in between";
	case ROW_ABSENT:
		return row->reason ? row->reason : "it was not measured on both sides";
	default:
		return "its values have no difference";
	}
}

/* Puts the difference, as it is or in percent of before; or says why there is none. */
static const char *relate(const struct fail_condition *condition, const struct comparison_row *row,
			  double *ret)
{
	double before;

	*ret = row->delta.known ? row->delta.real : 0;
	if (!condition->is_relative)
		return NULL;
	if (row->state == ROW_NEW || row->state == ROW_GONE || !value_number(&row->before, &before))
		return why_unknown(row);
	*ret = relative(*ret, before);
	return NULL;
}

/* The change per second, or why it is not known. */
static const char *measure_rate(const struct fail_condition *condition,
				const struct comparison *comparison,
				const struct comparison_row *row, double *ret)
{
	if (row->values == VALUES_PER_SECOND && row->delta.known)
		return relate(condition, row, ret);
	if (!row->has_rate)
		return row->delta.known ? "no rate is known" : why_unknown(row);
	if (comparison->mode == COMPARE_INTERVAL) {
		*ret = row->per_second;
		return NULL;
	}
	if (!row->has_rate_before || !row->has_rate_after)
		return why_unknown(row);
	*ret = row->rate_after - row->rate_before;
	if (condition->is_relative)
		*ret = relative(*ret, row->rate_before);
	return NULL;
}

/* The change in the form that the condition uses, or why it is not known. */
static const char *measure(const struct fail_condition *condition,
			   const struct comparison *comparison, const struct comparison_row *row,
			   double *ret)
{
	if (row->state == ROW_ABSENT || row->state == ROW_RESET)
		return why_unknown(row);
	if (row->values == VALUES_PER_TASK_SECOND)
		return "it was restarted in between, so what it did is not known";
	if (condition->per_second)
		return measure_rate(condition, comparison, row, ret);
	if (!row->delta.known && row->state != ROW_SAME)
		return why_unknown(row);
	return relate(condition, row, ret);
}

static enum fail_outcome judge(const struct fail_condition *condition,
			       const struct comparison_row *row, double change)
{
	if (!relation_holds(condition->relation, change, condition->bound))
		return FAIL_PASSED;
	return row->significance.tested && row->significance.is_noise ? FAIL_NOISE : FAIL_FAILED;
}

static size_t *counter_of(struct fail_verdict *verdict, enum fail_outcome outcome)
{
	switch (outcome) {
	case FAIL_FAILED:
		return &verdict->failed;
	case FAIL_NOISE:
		return &verdict->noise;
	case FAIL_UNKNOWN:
		return &verdict->unknown;
	default:
		return &verdict->passed;
	}
}

static int add_finding(struct fail_verdict *verdict, const struct fail_finding *finding)
{
	++*(finding->is_moot ? &verdict->moot : counter_of(verdict, finding->outcome));
	if (finding->outcome == FAIL_PASSED)
		return 0;
	return array_append(&verdict->findings, *finding);
}

static int evaluate_row(const struct fail_condition *condition, const struct comparison *comparison,
			const struct comparison_row *row, struct fail_verdict *verdict)
{
	struct fail_finding finding = { .condition = condition, .row = row };

	finding.reason = measure(condition, comparison, row, &finding.change);
	if (finding.reason)
		finding.outcome = FAIL_UNKNOWN;
	else
		finding.outcome = judge(condition, row, finding.change);
	return add_finding(verdict, &finding);
}

/* Which rows were there, to explain why a condition matched none. */
struct seen {
	bool name, axis, group;
};

/*
 * Length of the part of a key that is a path: cgroup names are paths, and so is
 * the part before the blank on the axis "all".  A process may have "/" in its
 * name, but that is not a path.
 */
static size_t path_length(const char *key, enum group_axis axis)
{
	switch (axis) {
	case AXIS_CGROUP:
		return strlen(key);
	case AXIS_ALL:
		return strcspn(key, " ");
	default:
		return 0;
	}
}

static bool has_key(const struct glob *glob, const char *key, enum group_axis axis)
{
	return !glob || glob_match_name(glob, key, path_length(key, axis));
}

static bool is_meant(const struct fail_condition *condition, const struct glob *glob,
		     const struct comparison *comparison, enum group_axis axis,
		     const struct comparison_row *row, struct seen *seen)
{
	enum group_axis own = axis_of_row(row, axis);

	if (!is_named(condition, row))
		return false;
	seen->name = true;
	if (condition->has_axis && own != condition->axis)
		return false;
	seen->axis = true;
	if (!has_key(glob, comparison->groups.data[row->group].key, own))
		return false;
	seen->group = true;
	return true;
}

/* Adds a finding for a condition that no row was compared with. */
static int add_moot(const struct fail_condition *condition, const char *reason, bool says_glob,
		    struct fail_verdict *verdict)
{
	struct fail_finding finding = {
		.condition = condition,
		.outcome = FAIL_UNKNOWN,
		.reason = reason,
		.is_moot = true,
		.says_glob = says_glob,
	};

	return add_finding(verdict, &finding);
}

static int add_none(const struct fail_condition *condition, const struct seen *seen,
		    struct fail_verdict *verdict)
{
	if (!seen->name && (!condition->glob || metric_is_reading(condition->metric)))
		return add_moot(condition, "neither side has it", false, verdict);
	if (seen->name && !seen->axis)
		return add_moot(condition, "it has no groups on that axis", false, verdict);
	return add_moot(condition, "no group of either side is called ", true, verdict);
}

/* A percentage needs a base, and an interval has nothing that its work is a part of. */
static bool can_hold(const struct fail_condition *condition, const struct comparison *comparison)
{
	return comparison->mode != COMPARE_INTERVAL || !condition->is_relative;
}

int fail_condition_evaluate(const struct fail_condition *condition,
			    const struct comparison *comparison, enum group_axis axis,
			    struct fail_verdict *verdict)
{
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	struct seen seen = { 0 };
	int status = condition->glob ? glob_new(condition->glob, &glob, NULL) : 0;

	if (status == 0 && !can_hold(condition, comparison))
		return add_moot(
			condition,
			"one interval has no percent; give an amount or a rate, such as +5s, "
			"10MiB or 50ms/s, or compare two intervals: A..B C..D",
			false, verdict);
	for (size_t i = 0; status == 0 && i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (is_meant(condition, glob, comparison, axis, row, &seen))
			status = evaluate_row(condition, comparison, row, verdict);
	}
	return status < 0 || seen.group ? status : add_none(condition, &seen, verdict);
}

void fail_verdict_clear(struct fail_verdict *verdict)
{
	array_free(&verdict->findings);
	*verdict = (struct fail_verdict){ 0 };
}

static void append_amount(const struct fail_condition *condition, double change, struct text *out)
{
	if (change >= 0)
		text_append_string(out, "+");
	if (condition->is_relative)
		unit_format_share(out, change);
	else
		unit_format_real(out, condition->metric->unit, change);
	if (condition->per_second)
		text_append_string(out, "/s");
}

static void append_change(const struct fail_finding *finding, struct text *out)
{
	if (finding->condition->is_relative && isinf(finding->change)) {
		text_append_string(out, " changed from 0");
		return;
	}
	text_append_string(out, " changed by ");
	append_amount(finding->condition, finding->change, out);
}

static void append_moot(const struct fail_finding *finding, struct text *out)
{
	const char *glob = finding->condition->glob;

	text_append_string(out, finding->reason);
	if (finding->says_glob)
		text_append_escaped(out, glob, strlen(glob));
}

void fail_finding_append(const struct fail_finding *finding, const struct comparison *comparison,
			 struct text *out)
{
	const char *text = finding->condition->text, *key;

	text_append_escaped(out, text, strlen(text));
	text_append_string(out, ": ");
	if (finding->is_moot) {
		append_moot(finding, out);
		return;
	}
	key = comparison->groups.data[finding->row->group].key;
	text_append_escaped(out, key, strlen(key));
	if (finding->outcome == FAIL_UNKNOWN) {
		text_format(out, " cannot be judged: %s", finding->reason);
		return;
	}
	append_change(finding, out);
	if (finding->outcome == FAIL_NOISE)
		text_format(out, ", which is within noise (p = %.2f)",
			    finding->row->significance.p);
}
