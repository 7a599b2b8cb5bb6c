/* SPDX-License-Identifier: MIT */
/* Many values made into one, and how many of them were measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "metric/fold.h"
#include "metric/reading.h"

/* Folds values that all are there. */
static struct fold fold_values(enum metric_id id, const uint64_t *values, size_t count)
{
	struct fold fold;

	fold_init(&fold, &metrics[id]);
	for (size_t i = 0; i < count; i++)
		fold_add(&fold, values[i]);
	fold_finish(&fold);
	return fold;
}

#define FOLD(id, ...)                                                                              \
	fold_values(id, (const uint64_t[]){ __VA_ARGS__ },                                         \
		    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void nothing_measured_is_absent_not_zero(void **state)
{
	static const enum metric_id ids[] = { METRIC_majflt,	   METRIC_wait_max,
					      METRIC_nice,	   METRIC_state,
					      METRIC_cpu_affinity, METRIC_blkio_delay_min_ns };
	double number;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct fold fold;

		fold_init(&fold, &metrics[ids[i]]);
		fold_skip(&fold);
		fold_skip(&fold);
		fold_finish(&fold);
		assert_int_equal(fold.shape, SHAPE_ABSENT);
		assert_int_equal(fold.measured, 0);
		assert_int_equal(fold.population, 2);
		assert_false(fold_number(&fold, &number));
	}
}

static void tasks_without_a_value_lower_the_coverage_only(void **state)
{
	struct fold fold;

	(void)state;
	fold_init(&fold, &metrics[METRIC_majflt]);
	fold_add(&fold, 5);
	fold_skip(&fold);
	fold_add(&fold, 7);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, 12);
	assert_int_equal(fold.measured, 2);
	assert_int_equal(fold.population, 3);
}

static void a_sum_saturates(void **state)
{
	struct fold fold = FOLD(METRIC_run_time_ns, UINT64_MAX - 1, 5);

	(void)state;
	assert_true(fold.number == UINT64_MAX);
}

static void the_largest_peak_wins(void **state)
{
	struct fold fold = FOLD(METRIC_wait_max, 3, 9, 4);

	(void)state;
	assert_int_equal(fold.number, 9);
	fold = FOLD(METRIC_wait_max, 0);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, 0);
}

static void a_minimum_of_zero_means_no_event_and_is_passed_over(void **state)
{
	struct fold fold = FOLD(METRIC_blkio_delay_min_ns, 0, 40, 0, 30);

	(void)state;
	assert_int_equal(fold.number, 30);
	assert_int_equal(fold.measured, 4);
	fold = FOLD(METRIC_blkio_delay_min_ns, 0, 0);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, 0);
	fold = FOLD(METRIC_fd_limit, 1024, 0); /* no low: 0 is a limit like any other */
	assert_int_equal(fold.number, 0);
}

static void ordinals_keep_their_range_and_their_sign(void **state)
{
	struct fold fold = FOLD(METRIC_nice, 5, (uint64_t)-20, 19);
	double middle;

	(void)state;
	assert_int_equal(fold.shape, SHAPE_RANGE);
	assert_int_equal(fold.min, -20);
	assert_int_equal(fold.max, 19);
	assert_true(fold_number(&fold, &middle));
	assert_true(middle == -0.5);
	fold = FOLD(METRIC_nice, 7);
	assert_int_equal(fold.min, 7);
	assert_int_equal(fold.max, 7);
}

static void the_most_frequent_category_wins_and_a_tie_goes_to_the_smallest_text(void **state)
{
	struct fold fold = FOLD(METRIC_state, 'S', 'R', 'S', 'D');
	double number;

	(void)state;
	assert_int_equal(fold.shape, SHAPE_MODE);
	assert_int_equal(fold.mode, 'S');
	assert_int_equal(fold.mode_count, 2);
	assert_int_equal(fold.measured, 4);
	assert_false(fold_number(&fold, &number));
	fold = FOLD(METRIC_state, 'S', 'D', 'R');
	assert_int_equal(fold.mode, 'D');
	/* By text, not by code: SCHED_BATCH is 3, SCHED_FIFO 1, SCHED_OTHER 0. */
	fold = FOLD(METRIC_policy, 0, 1, 3);
	assert_int_equal(fold.mode, 3);
	fold = FOLD(METRIC_ext_enabled, 1, 0);
	assert_int_equal(fold.mode, 0);
}

static void more_categories_than_are_told_apart_still_count_as_measured(void **state)
{
	uint64_t codes[FOLD_TALLIES + 9];
	struct fold fold;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		codes[i] = i;
	codes[FOLD_TALLIES + 8] = 6;
	fold = fold_values(METRIC_policy, codes, FOLD_TALLIES + 9);
	assert_int_equal(fold.measured, FOLD_TALLIES + 9);
	assert_int_equal(fold.mode, 6);
	assert_int_equal(fold.mode_count, 2);
}

struct cpu_list {
	const char *text;
	unsigned cpus;
};

static struct fold fold_cpus(const struct cpu_list *sets, size_t count)
{
	struct fold fold;

	fold_init(&fold, &metrics[METRIC_cpu_affinity]);
	for (size_t i = 0; i < count; i++)
		fold_add_cpus(&fold, sets[i].text, sets[i].cpus);
	fold_finish(&fold);
	return fold;
}

static void cpu_sets_are_uniform_only_when_every_one_is_the_same(void **state)
{
	const char again[] = "0-3";
	const struct cpu_list same[] = { { "0-3", 4 }, { again, 4 } };
	const struct cpu_list mixed[] = { { "0-3", 4 }, { "4-7", 4 }, { "0-3", 4 }, { "9", 1 } };
	struct fold fold = fold_cpus(same, 2);

	(void)state;
	assert_int_equal(fold.shape, SHAPE_CPUS);
	assert_string_equal(fold.text, "0-3");
	fold = fold_cpus(mixed, 3);
	assert_null(fold.text);
	assert_int_equal(fold.min, 4);
	assert_int_equal(fold.max, 4);
	fold = fold_cpus(mixed, 4);
	assert_int_equal(fold.min, 1);
	assert_int_equal(fold.max, 4);
	assert_int_equal(fold.measured, 4);
}

static void cpu_sets_are_equal_by_their_lists_or_else_their_sizes(void **state)
{
	static const struct cpu_list first[] = { { "0-3", 4 }, { "4-7", 4 } };
	static const struct cpu_list second[] = { { "4-7", 4 }, { "8-11", 4 }, { "0", 1 } };
	struct fold one = fold_cpus(first, 1), again = fold_cpus(first, 1);
	struct fold other = fold_cpus(second, 1), mixed = fold_cpus(first, 2);
	struct fold as_large = fold_cpus(second, 2), smaller = fold_cpus(second, 3);

	(void)state;
	assert_true(fold_equals(&one, &again));
	assert_false(fold_equals(&one, &other)); /* as many, but others */
	assert_false(fold_equals(&one, &mixed));
	assert_true(fold_equals(&mixed, &as_large));
	assert_false(fold_equals(&mixed, &smaller));
}

static void a_ratio_is_undefined_without_a_denominator(void **state)
{
	struct fold inputs[2] = { FOLD(METRIC_wait_sum, 30, 30), FOLD(METRIC_wait_count, 4, 0) };
	struct fold ratio;

	(void)state;
	fold_formula(&ratio, &metrics[METRIC_avg_wait_ns], inputs);
	assert_int_equal(ratio.shape, SHAPE_REAL);
	assert_true(ratio.real == 15.0);
	inputs[1] = FOLD(METRIC_wait_count, 0, 0);
	fold_formula(&ratio, &metrics[METRIC_avg_wait_ns], inputs);
	assert_int_equal(ratio.shape, SHAPE_ABSENT);
}

static void a_share_is_of_both_together(void **state)
{
	struct fold inputs[2] = { FOLD(METRIC_run_time_ns, 30), FOLD(METRIC_wait_time_ns, 10) };
	struct fold share;

	(void)state;
	fold_formula(&share, &metrics[METRIC_cpu_efficiency], inputs);
	assert_true(share.real == 0.75);
	inputs[0] = FOLD(METRIC_run_time_ns, 0);
	inputs[1] = FOLD(METRIC_wait_time_ns, 0);
	fold_formula(&share, &metrics[METRIC_cpu_efficiency], inputs);
	assert_int_equal(share.shape, SHAPE_ABSENT);
}

static void a_difference_has_a_sign_and_is_exact(void **state)
{
	uint64_t large = ((uint64_t)1 << 53) + 1; /* no double holds it */
	struct fold inputs[2] = { FOLD(METRIC_allocated_bytes, 1),
				  FOLD(METRIC_deallocated_bytes, large + 1) };
	struct fold difference;

	(void)state;
	fold_formula(&difference, &metrics[METRIC_live_heap_estimate], inputs);
	assert_int_equal(difference.shape, SHAPE_REAL);
	assert_true(difference.has_number);
	assert_true((int64_t)difference.number == -(int64_t)large);
	assert_true(difference.real < 0);
}

static void overlapping_delays_are_not_added_twice(void **state)
{
	struct fold inputs[8];
	struct fold total;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		inputs[i] = FOLD(metrics[METRIC_total_offcpu_delay_ns].formula.inputs[i],
				 (uint64_t)1 << i);
	fold_formula(&total, &metrics[METRIC_total_offcpu_delay_ns], inputs);
	assert_int_equal(total.number, 1 + 2 + 4 + 8 + 16 + 32 + 128);
	inputs[6] = FOLD(METRIC_swapin_delay_total_ns, 1000);
	fold_formula(&total, &metrics[METRIC_total_offcpu_delay_ns], inputs);
	assert_int_equal(total.number, 1 + 2 + 4 + 8 + 16 + 32 + 1000);
}

static void a_formula_is_covered_as_well_as_its_worst_input(void **state)
{
	struct fold inputs[2] = { FOLD(METRIC_run_time_ns, 1, 2, 3), FOLD(METRIC_timeslices, 1) };
	struct fold average;

	(void)state;
	fold_formula(&average, &metrics[METRIC_avg_slice_ns], inputs);
	assert_int_equal(average.measured, 1);
	assert_int_equal(average.population, 3);
	fold_init(&inputs[1], &metrics[METRIC_timeslices]);
	fold_finish(&inputs[1]);
	fold_formula(&average, &metrics[METRIC_avg_slice_ns], inputs);
	assert_int_equal(average.shape, SHAPE_ABSENT);
	assert_int_equal(average.measured, 0);
}

static struct fold fold_texts(const struct metric *metric, const char *const *texts)
{
	struct fold fold;

	fold_init(&fold, metric);
	for (; *texts; texts++)
		fold_add_text(&fold, *texts);
	fold_finish(&fold);
	return fold;
}

static void the_most_frequent_text_stands_for_all(void **state)
{
	struct metric governor = reading_metric("cpufreq_governor cpu0");
	struct fold fold = fold_texts(&governor, (const char *[]){ "b", "a", "b", NULL });
	struct fold tie = fold_texts(&governor, (const char *[]){ "b", "a", NULL });
	struct fold twice = fold_texts(&governor, (const char *[]){ "a", "b", "b", "a", NULL });

	(void)state;
	assert_int_equal(fold.shape, SHAPE_TEXT);
	assert_string_equal(fold.text, "b");
	assert_int_equal(fold.mode_count, 2);
	assert_int_equal(fold.measured, 3);
	assert_int_equal(fold.population, 3);
	assert_string_equal(tie.text, "a");
	assert_true(fold_equals(&tie, &twice));
	assert_false(fold_equals(&fold, &tie));
}

static void limits_are_the_same_a_range_or_unlimited(void **state)
{
	struct metric limit = reading_metric("memory.max");
	struct fold fold;

	(void)state;
	fold_init(&fold, &limit);
	fold_add(&fold, UINT64_MAX);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, INT64_MAX);
	fold_init(&fold, &limit);
	fold_add_unlimited(&fold);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_UNLIMITED);
	fold_add(&fold, 5);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_LIMITS);
	assert_int_equal(fold.min, 5);
	fold_init(&fold, &limit);
	fold_add(&fold, 5);
	fold_add(&fold, 7);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_RANGE);
	assert_int_equal(fold.max, 7);
}

/* A file that mostly has a word may have a number, or "max". */
static void numbers_count_among_words(void **state)
{
	struct metric governor = reading_metric("cpufreq_governor cpu0");
	struct metric limit = reading_metric("memory.max");
	struct fold fold;

	(void)state;
	fold_init(&fold, &governor);
	fold_add(&fold, 3);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, 3);
	fold_add(&fold, 4);
	fold_finish(&fold);
	assert_int_equal(fold.shape, SHAPE_RANGE);
	fold_init(&fold, &limit);
	fold_add_text(&fold, "word");
	fold_add_unlimited(&fold);
	fold_add(&fold, 5);
	assert_int_equal(fold.min, 5);
	assert_int_equal(fold.max, 5);
	fold_add(&fold, 4);
	assert_int_equal(fold.min, 4);
	fold_add_text(&fold, "another word");
	assert_int_equal(fold.measured, 5);
	assert_int_equal(fold.population, 5);
}

static void settings_of_one_level_may_be_negative(void **state)
{
	struct metric nice = reading_metric("cpu.weight.nice");
	struct fold fold;

	(void)state;
	fold_init(&fold, &nice);
	fold_add(&fold, (uint64_t)-5);
	fold_add(&fold, 3);
	fold_finish(&fold);
	assert_int_equal(fold.min, -5);
	assert_int_equal(fold.max, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_measured_is_absent_not_zero),
		cmocka_unit_test(tasks_without_a_value_lower_the_coverage_only),
		cmocka_unit_test(a_sum_saturates),
		cmocka_unit_test(the_largest_peak_wins),
		cmocka_unit_test(a_minimum_of_zero_means_no_event_and_is_passed_over),
		cmocka_unit_test(ordinals_keep_their_range_and_their_sign),
		cmocka_unit_test(
			the_most_frequent_category_wins_and_a_tie_goes_to_the_smallest_text),
		cmocka_unit_test(more_categories_than_are_told_apart_still_count_as_measured),
		cmocka_unit_test(cpu_sets_are_uniform_only_when_every_one_is_the_same),
		cmocka_unit_test(the_most_frequent_text_stands_for_all),
		cmocka_unit_test(limits_are_the_same_a_range_or_unlimited),
		cmocka_unit_test(numbers_count_among_words),
		cmocka_unit_test(settings_of_one_level_may_be_negative),
		cmocka_unit_test(cpu_sets_are_equal_by_their_lists_or_else_their_sizes),
		cmocka_unit_test(a_ratio_is_undefined_without_a_denominator),
		cmocka_unit_test(a_share_is_of_both_together),
		cmocka_unit_test(a_difference_has_a_sign_and_is_exact),
		cmocka_unit_test(overlapping_delays_are_not_added_twice),
		cmocka_unit_test(a_formula_is_covered_as_well_as_its_worst_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
