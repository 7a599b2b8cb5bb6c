/* SPDX-License-Identifier: MIT */
/* Significance: against published values, and against every deal counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "analyze/compare/comparison.h"
#include "analyze/threshold/mann_whitney.h"

#define POOL_MAX 64

static int set_up(void **state)
{
	return mann_whitney_new((struct mann_whitney **)state);
}

static int tear_down(void **state)
{
	mann_whitney_free(*state);
	return 0;
}

static double p_of(struct mann_whitney *test, const double *before, size_t before_count,
		   const double *after, size_t after_count)
{
	double p = -1, turned = -1;

	assert_int_equal(mann_whitney_p(test, before, before_count, after, after_count, &p), 0);
	assert_int_equal(mann_whitney_p(test, after, after_count, before, before_count, &turned),
			 0);
	assert_true(p == turned);
	assert_true(p > 0 && p <= 1);
	return p;
}

/* Two sides without ties of which `wins` pairs have the larger value before. */
static double p_of_wins(struct mann_whitney *test, size_t before_count, size_t after_count,
			size_t wins)
{
	double before[POOL_MAX], after[POOL_MAX];

	for (size_t i = 0; i < after_count; i++)
		after[i] = (double)i + 1;
	for (size_t i = 0; i < before_count; i++) {
		size_t beaten = wins < after_count ? wins : after_count;

		wins -= beaten;
		before[i] = (double)beaten + 0.9 - (double)i / 100;
	}
	return p_of(test, before, before_count, after, after_count);
}

static void published_critical_values_are_met(void **state)
{
	/* Largest U that is significant at 0.05, two-sided, from the usual tables. */
	static const struct {
		size_t before, after, critical;
	} table[] = {
		{ 3, 5, 0 },	{ 3, 8, 2 },	{ 4, 4, 0 },	{ 4, 10, 5 },	{ 5, 5, 2 },
		{ 6, 6, 5 },	{ 7, 9, 12 },	{ 8, 8, 13 },	{ 9, 9, 17 },	{ 10, 10, 23 },
		{ 11, 14, 40 }, { 12, 12, 37 }, { 15, 15, 64 }, { 17, 17, 87 }, { 20, 20, 127 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		size_t critical = table[i].critical;

		if (p_of_wins(*state, table[i].before, table[i].after, critical) > 0.05)
			fail_msg("%zu of %zu and %zu", critical, table[i].before, table[i].after);
		if (p_of_wins(*state, table[i].before, table[i].after, critical + 1) <= 0.05)
			fail_msg("%zu of %zu and %zu", critical + 1, table[i].before,
				 table[i].after);
	}
}

static void published_p_values_are_met(void **state)
{
	static const double at_term[] = {
		0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46
	};
	static const double earlier[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };

	assert_true(p_of_wins(*state, 3, 3, 0) == 2.0 / 20);
	assert_true(p_of_wins(*state, 4, 4, 0) == 2.0 / 70);
	assert_true(p_of_wins(*state, 5, 5, 2) == 8.0 / 252);
	assert_true(p_of_wins(*state, 20, 20, 200) == 1);
	/* Hollander and Wolfe: permeability of membranes, U = 35, one-sided 0.1272. */
	assert_float_equal(p_of(*state, at_term, 10, earlier, 5), 0.2544, 0.00006);
}

/* Pairs that the dealt runs win, ties for half, less what is expected. */
static double apart(const double *pool, size_t count, unsigned dealt)
{
	double wins = 0, pairs = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++) {
			if (!(dealt >> i & 1) || (dealt >> j & 1))
				continue;
			wins += pool[i] > pool[j] ? 1 : pool[i] == pool[j] ? 0.5 : 0;
			pairs++;
		}
	return fabs(wins - pairs / 2);
}

/* The first runs of the pool are those before. */
static double p_by_hand(const double *pool, size_t count, size_t before_count)
{
	double found = apart(pool, count, (1u << before_count) - 1);
	unsigned all = 0, farther = 0;

	for (unsigned dealt = 0; dealt < 1u << count; dealt++) {
		if ((size_t)__builtin_popcount(dealt) != before_count)
			continue;
		all++;
		farther += apart(pool, count, dealt) >= found;
	}
	return (double)farther / all;
}

static void every_deal_counted_by_hand_gives_the_same(void **state)
{
	unsigned seed = 1;

	for (int round = 0; round < 300; round++) {
		size_t before = 1 + (size_t)rand_r(&seed) % 5,
		       after = 1 + (size_t)rand_r(&seed) % 5;
		int values = 1 + rand_r(&seed) % 12;
		double pool[POOL_MAX], p;

		for (size_t i = 0; i < before + after; i++)
			pool[i] = rand_r(&seed) % values;
		p = p_of(*state, pool, before, pool + before, after);
		if (fabs(p - p_by_hand(pool, before + after, before)) > 1e-12)
			fail_msg("round %d: %zu and %zu", round, before, after);
	}
}

static void the_same_values_on_both_sides_are_never_apart(void **state)
{
	double same[POOL_MAX];

	for (size_t i = 0; i < POOL_MAX; i++)
		same[i] = 7;
	for (size_t count = 1; count <= 30; count++)
		assert_true(p_of(*state, same, count, same + count, count) == 1);
	for (size_t i = 0; i < POOL_MAX; i++)
		same[i] = (double)(i % 30);
	assert_true(p_of(*state, same, 30, same + 30, 30) == 1);
}

static void many_runs_go_on_where_the_exact_values_end(void **state)
{
	for (size_t wins = 60; wins <= 190; wins += 10) {
		double exact = p_of_wins(*state, 20, 20, wins);
		/* As many standard deviations from the middle with one run more a side. */
		double middle = 21 * 21 / 2.0;
		double width = sqrt(21 * 21 * 43 / (20 * 20 * 41.0));
		double moved = middle - (200.0 - (double)wins) * width;
		double approximate = p_of_wins(*state, 21, 21, (size_t)(moved + 0.5));

		if (fabs(exact - approximate) > 0.02)
			fail_msg("%zu wins: %g, then %g", wins, exact, approximate);
	}
	assert_true(p_of_wins(*state, 30, 30, 0) < 1e-9);
}

static void ties_make_many_runs_no_less_sure_of_what_differs(void **state)
{
	double before[POOL_MAX], after[POOL_MAX];

	for (size_t i = 0; i < 30; i++) {
		before[i] = i < 25 ? 1 : 2;
		after[i] = i < 5 ? 1 : 2;
	}
	/*
	 * 150 of 900 pairs are won, 300 fewer than expected; without its correction for ties
	 * the variance would be 4575, not 3432.
	 */
	assert_true(fabs(p_of(*state, before, 30, after, 30) / 3.184e-7 - 1) < 0.001);
}

static void nothing_is_claimed_below_three_runs_a_side(void **state)
{
	static const double low[] = { 1, 2, 3, 4 }, high[] = { 1001, 1002, 1003, 1004 };
	struct significance significance;

	for (size_t before = 0; before <= 4; before++)
		for (size_t after = 0; after <= 4; after++) {
			bool enough = before >= 3 && after >= 3;

			assert_int_equal(
				mann_whitney_judge(*state, low, before, high, after, &significance),
				0);
			assert_int_equal(significance.tested, enough);
			assert_false(significance.is_noise);
			assert_true(enough == (significance.p < 1));
		}
}

static void a_side_is_told_by_its_smallest_and_largest_run(void **state)
{
	static const double before[] = { 5, 3, 4 }, after[] = { 4, 9, -2 };
	struct significance significance;

	assert_int_equal(mann_whitney_judge(*state, before, 3, after, 3, &significance), 0);
	assert_true(significance.before_low == 3 && significance.before_high == 5);
	assert_true(significance.after_low == -2 && significance.after_high == 9);
	assert_true(significance.tested && significance.is_noise);
}

static void three_runs_apart_are_just_enough(void **state)
{
	static const double before[] = { 1, 2, 3 }, after[] = { 4, 5, 6 };
	struct significance significance;

	assert_int_equal(mann_whitney_judge(*state, before, 3, after, 3, &significance), 0);
	assert_true(significance.p == 0.1);
	assert_false(significance.is_noise);
}

static void what_was_kept_of_other_rows_changes_nothing(void **state)
{
	static const double before[] = { 1, 2, 2, 3 }, after[] = { 2, 4, 5, 6 };
	double first = p_of(*state, before, 4, after, 4);
	unsigned seed = 7;

	for (int round = 0; round < 5000; round++) {
		double pool[POOL_MAX];

		for (size_t i = 0; i < 16; i++)
			pool[i] = rand_r(&seed) % 12;
		p_of(*state, pool, 8, pool + 8, 8);
	}
	assert_true(p_of(*state, before, 4, after, 4) == first);
}

static void medians_are_in_the_middle(void **state)
{
	double reals[] = { 9, 1, 4 }, even[] = { 1.5, 4, 0, 2.5 };
	uint64_t whole[] = { UINT64_MAX, UINT64_MAX - 2, 0, UINT64_MAX };
	uint64_t below[] = { (uint64_t)-7, 1ull << 63, INT64_MAX, (uint64_t)-4 };

	(void)state;
	assert_true(median_real(reals, 3) == 4);
	assert_true(median_real(even, 4) == 2);
	assert_true(median_real(reals, 0) == 0);
	assert_true(median_whole(whole, 4, false) == UINT64_MAX - 1);
	assert_true(median_whole(whole, 1, false) == 0);
	assert_true((int64_t)median_whole(below, 4, true) == -6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_critical_values_are_met),
		cmocka_unit_test(published_p_values_are_met),
		cmocka_unit_test(every_deal_counted_by_hand_gives_the_same),
		cmocka_unit_test(the_same_values_on_both_sides_are_never_apart),
		cmocka_unit_test(many_runs_go_on_where_the_exact_values_end),
		cmocka_unit_test(ties_make_many_runs_no_less_sure_of_what_differs),
		cmocka_unit_test(nothing_is_claimed_below_three_runs_a_side),
		cmocka_unit_test(a_side_is_told_by_its_smallest_and_largest_run),
		cmocka_unit_test(three_runs_apart_are_just_enough),
		cmocka_unit_test(what_was_kept_of_other_rows_changes_nothing),
		cmocka_unit_test(medians_are_in_the_middle),
	};

	/* One test for all of them, with everything that it keeps. */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
