/* SPDX-License-Identifier: MIT */
/* What tasks did between two snapshots, whether they stayed, came or went. */
#include "comparison_scene.h"

#include <stdio.h>

static void threads_that_stay_are_born_and_die_are_all_in_the_interval(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	const struct comparison_row *row = get_row(comparison, "server", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(comparison->mode, COMPARE_INTERVAL);
	assert_int_equal(comparison->elapsed_ns, AFTER_NS - BEFORE_NS);
	assert_delta(comparison, "server", METRIC_run_time_ns, 500 + 60 + 70 + 80);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_true(row->has_rate && row->per_second == 71.0);
	assert_int_equal(row->before.number, 1600);
	assert_int_equal(row->after.number, 1830);
	assert_int_equal(comparison->groups.data[row->group].born, 1);
	assert_int_equal(comparison->groups.data[row->group].ended, 1);
	assert_int_equal(get_row(comparison, "other", METRIC_run_time_ns)->state, ROW_SAME);
}

static void a_reused_pid_counts_as_what_was_born(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);

	const struct comparison_row *row = get_row(comparison, "short", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(row->interval.number, 5 + 3);
	assert_int_equal(comparison->groups.data[row->group].restart, RESTART_WHOLE);
	assert_int_equal(comparison->processes_ended, 1);
	assert_true(has_note(comparison, "1 process ended: what it did"));
}

static void a_task_that_the_first_snapshot_missed_has_no_before(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	const struct comparison_row *row = get_row(comparison, "quiet", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(row->state, ROW_ABSENT);
	assert_false(row->delta.known);
	assert_int_equal(row->before.measured, 0);
	assert_int_equal(row->before.population, 1);
	assert_int_equal(row->after.number, 666);
	assert_non_null(row->reason);
	assert_true(has_note(comparison, "1 task is older than the first"));
}

/* The first snapshot was limited to another process. */
static void what_a_filter_kept_out_is_neither_new_nor_from_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	uint32_t task;

	(void)state;
	both(&pair, 10, 10, "seen", METRIC_run_time_ns, 1, 1);
	task = hand_task(pair.after, 20, 20, "shell", "/");
	hand_set(pair.after, METRIC_run_time_ns, task, 700);
	hand_set(pair.after, METRIC_policy, task, 0);
	hand_set(pair.after, METRIC_rss_bytes, process_row(pair.after, 20), 4096);
	task = hand_task(pair.after, FIRST_BORN + 1, FIRST_BORN + 1, "shell", "/");
	hand_set(pair.after, METRIC_run_time_ns, task, 30);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "shell", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_int_equal(row->before.shape, VALUE_ABSENT);
	assert_int_equal(row->before.population, 1);
	assert_delta(comparison, "shell", METRIC_run_time_ns, 30);
	assert_int_equal(get_row(comparison, "shell", METRIC_policy)->state, ROW_ABSENT);
	row = get_row(comparison, "shell", METRIC_rss_bytes);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_false(row->delta.known);
	assert_int_equal(comparison->groups.data[row->group].missed, 1);
	assert_false(comparison->groups.data[row->group].has_run_time);
}

/* 500 + 60 stayed, 70 was born, 80 by those that ended; 5 + 3 by the process that is new. */
#define ALL_LIVES (500 + 60 + 70 + 80 + 5 + 3)

static void the_sum_over_groups_is_the_whole_on_every_axis(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		CLEANUP(comparison_free_pointer)
		struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, axis);

		assert_int_equal(sum_of_deltas(comparison, METRIC_run_time_ns), ALL_LIVES);
	}
}

static void a_renamed_thread_did_its_work_in_its_new_group(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_majflt, 5, 5);
	hand_set(pair.before, METRIC_majflt, hand_task(pair.before, 10, 11, "young", "/"), 100);
	hand_set(pair.after, METRIC_majflt, hand_task(pair.after, 10, 11, "grown", "/"), 130);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	assert_delta(comparison, "grown", METRIC_majflt, 30);
	assert_int_equal(get_row(comparison, "grown", METRIC_majflt)->state, ROW_NEW);
	assert_int_equal(get_row(comparison, "young", METRIC_majflt)->state, ROW_GONE);
	assert_false(get_row(comparison, "young", METRIC_majflt)->delta.known);
	assert_int_equal(sum_of_deltas(comparison, METRIC_majflt), 30);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* A thread with its own fate; gives what it did in between. */
static uint64_t live(struct pair *pair, int32_t tgid, int32_t tid, uint64_t *random,
		     uint64_t *dead_after)
{
	uint64_t earlier = next_random(random) % 1000, work = next_random(random) % 1000;
	bool is_leader = tgid == tid, born = tid >= FIRST_BORN;
	bool ended = !is_leader && next_random(random) % 3 == 0;
	char name[16];

	snprintf(name, sizeof(name), "%c-%d", (char)('g' + next_random(random) % 5), tid);
	if (born)
		earlier = 0;
	else
		hand_set(pair->before, METRIC_run_time_ns,
			 hand_task(pair->before, tgid, tid, name, "/a"), earlier);
	if (!ended)
		hand_set(pair->after, METRIC_run_time_ns,
			 hand_task(pair->after, tgid, tid, name,
				   next_random(random) % 4 ? "/a" : "/moved"),
			 earlier + work);
	*dead_after += ended ? earlier + work : 0;
	return work;
}

static void whatever_threads_live_through_no_work_is_lost_or_counted_twice(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			CLEANUP(pair_free) struct pair pair = pair_new();
			CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
			uint64_t random = seed, truth = 0;

			for (int32_t tgid = 100; tgid < 1000; tgid += 100) {
				uint64_t before = next_random(&random) % 500, after = before;
				int32_t threads = (int32_t)(next_random(&random) % 8);

				truth += live(&pair, tgid, tgid, &random, &after);
				for (int32_t i = 1; i <= threads; i++)
					truth += live(&pair, tgid, tgid + i, &random, &after);
				for (int32_t i = 1; i <= threads; i++)
					truth += live(&pair, tgid, FIRST_BORN + tgid + i, &random,
						      &after);
				dead(&pair, tgid, METRIC_dead_run_time_ns, before, after);
			}
			comparison = pair_compare(&pair, COMPARE_AUTO, axis);
			assert_int_equal(sum_of_deltas(comparison, METRIC_run_time_ns), truth);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_stay_are_born_and_die_are_all_in_the_interval),
		cmocka_unit_test(a_reused_pid_counts_as_what_was_born),
		cmocka_unit_test(a_task_that_the_first_snapshot_missed_has_no_before),
		cmocka_unit_test(what_a_filter_kept_out_is_neither_new_nor_from_nothing),
		cmocka_unit_test(the_sum_over_groups_is_the_whole_on_every_axis),
		cmocka_unit_test(a_renamed_thread_did_its_work_in_its_new_group),
		cmocka_unit_test(whatever_threads_live_through_no_work_is_lost_or_counted_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
