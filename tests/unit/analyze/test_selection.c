/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/group/selection.h"
#include "base/error.h"

static void assert_refused(const char *list, const char *part)
{
	struct selection selection = { .count = 77 };
	struct error error = { 0 };

	assert_true(selection_parse(list, &selection, &error) < 0);
	assert_int_equal(selection.count, 77);
	if (!strstr(error.message, part))
		fail_msg("'%s' does not say '%s'", error.message, part);
}

static void names_are_taken_in_the_order_given_and_once(void **state)
{
	struct selection selection;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(selection_parse("majflt,run_time_ns,majflt", &selection, &error), 0);
	assert_int_equal(selection.count, 2);
	assert_int_equal(selection.ids[0], METRIC_majflt);
	assert_int_equal(selection.ids[1], METRIC_run_time_ns);
}

static void a_glob_gives_all_its_metrics_in_table_order(void **state)
{
	struct selection selection;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(selection_parse("*_delay_total_ns", &selection, &error), 0);
	assert_int_equal(selection.count, 8);
	assert_int_equal(selection.ids[0], METRIC_cpu_delay_total_ns);
	assert_int_equal(selection.ids[7], METRIC_irq_delay_total_ns);
	assert_int_equal(selection_parse("*", &selection, &error), 0);
	assert_int_equal(selection.count, METRIC_COUNT);
}

static void an_unknown_metric_is_named_with_the_nearest_one(void **state)
{
	(void)state;
	assert_refused("majflt,run_tim_ns", "'run_tim_ns'");
	assert_refused("run_tim_ns", "run_time_ns");
	assert_refused("votuntary_csw", "voluntary_csw");
	assert_refused("nothing_like_it", "`taskscope metrics`");
	assert_refused("x*y", "'x*y'");
	assert_refused("[", "'['");
	assert_refused("", "empty");
	assert_refused("majflt,", "empty");
	assert_refused(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"no metric");
}

static void a_mistake_in_a_list_is_pointed_at(void **state)
{
	struct selection selection;
	struct error error = { 0 };
	uint32_t sections;

	(void)state;
	assert_true(selection_parse("majflt,run_tim_ns,x", &selection, &error) < 0);
	assert_non_null(strstr(error.message, "at character 8"));
	assert_string_equal(error.excerpt, "majflt,run_tim_ns,x");
	assert_int_equal(error.caret, 7);
	error = (struct error){ 0 };
	assert_true(sections_parse("memory,smurfs", &sections, &error) < 0);
	assert_int_equal(error.caret, 7);
}

static void a_mistake_far_into_a_long_list_is_shown_with_what_is_around_it(void **state)
{
	struct selection selection;
	struct error error = { 0 };
	char list[400] = "";

	(void)state;
	for (size_t i = 0; i < 40; i++)
		memcpy(list + i * 7, "minflt,", 8);
	list[280] = '?';
	assert_true(selection_parse(list, &selection, &error) < 0);
	assert_non_null(strstr(error.message, "at character 281"));
	assert_int_equal(error.excerpt[error.caret], '?');
}

static void the_sort_metric_goes_first_unless_it_is_there(void **state)
{
	struct selection selection;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(selection_parse("majflt,minflt", &selection, &error), 0);
	selection_add_first(&selection, METRIC_minflt);
	assert_int_equal(selection.count, 2);
	selection_add_first(&selection, METRIC_nice);
	assert_int_equal(selection.count, 3);
	assert_int_equal(selection.ids[0], METRIC_nice);
	assert_int_equal(selection.ids[2], METRIC_minflt);
}

static void every_section_is_found_by_its_name(void **state)
{
	struct error error = { 0 };
	uint32_t sections;

	(void)state;
	for (int section = 0; section < SECTION_COUNT; section++) {
		assert_int_equal(sections_parse(metric_section_name((enum metric_section)section),
						&sections, &error),
				 0);
		assert_int_equal(sections, 1u << section);
	}
	assert_int_equal(sections_parse("all", &sections, &error), 0);
	assert_int_equal(sections, ALL_SECTIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_section_is_found_by_its_name),
		cmocka_unit_test(names_are_taken_in_the_order_given_and_once),
		cmocka_unit_test(a_glob_gives_all_its_metrics_in_table_order),
		cmocka_unit_test(an_unknown_metric_is_named_with_the_nearest_one),
		cmocka_unit_test(a_mistake_in_a_list_is_pointed_at),
		cmocka_unit_test(a_mistake_far_into_a_long_list_is_shown_with_what_is_around_it),
		cmocka_unit_test(the_sort_metric_goes_first_unless_it_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
