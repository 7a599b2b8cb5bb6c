/* SPDX-License-Identifier: MIT */
/* CPU sets as the kernel writes them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "base/cpulist.h"
#include "base/text.h"

static void assert_canonical(const char *list, const char *expected)
{
	struct cpuset set = { 0 };
	struct text text = { 0 };

	assert_int_equal(cpulist_parse(list, &set), 0);
	cpulist_format(set.words, set.word_count, &text);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
	cpuset_clear(&set);
}

static void a_list_is_written_ascending_with_ranges_joined(void **state)
{
	(void)state;
	assert_canonical("0-3,8", "0-3,8");
	assert_canonical("0-3,8\n", "0-3,8");
	assert_canonical("8,3,2,1,0", "0-3,8");
	assert_canonical("0-2,1-5,6", "0-6");
	assert_canonical("63-64", "63-64");
	assert_canonical("127,128,130", "127-128,130");
	assert_canonical("65535", "65535");
	assert_canonical("", "");
	assert_canonical("\n", "");
}

static void a_set_has_no_more_words_than_its_last_cpu_needs(void **state)
{
	struct cpuset set = { 0 };

	(void)state;
	assert_int_equal(cpulist_parse("0-63", &set), 0);
	assert_int_equal(set.word_count, 1);
	cpuset_clear(&set);
	assert_int_equal(cpulist_parse("64", &set), 0);
	assert_int_equal(set.word_count, 2);
	cpuset_clear(&set);
}

static void what_is_no_list_is_refused(void **state)
{
	static const char *const wrong[] = { ",",     "0,",	  "0,,1",
					     "-1",    "1-",	  "3-1",
					     "0-3 ",  " 0",	  "a",
					     "0x3",   "0-3,8\nx", "0\n\n",
					     "65536", "0-65536",  "99999999999999999999",
					     "1-2-3" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct cpuset set = { .word_count = 7 };

		assert_int_equal(cpulist_parse(wrong[i], &set), -EINVAL);
		assert_int_equal(set.word_count, 7);
		assert_int_equal(cpulist_count(wrong[i]), 0);
	}
}

static void the_cpus_of_a_list_are_counted(void **state)
{
	(void)state;
	assert_int_equal(cpulist_count("0-3,8"), 5);
	assert_int_equal(cpulist_count("0-65535"), 65536);
	assert_int_equal(cpulist_count("1,1,1"), 1);
	assert_int_equal(cpulist_count(""), 0);
}

static void an_intersection_has_what_both_have(void **state)
{
	struct cpuset set = { 0 }, online = { 0 };
	struct text text = { 0 };

	(void)state;
	assert_int_equal(cpulist_parse("0-200", &set), 0);
	assert_int_equal(cpulist_parse("2-3,90", &online), 0);
	cpuset_intersect(&set, &online);
	assert_int_equal(cpuset_count(&set), 3);
	cpulist_format(set.words, set.word_count, &text);
	assert_string_equal(text_string(&text), "2-3,90");
	text_free(&text);
	cpuset_clear(&set);
	cpuset_clear(&online);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_written_ascending_with_ranges_joined),
		cmocka_unit_test(a_set_has_no_more_words_than_its_last_cpu_needs),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(the_cpus_of_a_list_are_counted),
		cmocka_unit_test(an_intersection_has_what_both_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
