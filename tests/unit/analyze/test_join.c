/* SPDX-License-Identifier: MIT */
#include "analyze/match/join.h"

#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "two_snapshots.h"

static struct join join_pair(struct pair *pair, struct arena *arena)
{
	struct join join;

	pair_finish(pair);
	assert_int_equal(join_init(&join, arena, pair->before, pair->after), 0);
	return join;
}

static void tasks_are_joined_by_process_thread_and_start_time(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(arena_clear) struct arena arena = { 0 };
	struct join join;

	(void)state;
	hand_task(pair.before, 10, 10, "a", "/");
	hand_task(pair.before, 10, 11, "b", "/");
	hand_task(pair.before, 20, 20, "c", "/");
	hand_task(pair.after, 10, 10, "a", "/");
	hand_task(pair.after, 10, FIRST_BORN, "new", "/");
	hand_task(pair.after, 20, 20, "c", "/");
	join = join_pair(&pair, &arena);
	assert_int_equal(join.before_of_task[0], 0);
	assert_int_equal(join.before_of_task[1], JOIN_BORN);
	assert_int_equal(join.before_of_task[2], 2);
	assert_int_equal(join.ended_count, 1);
	assert_int_equal(join.ended_tasks[0], 1);
	assert_int_equal(join.ended_in_process[0], 1);
	assert_int_equal(join.born, 1);
	assert_int_equal(join.processes_ended, 0);
}

static void a_reused_number_is_another_task_and_another_process(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(arena_clear) struct arena arena = { 0 };
	struct join join;

	(void)state;
	hand_task(pair.before, 10, 10, "old", "/");
	hand_task(pair.after, 10, 10, "new", "/");
	pair.after->tasks[0].start_time_ns = BEFORE_NS + 5;
	pair.after->processes[0].start_time_ns = BEFORE_NS + 5;
	join = join_pair(&pair, &arena);
	assert_int_equal(join.before_of_task[0], JOIN_BORN);
	assert_int_equal(join.before_of_process[0], JOIN_BORN);
	assert_int_equal(join.ended_count, 1);
	assert_int_equal(join.processes_ended, 1);
}

static void a_task_that_is_older_than_the_first_snapshot_was_missed_by_it(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(arena_clear) struct arena arena = { 0 };
	struct join join;

	(void)state;
	hand_task(pair.after, 50, 50, "missed", "/");
	hand_task(pair.after, 60, FIRST_BORN + 7, "born", "/");
	join = join_pair(&pair, &arena);
	assert_int_equal(join.before_of_task[0], JOIN_MISSED);
	assert_int_equal(join.before_of_process[0], JOIN_MISSED);
	assert_int_equal(join.before_of_task[1], JOIN_BORN);
	assert_int_equal(join.missed, 1);
}

static void what_started_in_the_tick_of_the_first_snapshot_was_born_after_it(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(arena_clear) struct arena arena = { 0 };
	struct join join;

	(void)state;
	snapshot_set_fact_number(pair.before, FACT_boottime_ns, BEFORE_NS + 9999999);
	hand_task(pair.after, FIRST_BORN, FIRST_BORN, "same tick", "/");
	hand_task(pair.after, FIRST_BORN - 1, FIRST_BORN - 1, "tick before", "/");
	join = join_pair(&pair, &arena);
	assert_int_equal(join.before_of_task[0], JOIN_MISSED);
	assert_int_equal(join.before_of_task[1], JOIN_BORN);
}

static void nothing_joins_with_an_empty_snapshot(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(arena_clear) struct arena arena = { 0 };
	struct join join;

	(void)state;
	hand_task(pair.before, 10, 10, "a", "/");
	hand_task(pair.before, 20, 20, "b", "/");
	join = join_pair(&pair, &arena);
	assert_int_equal(join.ended_count, 2);
	assert_int_equal(join.processes_ended, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_joined_by_process_thread_and_start_time),
		cmocka_unit_test(a_reused_number_is_another_task_and_another_process),
		cmocka_unit_test(a_task_that_is_older_than_the_first_snapshot_was_missed_by_it),
		cmocka_unit_test(what_started_in_the_tick_of_the_first_snapshot_was_born_after_it),
		cmocka_unit_test(nothing_joins_with_an_empty_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
