/* SPDX-License-Identifier: MIT */
/* What threads and processes did that were gone at the second snapshot. */
#include "comparison_scene.h"

static void exited_threads_are_a_group_where_threads_of_a_process_are_told_apart(void **state)
{
	static const enum group_axis axes[] = { AXIS_COMM, AXIS_COMM_EXACT, AXIS_THREAD,
						AXIS_SCOPE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(axes); i++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		CLEANUP(comparison_free_pointer)
		struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, axes[i]);
		const struct comparison_row *row =
			get_row(comparison, "server (exited threads)", METRIC_run_time_ns);

		assert_delta(comparison, "server (exited threads)", METRIC_run_time_ns, 80);
		assert_int_equal(row->state, ROW_CHANGED);
		assert_int_equal(row->before.shape, VALUE_ABSENT);
		assert_int_equal(row->after.shape, VALUE_ABSENT);
		assert_int_equal(comparison->groups.data[row->group].tasks_after, 0);
		assert_null(find_row(comparison, "server (exited threads)", METRIC_wait_time_ns));
		assert_null(find_row(comparison, "other (exited threads)", METRIC_run_time_ns));
	}
}

/* They hold no memory and no files, which is not to say that those stayed the same. */
static void exited_threads_have_no_rows_of_what_their_process_holds(void **state)
{
	static const enum metric_id ids[] = { METRIC_nr_threads, METRIC_open_fds, METRIC_rss_bytes,
					      METRIC_dead_run_time_ns };
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	dead(&pair, 10, METRIC_nr_threads, 3, 3);
	dead(&pair, 10, METRIC_rss_bytes, 4096, 8192);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_null(find_row(comparison, "server (exited threads)", ids[i]));
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (row->state == ROW_ABSENT && row->after.shape == VALUE_ABSENT)
			assert_false(row->delta.known);
	}
	assert_delta(comparison, "server", METRIC_rss_bytes, 4096);
}

static void without_totals_the_difference_is_of_the_living_and_coverage_says_so(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1000, 1500);
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 12, "worker", "/"),
		 400);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "server", METRIC_run_time_ns);
	assert_delta(comparison, "server", METRIC_run_time_ns, 500);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
	assert_true(has_note(comparison, "threads that stayed or were born"));
}

static void threads_that_came_and_went_leave_a_counter_without_totals_partial(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_wait_time_ns, 100, 200);
	dead(&pair, 10, METRIC_dead_run_time_ns, 30, 70);
	/* A child that was waited for is no thread. */
	both(&pair, 20, 20, "shell", METRIC_wait_time_ns, 100, 200);
	dead(&pair, 20, METRIC_dead_run_time_ns, 30, 30);
	dead(&pair, 20, METRIC_dead_rchar, 30, 99);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
	assert_int_equal(get_row(comparison, "shell", METRIC_wait_time_ns)->after.population, 1);
	assert_true(has_note(comparison, "came and went in between in 1 process:"));
	assert_true(has_note(comparison, "nothing else of them is known"));
}

static void what_ended_threads_did_is_never_below_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_minflt, 10, 15);
	hand_set(pair.before, METRIC_minflt, hand_task(pair.before, 10, 12, "worker", "/"), 400);
	/* The totals of procfs are worked out, and may lag. */
	dead(&pair, 10, METRIC_dead_minflt, 7, 107);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "server", METRIC_minflt, 5);
}

static void totals_of_exited_threads_grow_by_what_was_done_in_between(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	uint32_t task;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_rchar, 100, 101);
	task = hand_task(pair.before, 10, 11, "worker", "/");
	hand_set(pair.before, METRIC_rchar, task, 30);
	hand_set(pair.before, METRIC_run_time_ns, task, 60);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 20, 20, "child", "/"), 4000);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 20), 10);
	dead(&pair, 10, METRIC_dead_rchar, 2, 2 + 4000 + 30 + 5);
	dead(&pair, 10, METRIC_dead_run_time_ns, 1, 1 + 60 + 8);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_dead_rchar, 5);
	assert_delta(comparison, "shell", METRIC_dead_run_time_ns, 8);
}

/* Its parent's total of I/O contains all that it ever read. */
static void a_child_that_ended_takes_its_earlier_io_along(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_rchar, 100, 101);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 20, 20, "child", "/"), 4000);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 30, 30, "grandchild", "/"), 50);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 20), 10);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 30), 20);
	hand_set(pair.before, METRIC_dead_rchar, process_row(pair.before, 20), 600);
	/* The two read 7 more before they ended. */
	dead(&pair, 10, METRIC_dead_rchar, 0, 4000 + 600 + 50 + 7);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_rchar, 1 + 7);
}

/* A process that ends, with what it had used: itself, its exited threads, its children. */
static void child(struct pair *pair, int32_t tgid, uint64_t parent, uint64_t own, uint64_t exited,
		  uint64_t children)
{
	uint32_t task = hand_task(pair->before, tgid, tgid, "child", "/");
	uint32_t process = process_row(pair->before, tgid);

	hand_set(pair->before, METRIC_ppid, process, parent);
	hand_set(pair->before, METRIC_utime_ns, task, own);
	hand_set(pair->before, METRIC_dead_utime_ns, process, exited);
	hand_set(pair->before, METRIC_child_utime_ns, process, children);
}

static void a_child_that_ended_takes_its_earlier_cpu_time_along(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_utime_ns, 100, 101);
	both(&pair, 11, 11, "lazy", METRIC_utime_ns, 100, 100);
	both(&pair, 12, 12, "busy", METRIC_utime_ns, 100, 100);
	child(&pair, 20, 10, 3000, 200, 10);
	child(&pair, 21, 20, 40, 0, 0);
	/* Nobody waited for the child of lazy. */
	child(&pair, 30, 11, 500, 0, 0);
	/* The children of shell did 500 more; those of busy came and went in between. */
	dead(&pair, 10, METRIC_child_utime_ns, 7, 7 + 3000 + 200 + 10 + 40 + 500);
	dead(&pair, 11, METRIC_child_utime_ns, 9, 9);
	dead(&pair, 12, METRIC_child_utime_ns, 5, 805);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_child_utime_ns, 500);
	assert_delta(comparison, "lazy", METRIC_child_utime_ns, 0);
	assert_delta(comparison, "busy", METRIC_child_utime_ns, 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			exited_threads_are_a_group_where_threads_of_a_process_are_told_apart),
		cmocka_unit_test(exited_threads_have_no_rows_of_what_their_process_holds),
		cmocka_unit_test(
			without_totals_the_difference_is_of_the_living_and_coverage_says_so),
		cmocka_unit_test(threads_that_came_and_went_leave_a_counter_without_totals_partial),
		cmocka_unit_test(what_ended_threads_did_is_never_below_nothing),
		cmocka_unit_test(totals_of_exited_threads_grow_by_what_was_done_in_between),
		cmocka_unit_test(a_child_that_ended_takes_its_earlier_io_along),
		cmocka_unit_test(a_child_that_ended_takes_its_earlier_cpu_time_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
