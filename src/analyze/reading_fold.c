/* SPDX-License-Identifier: MIT */
#include "analyze/reading_fold.h"

#include <errno.h>
#include <string.h>

#include "analyze/comparison.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"

enum reading_rule reading_rule(const struct reading *reading)
{
	switch (reading->kind) {
	case READING_COUNTER:
		return RULE_SUM;
	case READING_GAUGE:
		return reading->unit == UNIT_CENTIPERCENT ? RULE_LARGEST : RULE_SUM;
	case READING_PEAK:
		return RULE_LARGEST;
	default:
		return RULE_RANGE;
	}
}

static bool is_signed(const struct reading *reading)
{
	return reading->unit == UNIT_LEVEL;
}

static bool is_less(const struct reading *reading, uint64_t a, uint64_t b)
{
	return is_signed(reading) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Numbers from low to high that add up to sum. */
static void add_numbers(struct reading_fold *fold, const struct reading *reading, uint32_t count,
			uint64_t low, uint64_t high, uint64_t sum)
{
	if (fold->numbers == 0 || is_less(reading, low, fold->low))
		fold->low = low;
	if (fold->numbers == 0 || is_less(reading, fold->high, high))
		fold->high = high;
	fold->sum = add_saturating(fold->sum, sum);
	fold->numbers += count;
}

/* FNV-1a: texts are few and short. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

static void tally_text(struct reading_fold *fold, const char *text, uint32_t count)
{
	unsigned i = 0;

	while (i < fold->tally_count && strcmp(fold->tallies[i].text, text) != 0)
		i++;
	if (i == READING_TALLIES)
		return;
	if (i == fold->tally_count) {
		fold->tallies[i].text = text;
		fold->tallies[i].count = 0;
		fold->tally_count++;
	}
	fold->tallies[i].count += count;
}

void reading_fold_add(struct reading_fold *fold, const struct reading *reading,
		      enum cell_state state, uint64_t value, const char *text)
{
	switch (state) {
	case CELL_NUMBER:
		add_numbers(fold, reading, 1, value, value, value);
		break;
	case CELL_UNLIMITED:
		fold->unlimited++;
		break;
	case CELL_TEXT:
		fold->texts++;
		fold->digest += hash_text(text);
		tally_text(fold, text, 1);
		break;
	default:
		break;
	}
}

void reading_fold_merge(struct reading_fold *fold, const struct reading *reading,
			const struct reading_fold *other)
{
	fold->measured += other->measured;
	fold->population += other->population;
	fold->unlimited += other->unlimited;
	fold->texts += other->texts;
	fold->digest += other->digest;
	if (other->numbers)
		add_numbers(fold, reading, other->numbers, other->low, other->high, other->sum);
	for (unsigned i = 0; i < other->tally_count; i++)
		tally_text(fold, other->tallies[i].text, other->tallies[i].count);
}

/* The most frequent text; of equally frequent ones the smallest. */
static void mode_of(const struct reading_fold *fold, struct compared_value *ret)
{
	unsigned best = 0;

	for (unsigned i = 1; i < fold->tally_count; i++) {
		uint32_t count = fold->tallies[i].count, most = fold->tallies[best].count;

		if (count > most ||
		    (count == most && strcmp(fold->tallies[i].text, fold->tallies[best].text) < 0))
			best = i;
	}
	ret->shape = VALUE_TEXT;
	ret->text = fold->tallies[best].text;
	ret->number = fold->tallies[best].count;
}

/* Some have a limit and others have none: "1.000 GiB..max". */
static int limits_of(const struct reading_fold *fold, const struct reading *reading,
		     struct arena *arena, struct compared_value *ret)
{
	CLEANUP(text_free) struct text text = { 0 };

	unit_format(&text, reading->unit, fold->low);
	text_append_string(&text, "..max");
	if (text.failed)
		return -ENOMEM;
	ret->text = arena_copy(arena, text.data, text.length);
	ret->shape = VALUE_TEXT;
	ret->number = fold->numbers + fold->unlimited;
	return ret->text ? 0 : -ENOMEM;
}

static int64_t clamp(const struct reading *reading, uint64_t value)
{
	return !is_signed(reading) && value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void numbers_of(const struct reading_fold *fold, const struct reading *reading,
		       struct compared_value *ret)
{
	enum reading_rule rule = reading_rule(reading);

	ret->shape = VALUE_NUMBER;
	ret->is_signed = is_signed(reading);
	ret->number = rule == RULE_SUM ? fold->sum : fold->high;
	if (rule != RULE_RANGE || fold->low == fold->high)
		return;
	ret->shape = VALUE_RANGE;
	ret->min = clamp(reading, fold->low);
	ret->max = clamp(reading, fold->high);
}

int reading_fold_value(const struct reading_fold *fold, const struct reading *reading,
		       struct arena *arena, struct compared_value *ret)
{
	struct compared_value value = { .measured = fold->measured,
					.population = fold->population };
	int status = 0;

	if (fold->texts)
		mode_of(fold, &value);
	else if (fold->unlimited && fold->numbers)
		status = limits_of(fold, reading, arena, &value);
	else if (fold->unlimited)
		value.shape = VALUE_UNLIMITED;
	else if (fold->numbers)
		numbers_of(fold, reading, &value);
	if (status == 0)
		*ret = value;
	return status;
}

bool reading_folds_same(const struct reading_fold *a, const struct reading_fold *b,
			const struct reading *reading)
{
	/* In the same proportions, however many there are. */
	bool same_words = !a->texts == !b->texts && a->digest * b->texts == b->digest * a->texts;
	bool same_kinds = !a->numbers == !b->numbers && !a->unlimited == !b->unlimited;

	switch (reading_rule(reading)) {
	case RULE_SUM:
		return same_words && same_kinds && a->sum == b->sum;
	case RULE_LARGEST:
		return same_words && same_kinds && a->high == b->high;
	default:
		return same_words && same_kinds && a->low == b->low && a->high == b->high;
	}
}
