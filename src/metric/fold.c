/* SPDX-License-Identifier: MIT */
#include "metric/fold.h"

#include <stddef.h>
#include <string.h>

void fold_init(struct fold *fold, const struct metric *metric)
{
	/*
	 * Tallies beyond tally_count are never read; clearing them would be most of the cost of a
	 * fold.
	 */
	memset(fold, 0, offsetof(struct fold, tallies));
	fold->metric = metric;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_range(struct fold *fold, int64_t number)
{
	bool is_first = fold->measured == fold->unlimited + fold->texts;

	if (is_first || number < fold->min)
		fold->min = number;
	if (is_first || number > fold->max)
		fold->max = number;
}

/* Among limits and settings only levels are signed; other values are capped at INT64_MAX. */
static void add_setting(struct fold *fold, uint64_t value)
{
	bool is_signed = fold->metric->kind == KIND_ORDINAL || fold->metric->unit == UNIT_LEVEL;

	add_range(fold, value > INT64_MAX && !is_signed ? INT64_MAX : (int64_t)value);
}

/* Counts a text, or a category by its code. */
static void add_tally(struct fold *fold, uint64_t code, const char *text)
{
	unsigned i;

	for (i = 0; i < fold->tally_count; i++)
		if (text ? strcmp(fold->tallies[i].text, text) == 0 : fold->tallies[i].code == code)
			break;
	if (i == FOLD_TALLIES)
		return;
	if (i == fold->tally_count) {
		fold->tally_count++;
		fold->tallies[i].code = code;
		fold->tallies[i].text = text;
		fold->tallies[i].count = 0;
	}
	fold->tallies[i].count++;
}

/*
 * A low of 0 means that the task had no event: it counts as measured but does not change the
 * minimum.
 */
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
		add_setting(fold, value);
		break;
	case FOLD_MODE:
		/* A file may hold a number where a text is expected. */
		if (fold->metric->kind == KIND_TEXT)
			add_setting(fold, value);
		else
			add_tally(fold, value, NULL);
		break;
	case FOLD_CPUSET:
	case FOLD_FORMULA:
		return;
	}
	fold->measured++;
	fold->population++;
}

void fold_add_cpus(struct fold *fold, const char *list, unsigned cpus)
{
	if (fold->measured == 0)
		fold->text = list;
	else if (fold->text && fold->text != list && strcmp(fold->text, list) != 0)
		fold->text = NULL;
	add_range(fold, cpus);
	fold->measured++;
	fold->population++;
}

/* FNV-1a: texts are few and short. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

void fold_add_text(struct fold *fold, const char *text)
{
	fold->digest += hash_text(text);
	add_tally(fold, 0, text);
	fold->texts++;
	fold->measured++;
	fold->population++;
}

void fold_add_unlimited(struct fold *fold)
{
	fold->unlimited++;
	fold->measured++;
	fold->population++;
}

void fold_skip(struct fold *fold)
{
	fold->population++;
}

static const char *tally_text(const struct fold *fold, unsigned i, char buffer[32])
{
	if (fold->texts)
		return fold->tallies[i].text;
	return metric_category_text(fold->metric->unit, fold->tallies[i].code, buffer);
}

/* Whether tally `a` is the better mode: the higher count wins, then the smaller text. */
static bool tally_wins(const struct fold *fold, unsigned a, unsigned b)
{
	char first[32], second[32];

	if (fold->tallies[a].count != fold->tallies[b].count)
		return fold->tallies[a].count > fold->tallies[b].count;
	return strcmp(tally_text(fold, a, first), tally_text(fold, b, second)) < 0;
}

static void finish_mode(struct fold *fold)
{
	unsigned best = 0;

	for (unsigned i = 1; i < fold->tally_count; i++)
		if (tally_wins(fold, i, best))
			best = i;
	fold->mode = fold->tallies[best].code;
	fold->text = fold->tallies[best].text;
	fold->mode_count = fold->tallies[best].count;
	fold->shape = fold->texts ? SHAPE_TEXT : SHAPE_MODE;
}

/* A limit that is the same for all becomes a plain number in its unit. */
static void finish_range(struct fold *fold)
{
	fold->shape = SHAPE_RANGE;
	if (fold->metric->kind == KIND_ORDINAL || fold->min != fold->max)
		return;
	fold->shape = SHAPE_NUMBER;
	fold->number = (uint64_t)fold->min;
}

static void finish_numbers(struct fold *fold)
{
	switch (fold->metric->fold) {
	case FOLD_SUM:
	case FOLD_MAX:
	case FOLD_MIN:
		fold->shape = SHAPE_NUMBER;
		break;
	case FOLD_RANGE: /* these are not counted one by one */
	case FOLD_MODE:
		if (fold->tally_count)
			finish_mode(fold);
		else
			finish_range(fold);
		break;
	case FOLD_CPUSET:
		fold->shape = SHAPE_CPUS;
		break;
	case FOLD_FORMULA:
		break;
	}
}

void fold_finish(struct fold *fold)
{
	fold->shape = SHAPE_ABSENT;
	if (fold->measured == 0)
		return;
	if (fold->texts)
		finish_mode(fold);
	else if (fold->unlimited)
		fold->shape = fold->unlimited < fold->measured ? SHAPE_LIMITS : SHAPE_UNLIMITED;
	else
		finish_numbers(fold);
}

static bool same_range(const struct fold *a, const struct fold *b)
{
	return a->min == b->min && a->max == b->max;
}

bool fold_equals(const struct fold *a, const struct fold *b)
{
	if (a->shape != b->shape)
		return false;
	switch (a->shape) {
	case SHAPE_NUMBER:
		return a->number == b->number;
	case SHAPE_REAL:
		return a->real == b->real;
	case SHAPE_MODE:
		return a->mode == b->mode;
	case SHAPE_TEXT:
		/* Equal when the texts have the same proportions, whatever their counts. */
		return a->digest * b->texts == b->digest * a->texts;
	case SHAPE_CPUS:
		if (a->text && b->text)
			return strcmp(a->text, b->text) == 0;
		return a->text == b->text && same_range(a, b);
	case SHAPE_RANGE:
	case SHAPE_LIMITS:
		return same_range(a, b);
	case SHAPE_UNLIMITED:
	case SHAPE_ABSENT:
		break;
	}
	return true;
}

bool formula_evaluate(const struct formula *formula, const uint64_t *inputs, uint64_t *ret_number,
		      double *ret_real)
{
	double a = (double)inputs[0];
	double b = (double)inputs[1];
	double denominator = formula->kind == FORMULA_SHARE ? a + b : b;
	unsigned last = formula->count - 1;
	unsigned plain = formula->kind == FORMULA_SUM ? formula->count : last - 1;
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
	case FORMULA_SUM:
	case FORMULA_SUM_AND_LARGER:
		for (unsigned i = 0; i < plain; i++)
			sum = saturating_add(sum, inputs[i]);
		if (formula->kind == FORMULA_SUM_AND_LARGER)
			sum = saturating_add(sum, inputs[last] > inputs[last - 1] ?
							  inputs[last] :
							  inputs[last - 1]);
		*ret_number = sum;
		*ret_real = (double)sum;
		return true;
	}
	return false;
}

bool formula_is_whole(const struct formula *formula)
{
	return formula->kind == FORMULA_DIFFERENCE || formula->kind == FORMULA_SUM ||
	       formula->kind == FORMULA_SUM_AND_LARGER;
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
	case SHAPE_TEXT:
	case SHAPE_UNLIMITED:
	case SHAPE_LIMITS:
	case SHAPE_ABSENT:
		break;
	}
	return false;
}
