/* SPDX-License-Identifier: MIT */
#include "hand_run.h"

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"

#define RUN(ms) CLEANUP(run_free_pointer) struct run *run = hand_run(ms)
#define THREAD(...) hand_thread(run, &(struct hand_thread){ __VA_ARGS__ })

static struct offcpu_analysis analyze(struct run *run)
{
	struct diagnosis diagnosis;

	hand_sum_up(run);
	diagnose(run, &diagnosis);
	return diagnosis.offcpu;
}

static void disks_sockets_and_pipes_are_io(void **state)
{
	struct offcpu_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 200, .run_queue = 80,
	       .waits = { { WAIT_DISK, 300, 9, 0 },
			  { WAIT_NETWORK, 100, 9, 0 },
			  { WAIT_PIPE, 200, 9, 0 },
			  { WAIT_TIMER, 120, 9, 0 } });
	analysis = analyze(run);
	assert_true(analysis.measured);
	assert_int_equal(analysis.bottleneck, OFFCPU_IO_BLOCKED);
	assert_float_equal(analysis.io_wait_percentage, 75, 0.01);
	assert_float_equal(analysis.sleep_percentage, 15, 0.01);
	assert_float_equal(analysis.run_queue_percentage, 10, 0.01);
	assert_int_equal(analysis.hint_count, 1);
	assert_int_equal(analysis.bottleneck_count, 1);
}

static void locks_are_lock_contention(void **state)
{
	struct offcpu_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_LOCK, 600, 9, 0 }, { WAIT_TIMER, 400, 9, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.bottleneck, OFFCPU_LOCK_CONTENTION);
	assert_float_equal(analysis.lock_contention_percentage, 60, 0.01);
	assert_int_equal(analysis.hint_count, 2);
}

static void waits_for_work_are_sleep(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_TIMER, 250, 9, 0 },
				     { WAIT_POLL, 250, 9, 0 },
				     { WAIT_CONDITION, 250, 9, 0 },
				     { WAIT_CHILD, 250, 9, 0 } });
	assert_int_equal(analyze(run).bottleneck, OFFCPU_SLEEP);
}

static void two_kinds_without_a_leader_are_mixed(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_DISK, 500, 9, 0 }, { WAIT_LOCK, 500, 9, 0 } });
	assert_int_equal(analyze(run).bottleneck, OFFCPU_MIXED);
}

static void a_tree_that_never_waits_has_no_bottleneck(void **state)
{
	struct offcpu_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1000);
	analysis = analyze(run);
	assert_true(analysis.measured);
	assert_int_equal(analysis.bottleneck, OFFCPU_UNKNOWN);
	assert_int_equal(analysis.hint_count, 0);
}

static void without_a_ledger_nothing_was_measured(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 10, .no_times = true);
	assert_false(analyze(run).measured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks_sockets_and_pipes_are_io),
		cmocka_unit_test(locks_are_lock_contention),
		cmocka_unit_test(waits_for_work_are_sleep),
		cmocka_unit_test(two_kinds_without_a_leader_are_mixed),
		cmocka_unit_test(a_tree_that_never_waits_has_no_bottleneck),
		cmocka_unit_test(without_a_ledger_nothing_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
