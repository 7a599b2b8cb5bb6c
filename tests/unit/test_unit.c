/* Numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "metric/unit.h"

static void assert_number(enum metric_unit unit, uint64_t value, const char *expected)
{
	struct text text = { 0 };

	unit_format(&text, unit, value);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void assert_real(enum metric_unit unit, double value, const char *expected)
{
	struct text text = { 0 };

	unit_format_real(&text, unit, value);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void times_climb_from_nanoseconds_to_seconds(void **state)
{
	(void)state;
	assert_number(UNIT_NS, 0, "0 ns");
	assert_number(UNIT_NS, 999, "999 ns");
	assert_number(UNIT_NS, 1000, "1.000 us");
	assert_number(UNIT_NS, 1234567, "1.235 ms");
	assert_number(UNIT_NS, 5000000000, "5.000 s");
	assert_number(UNIT_NS, 86400000000000, "86400.000 s");
}

static void bytes_climb_by_1024(void **state)
{
	(void)state;
	assert_number(UNIT_BYTES, 1023, "1023 B");
	assert_number(UNIT_BYTES, 1024, "1.000 KiB");
	assert_number(UNIT_BYTES, 3 << 20, "3.000 MiB");
	assert_number(UNIT_BYTES, (uint64_t)3 << 30, "3.000 GiB");
	assert_number(UNIT_BYTES, (uint64_t)5 << 40, "5.000 TiB");
}

static void counts_climb_by_1000(void **state)
{
	(void)state;
	assert_number(UNIT_COUNT, 7, "7");
	assert_number(UNIT_COUNT, 12345, "12.345 K");
	assert_number(UNIT_COUNT, 1500000, "1.500 M");
	assert_number(UNIT_COUNT, 1500000000, "1.500 G");
}

static void numbers_that_name_something_are_never_scaled(void **state)
{
	(void)state;
	assert_number(UNIT_ID, 4194304, "4194304");
	assert_number(UNIT_LEVEL, 1000, "1000");
}

static void a_value_that_rounds_up_to_the_next_step_is_written_in_it(void **state)
{
	(void)state;
	assert_number(UNIT_NS, 999999, "999.999 us");
	assert_number(UNIT_NS, 999999400, "999.999 ms");
	assert_number(UNIT_NS, 999999500, "1.000 s");
	assert_number(UNIT_BYTES, (1 << 20) - 1, "1023.999 KiB");
	assert_number(UNIT_BYTES, (1 << 30) - 1, "1.000 GiB");
	assert_number(UNIT_COUNT, 999999999, "1.000 G");
}

static void real_numbers_keep_their_sign_and_two_places(void **state)
{
	(void)state;
	assert_real(UNIT_RATIO, 0.75, "0.750");
	assert_real(UNIT_NS, 12.5, "12.50 ns");
	assert_real(UNIT_NS, 12, "12 ns");
	assert_real(UNIT_NS, 1500, "1.500 us");
	assert_real(UNIT_BYTES, -2048, "-2.000 KiB");
	assert_real(UNIT_BYTES, -5, "-5 B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_climb_from_nanoseconds_to_seconds),
		cmocka_unit_test(bytes_climb_by_1024),
		cmocka_unit_test(counts_climb_by_1000),
		cmocka_unit_test(numbers_that_name_something_are_never_scaled),
		cmocka_unit_test(a_value_that_rounds_up_to_the_next_step_is_written_in_it),
		cmocka_unit_test(real_numbers_keep_their_sign_and_two_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
