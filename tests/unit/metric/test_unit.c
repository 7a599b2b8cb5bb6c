/* SPDX-License-Identifier: MIT */
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
	assert_number(UNIT_NS, 1000, "1.00 us");
	assert_number(UNIT_NS, 1234567, "1.23 ms");
	assert_number(UNIT_NS, 5000000000, "5.00 s");
	assert_number(UNIT_US, 12345678, "12.3 s");
}

static void a_duration_of_ten_minutes_has_minutes_hours_or_days(void **state)
{
	(void)state;
	assert_number(UNIT_NS, 599400000000, "599 s");
	assert_number(UNIT_NS, 599600000000, "10m 00s");
	assert_number(UNIT_NS, 725000000000, "12m 05s");
	assert_number(UNIT_US, 14700000000, "4h 05m");
	assert_number(UNIT_NS, 274000000000000, "3d 04h");
	assert_real(UNIT_NS, -725e9, "-12m 05s");
}

static void bytes_climb_by_1024(void **state)
{
	(void)state;
	assert_number(UNIT_BYTES, 1023, "1023 B");
	assert_number(UNIT_BYTES, 1024, "1.00 KiB");
	assert_number(UNIT_BYTES, 3 << 20, "3.00 MiB");
	assert_number(UNIT_BYTES, (uint64_t)3 << 30, "3.00 GiB");
	assert_number(UNIT_BYTES, (uint64_t)5 << 40, "5.00 TiB");
	assert_number(UNIT_BYTES, UINT64_MAX, "16.0 EiB");
}

static void counts_climb_by_1000(void **state)
{
	(void)state;
	assert_number(UNIT_COUNT, 7, "7");
	assert_number(UNIT_COUNT, 12345, "12.3 K");
	assert_number(UNIT_COUNT, 1500000, "1.50 M");
	assert_number(UNIT_COUNT, 1500000000, "1.50 G");
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
	assert_number(UNIT_NS, 999999, "1.00 ms");
	assert_number(UNIT_NS, 999400000, "999 ms");
	assert_number(UNIT_NS, 999500000, "1.00 s");
	assert_number(UNIT_BYTES, (1 << 20) - 1024, "1023 KiB");
	assert_number(UNIT_BYTES, (1 << 30) - 1, "1.00 GiB");
	assert_number(UNIT_COUNT, 999999999, "1.00 G");
}

static void real_numbers_keep_their_sign_and_three_digits(void **state)
{
	(void)state;
	assert_real(UNIT_RATIO, 0.75, "0.750");
	assert_real(UNIT_NS, 12.5, "12.5 ns");
	assert_real(UNIT_NS, 12, "12 ns");
	assert_real(UNIT_NS, 1500, "1.50 us");
	assert_real(UNIT_BYTES, -2048, "-2.00 KiB");
	assert_real(UNIT_BYTES, -5, "-5 B");
}

static void assert_share(double share, const char *expected)
{
	struct text text = { 0 };

	unit_format_share(&text, share);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void shares_are_percent_and_none_that_exists_is_0(void **state)
{
	(void)state;
	assert_share(0, "0 %");
	assert_share(0.00001, "<0.01 %");
	assert_share(0.0005, "0.05 %");
	assert_share(0.0502, "5.02 %");
	assert_share(0.412, "41.2 %");
	assert_share(1, "100 %");
	assert_share(12.3, "1230 %");
	assert_number(UNIT_CENTIPERCENT, 4123, "41.2 %");
}

static void assert_amount(const char *string, enum metric_unit unit, double value)
{
	enum metric_unit found = UNIT_TEXT;
	const char *cursor = string;
	double amount = -1;

	assert_true(unit_scan(&cursor, &amount, &found));
	assert_string_equal(cursor, "");
	assert_int_equal(found, unit);
	if (amount != value)
		fail_msg("%s is %.17g, not %.17g", string, amount, value);
}

static void amounts_are_read_with_their_units_and_rounded_once(void **state)
{
	(void)state;
	assert_amount("0", UNIT_LEVEL, 0);
	assert_amount("12.25", UNIT_LEVEL, 12.25);
	assert_amount("1ns", UNIT_NS, 1);
	assert_amount("250ms", UNIT_NS, 250000000);
	assert_amount("1.1s", UNIT_NS, 1100000000);
	assert_amount("2m", UNIT_NS, 120e9);
	assert_amount("2min", UNIT_NS, 120e9);
	assert_amount("1h", UNIT_NS, 3600e9);
	assert_amount("10MiB", UNIT_BYTES, 10 << 20);
	assert_amount("7B", UNIT_BYTES, 7);
	assert_amount("1.5K", UNIT_COUNT, 1500);
	assert_amount("35%", UNIT_RATIO, 0.35);
	assert_amount("0.5%", UNIT_RATIO, 0.005);
}

static void what_is_no_amount_leaves_the_cursor_where_it_is(void **state)
{
	static const char *const wrong[] = { "",     "s",	   ".5",    "-1",  "5x",
					     "5sec", "10kB",	   "1.2.3", "5%%", "5 s ms",
					     "5.s",  "5\xc2\xb5s", "1m30s" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		enum metric_unit unit;
		const char *cursor = wrong[i];
		double amount;

		if (unit_scan(&cursor, &amount, &unit) && !*cursor)
			fail_msg("'%s' was read", wrong[i]);
		assert_true(cursor == wrong[i] || *cursor == ' ');
	}
}

static void a_number_too_long_for_any_amount_is_refused(void **state)
{
	char digits[400] = "0.";
	const char *cursor = digits;
	enum metric_unit unit;
	double amount;

	(void)state;
	memset(digits + 2, '0', sizeof(digits) - 3);
	assert_false(unit_scan(&cursor, &amount, &unit));
	memset(digits, '9', sizeof(digits) - 1);
	assert_false(unit_scan(&cursor, &amount, &unit));
}

static void an_amount_ends_where_something_else_begins(void **state)
{
	const char *cursor = "5ms/s";
	enum metric_unit unit;
	double amount;

	(void)state;
	assert_true(unit_scan(&cursor, &amount, &unit));
	assert_string_equal(cursor, "/s");
	assert_int_equal(unit, UNIT_NS);
}

static void assert_side(enum metric_unit unit, double largest, double value, const char *expected)
{
	struct unit_scale scale = unit_scale_for(unit, largest);
	struct text text = { 0 };

	unit_format_number(&text, unit, &scale, value);
	text_append_string(&text, scale.suffix);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void numbers_side_by_side_have_the_unit_of_the_largest(void **state)
{
	(void)state;
	assert_side(UNIT_NS, 2e9, 15e6, "0.015 s");
	assert_side(UNIT_NS, 2e9, 0, "0 s");
	assert_side(UNIT_NS, 999, 12, "12 ns");
	assert_side(UNIT_NS, 999, 12.5, "12.5 ns");
	assert_side(UNIT_BYTES, 3 << 20, -(1 << 19), "-0.500 MiB");
	assert_side(UNIT_CENTIPERCENT, 5000, 1234, "12.3 %");
	assert_side(UNIT_RATIO, 1, 0.5, "0.500");
}

static void a_number_too_small_for_the_unit_does_not_look_like_0(void **state)
{
	(void)state;
	assert_side(UNIT_NS, 2e9, 15, "<0.001 s");
	assert_side(UNIT_NS, 2e9, -15, ">-0.001 s");
	assert_side(UNIT_RATIO, 1, 1e-9, "<0.001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_climb_from_nanoseconds_to_seconds),
		cmocka_unit_test(a_duration_of_ten_minutes_has_minutes_hours_or_days),
		cmocka_unit_test(shares_are_percent_and_none_that_exists_is_0),
		cmocka_unit_test(bytes_climb_by_1024),
		cmocka_unit_test(counts_climb_by_1000),
		cmocka_unit_test(numbers_that_name_something_are_never_scaled),
		cmocka_unit_test(a_value_that_rounds_up_to_the_next_step_is_written_in_it),
		cmocka_unit_test(real_numbers_keep_their_sign_and_three_digits),
		cmocka_unit_test(amounts_are_read_with_their_units_and_rounded_once),
		cmocka_unit_test(what_is_no_amount_leaves_the_cursor_where_it_is),
		cmocka_unit_test(a_number_too_long_for_any_amount_is_refused),
		cmocka_unit_test(an_amount_ends_where_something_else_begins),
		cmocka_unit_test(numbers_side_by_side_have_the_unit_of_the_largest),
		cmocka_unit_test(a_number_too_small_for_the_unit_does_not_look_like_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
