/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/real.h"

static void expect(double value, const char *expected)
{
	char buffer[REAL_SIZE];
	size_t length = real_write(value, buffer);

	assert_string_equal(buffer, expected);
	assert_int_equal(length, strlen(expected));
}

static void a_number_is_as_short_as_it_can_be(void **state)
{
	(void)state;
	expect(0.72, "0.72");
	expect(98.7, "98.7");
	expect(0.1 + 0.2, "0.30000000000000004");
	expect(1e300, "1e+300");
}

static void whole_numbers_have_no_point(void **state)
{
	(void)state;
	expect(0, "0");
	expect(25276518400.0, "25276518400");
	expect(-3, "-3");
	expect(-0.0, "-0");
	expect(999999999999999.0, "999999999999999");
}

static void every_number_reads_back_as_itself(void **state)
{
	static const double numbers[] = { DBL_MIN,	    DBL_MAX,  DBL_TRUE_MIN, 1.0 / 3,
					  9007199254740993, 1e15 + 2, 5e-324,	    -123456.789 };
	char buffer[REAL_SIZE];
	double value = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		real_write(numbers[i], buffer);
		assert_true(strtod(buffer, NULL) == numbers[i]);
	}
	for (int i = 0; i < 10000; i++) {
		value = fmod(value * 1.37 + 0.001, 1e6);
		real_write(value, buffer);
		assert_true(strtod(buffer, NULL) == value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_as_short_as_it_can_be),
		cmocka_unit_test(whole_numbers_have_no_point),
		cmocka_unit_test(every_number_reads_back_as_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
