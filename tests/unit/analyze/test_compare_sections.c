/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/compare/compare_sections.h"
#include "base/error.h"

static void a_list_of_names_is_a_set_of_sections(void **state)
{
	struct error error = { 0 };
	uint32_t sections;

	(void)state;
	assert_int_equal(compare_sections_parse("memory.stat,primary", &sections, &error), 0);
	assert_int_equal(sections, 1u << COMPARE_MEMORY_STAT | 1u << COMPARE_PRIMARY);
	assert_int_equal(compare_sections_parse("host,all", &sections, &error), 0);
	assert_int_equal(sections, ALL_COMPARE_SECTIONS);
}

static void every_section_is_found_by_its_name(void **state)
{
	struct error error = { 0 };
	uint32_t sections;

	(void)state;
	for (int id = 0; id < COMPARE_SECTION_COUNT; id++) {
		assert_int_equal(
			compare_sections_parse(compare_section_name(id), &sections, &error), 0);
		assert_int_equal(sections, 1u << id);
	}
}

static void a_word_that_is_none_is_named_and_pointed_at(void **state)
{
	static const char *const lists[] = { "primary,nonsense", "primary,", "primary,,host" };
	uint32_t sections = 7;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct error error = { 0 };

		assert_int_equal(compare_sections_parse(lists[i], &sections, &error), -EINVAL);
		assert_non_null(strstr(error.message, "delays"));
		assert_int_equal(error.caret, 8);
	}
	assert_int_equal(sections, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_names_is_a_set_of_sections),
		cmocka_unit_test(every_section_is_found_by_its_name),
		cmocka_unit_test(a_word_that_is_none_is_named_and_pointed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
