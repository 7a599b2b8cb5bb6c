/* SPDX-License-Identifier: MIT */
/* What is said where little is known, and how sure it is. */
#include "verdict_scene.h"

static void an_empty_run_is_unknown(void **state)
{
	struct verdict verdict;
	RUN(0);

	(void)state;
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_int_equal(verdict.class, CLASS_UNKNOWN);
}

static void a_millisecond_is_not_enough(void **state)
{
	struct verdict verdict;
	RUN(1);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_int_equal(verdict.class, CLASS_UNKNOWN);
	assert_non_null(strstr(verdict.evidence[0], "insufficient data"));
}

static void what_is_not_known_is_not_sure(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 2, .waits = { { WAIT_OTHER, 1498, 40, 0 } },
	       .calls = { { "ioctl", 40, 1498, 0, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_true(verdict.confidence <= 0.5);
}

static void without_a_ledger_a_loop_is_still_cpu_bound_with_less_confidence(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1450, .kernel = 10, .no_times = true);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_CPU);
	assert_true(verdict.confidence < 0.7);
}

static void without_a_ledger_what_was_waited_for_is_unknown(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 50, .kernel = 10, .no_times = true);
	assert_cause(run, CAUSE_NONE);
}

static void without_a_ledger_stalls_on_io_speak_for_the_disk(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 150, .kernel = 100, .no_times = true);
	amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 400 << 20);
	run->limits.cgroup_io_some_us = KNOWN(1200000);
	assert_cause(run, CAUSE_DISK);
}

static void stalls_on_io_say_nothing_of_who_moves_less_than_a_megabyte(void **state)
{
	(void)state;
	for (uint64_t less = 0; less < 2; less++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 150, .kernel = 100, .no_times = true);
		amounts_set(&run->tree->amounts, AMOUNT_read_bytes, (1 << 20) - less);
		run->limits.cgroup_io_some_us = KNOWN(1200000);
		assert_cause(run, less ? CAUSE_NONE : CAUSE_DISK);
	}
}

static bool says(const struct verdict *verdict, const char *sentence)
{
	for (size_t i = 0; i < verdict->evidence_count; i++)
		if (strcmp(verdict->evidence[i], sentence) == 0)
			return true;
	return false;
}

static void lost_threads_make_a_verdict_less_sure_and_are_named(void **state)
{
	static const char sentence[] = "some threads were lost: see losses";
	struct verdict before, after;
	RUN(1500);

	(void)state;
	for (int i = 0; i < 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 380,
		       .waits = { { WAIT_LOCK, 1080, 360, 0 } });
	before = judge(run);
	run->losses.untracked_tasks = 12;
	after = judge(run);
	assert_int_equal(after.cause, before.cause);
	assert_true(after.score < before.score * 0.8);
	assert_true(says(&after, sentence));
	assert_false(says(&before, sentence));
}

static void sampled_waits_make_a_verdict_less_sure(void **state)
{
	struct verdict before, after;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 10, .waits = { { WAIT_TIMER, 1480, 1, 0 } });
	before = judge(run);
	run->sampled.samples = KNOWN(150);
	after = judge(run);
	assert_int_equal(after.cause, before.cause);
	assert_true(after.score < before.score * 0.9);
	assert_non_null(strstr(after.evidence[after.evidence_count - 1], "sampled"));
	assert_null(strstr(before.evidence[before.evidence_count - 1], "sampled"));
}

static void numbers_of_any_size_end_in_a_verdict(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490);
	memset(&run->tree->amounts, 0xff, sizeof(run->tree->amounts));
	memset(run->tree->syscalls.by_category, 0xff, sizeof(run->tree->syscalls.by_category));
	run->tree->forks = UINT64_MAX;
	run->limits.cgroup_throttled_ns = KNOWN(UINT64_MAX);
	run->limits.cgroup_memory_high_hits = KNOWN(UINT64_MAX);
	run->limits.cgroup_memory_some_us = KNOWN(UINT64_MAX);
	run->losses.threads = run->losses.untracked_tasks = UINT64_MAX;
	verdict = judge(run);
	assert_in_range(verdict.cause, 0, CAUSE_COUNT - 1);
}

/* Of 17 locks all were right, as were 8 collections and 6 imbalances; of those that compute 36 of 39. */
static void the_confidence_is_what_such_answers_earned(void **state)
{
	(void)state;
	assert_float_equal(verdict_confidence(CAUSE_LOCK, 1), 0.9363, 1e-4);
	assert_float_equal(verdict_confidence(CAUSE_GC, 1), 0.9015, 1e-4);
	assert_float_equal(verdict_confidence(CAUSE_IMBALANCE, 1), 0.8879, 1e-4);
	assert_float_equal(verdict_confidence(CAUSE_CPU, 1), 0.8810, 1e-4);
	assert_float_equal(verdict_confidence(CAUSE_DEADLOCK, 1), 0.9456, 1e-4);
	for (enum run_cause i = 0; i < CAUSE_COUNT; i++) {
		assert_true(causes[i].right <= causes[i].said);
		if (causes[i].basis == CAUSE_BASIS_FACT)
			assert_true(verdict_confidence(i, 1) ==
				    verdict_confidence(CAUSE_DEADLOCK, 1));
		else
			assert_true(verdict_confidence(i, 1) < 0.9 ||
				    causes[i].right == causes[i].said);
	}
}

static void a_low_score_is_less_sure(void **state)
{
	(void)state;
	assert_true(verdict_confidence(CAUSE_LOCK, 0.7) == verdict_confidence(CAUSE_LOCK, 1));
	assert_true(verdict_confidence(CAUSE_LOCK, 0.6999) == 0.8);
	assert_true(verdict_confidence(CAUSE_LOCK, 0.6) == 0.8);
	assert_true(verdict_confidence(CAUSE_LOCK, 0.5999) == 0.69);
	assert_true(verdict_confidence(CAUSE_LOCK, 0.5) == 0.69);
	assert_true(verdict_confidence(CAUSE_LOCK, 0.4999) == 0);
	/* What earned less is not surer because of it. */
	assert_true(verdict_confidence(CAUSE_CHILD, 0.6) == verdict_confidence(CAUSE_CHILD, 1));
}

static void evidence_that_is_too_wide_ends_with_a_mark(void **state)
{
	char line[DIAGNOSIS_TEXT], wide[301] = "", many[601] = "";

	(void)state;
	memset(wide, 'x', 100);
	verdict_copy_line(wide, line);
	assert_string_equal(line, wide);
	memset(wide, 'x', 101);
	verdict_copy_line(wide, line);
	assert_int_equal(strlen(line), 99 + strlen("…"));
	assert_string_equal(line + 99, "…");
	/* Characters of several bytes fill the room before they fill the columns. */
	for (size_t i = 0; i < 90; i++)
		memcpy(many + 2 * i, "ö", 2);
	verdict_copy_line(many, line);
	assert_true(strlen(line) < DIAGNOSIS_TEXT);
	assert_int_equal((strlen(line) - strlen("…")) % 2, 0);
	assert_string_equal(line + strlen(line) - strlen("…"), "…");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_confidence_is_what_such_answers_earned),
		cmocka_unit_test(a_low_score_is_less_sure),
		cmocka_unit_test(an_empty_run_is_unknown),
		cmocka_unit_test(a_millisecond_is_not_enough),
		cmocka_unit_test(what_is_not_known_is_not_sure),
		cmocka_unit_test(without_a_ledger_a_loop_is_still_cpu_bound_with_less_confidence),
		cmocka_unit_test(without_a_ledger_what_was_waited_for_is_unknown),
		cmocka_unit_test(without_a_ledger_stalls_on_io_speak_for_the_disk),
		cmocka_unit_test(stalls_on_io_say_nothing_of_who_moves_less_than_a_megabyte),
		cmocka_unit_test(lost_threads_make_a_verdict_less_sure_and_are_named),
		cmocka_unit_test(sampled_waits_make_a_verdict_less_sure),
		cmocka_unit_test(evidence_that_is_too_wide_ends_with_a_mark),
		cmocka_unit_test(numbers_of_any_size_end_in_a_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
