/* SPDX-License-Identifier: MIT */
/* What JIT compilers write about their functions, and what anyone may write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/code/name/perf_map.h"

static struct perf_map map;

static size_t parse(const char *text)
{
	return perf_map_parse(&map, text, strlen(text));
}

static int clear(void **state)
{
	(void)state;
	perf_map_clear(&map);
	return 0;
}

static void a_function_has_its_addresses_and_no_others(void **state)
{
	(void)state;
	parse("7f0000001000 20 LazyCompile:*fib /home/me/fib.js:1:13\n"
	      "0x7f0000002000 0x10 py::work:/srv/work.py\r\n");
	assert_string_equal(perf_map_find(&map, 0x7f0000001000),
			    "LazyCompile:*fib /home/me/fib.js:1:13");
	assert_non_null(perf_map_find(&map, 0x7f000000101f));
	assert_null(perf_map_find(&map, 0x7f0000001020));
	assert_null(perf_map_find(&map, 0x7f0000000fff));
	assert_string_equal(perf_map_find(&map, 0x7f000000200f), "py::work:/srv/work.py");
}

static void a_line_that_is_not_complete_waits_for_its_end(void **state)
{
	const char *text = "1000 10 first\n2000 10 sec";

	(void)state;
	assert_int_equal(parse(text), strlen("1000 10 first\n"));
	assert_null(perf_map_find(&map, 0x2000));
	parse("2000 10 second\n");
	assert_string_equal(perf_map_find(&map, 0x2000), "second");
	assert_string_equal(perf_map_find(&map, 0x1000), "first");
}

static void a_later_line_takes_the_place_of_an_earlier_one(void **state)
{
	(void)state;
	parse("1000 100 old\n1000 100 new\n2000 10 inner\n1f00 200 around\n");
	assert_string_equal(perf_map_find(&map, 0x1050), "new");
	assert_string_equal(perf_map_find(&map, 0x2008), "around");
	parse("2000 10 again\n");
	assert_string_equal(perf_map_find(&map, 0x2008), "again");
}

static void lines_without_sense_are_skipped(void **state)
{
	(void)state;
	parse("\n \nx\n10\n10 \n10 20\n10 20 \n10 0 empty\n 10 20 indented\n10,20,commas\n"
	      "11112222333344445 10 long\n10 100000000 huge\nffffffffffffffff 10 wraps\n"
	      "0x 10 nothing\n-1 10 negative\n");
	assert_int_equal(map.list.count, 0);
	assert_int_equal(map.lost, 0);
	assert_null(perf_map_find(&map, 0x10));
}

static void a_name_is_cut_at_its_bound_and_at_a_nul(void **state)
{
	char line[4096];
	int length = snprintf(line, sizeof(line), "1000 10 %03000d\n", 1);

	(void)state;
	perf_map_parse(&map, line, (size_t)length);
	assert_int_equal(strlen(perf_map_find(&map, 0x1000)), PERF_MAP_NAME_MAX);
	perf_map_parse(&map, "2000 10 a\0b\n", 12);
	assert_string_equal(perf_map_find(&map, 0x2000), "a");
}

static void what_does_not_fit_is_counted(void **state)
{
	char line[64];

	(void)state;
	for (unsigned i = 0; i < PERF_MAP_ENTRIES_MAX + 3; i++) {
		snprintf(line, sizeof(line), "%x 1 f\n", 4096 + i);
		parse(line);
	}
	assert_int_equal(map.list.count, PERF_MAP_ENTRIES_MAX);
	assert_int_equal(map.lost, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_function_has_its_addresses_and_no_others, clear),
		cmocka_unit_test_teardown(a_line_that_is_not_complete_waits_for_its_end, clear),
		cmocka_unit_test_teardown(a_later_line_takes_the_place_of_an_earlier_one, clear),
		cmocka_unit_test_teardown(lines_without_sense_are_skipped, clear),
		cmocka_unit_test_teardown(a_name_is_cut_at_its_bound_and_at_a_nul, clear),
		cmocka_unit_test_teardown(what_does_not_fit_is_counted, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
