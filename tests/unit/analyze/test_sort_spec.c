/* SPDX-License-Identifier: MIT */
/* Orders of groups: how they are written. */
#include "hand_comparison.h"

#include <stdio.h>

#include "analyze/group/sort_spec.h"
#include "base/error.h"

static void assert_refused(const char *text, const char *part, size_t position)
{
	struct sort_spec spec = { .count = 77 };
	struct error error = { 0 };

	assert_true(sort_spec_parse(text, &spec, &error) < 0);
	assert_int_equal(spec.count, 77);
	if (!strstr(error.message, part))
		fail_msg("'%s' does not say '%s'", error.message, part);
	assert_int_equal(error.caret, position);
}

static struct sort_spec parse(const char *text)
{
	struct error error = { 0 };
	struct sort_spec spec;

	if (sort_spec_parse(text, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

static void the_largest_comes_first_unless_told_otherwise(void **state)
{
	struct sort_spec spec = parse("wait_time_ns, cpu_efficiency : ASC ,majflt:desc");

	(void)state;
	assert_int_equal(spec.count, 3);
	assert_int_equal(spec.keys[0].metric, METRIC_wait_time_ns);
	assert_false(spec.keys[0].ascending);
	assert_int_equal(spec.keys[1].metric, METRIC_cpu_efficiency);
	assert_true(spec.keys[1].ascending);
	assert_false(spec.keys[2].ascending);
}

static void what_cannot_be_an_order_is_pointed_at(void **state)
{
	(void)state;
	assert_refused("", "missing", 0);
	assert_refused("majflt,", "missing", 7);
	assert_refused("majflt,,minflt", "missing", 7);
	assert_refused("majflt, run_tim_ns",
		       "at character 9: there is no metric 'run_tim_ns'; did you mean run_time_ns?",
		       8);
	assert_refused("majflt:up", "at character 8: the direction must be asc or desc, not 'up'",
		       7);
	assert_refused("majflt:", "asc or desc", 7);
	assert_refused("majflt,minflt,majflt:asc", "majflt is named twice", 14);
	assert_refused("state", "its values are names", 0);
	assert_refused("cpu_affinity", "its values are names", 0);
	assert_refused("memory.current", "no metric", 0);
}

static void at_most_sixteen_metrics_make_an_order(void **state)
{
	char text[2048] = "";
	struct sort_spec spec;
	struct error error = { 0 };
	size_t count = 0, length = 0;

	(void)state;
	for (int id = 0; id < METRIC_COUNT && count < SORT_KEYS_MAX + 1; id++) {
		if (metrics[id].kind != KIND_COUNTER)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   count ? "," : "", metrics[id].name);
		count++;
	}
	assert_true(sort_spec_parse(text, &spec, &error) < 0);
	*strrchr(text, ',') = '\0';
	assert_int_equal(parse(text).count, SORT_KEYS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_comes_first_unless_told_otherwise),
		cmocka_unit_test(what_cannot_be_an_order_is_pointed_at),
		cmocka_unit_test(at_most_sixteen_metrics_make_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
