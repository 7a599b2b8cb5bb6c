/* SPDX-License-Identifier: MIT */
/* Statistics of outcomes: against values that were computed with fractions, and by what must hold of any table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "analyze/outcome/exact_test.h"
#include "base/collection/array.h"

static double p_of(struct outcome_table table)
{
	double p = -1;

	assert_int_equal(fisher_p(&table, 1, &p), 0);
	assert_true(p > 0 && p <= 1);
	return p;
}

static void assert_near(double found, double expected)
{
	if (fabs(found - expected) > expected * 1e-9)
		fail_msg("%.17g is not %.17g", found, expected);
}

/* Made with whole numbers of any size, by adding up all tables that are at most as likely. */
static const struct {
	struct outcome_table table; /* jobs, failures, others, other_failures */
	double p;
} exact[] = {
	{ { 4, 3, 4, 1 }, 0.485714285714286 },
	{ { 10, 1, 14, 11 }, 0.00275945618522008 },
	{ { 5, 0, 5, 5 }, 0.00793650793650794 },
	{ { 5, 5, 2, 0 }, 0.0476190476190476 },
	{ { 10, 8, 6, 1 }, 0.034965034965035 },
	{ { 25, 2, 25, 10 }, 0.0180768773230848 },
	{ { 40, 12, 400, 30 }, 9.59844792946438e-05 },
	{ { 120, 40, 300, 35 }, 8.48259080176856e-07 },
	{ { 2500, 700, 7500, 1500 }, 2.65112047074257e-16 },
	{ { 6000, 2000, 44000, 14200 }, 0.0996367719162768 },
	{ { 100, 60, 20000, 9000 }, 0.00329585164073668 },
	{ { 1, 1, 2, 1 }, 1 },
	{ { 1, 0, 1000, 1 }, 1 },
	{ { 10000, 300, 10000, 450 }, 2.65297682878468e-08 },
	{ { 10, 5, 10, 5 }, 1 },
	{ { 2000, 30, 2000, 1 }, 2.68989360378933e-08 },
	{ { 0, 0, 7, 3 }, 1 },
	{ { 7, 0, 9, 0 }, 1 },
};

static void p_values_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		assert_near(p_of(exact[i].table), exact[i].p);
}

static void p_is_the_same_for_the_others_and_for_successes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		struct outcome_table t = exact[i].table;

		assert_near(p_of((struct outcome_table){ t.others, t.other_failures, t.jobs,
							 t.failures }),
			    exact[i].p);
		assert_near(p_of((struct outcome_table){ t.jobs, t.jobs - t.failures, t.others,
							 t.others - t.other_failures }),
			    exact[i].p);
		/* Failed jobs as the group, and being in the group as the outcome. */
		assert_near(p_of((struct outcome_table){ t.failures + t.other_failures, t.failures,
							 t.jobs + t.others - t.failures -
								 t.other_failures,
							 t.jobs - t.failures }),
			    exact[i].p);
	}
}

static void a_p_that_is_too_small_for_a_number_is_not_zero(void **state)
{
	(void)state;
	assert_true(p_of((struct outcome_table){ 25000, 25000, 25000, 0 }) > 0);
}

static void the_least_p_is_that_of_the_most_extreme_table(void **state)
{
	(void)state;
	for (uint64_t all = 1; all <= 24; all++)
		for (uint64_t jobs = 0; jobs <= all; jobs++)
			for (uint64_t failures = 0; failures <= all; failures++) {
				uint64_t from = jobs + failures > all ? jobs + failures - all : 0;
				double least = 1;

				for (uint64_t in = from; in <= jobs && in <= failures; in++)
					least = fmin(least, p_of((struct outcome_table){
								    jobs, in, all - jobs,
								    failures - in }));
				assert_near(fisher_least_p(jobs, all, failures), least);
			}
}

static void within_names_is_exact(void **state)
{
	static const struct outcome_table three[] = { { 4, 3, 4, 1 },
						      { 6, 5, 6, 2 },
						      { 3, 3, 9, 4 } };
	static const struct outcome_table two[] = { { 10, 9, 5, 4 }, { 5, 1, 50, 6 } };
	double p;

	(void)state;
	assert_int_equal(fisher_p(three, 3, &p), 0);
	assert_near(p, 0.010765938606847698);
	assert_int_equal(fisher_p(two, 2, &p), 0);
	assert_near(p, 0.5978100084648365);
}

/* Simpson: one name fails often and is most of the group; in each name the group fails as others do. */
static void a_name_that_fails_often_is_not_the_groups_doing(void **state)
{
	static const struct outcome_table names[] = { { 40, 36, 10, 9 }, { 10, 1, 90, 9 } };
	double p;

	(void)state;
	assert_near(p_of((struct outcome_table){ 50, 37, 100, 18 }), 3.552807850394672e-11);
	assert_int_equal(fisher_p(names, 2, &p), 0);
	assert_near(p, 1);
}

static void wilson_intervals_are_known(void **state)
{
	double low, high;

	(void)state;
	/* Newcombe, Statistics in Medicine 17 (1998), table I, method 3. */
	wilson_interval(81, 263, &low, &high);
	assert_float_equal(low, 0.2553, 0.00006);
	assert_float_equal(high, 0.3662, 0.00006);
	wilson_interval(15, 148, &low, &high);
	assert_float_equal(low, 0.0624, 0.00006);
	assert_float_equal(high, 0.1605, 0.00006);
	wilson_interval(0, 20, &low, &high);
	assert_true(low == 0);
	assert_float_equal(high, 0.1611, 0.00006);
	wilson_interval(1, 29, &low, &high);
	assert_float_equal(low, 0.0061, 0.00006);
	assert_float_equal(high, 0.1718, 0.00006);
	wilson_interval(9, 9, &low, &high);
	assert_true(high == 1 && low > 0.6 && low < 0.75);
	wilson_interval(0, 0, &low, &high);
	assert_true(low == 0 && high == 1);
}

static void holm_corrects_in_order(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, large[] = { 0.6, 0.5 };

	(void)state;
	assert_int_equal(holm_correct(p, 4), 0);
	assert_near(p[0], 0.03);
	assert_near(p[1], 0.06);
	assert_near(p[2], 0.06);
	assert_near(p[3], 0.02);
	assert_int_equal(holm_correct(large, 2), 0);
	assert_near(large[0], 1);
	assert_near(large[1], 1);
	assert_int_equal(holm_correct(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_values_are_exact),
		cmocka_unit_test(p_is_the_same_for_the_others_and_for_successes),
		cmocka_unit_test(a_p_that_is_too_small_for_a_number_is_not_zero),
		cmocka_unit_test(the_least_p_is_that_of_the_most_extreme_table),
		cmocka_unit_test(within_names_is_exact),
		cmocka_unit_test(a_name_that_fails_often_is_not_the_groups_doing),
		cmocka_unit_test(wilson_intervals_are_known),
		cmocka_unit_test(holm_corrects_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
