/* SPDX-License-Identifier: MIT */
#include "analyze/filter/filter_match.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/container.h"
#include "analyze/group/glob.h"
#include "analyze/group/group.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

/* A term while tasks are judged.  Names are looked at once for each string, not for each task. */
struct matcher {
	const struct filter_term *term;
	const struct snapshot *snapshot;
	filter_cpu cpu;
	uint8_t *of_string; /* by the string's number: one of the below */
	uint8_t *in_tree;   /* of FILTER_tree, by row of the process: the same */
};

enum { NOT_JUDGED, DOES_NOT, DOES };

static bool glob_fits(const struct matcher *matcher, const char *name)
{
	const struct filter_term *term = matcher->term;
	bool is_path = term->field != FILTER_METRIC && filter_fields[term->field].is_path;

	for (size_t i = 0; i < term->values.count; i++)
		if (glob_match_name(term->values.data[i].glob, name, is_path ? SIZE_MAX : 0) ||
		    strcmp(term->values.data[i].text, name) == 0)
			return true;
	return false;
}

static bool judge_string(const struct matcher *matcher, uint32_t string)
{
	const char *name = snapshot_text(matcher->snapshot, string);
	CLEANUP(text_free) struct text container = { 0 };

	if (matcher->term->field != FILTER_container)
		return glob_fits(matcher, name);
	container_append_name(name, &container);
	return glob_fits(matcher, text_string(&container));
}

static bool string_fits(const struct matcher *matcher, uint32_t string)
{
	uint8_t *judged = &matcher->of_string[string];

	if (*judged == NOT_JUDGED)
		*judged = judge_string(matcher, string) ? DOES : DOES_NOT;
	return *judged == DOES;
}

static bool number_fits(const struct matcher *matcher, double number)
{
	const struct filter_term *term = matcher->term;

	for (size_t i = 0; i < term->values.count; i++)
		if (term->values.data[i].has_number && number == term->values.data[i].number)
			return true;
	return false;
}

/* Whether a task has one of the names, or numbers.  1, 0, or -ENODATA when it has none at all. */
static int name_fits(const struct matcher *matcher, uint32_t task)
{
	const struct filter_field_info *field = &filter_fields[matcher->term->field];
	uint32_t string = field->text ? field->text(matcher->snapshot, task) : 0;
	double number;
	bool has_number = field->number && field->number(matcher->snapshot, task, &number);

	if (!string && !has_number)
		return -ENODATA;
	return (string && string_fits(matcher, string)) ||
	       (has_number && number_fits(matcher, number));
}

/* The row of the process that started another, or -1. */
static int64_t parent_row(const struct snapshot *snapshot, uint32_t process)
{
	int32_t parent = snapshot_parent(snapshot, process);

	return parent ? snapshot_find_process(snapshot, parent) : -1;
}

/*
 * Climbs from a process to the first ancestor whose answer is known, then gives its answer to all
 * on the way.  Those on the way count as outside meanwhile, so a circle in a forged file ends.
 */
static int tree_fits(const struct matcher *matcher, uint32_t task)
{
	const struct snapshot *snapshot = matcher->snapshot;
	uint32_t process = snapshot->tasks[task].process;
	int64_t row = process;
	uint8_t answer = DOES_NOT;

	while (row >= 0 && matcher->in_tree[row] == NOT_JUDGED) {
		uint32_t first = snapshot->processes[row].first_task;

		matcher->in_tree[row] = name_fits(matcher, first) > 0 ? DOES : DOES_NOT;
		if (matcher->in_tree[row] == DOES)
			break;
		row = parent_row(snapshot, (uint32_t)row);
	}
	if (row >= 0)
		answer = matcher->in_tree[row];
	for (int64_t below = process; answer == DOES && below != row;
	     below = parent_row(snapshot, (uint32_t)below))
		matcher->in_tree[below] = DOES;
	return matcher->in_tree[process] == DOES;
}

static bool stored_value(const struct snapshot *snapshot, enum metric_id id, uint32_t task,
			 uint64_t *ret)
{
	bool is_thread = metrics[id].scope == METRIC_OF_THREAD;

	return snapshot_get(snapshot, id, is_thread ? task : snapshot->tasks[task].process, ret);
}

/* The value of a derived metric for one task. */
static bool derived_value(const struct snapshot *snapshot, enum metric_id id, uint32_t task,
			  double *ret)
{
	const struct formula *formula = &metrics[id].formula;
	uint64_t inputs[FORMULA_INPUTS] = { 0 }, whole;

	for (unsigned i = 0; i < formula->count; i++)
		if (!stored_value(snapshot, formula->inputs[i], task, &inputs[i]) &&
		    !input_is_spared(snapshot, formula, i))
			return false;
	return formula_evaluate(formula, inputs, &whole, ret);
}

static bool metric_value(const struct snapshot *snapshot, enum metric_id id, uint32_t task,
			 double *ret)
{
	bool is_signed = metrics[id].kind == KIND_ORDINAL;
	uint64_t value;

	if (metric_is_derived(id))
		return derived_value(snapshot, id, task, ret);
	if (!stored_value(snapshot, id, task, &value))
		return false;
	*ret = is_signed ? (double)(int64_t)value : (double)value;
	return true;
}

/* A metric whose values are names: a state, a policy, a list of CPUs. */
static int category_fits(const struct matcher *matcher, uint32_t task)
{
	const struct metric *metric = &metrics[matcher->term->metric];
	char buffer[32];
	uint64_t value;

	if (!stored_value(matcher->snapshot, matcher->term->metric, task, &value))
		return -ENODATA;
	if (metric->kind == KIND_CPUSET)
		return string_fits(matcher, (uint32_t)value);
	return glob_fits(matcher, metric_category_text(metric->unit, value, buffer));
}

/* 1, 0, or -ENODATA when the task has no value to compare. */
static int term_fits(const struct matcher *matcher, uint32_t task)
{
	const struct filter_term *term = matcher->term;
	bool negates = term->relation == RELATION_UNEQUAL;
	double number;
	int fits;

	if (term->field != FILTER_METRIC && term->field != FILTER_cpu) {
		fits = term->field == FILTER_tree ? tree_fits(matcher, task) :
						    name_fits(matcher, task);
		if (filter_fields[term->field].text || term->relation <= RELATION_UNEQUAL)
			return fits < 0 ? fits : fits != negates;
		if (!filter_fields[term->field].number(matcher->snapshot, task, &number))
			return -ENODATA;
		return relation_holds(term->relation, number, term->values.data[0].number);
	}
	if (filter_term_has_names(term)) {
		fits = category_fits(matcher, task);
		return fits < 0 ? fits : fits != negates;
	}
	if (term->field == FILTER_cpu)
		number = matcher->cpu[task];
	else if (!metric_value(matcher->snapshot, term->metric, task, &number))
		return -ENODATA;
	if (isnan(number))
		return -ENODATA;
	if (term->relation <= RELATION_UNEQUAL)
		return number_fits(matcher, number) != negates;
	return relation_holds(term->relation, number, term->values.data[0].number);
}

static uint8_t judge(const struct matcher *matchers, size_t count, uint32_t task)
{
	uint8_t outcome = FILTER_YES;

	for (size_t i = 0; i < count; i++) {
		int fits = term_fits(&matchers[i], task);

		if (fits == 0)
			return FILTER_NO;
		if (fits < 0 && outcome == FILTER_YES)
			outcome = (uint8_t)(FILTER_ABSENT + i);
	}
	return outcome;
}

/* What this snapshot can never have is a mistake, not an absent value. */
static int check_term(const struct filter_term *term, const struct snapshot *snapshot,
		      filter_cpu cpu, struct error *error)
{
	if (term->field == FILTER_cpu && !cpu)
		return error_set(
			error, -EINVAL,
			"cpu is what was used in an interval, and a single snapshot has none; "
			"run_time_ns is what was used since the start");
	if (term->field == FILTER_METRIC && !metric_is_derived(term->metric) &&
	    metric_is_only_traced(term->metric) && !snapshot_is_run(snapshot) &&
	    !snapshot->columns[term->metric].values)
		return error_set(error, -EINVAL, "%s is not in a capture: %s", term->name,
				 ABSENT_UNTRACED);
	return 0;
}

static void free_matchers(struct matcher *matchers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(matchers[i].of_string);
		free(matchers[i].in_tree);
	}
}

static int prepare(struct matcher *matcher, const struct snapshot *snapshot)
{
	matcher->of_string = calloc(dictionary_count(snapshot->strings) + 1, 1);
	if (matcher->term->field == FILTER_tree)
		matcher->in_tree = calloc(snapshot->process_count + 1, 1);
	return matcher->of_string && (matcher->term->field != FILTER_tree || matcher->in_tree) ?
		       0 :
		       -ENOMEM;
}

static bool is_of_process(const struct filter_term *term)
{
	if (term->field != FILTER_METRIC)
		return filter_fields[term->field].is_process;
	return !metric_is_derived(term->metric) && metrics[term->metric].scope == METRIC_OF_PROCESS;
}

static int match(const struct filter *filter, const struct snapshot *snapshot, filter_cpu cpu,
		 bool threads_only, uint8_t **ret, struct error *error)
{
	struct matcher matchers[FILTER_TERMS_MAX] = { 0 };
	CLEANUP(free_pointer) uint8_t *outcomes = malloc(snapshot->task_count + 1);
	size_t count = 0;
	int status = outcomes ? 0 : -ENOMEM;

	for (size_t i = 0; i < filter->terms.count && status == 0; i++) {
		const struct filter_term *term = &filter->terms.data[i];

		if (threads_only && is_of_process(term))
			continue;
		matchers[count] = (struct matcher){ term, snapshot, cpu, NULL, NULL };
		status = check_term(term, snapshot, cpu, error);
		if (status == 0)
			status = prepare(&matchers[count++], snapshot);
	}
	for (uint32_t task = 0; task < snapshot->task_count && status == 0; task++)
		outcomes[task] = judge(matchers, count, task);
	free_matchers(matchers, count);
	if (status == 0)
		*ret = TAKE_PTR(outcomes);
	return status;
}

int filter_match(const struct filter *filter, const struct snapshot *snapshot, filter_cpu cpu,
		 uint8_t **ret, struct error *error)
{
	return match(filter, snapshot, cpu, false, ret, error);
}

int filter_match_threads(const struct filter *filter, const struct snapshot *snapshot,
			 filter_cpu cpu, uint8_t **ret, struct error *error)
{
	return match(filter, snapshot, cpu, true, ret, error);
}

const char *filter_absence(const struct filter_term *term, const struct snapshot *snapshot)
{
	const char *reason = NULL;
	enum metric_id cause;

	if (term->field == FILTER_METRIC)
		reason = absence_reason(snapshot, term->metric, &cause);
	else if (snapshot_is_run(snapshot) &&
		 (term->field == FILTER_cgroup || term->field == FILTER_container))
		reason = "run and attach do not record it for each task";
	else if (term->field == FILTER_user)
		reason = absence_reason(snapshot, METRIC_uid, &cause);
	if (reason)
		return reason;
	return term->field == FILTER_METRIC ? "it was not measured for them" :
					      filter_fields[term->field].absent;
}
