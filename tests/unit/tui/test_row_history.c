/* SPDX-License-Identifier: MIT */
/* The small graph in a row's line: how much CPU it used in the last moments. */
#include "hand_grouping.h"
#include "hand_snapshot.h"

#include "base/text.h"
#include "tui/moment/moment.h"
#include "tui/screen/row_history.h"

#define INTERVAL_NS 1000

static uint64_t at_ns; /* of the last moment */

/* So many processes from this number on; each uses that part of a CPU, in percent. */
static struct snapshot *make_tasks(int32_t first, int32_t count, uint64_t percent)
{
	struct snapshot *tasks = hand_new();

	for (int32_t pid = first; pid < first + count; pid++)
		hand_set(tasks, METRIC_run_time_ns, hand_task(tasks, pid, pid, "a", "/"),
			 percent * INTERVAL_NS / 100);
	tasks->interval_ns = INTERVAL_NS;
	assert_int_equal(snapshot_finish(tasks), 0);
	return tasks;
}

static void add_by(struct row_history *history, struct snapshot *tasks, enum group_axis axis)
{
	struct grouping *grouping = hand_grouping(tasks, axis, NULL);
	struct moment moment = { .before_unix_ns = at_ns };

	moment.sample.unix_ns = at_ns += 5;
	row_history_add(history, grouping, &moment);
	grouping_free(grouping);
	snapshot_free(tasks);
}

static void add(struct row_history *history, struct snapshot *tasks)
{
	add_by(history, tasks, AXIS_PROCESS);
}

static void assert_graph_by(const struct row_history *history, struct snapshot *tasks,
			    enum group_axis axis, const char *expected)
{
	struct grouping *grouping = hand_grouping(tasks, axis, NULL);
	struct text graph = { 0 };

	row_history_graph(history, grouping, 0, false, &graph);
	assert_string_equal(text_string(&graph), expected);
	text_free(&graph);
	grouping_free(grouping);
	snapshot_free(tasks);
}

/* Of the process of that number. */
static void assert_graph(const struct row_history *history, int32_t pid, const char *expected)
{
	assert_graph_by(history, make_tasks(pid, 1, 0), AXIS_PROCESS, expected);
}

static void the_newest_moment_is_on_the_right(void **state)
{
	struct row_history history = { 0 };

	(void)state;
	assert_graph(&history, 7, "        ");
	add(&history, make_tasks(7, 1, 0));
	add(&history, make_tasks(7, 1, 50));
	add(&history, make_tasks(7, 1, 100));
	add(&history, make_tasks(7, 1, 400)); /* four CPUs */
	assert_graph(&history, 7, "    _=##");
	for (int i = 0; i < 6; i++)
		add(&history, make_tasks(7, 1, 13));
	assert_graph(&history, 7, "##......");
	row_history_clear(&history);
}

static void threads_of_a_row_are_added_up(void **state)
{
	struct row_history history = { 0 };
	struct snapshot *tasks = make_tasks(7, 1, 25);

	(void)state;
	hand_set(tasks, METRIC_run_time_ns, hand_task(tasks, 7, 8, "b", "/"), INTERVAL_NS / 4);
	assert_int_equal(snapshot_finish(tasks), 0);
	add(&history, tasks);
	assert_graph(&history, 7, "       =");
	row_history_clear(&history);
}

static void a_moment_without_the_row_is_a_gap(void **state)
{
	struct row_history history = { 0 };

	(void)state;
	add(&history, make_tasks(7, 1, 100));
	add(&history, make_tasks(8, 1, 100));
	assert_graph(&history, 7, "      # ");
	add(&history, make_tasks(7, 2, 100));
	assert_graph(&history, 7, "     # #");
	assert_graph(&history, 8, "      ##");
	for (int i = 0; i < 9; i++)
		add(&history, make_tasks(8, 1, 100));
	assert_graph(&history, 7, "        ");
	add(&history, make_tasks(7, 1, 100));
	assert_graph(&history, 7, "       #");
	row_history_clear(&history);
}

static void what_is_not_known_is_no_zero(void **state)
{
	struct row_history history = { 0 };
	struct snapshot *tasks = make_tasks(7, 1, 100);

	(void)state;
	tasks->interval_ns = 0; /* totals */
	add(&history, tasks);
	tasks = hand_new();
	hand_task(tasks, 7, 7, "a", "/");
	tasks->interval_ns = INTERVAL_NS;
	assert_int_equal(snapshot_finish(tasks), 0);
	add(&history, tasks);
	add(&history, make_tasks(7, 1, 0));
	assert_graph(&history, 7, "       _");
	row_history_clear(&history);
}

static void a_moment_counts_once_and_a_jump_begins_anew(void **state)
{
	struct row_history history = { 0 };

	(void)state;
	add(&history, make_tasks(7, 1, 100));
	at_ns -= 5;
	add(&history, make_tasks(7, 1, 0)); /* the same moment, painted again */
	assert_graph(&history, 7, "       #");
	at_ns += 100;
	add(&history, make_tasks(7, 1, 0));
	assert_graph(&history, 7, "       _");
	row_history_clear(&history);
}

static void other_groups_have_a_past_of_their_own(void **state)
{
	struct row_history history = { 0 };
	struct snapshot *other = hand_new();

	(void)state;
	add(&history, make_tasks(7, 1, 100));
	add_by(&history, make_tasks(7, 1, 0), AXIS_CGROUP);
	assert_graph_by(&history, make_tasks(7, 1, 0), AXIS_CGROUP, "       _");
	hand_task(other, 7, 7, "a", "/other");
	assert_int_equal(snapshot_finish(other), 0);
	assert_graph_by(&history, other, AXIS_CGROUP, "        ");
	row_history_clear(&history);
}

/* A number that another process or thread has now says nothing. */
static void rows_are_known_by_their_start(void **state)
{
	static const enum group_axis axes[] = { AXIS_PROCESS, AXIS_THREAD };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(axes); i++) {
		struct row_history history = { 0 };
		struct snapshot *later = make_tasks(7, 1, 0);

		add_by(&history, make_tasks(7, 1, 100), axes[i]);
		later->tasks[0].start_time_ns++;
		later->processes[0].start_time_ns++;
		assert_graph_by(&history, make_tasks(7, 1, 0), axes[i], "       #");
		assert_graph_by(&history, later, axes[i], "        ");
		row_history_clear(&history);
	}
}

/* Rows that are gone are forgotten, so what is kept does not grow for ever. */
static void many_rows_come_and_go(void **state)
{
	struct row_history history = { 0 };

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct snapshot *tasks = make_tasks(1000 + i * 300, 300, 100);

		hand_set(tasks, METRIC_run_time_ns, hand_task(tasks, 7, 7, "a", "/"), INTERVAL_NS);
		assert_int_equal(snapshot_finish(tasks), 0);
		add(&history, tasks);
	}
	assert_graph(&history, 7, "########");
	assert_graph(&history, 1000, "        ");
	assert_graph(&history, 1000 + 39 * 300, "       #");
	assert_in_range(history.capacity, 301, 8192);
	add(&history, make_tasks(1, 5000, 100)); /* more than there is room for, all at once */
	for (int32_t pid = 1; pid <= 5000; pid += 499)
		assert_graph(&history, pid, pid == 7 ? "########" : "       #");
	row_history_clear(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_moment_is_on_the_right),
		cmocka_unit_test(threads_of_a_row_are_added_up),
		cmocka_unit_test(a_moment_without_the_row_is_a_gap),
		cmocka_unit_test(what_is_not_known_is_no_zero),
		cmocka_unit_test(a_moment_counts_once_and_a_jump_begins_anew),
		cmocka_unit_test(other_groups_have_a_past_of_their_own),
		cmocka_unit_test(rows_are_known_by_their_start),
		cmocka_unit_test(many_rows_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
