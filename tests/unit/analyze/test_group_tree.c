/* SPDX-License-Identifier: MIT */
/* Groups of all axes as a tree, with sums. */
#include "analyze/group/group_tree.h"

#include <inttypes.h>

#include "analyze/group/group.h"
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

/* A thread of a process whose leader gives it its name. */
static void add(int32_t tgid, int32_t tid, const char *name, const char *cgroup, uint64_t faults)
{
	hand_set(snapshot, METRIC_majflt, hand_task(snapshot, tgid, tid, name, cgroup), faults);
}

/* Each line: a dot for each step down, label, tasks, processes, faults. */
static void assert_tree(size_t shown, const char *expected)
{
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(group_tree_clear) struct group_tree tree = { 0 };
	CLEANUP(text_free) struct text lines = { 0 };
	struct group_sort sort = { .by = ORDER_METRIC, .metric = METRIC_majflt };
	size_t before;

	assert_int_equal(snapshot_finish(snapshot), 0);
	grouping = hand_grouping(snapshot, AXIS_ALL, NULL);
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	before = grouping->group_count;
	assert_int_equal(group_tree_make(&tree, grouping, shown ? shown : before), 0);
	for (size_t i = 0; i < tree.count; i++) {
		const struct group *group = &grouping->groups[i];
		struct fold fold;

		group_fold(grouping, group, METRIC_majflt, &fold);
		text_format(&lines, "%.*s%s %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
			    (int)tree.depths[i], "........", tree.labels[i], group->tasks,
			    group->processes, fold.number);
	}
	assert_string_equal(text_string(&lines), expected);
	/* Nothing is lost: hidden groups follow the tree. */
	assert_int_equal(grouping->group_count - tree.count,
			 shown ? before - shown : 0);
}

static void cgroups_have_processes_have_threads(void **state)
{
	(void)state;
	add(10, 10, "shop", "/a/web.service", 1);
	add(10, 11, "worker-1", "/a/web.service", 20);
	add(10, 12, "worker-2", "/a/web.service", 30);
	add(20, 20, "log", "/a/web.service", 4);
	add(30, 30, "cron", "/a/cron.service", 8);
	assert_tree(0, "/a 5 3 63\n"
		       "./web.service 4 2 55\n"
		       "..shop 3 1 51\n"
		       "...worker-{N} 2 1 50\n"
		       "...shop 1 1 1\n"
		       "..log 1 1 4\n"
		       "./cron.service cron 1 1 8\n");
}

static void sums_have_what_is_not_shown(void **state)
{
	(void)state;
	add(10, 10, "shop", "/a", 1);
	add(20, 20, "log", "/a", 9);
	add(30, 30, "cron", "/a/b", 8);
	add(40, 40, "far", "/c", 5);
	assert_tree(2, "/a 3 3 18\n"
		       ".log 1 1 9\n"
		       "./b cron 1 1 8\n");
}

static void one_group_is_one_line(void **state)
{
	(void)state;
	add(10, 10, "shop", "/a/b/c", 1);
	assert_tree(0, "/a/b/c shop 1 1 1\n");
}

static void the_root_is_a_cgroup_like_others(void **state)
{
	(void)state;
	add(2, 2, "kthreadd", "/", 3);
	add(9, 9, "kworker/0:1", "/", 2);
	add(10, 10, "shop", "/a", 1);
	assert_tree(0, "/ 2 2 5\n"
		       ".kthreadd 1 1 3\n"
		       ".kworker/0:1 1 1 2\n"
		       "/a shop 1 1 1\n");
}

static void parts_that_look_like_others_stay_apart(void **state)
{
	(void)state;
	/* "/a b" is a cgroup with a blank, and also cgroup /a with process b. */
	add(10, 10, "x", "/a b", 4);
	add(20, 20, "b", "/a", 3);
	add(30, 30, "c", "/a", 2);
	assert_tree(0, "/a b x 1 1 4\n"
		       "/a 2 2 5\n"
		       ".b 1 1 3\n"
		       ".c 1 1 2\n");
}

static void an_empty_snapshot_is_an_empty_tree(void **state)
{
	(void)state;
	assert_tree(0, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cgroups_have_processes_have_threads),
		TEST(sums_have_what_is_not_shown),
		TEST(one_group_is_one_line),
		TEST(the_root_is_a_cgroup_like_others),
		TEST(parts_that_look_like_others_stay_apart),
		TEST(an_empty_snapshot_is_an_empty_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
