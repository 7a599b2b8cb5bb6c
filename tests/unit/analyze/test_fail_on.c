/* SPDX-License-Identifier: MIT */
/* Conditions: how they are written, and when a comparison meets them. */
#include "hand_comparison.h"

#include <errno.h>

#include "analyze/threshold/fail_on.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "metric/reading.h"

static struct fail_on fail_on;
static struct comparison comparison;
static struct fail_verdict verdict;

static int set_up(void **state)
{
	(void)state;
	comparison = (struct comparison){ .mode = COMPARE_POPULATION };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fail_on_clear(&fail_on);
	fail_verdict_clear(&verdict);
	hand_clear(&comparison);
	return 0;
}

static const struct fail_condition *parse(const char *text)
{
	struct error error = { 0 };

	if (fail_on_add(&fail_on, text, &error) < 0)
		fail_msg("%s: %s", text, error.message);
	return &fail_on.conditions.data[fail_on.conditions.count - 1];
}

static void assert_refused(const char *text, const char *part, size_t position)
{
	size_t count = fail_on.conditions.count;
	struct error error = { 0 };

	assert_int_equal(fail_on_add(&fail_on, text, &error), -EINVAL);
	assert_int_equal(fail_on.conditions.count, count);
	if (!strstr(error.message, part))
		fail_msg("'%s' does not say '%s'", error.message, part);
	if (error.caret != position)
		fail_msg("'%s' is said of %zu, not of %zu", error.message, error.caret, position);
}

/* Evaluates one condition over the comparison, made on the axis; how many rows fail. */
static size_t failures_on(enum group_axis axis, const char *text)
{
	fail_verdict_clear(&verdict);
	assert_int_equal(fail_condition_evaluate(parse(text), &comparison, axis, &verdict), 0);
	return verdict.failed;
}

static size_t failures(const char *text)
{
	return failures_on(AXIS_PCOMM, text);
}

static void a_condition_has_a_group_a_metric_a_relation_and_a_value(void **state)
{
	const struct fail_condition *condition = parse("pcomm=nginx wait_time_ns > +20%");

	(void)state;
	assert_true(condition->has_axis);
	assert_int_equal(condition->axis, AXIS_PCOMM);
	assert_string_equal(condition->glob, "nginx");
	assert_ptr_equal(condition->metric, &metrics[METRIC_wait_time_ns]);
	assert_int_equal(condition->relation, RELATION_ABOVE);
	assert_true(condition->is_relative);
	assert_false(condition->per_second);
	assert_true(condition->bound == 0.2);
	assert_string_equal(condition->text, "pcomm=nginx wait_time_ns > +20%");
}

static void blanks_do_not_matter_and_groups_with_blanks_are_quoted(void **state)
{
	const struct fail_condition *condition =
		parse("  group='tmux: server'\trss_bytes<=-1.5MiB  ");

	(void)state;
	assert_false(condition->has_axis);
	assert_string_equal(condition->glob, "tmux: server");
	assert_int_equal(condition->relation, RELATION_AT_MOST);
	assert_true(condition->bound == -1.5 * 1048576);
	assert_string_equal(parse("comm=\"a'b\" majflt>0")->glob, "a'b");
	assert_null(parse("majflt >= 3")->glob);
}

static void a_backslash_in_quotes_escapes_the_quote_alone(void **state)
{
	(void)state;
	assert_string_equal(parse("comm=\"a \\\"b\\\" c\" majflt>0")->glob, "a \"b\" c");
	assert_string_equal(parse("comm='it\\'s' majflt>0")->glob, "it's");
	assert_string_equal(parse("comm=\"a\\'b\" majflt>0")->glob, "a\\'b");
	assert_string_equal(parse("cgroup=\"/a\\x2d b\" majflt>0")->glob, "/a\\x2d b");
	assert_string_equal(parse("cgroup=/a\\\"b majflt>0")->glob, "/a\\\"b");
	assert_refused("comm=\"a\\\" majflt > 1", "quote is not closed", 5);
	assert_refused("comm=\"\\\"\\\"[\" majflt > 1", "glob", 10);
}

static void amounts_are_taken_in_the_metrics_own_unit(void **state)
{
	(void)state;
	assert_true(parse("run_time_ns > 5ms")->bound == 5e6);
	assert_true(parse("run_time_ns > 5")->bound == 5);
	assert_true(parse("majflt > 2K")->bound == 2000);
	assert_true(parse("cpu_efficiency < -0.25")->bound == -0.25);
	assert_true(parse("cpu.stat usage_usec > 5ms")->bound == 5000);
	assert_true(parse("pressure cpu some avg10 > 2.5")->bound == 250);
	assert_true(parse("memory.current > 1GiB")->bound == 1073741824);
	assert_true(metric_is_reading(parse("memory.current > 1GiB")->metric));
	assert_true(parse("run_time_ns > 50ms/s")->per_second);
}

static void mistakes_are_pointed_at(void **state)
{
	(void)state;
	assert_refused("", "metric is missing", 0);
	assert_refused("pcomm=nginx", "metric is missing", 11);
	assert_refused("pcomm=nginx wait_tim_ns > +20%", "did you mean wait_time_ns?", 12);
	assert_refused("pid=3 majflt > 1", "not by 'pid'", 0);
	/* As long as the place for a name. */
	assert_refused("abcdefghijklmnopqrstuvwxyzabcdef=3 majflt > 1", "not by 'abcdef", 0);
	assert_refused("pcomm= majflt > 1", "group is missing", 6);
	assert_refused("pcomm='x majflt > 1", "quote is not closed", 6);
	assert_refused("pcomm=a[b majflt > 1", "glob", 7);
	assert_refused("majflt", "operator is missing", 6);
	assert_refused("majflt == 1", "must be one of > < >= <=", 7);
	assert_refused("majflt =! 1", "must be one of > < >= <=", 7);
	assert_refused("majflt >", "amount such as +20%", 8);
	assert_refused("majflt > x", "amount such as +20%", 9);
	assert_refused("majflt > 5 6", "nothing may follow", 11);
	assert_refused("majflt > 5ms", "majflt is measured in count", 9);
	assert_refused("run_time_ns > 5MiB", "run_time_ns is measured in ns", 14);
	assert_refused("rss_bytes > 5MiB/s", "has no rate", 16);
	assert_refused("state > 5", "values are names", 0);
	assert_refused("cpuset.cpus > 5", "values are names", 0);
	assert_refused("> 5", "metric is missing", 0);
}

static void a_long_condition_is_refused_and_its_error_is_short(void **state)
{
	char text[4096];
	struct error error = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(fail_on_add(&fail_on, text, &error), -EINVAL);
	text[2000] = '\0';
	error = (struct error){ 0 };
	assert_int_equal(fail_on_add(&fail_on, text, &error), -EINVAL);
	assert_true(strlen(error.excerpt) < sizeof(error.excerpt));
}

static void a_change_is_measured_against_what_was_before(void **state)
{
	(void)state;
	hand_change(&comparison, hand_group(&comparison, "nginx"), METRIC_majflt, 100, 120);
	assert_int_equal(failures("majflt > +20%"), 0);
	assert_int_equal(verdict.passed, 1);
	assert_int_equal(failures("majflt >= +20%"), 1);
	assert_int_equal(failures("majflt > +19.9%"), 1);
	assert_int_equal(failures("majflt > 19"), 1);
	assert_int_equal(failures("majflt > 20"), 0);
	assert_int_equal(failures("majflt <= 20"), 1);
	assert_int_equal(failures("majflt < -5%"), 0);
}

static void only_the_groups_that_are_meant_count(void **state)
{
	(void)state;
	hand_change(&comparison, hand_group(&comparison, "nginx"), METRIC_majflt, 100, 200);
	hand_change(&comparison, hand_group(&comparison, "mysqld"), METRIC_majflt, 100, 300);
	assert_int_equal(failures("pcomm=nginx majflt > +50%"), 1);
	assert_int_equal(failures("group=* majflt > +50%"), 2);
	assert_int_equal(failures("majflt > +150%"), 1);
	assert_int_equal(failures("group=my* majflt > +50%"), 1);
}

static void a_star_crosses_slashes_in_names_but_not_in_paths(void **state)
{
	(void)state;
	hand_change(&comparison, hand_group(&comparison, "kworker/0:1-events"), METRIC_majflt, 0,
		    1);
	hand_change(&comparison, hand_group(&comparison, "/a/b x/y/z"), METRIC_majflt, 0, 1);
	assert_int_equal(failures("pcomm=kworker* majflt > 0"), 1);
	assert_int_equal(failures("pcomm=kworker?0[!x]1* majflt > 0"), 1);
	assert_int_equal(failures("pcomm=* majflt > 0"), 2);
	assert_int_equal(failures_on(AXIS_CGROUP, "cgroup=* majflt > 0"), 0);
	assert_int_equal(failures_on(AXIS_CGROUP, "cgroup=kworker** majflt > 0"), 1);
	assert_int_equal(failures_on(AXIS_ALL, "all='/a/* x*' majflt > 0"), 1);
	assert_int_equal(failures_on(AXIS_ALL, "all='/* x*' majflt > 0"), 0);
}

static void what_grew_from_nothing_grew_by_more_than_any_percentage(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };

	(void)state;
	hand_change(&comparison, hand_group(&comparison, "x"), METRIC_majflt, 0, 1);
	hand_change(&comparison, hand_group(&comparison, "y"), METRIC_majflt, 0, 0);
	assert_int_equal(failures("majflt > +1000000%"), 1);
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(text_string(&text), "majflt > +1000000%: x changed from 0");
}

/* A row in a state without a difference. */
static void add_state(const char *key, enum row_state row_state, const char *reason)
{
	struct comparison_row *row =
		hand_change(&comparison, hand_group(&comparison, key), METRIC_majflt, 0, 9);

	row->state = row_state;
	row->delta.known = false;
	row->reason = reason;
}

static void what_cannot_be_told_does_not_fail_but_is_said(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };

	(void)state;
	add_state("a", ROW_ABSENT, "no permission");
	add_state("b", ROW_RESET, NULL);
	add_state("c", ROW_NEW, NULL);
	add_state("d", ROW_GONE, NULL);
	assert_int_equal(failures("majflt > 0"), 0);
	assert_int_equal(verdict.unknown, 4);
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(text_string(&text), "majflt > 0: a cannot be judged: no permission");
}

static void a_new_group_has_a_size_but_no_percentage(void **state)
{
	(void)state;
	hand_change(&comparison, hand_group(&comparison, "new"), METRIC_majflt, 0, 9)->state =
		ROW_NEW;
	assert_int_equal(failures("majflt > 8"), 1);
	assert_int_equal(failures("majflt > 1%"), 0);
	assert_int_equal(verdict.unknown, 1);
}

static void assert_nothing_meant(const char *text, const char *reason)
{
	assert_int_equal(failures(text), 0);
	assert_int_equal(verdict.unknown, 0);
	assert_int_equal(verdict.moot, 1);
	assert_null(verdict.findings.data[0].row);
	assert_string_equal(verdict.findings.data[0].reason, reason);
}

static void a_condition_is_of_names_unless_it_has_a_placeholder(void **state)
{
	(void)state;
	assert_int_equal(fail_condition_names(parse("pcomm=cc1 majflt > 0")), FAIL_NAMES_LITERAL);
	assert_int_equal(fail_condition_names(parse("cgroup=/a/{x}* majflt > 0")),
			 FAIL_NAMES_LITERAL);
	assert_int_equal(fail_condition_names(parse("pcomm=python{N} majflt > 0")),
			 FAIL_NAMES_PATTERNS);
	assert_int_equal(fail_condition_names(parse("pcomm={H} majflt > 0")), FAIL_NAMES_PATTERNS);
	assert_int_equal(fail_condition_names(parse("cgroup=/pod{I}/* majflt > 0")),
			 FAIL_NAMES_PATTERNS);
	assert_int_equal(fail_condition_names(parse("majflt > 0")), FAIL_NAMES_SHOWN);
}

static void a_condition_that_means_nothing_is_moot(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };

	(void)state;
	hand_change(&comparison, hand_group(&comparison, "nginx"), METRIC_majflt, 0, 1);
	assert_nothing_meant("minflt > 0", "neither side has it");
	assert_nothing_meant("cgroup=/a memory.current > 0", "neither side has it");
	assert_nothing_meant("comm=nginx majflt > 0", "it has no groups on that axis");
	assert_nothing_meant("pcomm=apache minflt > 0", "no group of either side is called ");
	assert_nothing_meant("pcomm=apache majflt > 0", "no group of either side is called ");
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(text_string(&text), "pcomm=apache majflt > 0: no group of either side "
						"is called apache");
}

static void readings_have_axes_of_their_own(void **state)
{
	struct comparison_row row = {
		.metric = reading_find("memory.current"),
		.section = COMPARE_CGROUP,
		.before = hand_number(1),
		.after = hand_number(5),
		.state = ROW_CHANGED,
		.delta = { .known = true, .magnitude = 4, .real = 4 },
	};

	(void)state;
	hand_row(&comparison, hand_group(&comparison, "/a"), row);
	assert_int_equal(failures("cgroup=/a memory.current > 3B"), 1);
	assert_nothing_meant("pcomm=/a memory.current > 3B", "it has no groups on that axis");
}

static void a_rate_of_an_interval_is_its_own_change(void **state)
{
	struct comparison_row *row = hand_change(&comparison, hand_group(&comparison, "x"),
						 METRIC_run_time_ns, 1000, 2000);

	(void)state;
	comparison.mode = COMPARE_INTERVAL;
	row->has_rate = true;
	row->per_second = 5e6;
	assert_int_equal(failures("run_time_ns > 4ms/s"), 1);
	assert_int_equal(failures("run_time_ns > 5ms/s"), 0);
	assert_int_equal(failures("run_time_ns > 5%/s"), 0);
	assert_int_equal(verdict.moot, 1);
}

static void one_interval_has_no_percent(void **state)
{
	(void)state;
	comparison.mode = COMPARE_INTERVAL;
	hand_change(&comparison, hand_group(&comparison, "server"), METRIC_rss_bytes, 100, 200);
	assert_int_equal(failures("rss_bytes > +20%"), 0);
	assert_int_equal(verdict.moot, 1);
	assert_non_null(strstr(verdict.findings.data[0].reason, "A..B C..D"));
	assert_int_equal(failures("rss_bytes > 50"), 1);
}

static void rates_of_two_intervals_are_compared_in_any_form(void **state)
{
	struct comparison_row *row;

	(void)state;
	comparison.mode = COMPARE_INTERVALS;
	row = hand_change(&comparison, hand_group(&comparison, "server"), METRIC_run_time_ns, 0, 0);
	row->values = VALUES_PER_SECOND;
	row->state = ROW_CHANGED;
	row->before = (struct compared_value){ .shape = VALUE_REAL, .real = 5e8 };
	row->delta = (struct difference){ .known = true, .is_real = true, .real = 1e8 };
	assert_int_equal(failures("run_time_ns > +19%"), 1);
	assert_int_equal(failures("run_time_ns > +20%"), 0);
	assert_int_equal(failures("run_time_ns > +19%/s"), 1);
	assert_int_equal(failures("run_time_ns >= 100ms/s"), 1);
	assert_int_equal(failures("run_time_ns > 100ms"), 0);
}

static void what_a_restarted_group_did_is_not_known(void **state)
{
	struct comparison_row *row;

	(void)state;
	comparison.mode = COMPARE_INTERVAL;
	row = hand_change(&comparison, hand_group(&comparison, "server"), METRIC_run_time_ns, 1, 9);
	row->values = VALUES_PER_TASK_SECOND;
	assert_int_equal(failures("run_time_ns > 1ns"), 0);
	assert_int_equal(verdict.unknown, 1);
	assert_non_null(strstr(verdict.findings.data[0].reason, "restarted"));
}

static void rates_of_populations_are_compared_with_each_other(void **state)
{
	struct comparison_row *row = hand_change(&comparison, hand_group(&comparison, "x"),
						 METRIC_run_time_ns, 1000, 2000);

	(void)state;
	assert_int_equal(failures("run_time_ns > 1/s"), 0);
	assert_int_equal(verdict.unknown, 1);
	row->has_rate = true;
	row->has_rate_before = row->has_rate_after = true;
	row->rate_before = 100;
	row->rate_after = 130;
	assert_int_equal(failures("run_time_ns > 29/s"), 1);
	assert_int_equal(failures("run_time_ns > 30/s"), 0);
	assert_int_equal(failures("run_time_ns > 29%/s"), 1);
}

static void what_is_within_noise_does_not_fail(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	struct comparison_row *row = hand_change(&comparison, hand_group(&comparison, "x"),
						 METRIC_run_time_ns, 1000000, 2000000);

	(void)state;
	row->significance = (struct significance){ .tested = true, .p = 0.4, .is_noise = true };
	assert_int_equal(failures("run_time_ns > +50%"), 0);
	assert_int_equal(verdict.noise, 1);
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(
		text_string(&text),
		"run_time_ns > +50%: x changed by +100 %, which is within noise (p = 0.40)");
	row->significance.is_noise = false;
	assert_int_equal(failures("run_time_ns > 0.5ms"), 1);
	text_clear(&text);
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(text_string(&text), "run_time_ns > 0.5ms: x changed by +1.00 ms");
}

static void names_from_strangers_do_not_steer_the_terminal(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };

	(void)state;
	hand_change(&comparison, hand_group(&comparison, "\033[2J"), METRIC_majflt, 0, 1);
	assert_int_equal(failures("majflt > 0"), 1);
	fail_finding_append(&verdict.findings.data[0], &comparison, &text);
	assert_string_equal(text_string(&text), "majflt > 0: \\x1b[2J changed by +1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_condition_has_a_group_a_metric_a_relation_and_a_value),
		TEST(blanks_do_not_matter_and_groups_with_blanks_are_quoted),
		TEST(a_backslash_in_quotes_escapes_the_quote_alone),
		TEST(amounts_are_taken_in_the_metrics_own_unit),
		TEST(mistakes_are_pointed_at),
		TEST(a_long_condition_is_refused_and_its_error_is_short),
		TEST(a_change_is_measured_against_what_was_before),
		TEST(only_the_groups_that_are_meant_count),
		TEST(a_star_crosses_slashes_in_names_but_not_in_paths),
		TEST(what_grew_from_nothing_grew_by_more_than_any_percentage),
		TEST(what_cannot_be_told_does_not_fail_but_is_said),
		TEST(a_new_group_has_a_size_but_no_percentage),
		TEST(a_condition_is_of_names_unless_it_has_a_placeholder),
		TEST(a_condition_that_means_nothing_is_moot),
		TEST(readings_have_axes_of_their_own),
		TEST(a_rate_of_an_interval_is_its_own_change),
		TEST(one_interval_has_no_percent),
		TEST(rates_of_two_intervals_are_compared_in_any_form),
		TEST(what_a_restarted_group_did_is_not_known),
		TEST(rates_of_populations_are_compared_with_each_other),
		TEST(what_is_within_noise_does_not_fail),
		TEST(names_from_strangers_do_not_steer_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
