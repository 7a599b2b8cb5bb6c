/* SPDX-License-Identifier: MIT */
/* Processes below those that started them. */
#include "analyze/group/forest.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "hand_grouping.h"
#include "hand_snapshot.h"

static struct snapshot *snapshot;

static int set_up(void **state)
{
	(void)state;
	snapshot = hand_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snapshot_free(snapshot);
	return 0;
}

static void add(int32_t pid, int32_t parent, const char *name)
{
	uint32_t row = hand_task(snapshot, pid, pid, name, "/");

	hand_set(snapshot, METRIC_ppid, snapshot->tasks[row].process, (uint64_t)parent);
}

/* Each group on a line, with a dot for each step down; children by key. */
static void assert_forest(const char *expected)
{
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(text_free) struct text shown = { 0 };
	struct group_sort sort = { .by = ORDER_KEY, .ascending = true };
	uint32_t *depths = NULL;

	assert_int_equal(snapshot_finish(snapshot), 0);
	grouping = hand_grouping(snapshot, AXIS_PROCESS, NULL);
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	assert_int_equal(forest_order(grouping, &depths), 0);
	for (size_t i = 0; i < grouping->group_count; i++)
		text_format(&shown, "%.*s%s ", (int)depths[i], "........", grouping->groups[i].key);
	assert_string_equal(text_string(&shown), expected);
	free(depths);
}

static void children_follow_their_parents_in_the_order_they_had(void **state)
{
	(void)state;
	add(1, 0, "init");
	add(2, 0, "kthreadd");
	add(20, 1, "shell");
	add(30, 20, "make");
	add(31, 20, "cat");
	add(40, 30, "cc");
	add(50, 2, "worker");
	assert_forest("init[1] .shell[20] ..cat[31] ..make[30] ...cc[40] kthreadd[2] .worker[50] ");
}

static void who_has_a_parent_that_is_not_there_is_a_root(void **state)
{
	(void)state;
	add(20, 7, "shell");
	add(30, 20, "make");
	add(40, 40, "itself");
	assert_forest("itself[40] shell[20] .make[30] ");
}

static void a_ring_of_parents_ends(void **state)
{
	(void)state;
	add(10, 12, "a");
	add(11, 10, "b");
	add(12, 11, "c");
	add(20, 0, "root");
	assert_forest("root[20] a[10] .b[11] ..c[12] ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(children_follow_their_parents_in_the_order_they_had),
		TEST(who_has_a_parent_that_is_not_there_is_a_root),
		TEST(a_ring_of_parents_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
