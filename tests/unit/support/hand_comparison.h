/* SPDX-License-Identifier: MIT */
/*
 * Comparisons made by hand, one call for each group and row.
 */
#ifndef HAND_COMPARISON_H
#define HAND_COMPARISON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/compare/comparison.h"

static inline uint32_t hand_group(struct comparison *comparison, const char *key)
{
	struct compared_group group = { .key = key };

	assert_int_equal(array_append(&comparison->groups, group), 0);
	return (uint32_t)comparison->groups.count - 1;
}

static inline struct comparison_row *hand_row(struct comparison *comparison, uint32_t group,
					      struct comparison_row row)
{
	row.group = group;
	assert_int_equal(array_append(&comparison->rows, row), 0);
	return &comparison->rows.data[comparison->rows.count - 1];
}

static inline struct compared_value hand_number(uint64_t number)
{
	return (struct compared_value){
		.shape = VALUE_NUMBER, .number = number, .measured = 1, .population = 1
	};
}

/* A metric that went from one whole number to another. */
static inline struct comparison_row *hand_change(struct comparison *comparison, uint32_t group,
						 enum metric_id id, uint64_t before, uint64_t after)
{
	struct comparison_row row = {
		.metric = &metrics[id],
		.before = hand_number(before),
		.after = hand_number(after),
		.state = before == after ? ROW_SAME : ROW_CHANGED,
	};

	row.delta.known = true;
	row.delta.is_negative = after < before;
	row.delta.magnitude = after < before ? before - after : after - before;
	row.delta.real = (double)after - (double)before;
	return hand_row(comparison, group, row);
}

static inline void hand_clear(struct comparison *comparison)
{
	array_free(&comparison->groups);
	array_free(&comparison->rows);
}

#endif
