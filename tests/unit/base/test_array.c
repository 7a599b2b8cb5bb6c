/* SPDX-License-Identifier: MIT */
/* Arrays: how many of the first items pass a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"

static void bisecting_counts_the_items_that_pass(void **state)
{
	static const int numbers[] = { 1, 3, 3, 3, 8 };
	static const struct {
		int number;
		size_t below, up_to;
	} cases[] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 1, 1 }, { 3, 1, 4 }, { 8, 4, 5 }, { 9, 5, 5 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int number = cases[i].number;

		assert_int_equal(array_bisect(numbers, ARRAY_SIZE(numbers), *item < number),
				 cases[i].below);
		assert_int_equal(array_bisect(numbers, ARRAY_SIZE(numbers), *item <= number),
				 cases[i].up_to);
	}
}

static void nothing_of_an_empty_array_passes(void **state)
{
	ARRAY_OF(int) empty = { 0 };

	(void)state;
	assert_int_equal(array_bisect(empty.data, empty.count, *item < 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bisecting_counts_the_items_that_pass),
		cmocka_unit_test(nothing_of_an_empty_array_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
