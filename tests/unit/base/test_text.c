/* SPDX-License-Identifier: MIT */
/* Text that grows, bytes from strangers, and numbers as people and the kernel write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "base/text.h"

static void text_that_is_all_zeros_is_an_empty_string(void **state)
{
	struct text text = { 0 };

	(void)state;
	assert_string_equal(text_string(&text), "");
	text_clear(&text);
	text_append(&text, NULL, 0);
	assert_string_equal(text_string(&text), "");
	text_free(&text);
}

static void what_is_appended_comes_one_after_the_other(void **state)
{
	struct text text = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		text_format(&text, "%d,", i % 10);
	text_append_string(&text, "end");
	text_append(&text, "\0x", 2);
	assert_int_equal(text.length, 2005);
	assert_int_equal(strlen(text.data), 2003);
	assert_string_equal(text.data + 1998, "9,end");
	text_clear(&text);
	assert_int_equal(text.length, 0);
	assert_string_equal(text_string(&text), "");
	text_free(&text);
	assert_null(text.data);
}

static void memory_that_runs_out_is_remembered(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_append_string(&text, "before");
	text_append(&text, "x", SIZE_MAX - 2);
	assert_true(text.failed);
	text_append_string(&text, "after");
	assert_string_equal(text_string(&text), "before");
	text_free(&text);
}

static void assert_escaped(const char *bytes, const char *expected)
{
	struct text text = { 0 };

	text_append_escaped(&text, bytes, strlen(bytes));
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void bytes_that_a_terminal_would_obey_are_shown_instead(void **state)
{
	(void)state;
	assert_escaped("plain text", "plain text");
	assert_escaped("\x1b[31mred\n\t\r", "\\x1b[31mred\\x0a\\x09\\x0d");
	assert_escaped("\x7f\x01", "\\x7f\\x01");
	assert_escaped("a\xe2\x80\xaez", "a\\xe2\\x80\\xaez");	    /* right to left from here */
	assert_escaped("\xe2\x80\xa8", "\\xe2\\x80\\xa8");	    /* line separator */
	assert_escaped("\xef\xbb\xbf", "\\xef\\xbb\\xbf");	    /* byte order mark */
	assert_escaped("\xd8\x9c", "\\xd8\\x9c");		    /* Arabic letter mark */
	assert_escaped("\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"); /* a tag nobody sees */
	assert_escaped("\xd8\x9b", "\xd8\x9b");			    /* an Arabic semicolon */
	assert_escaped("\xe2\x80\xa6", "\xe2\x80\xa6");		    /* an ellipsis is a character */
	assert_escaped("\xc2\x9b"
		       "31m",
		       "\\xc2\\x9b31m"); /* CSI as a C1 control */
}

static void what_is_not_utf8_is_shown_byte_by_byte(void **state)
{
	(void)state;
	assert_escaped("gr\xc3\xbc\xc3\x9f"
		       "e \xe2\x82\xac \xf0\x9f\x98\x80",
		       "gr\xc3\xbc\xc3\x9f"
		       "e \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escaped("\xff\xfe", "\\xff\\xfe");
	assert_escaped("a\x80z", "a\\x80z");
	assert_escaped("\xc3", "\\xc3");			    /* cut short */
	assert_escaped("\xe2\x82", "\\xe2\\x82");		    /* cut short */
	assert_escaped("\xc0\xaf", "\\xc0\\xaf");		    /* overlong */
	assert_escaped("\xe0\x80\xaf", "\\xe0\\x80\\xaf");	    /* overlong */
	assert_escaped("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"); /* overlong */
	assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");	    /* surrogate */
	assert_escaped("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* past the last */
	assert_escaped("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");	    /* the last */
}

/* The first and the last of each kind, and their neighbours. */
static void characters_that_cannot_be_seen_have_exact_ranges(void **state)
{
	static const struct {
		const char *bytes;
		bool is_shown;
	} cases[] = {
		{ "\x1f", false },
		{ " ", true },
		{ "~", true },
		{ "\x7f", false },
		{ "\xc1\xbf", false },
		{ "\xc2\x80", false },
		{ "\xc2\x9f", false },
		{ "\xc2\xa0", true },
		{ "\xdf\xbf", true },
		{ "\xe0\x9f\xbf", false },
		{ "\xe0\xa0\x80", true },
		{ "\xe2\x80\x8a", true },
		{ "\xe2\x80\x8b", false },
		{ "\xe2\x80\x8f", false },
		{ "\xe2\x80\x90", true },
		{ "\xe2\x80\xa7", true },
		{ "\xe2\x80\xa8", false },
		{ "\xe2\x80\xae", false },
		{ "\xe2\x80\xaf", true },
		{ "\xe2\x81\x9f", true },
		{ "\xe2\x81\xa0", false },
		{ "\xe2\x81\xaf", false },
		{ "\xe2\x81\xb0", true },
		{ "\xed\x9f\xbf", true },
		{ "\xed\xa0\x80", false },
		{ "\xed\xbf\xbf", false },
		{ "\xee\x80\x80", true },
		{ "\xef\xbb\xbe", true },
		{ "\xef\xbb\xbf", false },
		{ "\xef\xbf\xbd", true },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xf0\x90\x80\x80", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "\xf4\x90\x80\x80", false },
		{ "\xf5\x80\x80\x80", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t length = strlen(cases[i].bytes);

		assert_int_equal(text_printable(cases[i].bytes, length),
				 cases[i].is_shown ? length : 0);
	}
}

static void a_nul_byte_is_shown_too(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_append_escaped(&text, "a\0b", 3);
	assert_string_equal(text_string(&text), "a\\x00b");
	text_free(&text);
	assert_int_equal(text_printable("", 0), 0);
	assert_int_equal(text_printable("\xe2\x82\xac", 2), 0);
	assert_int_equal(text_printable("\xe2\x82\xac", 3), 3);
}

static void width_counts_characters(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("gr\xc3\xbc\xc3\x9f"
				    "e"),
			 5);
}

static void a_number_is_read_up_to_where_it_ends(void **state)
{
	const char *cursor = "18446744073709551615 rest";
	uint64_t number = 7;

	(void)state;
	assert_true(scan_u64(&cursor, &number));
	assert_true(number == UINT64_MAX);
	assert_string_equal(cursor, " rest");
	assert_false(scan_u64(&cursor, &number));
	assert_string_equal(cursor, " rest");
	assert_true(number == UINT64_MAX);
}

static void a_number_that_does_not_fit_is_none(void **state)
{
	static const char *const wrong[] = {
		"18446744073709551616", "99999999999999999999999", "", "-1", "+1", " 1", "x"
	};
	uint64_t number = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *cursor = wrong[i];

		assert_false(scan_u64(&cursor, &number));
		assert_ptr_equal(cursor, wrong[i]);
	}
	assert_int_equal(number, 7);
}

static void numbers_with_a_sign_reach_both_ends(void **state)
{
	const char *lowest = "-9223372036854775808", *highest = "9223372036854775807";
	const char *below = "-9223372036854775809", *above = "9223372036854775808";
	int64_t number;

	(void)state;
	assert_true(scan_i64(&lowest, &number));
	assert_true(number == INT64_MIN);
	assert_true(scan_i64(&highest, &number));
	assert_true(number == INT64_MAX);
	assert_false(scan_i64(&below, &number));
	assert_false(scan_i64(&above, &number));
	below = "-";
	assert_false(scan_i64(&below, &number));
	below = "--1";
	assert_false(scan_i64(&below, &number));
}

static void a_whole_string_is_a_number_or_not(void **state)
{
	uint64_t number = 7;

	(void)state;
	assert_true(parse_u64("0042", &number));
	assert_int_equal(number, 42);
	assert_false(parse_u64("42 ", &number));
	assert_false(parse_u64("4x", &number));
	assert_false(parse_u64("", &number));
	assert_int_equal(number, 42);
}

static void durations_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *string;
		uint64_t ns;
	} cases[] = {
		{ "250ms", 250000000 },
		{ "5s", 5000000000 },
		{ "5", 5000000000 },
		{ "2m", 120000000000 },
		{ "1h", 3600000000000 },
		{ "1d", 86400000000000 },
		{ "1.5s", 1500000000 },
		{ "10us", 10000 },
		{ "7ns", 7 },
		{ "0.123456789s", 123456789 },
		{ "0", 0 },
		{ "2.5m", 150000000000 },
		{ "10min", 600000000000 },
		{ "1min", 60000000000 },
		{ "90mins", 5400000000000 },
		{ "1h30m", 5400000000000 },
		{ "1h30min15s", 5415000000000 },
		{ "2d", 172800000000000 },
		{ "2days12hours", 216000000000000 },
		{ "1m500ms", 60500000000 },
		{ "1m0.5s", 60500000000 },
		{ "30sec", 30000000000 },
		{ "0.12345678999s", 123456789 },
		{ "18446744073.709551615s", UINT64_MAX },
	};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(parse_duration_ns(cases[i].string, &ns));
		assert_true(ns == cases[i].ns);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"s",
		"5 s",
		".5s",
		"1.s",
		"1.2.3s",
		"-1s",
		"5S",
		"5ss",
		"1h30",
		"30m1h",
		"1m30m",
		"1h 30m",
		"1h-30m",
		"1hm",
		"1minute",
		"1h30x",
		"200000d200000d",
		"213503d24h",
		"18446744073709551616ns",
		"18446744074s",
		"18446744073.709551616s",
	};
	uint64_t ns = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_false(parse_duration_ns(cases[i], &ns));
	assert_int_equal(ns, 7);
}

static void what_a_title_leaves_are_no_words(void **state)
{
	static const struct {
		const char *bytes;
		size_t length, words;
		bool stays_cut;
	} cases[] = {
		{ "", 0, 0, true },
		{ "sh\0-c\0exit", 10, 10, true },
		{ "sh\0-c\0exit\0", 11, 10, true },
		{ "sh\0\0x\0", 6, 5, true },
		{ "title\0\0\0\0", 9, 5, false },
		{ "title: worker   \0", 17, 13, false },
		{ "\0\0\0", 3, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool cut = true, whole = false;

		assert_int_equal(text_words(cases[i].bytes, cases[i].length, &cut), cases[i].words);
		assert_int_equal(cut, cases[i].stays_cut);
		text_words(cases[i].bytes, cases[i].length, &whole);
		assert_false(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_that_is_all_zeros_is_an_empty_string),
		cmocka_unit_test(what_is_appended_comes_one_after_the_other),
		cmocka_unit_test(memory_that_runs_out_is_remembered),
		cmocka_unit_test(bytes_that_a_terminal_would_obey_are_shown_instead),
		cmocka_unit_test(what_is_not_utf8_is_shown_byte_by_byte),
		cmocka_unit_test(characters_that_cannot_be_seen_have_exact_ranges),
		cmocka_unit_test(a_nul_byte_is_shown_too),
		cmocka_unit_test(width_counts_characters),
		cmocka_unit_test(what_a_title_leaves_are_no_words),
		cmocka_unit_test(a_number_is_read_up_to_where_it_ends),
		cmocka_unit_test(a_number_that_does_not_fit_is_none),
		cmocka_unit_test(numbers_with_a_sign_reach_both_ends),
		cmocka_unit_test(a_whole_string_is_a_number_or_not),
		cmocka_unit_test(durations_are_read_as_people_write_them),
		cmocka_unit_test(what_is_no_duration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
