/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/lines/line.h"

#define SECOND UINT64_C(1000000000)

static void durations_are_cut_to_what_people_read(void **state)
{
	static const struct {
		uint64_t nanoseconds;
		const char *text;
	} cases[] = {
		{ 0, "0s" },
		{ 7, "7ns" },
		{ 1500, "1.5us" },
		{ 350 * SECOND / 1000, "350ms" },
		{ 999999999, "999ms" },
		{ SECOND, "1s" },
		{ 2500 * SECOND / 1000, "2.5s" },
		{ 9990 * SECOND / 1000, "9.9s" },
		{ 10900 * SECOND / 1000, "10s" },
		{ 45 * SECOND, "45s" },
		{ 59 * SECOND + 999999999, "59s" },
		{ 90 * SECOND, "1m30s" },
		{ 3600 * SECOND - 1, "59m59s" },
		{ 3661 * SECOND, "1h01m01s" },
		{ 100 * 3600 * SECOND, "100h00m00s" },
		{ UINT64_MAX, "5124095h34m33s" },
	};
	char text[LINE_DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line_format_duration(cases[i].nanoseconds, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void sizes_have_one_decimal(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0B" },
		{ 1023, "1023B" },
		{ 1024, "1.0KiB" },
		{ 1536, "1.5KiB" },
		{ 1048576, "1.0MiB" },
		{ 1048575, "1023.9KiB" },
		{ UINT64_C(2040109466), "1.8GiB" },
		{ UINT64_C(5) << 40, "5120.0GiB" },
	};
	char text[LINE_DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line_format_bytes(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void small_numbers_keep_their_digits(void **state)
{
	static const struct {
		double value;
		unsigned int most;
		const char *text;
	} cases[] = {
		{ 0, 4, "0.0" },	{ 7.12, 4, "7.1" },	   { 1234.56, 4, "1234.6" },
		{ 0.98, 4, "0.98" },	{ 0.999, 4, "1.00" },	   { 0.0042, 4, "0.0042" },
		{ 0.0042, 2, "0.00" },	{ 0.05, 2, "0.05" },	   { 7.12, 2, "7.1" },
		{ -1, 4, "<unknown>" }, { 1e300, 4, "<unknown>" },
	};
	char text[LINE_DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line_format_real(cases[i].value, cases[i].most, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void assert_rendered(const struct line *line, const char *text, const char *json)
{
	char buffer[LINE_SIZE];

	assert_int_equal(line_render(line, false, buffer, sizeof(buffer)), strlen(text));
	assert_string_equal(buffer, text);
	assert_int_equal(line_render(line, true, buffer, sizeof(buffer)), strlen(json));
	assert_string_equal(buffer, json);
}

static void one_list_of_values_makes_text_and_json(void **state)
{
	struct line line;

	(void)state;
	line_begin(&line, LINE_HEARTBEAT, 4242);
	line_add_duration(&line, "elapsed", 90 * SECOND);
	line_add(&line, "rss", line_amount(LINE_BYTES, amount_of(1536)));
	line_add(&line, "read_bytes", line_amount(LINE_BYTES, amount_of(7)));
	line_add_thread(&line, 4243, "worker");
	line_add(&line, "active", line_text(LINE_LABEL, "solve"));
	line_add_as(&line, "rate", " rate=*/s", NULL, line_real(LINE_REAL, true, 7.125));
	assert_rendered(
		&line,
		"[taskscope] pid=4242 elapsed=1m30s rss=1.5KiB read_bytes=7B thread=4243/worker "
		"active=\"solve\" rate=7.1/s",
		"{\"kind\":\"heartbeat\",\"pid\":4242,\"elapsed_ns\":90000000000,\"rss_bytes\":1536,"
		"\"read_bytes\":7,\"thread\":4243,\"thread_name\":\"worker\",\"active\":\"solve\","
		"\"rate\":7.125}");
}

static void a_small_rate_keeps_digits_that_cores_do_not(void **state)
{
	struct line line;

	(void)state;
	line_begin(&line, LINE_HEARTBEAT, 1);
	line_add(&line, "rate", line_real(LINE_REAL, true, 0.0042));
	line_add(&line, "cpu", line_real(LINE_CORES, true, 0.0042));
	assert_rendered(&line, "[taskscope] pid=1 rate=0.0042 cpu=0.00",
			"{\"kind\":\"heartbeat\",\"pid\":1,\"rate\":0.004,\"cpu\":0.004}");
}

static void what_is_not_known_is_said_and_is_not_zero(void **state)
{
	struct line line;

	(void)state;
	line_begin(&line, LINE_FINAL, 1);
	line_add(&line, "rss", line_amount(LINE_BYTES, (struct amount){ 0 }));
	line_add(&line, "active", line_text(LINE_LABEL, NULL));
	line_add_as(&line, "cpu", NULL, "<warming-up>", line_real(LINE_REAL, false, 0));
	line_add_as(&line, "eta", NULL, "", line_amount(LINE_DURATION, (struct amount){ 0 }));
	assert_rendered(
		&line, "[taskscope] final pid=1 rss=<unknown> active=<unknown> cpu=<warming-up>",
		"{\"kind\":\"final\",\"pid\":1,\"rss_bytes\":null,\"active\":null,\"cpu\":null,"
		"\"eta_ns\":null}");
}

static void text_for_people_alone_is_not_in_json(void **state)
{
	struct line line;

	(void)state;
	line_begin(&line, LINE_LOST, 1);
	line_add_as(&line, "lines", " *: gone", NULL, line_amount(LINE_COUNT, amount_of(2)));
	line_add_as(&line, NULL, " (*%)", NULL, line_amount(LINE_COUNT, amount_of(3)));
	assert_rendered(&line, "[taskscope][LOST] pid=1 2: gone (3%)",
			"{\"kind\":\"lost\",\"pid\":1,\"lines\":2}");
}

static void bytes_that_harm_a_terminal_are_escaped(void **state)
{
	static const struct {
		const char *label, *text, *json;
	} cases[] = {
		{ "a\nb\x1b[0m", "a\\x0ab\\x1b[0m", "a\\\\x0ab\\\\x1b[0m" },
		{ "say \"x\\\"", "say \\\"x\\\\\\\"", "say \\\"x\\\\\\\"" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80",
		  "\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "cut \xe2\x82", "cut \\xe2\\x82", "cut \\\\xe2\\\\x82" },
		{ "\xc0\xaf\xff\x7f", "\\xc0\\xaf\\xff\\x7f", "\\\\xc0\\\\xaf\\\\xff\\\\x7f" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\\\xed\\\\xa0\\\\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b", "\\\\xc2\\\\x9b" },
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae", "\\\\xe2\\\\x80\\\\xae" },
		{ "\xe2\x80\x8b", "\\xe2\\x80\\x8b", "\\\\xe2\\\\x80\\\\x8b" },
		{ "\xd8\x9c", "\\xd8\\x9c", "\\\\xd8\\\\x9c" },
		{ "\xe2\x80\xa6 \xd8\x9b", "\xe2\x80\xa6 \xd8\x9b", "\xe2\x80\xa6 \xd8\x9b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128], json[128];
		struct line line;

		line_begin(&line, LINE_PHASE, 1);
		line_add(&line, "deepest", line_text(LINE_LABEL, cases[i].label));
		snprintf(text, sizeof(text), "[taskscope] phase pid=1 deepest=\"%s\"",
			 cases[i].text);
		snprintf(json, sizeof(json), "{\"kind\":\"phase\",\"pid\":1,\"deepest\":\"%s\"}",
			 cases[i].json);
		assert_rendered(&line, text, json);
	}
}

static void a_line_that_does_not_fit_is_cut(void **state)
{
	char buffer[16], guard = 'g';
	struct line line;

	(void)state;
	line_begin(&line, LINE_PHASE, 123456);
	for (int i = 0; i < LINE_FIELDS + 5; i++)
		line_add_count(&line, "depth", 1);
	assert_int_equal(line_render(&line, false, buffer, sizeof(buffer)), sizeof(buffer) - 1);
	assert_string_equal(buffer, "[taskscope] pha");
	assert_int_equal(guard, 'g');
	assert_int_equal(line.field_count, LINE_FIELDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_cut_to_what_people_read),
		cmocka_unit_test(sizes_have_one_decimal),
		cmocka_unit_test(small_numbers_keep_their_digits),
		cmocka_unit_test(one_list_of_values_makes_text_and_json),
		cmocka_unit_test(a_small_rate_keeps_digits_that_cores_do_not),
		cmocka_unit_test(what_is_not_known_is_said_and_is_not_zero),
		cmocka_unit_test(text_for_people_alone_is_not_in_json),
		cmocka_unit_test(bytes_that_harm_a_terminal_are_escaped),
		cmocka_unit_test(a_line_that_does_not_fit_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
