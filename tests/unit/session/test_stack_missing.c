/* SPDX-License-Identifier: MIT */
/* What no stack stands for: the profile has the blocked time of the ledger, by thread and reason. */
#include "hand_run.h"

#include "hand_profile.h"
#include "session/stack/stack_missing.h"

/* Time of samples without a stack; `thread` 0: of threads that are not kept. */
static uint64_t missing_ns(const struct run *run, int32_t thread, enum wait_reason reason)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->profile->samples.count; i++) {
		const struct profile_sample *sample = &run->profile->samples.data[i];

		if (sample->task.tid == thread && sample->reason == reason &&
		    sample->end == PROFILE_NO_STACK && sample->kind == PROFILE_OFF_CPU)
			sum += sample->ns;
	}
	return sum;
}

static void capture(struct run *run, int32_t pid, int32_t tid, enum profile_kind kind,
		    enum wait_reason reason, double ms)
{
	struct profile_sample sample = hand_sample(run->profile, kind, "main;wait", hand_ns(ms));

	sample.task = hand_event(run, TREE_THREAD, pid, tid).task;
	sample.reason = (uint8_t)reason;
	assert_int_equal(profile_add_sample(run->profile, &sample), 0);
}

static struct run *run_of_two_threads(void)
{
	struct run *run = hand_run(1000);
	const struct hand_thread leader = {
		.pid = 10,
		.comm = "leader",
		.on_cpu = 100,
		.lives = true,
		.waits = { { WAIT_LOCK, 600, 6, 0 }, { WAIT_PIPE, 300, 3, 0 } },
	};
	const struct hand_thread other = {
		.pid = 10,
		.tid = 11,
		.comm = "other",
		.on_cpu = 500,
		.waits = { { WAIT_LOCK, 500, 5, 0 } },
	};

	hand_thread(run, &leader);
	hand_thread(run, &other);
	run->profile = hand_profile();
	return run;
}

static void the_rest_of_each_reason_is_without_a_stack(void **state)
{
	struct run *run = run_of_two_threads();
	struct profile_sum sum;

	(void)state;
	capture(run, 10, 10, PROFILE_OFF_CPU, WAIT_LOCK, 450);
	capture(run, 10, 10, PROFILE_OFF_CPU, WAIT_PIPE, 300);
	capture(run, 10, 11, PROFILE_ON_CPU, 0, 490);
	assert_int_equal(stack_missing_add(run, 0), 0);
	assert_int_equal(missing_ns(run, 10, WAIT_LOCK), hand_ns(150));
	assert_int_equal(missing_ns(run, 10, WAIT_PIPE), 0);
	assert_int_equal(missing_ns(run, 11, WAIT_LOCK), hand_ns(500));
	profile_sum(run->profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.ns, hand_ns(1400));
	assert_int_equal(sum.missing_ns, hand_ns(650));
	run_free(run);
}

/* The ledger counts parts of a stack's time under another reason: no time is in the profile twice. */
static void what_one_reason_has_too_much_of_the_others_lack_less(void **state)
{
	struct run *run = run_of_two_threads();
	struct profile_sum sum;

	(void)state;
	capture(run, 10, 10, PROFILE_OFF_CPU, WAIT_LOCK, 700);
	assert_int_equal(stack_missing_add(run, 0), 0);
	assert_int_equal(missing_ns(run, 10, WAIT_LOCK), 0);
	assert_int_equal(missing_ns(run, 10, WAIT_PIPE), hand_ns(200));
	assert_int_equal(missing_ns(run, 0, WAIT_PIPE), 0);
	profile_sum(run->profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.ns, hand_ns(1400));
	run_free(run);
}

static void threads_that_are_only_sums_have_one_row_a_reason(void **state)
{
	struct run *run = run_of_two_threads();
	struct amounts more = { 0 };

	(void)state;
	amounts_set_waited(&more, WAIT_DISK, (struct waited){ hand_ns(40), 1, hand_ns(40) });
	amounts_add(&run->tree->amounts, &more);
	assert_int_equal(stack_missing_add(run, 0), 0);
	assert_int_equal(missing_ns(run, 0, WAIT_DISK), hand_ns(40));
	assert_int_equal(missing_ns(run, 0, WAIT_LOCK), 0);
	run_free(run);
}

static void lost_samples_of_the_cpu_are_time_without_a_stack(void **state)
{
	struct run *run = run_of_two_threads();
	struct profile_sum sum;

	(void)state;
	capture(run, 10, 11, PROFILE_ON_CPU, 0, 490);
	assert_int_equal(stack_missing_add(run, hand_ns(10)), 0);
	profile_sum(run->profile, PROFILE_ON_CPU, &sum);
	assert_int_equal(sum.ns, hand_ns(500));
	assert_int_equal(sum.missing_ns, hand_ns(10));
	run_free(run);
}

static void time_on_the_cpu_between_samples_is_not_lost(void **state)
{
	struct run *run = run_of_two_threads();
	struct profile_sum sum;

	(void)state;
	run->profile->frequency_hz = 99;
	capture(run, 10, 11, PROFILE_ON_CPU, 0, 490);
	assert_int_equal(stack_missing_add(run, hand_ns(10)), 0);
	profile_sum(run->profile, PROFILE_ON_CPU, &sum);
	assert_int_equal(sum.ns, hand_ns(600));
	assert_int_equal(sum.missing_ns, hand_ns(110));
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_on_the_cpu_between_samples_is_not_lost),
		cmocka_unit_test(the_rest_of_each_reason_is_without_a_stack),
		cmocka_unit_test(what_one_reason_has_too_much_of_the_others_lack_less),
		cmocka_unit_test(threads_that_are_only_sums_have_one_row_a_reason),
		cmocka_unit_test(lost_samples_of_the_cpu_are_time_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
