/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/pace/budget.h"

#define MIB (UINT64_C(1) << 20)

static bool spend(struct budget *budget, uint64_t cost_ns, uint64_t threads)
{
	return budget_spent(budget, cost_ns, threads, true, 20 * MIB);
}

static void ticks_within_the_budget_leave_nothing_out(void **state)
{
	struct budget budget;

	(void)state;
	budget_begin(&budget);
	for (int i = 0; i < 1000; i++)
		assert_false(spend(&budget, BUDGET_TICK_NS, 100));
	assert_int_equal(budget.shed, SHED_NOTHING);
	assert_null(budget_words(budget.shed));
}

/* Whether something is left out when ticks go on to cost that. */
static bool sheds(struct budget *budget, uint64_t cost_ns, uint64_t threads)
{
	for (int i = 0; i < 20; i++)
		if (spend(budget, cost_ns, threads))
			return true;
	return false;
}

static void one_costly_tick_leaves_nothing_out(void **state)
{
	struct budget budget;

	(void)state;
	budget_begin(&budget);
	for (int i = 0; i < 100; i++)
		assert_false(spend(&budget, i % 10 ? BUDGET_TICK_NS / 4 : UINT64_MAX / 100, 100));
	budget_begin_activity(&budget);
	assert_false(budget_spent_activity(&budget, 10 * BUDGET_ACTIVITY_NS, 100));
	assert_int_equal(budget.shed, SHED_NOTHING);
}

static void costly_ticks_leave_out_more_and_more(void **state)
{
	struct budget budget;
	const char *words = "";

	(void)state;
	budget_begin(&budget);
	assert_true(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
	assert_int_equal(budget.shed, SHED_USERS);
	for (int shed = SHED_ACTIVITY; shed < SHED_COUNT; shed++) {
		assert_true(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
		assert_int_equal(budget.shed, shed);
		/* Each step includes those before it. */
		assert_int_equal(strncmp(budget_words(budget.shed), words, strlen(words)), 0);
		words = budget_words(budget.shed);
	}
	assert_false(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
	assert_int_equal(budget.shed, SHED_COUNT - 1);
}

static void more_threads_may_cost_more(void **state)
{
	struct budget budget;

	(void)state;
	budget_begin(&budget);
	assert_false(sheds(&budget, 5 * BUDGET_TICK_NS, 5 * BUDGET_TICK_THREADS));
	assert_true(sheds(&budget, 6 * BUDGET_TICK_NS, 5 * BUDGET_TICK_THREADS));
}

static void memory_counts_too(void **state)
{
	struct budget budget;

	(void)state;
	budget_begin(&budget);
	assert_false(budget_spent(&budget, 1000, 100, true, BUDGET_RSS_BYTES));
	assert_true(budget_spent(&budget, 1000, 100, true, BUDGET_RSS_BYTES + 1));
	/* What is not known is no reason. */
	assert_false(budget_spent(&budget, 1000, 100, false, BUDGET_RSS_BYTES + 1));
}

/* Returns how many cheap ticks it took to take something in again. */
static int ticks_until_regained(struct budget *budget)
{
	int ticks = 1;

	while (!spend(budget, BUDGET_TICK_NS / 10, 100))
		assert_true(++ticks < 100000);
	return ticks;
}

static void what_was_left_out_comes_back_and_later_after_a_mistake(void **state)
{
	struct budget budget;
	int first;

	(void)state;
	budget_begin(&budget);
	assert_true(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
	first = ticks_until_regained(&budget);
	assert_int_equal(budget.shed, SHED_NOTHING);
	assert_true(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
	assert_true(ticks_until_regained(&budget) > first);
}

static void a_budget_that_is_half_used_regains_nothing(void **state)
{
	struct budget budget;

	(void)state;
	budget_begin(&budget);
	assert_true(sheds(&budget, 2 * BUDGET_TICK_NS, 100));
	for (int i = 0; i < 10000; i++)
		assert_false(spend(&budget, BUDGET_TICK_NS * 3 / 4, 100));
}

static void activity_has_a_budget_of_its_own(void **state)
{
	struct budget budget;
	int seconds = 1;

	(void)state;
	budget_begin_activity(&budget);
	for (int i = 0; i < 100; i++)
		assert_false(budget_spent_activity(&budget, 4 * BUDGET_ACTIVITY_NS, 10000));
	while (!budget_spent_activity(&budget, 20 * BUDGET_ACTIVITY_NS, 10000))
		assert_true(++seconds < 10);
	assert_int_equal(budget.shed, SHED_USERS);
	while (!budget_spent_activity(&budget, 20 * BUDGET_ACTIVITY_NS, 10000))
		assert_true(++seconds < 20);
	assert_int_equal(budget.shed, SHED_ACTIVITY);
	/* There is nothing else that it could leave out. */
	for (int i = 0; i < 100; i++)
		assert_false(budget_spent_activity(&budget, 20 * BUDGET_ACTIVITY_NS, 2000));
	assert_int_equal(budget.shed, SHED_ACTIVITY);
	for (int shed = SHED_USERS; shed >= SHED_NOTHING; shed--) {
		while (!budget_spent_activity(&budget, 0, 2000))
			assert_true(++seconds < 100000);
		assert_int_equal(budget.shed, shed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_within_the_budget_leave_nothing_out),
		cmocka_unit_test(one_costly_tick_leaves_nothing_out),
		cmocka_unit_test(costly_ticks_leave_out_more_and_more),
		cmocka_unit_test(more_threads_may_cost_more),
		cmocka_unit_test(memory_counts_too),
		cmocka_unit_test(what_was_left_out_comes_back_and_later_after_a_mistake),
		cmocka_unit_test(a_budget_that_is_half_used_regains_nothing),
		cmocka_unit_test(activity_has_a_budget_of_its_own),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
