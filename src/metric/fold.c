/* SPDX-License-Identifier: MIT */
#include "metric/fold.h"

#include <stddef.h>
#include <string.h>

void fold_init(struct fold *fold, const struct metric *metric)
{
	/* Tallies beyond tally_count are never read, and clearing them all is what folding costs. */
	memset(fold, 0, offsetof(struct fold, tallies));
	fold->metric = metric;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_range(struct fold *fold, int64_t low, int64_t high)
{
	if (fold->measured == 0 || low < fold->min)
		fold->min = low;
	if (fold->measured == 0 || high > fold->max)
		fold->max = high;
}

static void add_tally(struct fold *fold, uint64_t code)
{
	unsigned i;

	for (i = 0; i < fold->tally_count; i++)
		if (fold->tallies[i].code == code)
			break;
	if (i == FOLD_TALLIES)
		return;
	if (i == fold->tally_count) {
		fold->tally_count++;
		fold->tallies[i].code = code;
		fold->tallies[i].count = 0;
	}
	fold->tallies[i].count++;
}

/* A low of 0 says that the task had no event: it was measured, and has no minimum to give. */
static void add_minimum(struct fold *fold, uint64_t value)
{
	if (value == 0 && fold->metric->kind == KIND_LOW)
		return;
	if (!fold->has_number || value < fold->number)
		fold->number = value;
	fold->has_number = true;
}

void fold_add(struct fold *fold, uint64_t value)
{
	switch (fold->metric->fold) {
	case FOLD_SUM:
		fold->number = saturating_add(fold->number, value);
		break;
	case FOLD_MAX:
		if (value > fold->number)
			fold->number = value;
		break;
	case FOLD_MIN:
		add_minimum(fold, value);
		break;
	case FOLD_RANGE:
		add_range(fold, (int64_t)value, (int64_t)value);
		break;
	case FOLD_MODE:
		add_tally(fold, value);
		break;
	case FOLD_CPUSET:
	case FOLD_FORMULA:
		return;
	}
	fold->measured++;
	fold->population++;
}

void fold_add_cpus(struct fold *fold, uint64_t list_id, unsigned cpus)
{
	if (fold->measured == 0) {
		fold->number = list_id;
		fold->uniform = true;
	} else if (fold->number != list_id) {
		fold->uniform = false;
	}
	add_range(fold, cpus, cpus);
	fold->measured++;
	fold->population++;
}

void fold_skip(struct fold *fold)
{
	fold->population++;
}

/* Whether tally `a` is the better mode: more often seen, then the smaller text. */
static bool tally_wins(const struct fold *fold, unsigned a, unsigned b)
{
	char first[32], second[32];

	if (fold->tallies[a].count != fold->tallies[b].count)
		return fold->tallies[a].count > fold->tallies[b].count;
	return strcmp(metric_category_text(fold->metric->unit, fold->tallies[a].code, first),
		      metric_category_text(fold->metric->unit, fold->tallies[b].code, second)) < 0;
}

static void finish_mode(struct fold *fold)
{
	unsigned best = 0;

	for (unsigned i = 1; i < fold->tally_count; i++)
		if (tally_wins(fold, i, best))
			best = i;
	fold->mode = fold->tallies[best].code;
	fold->mode_count = fold->tallies[best].count;
	fold->shape = SHAPE_MODE;
}

void fold_finish(struct fold *fold)
{
	fold->shape = SHAPE_ABSENT;
	if (fold->measured == 0)
		return;
	switch (fold->metric->fold) {
	case FOLD_SUM:
	case FOLD_MAX:
	case FOLD_MIN:
		fold->shape = SHAPE_NUMBER;
		break;
	case FOLD_RANGE:
		fold->shape = SHAPE_RANGE;
		break;
	case FOLD_MODE:
		finish_mode(fold);
		break;
	case FOLD_CPUSET:
		fold->shape = SHAPE_CPUS;
		break;
	case FOLD_FORMULA:
		break;
	}
}

bool formula_evaluate(const struct formula *formula, const uint64_t *inputs, uint64_t *ret_number,
		      double *ret_real)
{
	double a = (double)inputs[0];
	double b = (double)inputs[1];
	double denominator = formula->kind == FORMULA_SHARE ? a + b : b;
	unsigned last = formula->count - 1;
	uint64_t sum = 0;

	switch (formula->kind) {
	case FORMULA_RATIO:
	case FORMULA_SHARE:
		if (denominator == 0)
			return false;
		*ret_real = a / denominator;
		return true;
	case FORMULA_DIFFERENCE:
		*ret_number = inputs[0] - inputs[1];
		*ret_real = inputs[0] < inputs[1] ? -(double)-*ret_number : (double)*ret_number;
		return true;
	case FORMULA_SUM_AND_LARGER:
		for (unsigned i = 0; i + 2 < formula->count; i++)
			sum = saturating_add(sum, inputs[i]);
		sum = saturating_add(sum, inputs[last] > inputs[last - 1] ? inputs[last] :
									    inputs[last - 1]);
		*ret_number = sum;
		*ret_real = (double)sum;
		return true;
	}
	return false;
}

bool formula_is_whole(const struct formula *formula)
{
	return formula->kind == FORMULA_DIFFERENCE || formula->kind == FORMULA_SUM_AND_LARGER;
}

void fold_formula(struct fold *ret, const struct metric *metric, const struct fold *inputs)
{
	const struct formula *formula = &metric->formula;
	uint64_t numbers[FORMULA_INPUTS];

	fold_init(ret, metric);
	ret->population = inputs[0].population;
	ret->measured = inputs[0].measured;
	for (unsigned i = 0; i < formula->count; i++) {
		if (inputs[i].measured < ret->measured)
			ret->measured = inputs[i].measured;
		if (inputs[i].shape != SHAPE_NUMBER)
			return;
		numbers[i] = inputs[i].number;
	}
	if (formula_evaluate(formula, numbers, &ret->number, &ret->real)) {
		ret->shape = SHAPE_REAL;
		ret->has_number = formula_is_whole(formula);
	}
}

bool fold_number(const struct fold *fold, double *ret)
{
	switch (fold->shape) {
	case SHAPE_NUMBER:
		*ret = (double)fold->number;
		return true;
	case SHAPE_REAL:
		*ret = fold->real;
		return true;
	case SHAPE_RANGE:
	case SHAPE_CPUS:
		*ret = ((double)fold->min + (double)fold->max) / 2;
		return true;
	case SHAPE_MODE:
	case SHAPE_ABSENT:
		break;
	}
	return false;
}
