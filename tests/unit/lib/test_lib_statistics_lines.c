/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/heartbeat/statistics_lines.h"

static void percentiles_are_between_the_bounds_of_their_bucket(void **state)
{
	struct statistics_sum sum = { .count = 100, .longest_ticks = 5000 };
	uint64_t middle, high;

	(void)state;
	sum.buckets[4] = 90;
	sum.buckets[12] = 10;
	middle = statistics_percentile(&sum, 50);
	high = statistics_percentile(&sum, 99);
	assert_in_range(middle, 16, 31);
	assert_in_range(high, 4096, 5000);
}

static void no_percentile_is_above_the_longest(void **state)
{
	struct statistics_sum sum = { .count = 1, .longest_ticks = 4097 };

	(void)state;
	sum.buckets[12] = 1;
	assert_int_equal(statistics_percentile(&sum, 50), 4097);
	assert_int_equal(statistics_percentile(&sum, 99), 4097);
}

static void a_single_scope_is_every_percentile(void **state)
{
	struct statistics_sum sum = { .count = 1, .longest_ticks = 7000 };

	(void)state;
	sum.buckets[12] = 1;
	assert_int_equal(statistics_percentile(&sum, 50), 7000);
	assert_int_equal(statistics_percentile(&sum, 99), 7000);
}

static void nothing_has_no_percentile(void **state)
{
	struct statistics_sum sum = { 0 };

	(void)state;
	assert_int_equal(statistics_percentile(&sum, 50), 0);
}

/* After more scopes of one length than its bucket counts. */
static void percentiles_are_of_what_the_buckets_hold(void **state)
{
	struct statistics_sum sum = { .count = UINT64_C(1) << 33, .longest_ticks = 1 << 20 };

	(void)state;
	sum.buckets[4] = UINT32_MAX;
	sum.buckets[20] = 1;
	assert_in_range(statistics_percentile(&sum, 50), 16, 31);
	assert_in_range(statistics_percentile(&sum, 99), 16, 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_between_the_bounds_of_their_bucket),
		cmocka_unit_test(no_percentile_is_above_the_longest),
		cmocka_unit_test(percentiles_are_of_what_the_buckets_hold),
		cmocka_unit_test(a_single_scope_is_every_percentile),
		cmocka_unit_test(nothing_has_no_percentile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
