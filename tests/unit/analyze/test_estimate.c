/* SPDX-License-Identifier: MIT */
/* Estimates: quantiles, and how sure they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "analyze/outcome/estimate.h"
#include "base/real.h"

static void count_up(double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (double)(i + 1);
}

static void quantiles_lie_between_the_nearest_runs(void **state)
{
	double values[100];

	(void)state;
	count_up(values, 100);
	assert_float_equal(quantile_of(values, 100, 0.5).value, 50.5, 1e-9);
	assert_float_equal(quantile_of(values, 100, 0.9).value, 90.1, 1e-9);
	assert_float_equal(quantile_of(values, 7, 0.5).value, 4, 1e-9);
	assert_float_equal(quantile_of(values, 1, 0.9).value, 1, 1e-9);
}

/* From tables of the sign test: the interval of the median of n runs. */
static void intervals_of_medians_are_known(void **state)
{
	static const struct {
		size_t count;
		double low, high, confidence;
	} table[] = {
		{ 6, 1, 6, 0.96875 },
		{ 9, 2, 8, 0.9609375 },
		{ 12, 3, 10, 0.96142578125 },
		{ 20, 6, 15, 0.95861053466796875 },
	};
	double values[20];

	(void)state;
	count_up(values, 20);
	for (size_t i = 0; i < 4; i++) {
		struct quantile median = quantile_of(values, table[i].count, 0.5);

		assert_true(median.low == table[i].low && median.high == table[i].high);
		assert_float_equal(median.confidence, table[i].confidence, 1e-9);
	}
}

static void with_few_runs_the_confidence_is_lower(void **state)
{
	double values[30];
	struct quantile p90;

	(void)state;
	count_up(values, 30);
	p90 = quantile_of(values, 10, 0.9);
	assert_true(p90.low == 1 && p90.high == 10);
	assert_float_equal(p90.confidence, 1 - pow(0.9, 10) - pow(0.1, 10), 1e-9);
	p90 = quantile_of(values, 29, 0.9);
	assert_true(p90.confidence >= 0.95 && p90.high == 29);
	assert_int_equal(quantile_runs_needed(0.5), 6);
	assert_int_equal(quantile_runs_needed(0.9), 29);
}

/* 2,000 samples of a skewed distribution whose quantiles are known: the interval has them as often as it says. */
static void the_interval_has_the_real_quantile(void **state)
{
	uint64_t seed = 11;
	size_t medians = 0, p90s = 0;

	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		double values[40];
		struct quantile median, p90;

		for (size_t i = 0; i < 40; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			values[i] = -log(1 - (double)(seed >> 11) / 9007199254740992.0);
		}
		real_sort(values, 40);
		median = quantile_of(values, 40, 0.5);
		p90 = quantile_of(values, 40, 0.9);
		medians += median.low <= log(2) && log(2) <= median.high;
		p90s += p90.low <= log(10) && log(10) <= p90.high;
	}
	assert_true(medians > 1870 && p90s > 1870);
}

static void only_runs_that_succeeded_count(void **state)
{
	struct outcome_job jobs[12];
	struct estimate estimate;

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		jobs[i] = (struct outcome_job){ .name = "a",
						.outcome = i < 7  ? JOB_SUCCESS :
							   i < 10 ? JOB_FAILURE :
								    JOB_RUNNING };
		outcome_job_set(&jobs[i], FACTOR_DURATION, (double)(i + 1));
		if (i < 3)
			outcome_job_set(&jobs[i], FACTOR_MEMORY, 100);
	}
	assert_int_equal(estimate_make(jobs, 12, &estimate), 0);
	assert_int_equal(estimate.runs, 7);
	assert_int_equal(estimate.failed, 3);
	assert_int_equal(estimate.running, 2);
	assert_true(estimate_knows(&estimate, FACTOR_DURATION));
	assert_true(estimate.figures[FACTOR_DURATION].median.value == 4);
	assert_true(estimate.figures[FACTOR_DURATION].most == 7);
	assert_false(estimate_knows(&estimate, FACTOR_MEMORY));
	assert_int_equal(estimate.figures[FACTOR_MEMORY].runs, 3);
	assert_int_equal(estimate.figures[FACTOR_CPU_TIME].runs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_lie_between_the_nearest_runs),
		cmocka_unit_test(intervals_of_medians_are_known),
		cmocka_unit_test(with_few_runs_the_confidence_is_lower),
		cmocka_unit_test(the_interval_has_the_real_quantile),
		cmocka_unit_test(only_runs_that_succeeded_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
