/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/collection/array.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "host/hierarchy.h"
#include "host/host.h"
#include "tree.h"

static int make_tree(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	tree_make(tree);
	tree_directory(tree, "proc");
	*state = tree;
	return 0;
}

static int remove_tree(void **state)
{
	tree_remove(*state);
	free(*state);
	return 0;
}

static struct host *open_host(const struct tree *tree)
{
	struct error error = { 0 };
	struct host *host = NULL;

	if (host_open(&host, tree->root, &error) < 0)
		fail_msg("%s", error.message);
	assert_false(host->live);
	return host;
}

static void a_recorded_host_tells_its_own_facts(void **state)
{
	struct tree *tree = *state;
	struct host_clock clock;
	struct host *host;
	uint64_t number = 0;
	char arch[16];
	bool on;

	tree_text(tree, "taskscope-root",
		  "captured_at_unix_ns 11\nmonotonic_ns 22\nboottime_ns 33\npage_size 65536\n"
		  "clock_ticks 250\narch aarch64\npid_namespace 4026531836\nopen_fds 12 5\n"
		  "open_fds 1 9\nCONFIG_ONE y\nCONFIG_TWO n\n");
	tree_text(tree, "sys/devices/system/cpu/online", "0-1,5\n");
	host = open_host(tree);
	assert_int_equal(host->tick_ns, 4000000);
	assert_int_equal(host->page_bytes, 65536);
	assert_int_equal(cpuset_count(&host->online), 3);
	assert_true(host_clock(host, &clock));
	assert_int_equal(clock.unix_ns, 11);
	assert_int_equal(clock.monotonic_ns, 22);
	assert_int_equal(clock.boottime_ns, 33);
	assert_true(host_arch(host, arch, sizeof(arch)));
	assert_string_equal(arch, "aarch64");
	assert_true(host_namespace(host, "pid", &number));
	assert_int_equal(number, 4026531836);
	assert_false(host_namespace(host, "cgroup", &number));
	assert_true(host_recorded_number(host, "open_fds 1", &number));
	assert_int_equal(number, 9);
	assert_false(host_recorded_number(host, "open_fds", &number));
	assert_true(host_kernel_option(host, "CONFIG_ONE", &on));
	assert_true(on);
	assert_true(host_kernel_option(host, "CONFIG_TWO", &on));
	assert_false(on);
	assert_int_equal(host_boottime_offset_ns(host), 0);
	host_close(host);
}

static void what_a_recording_does_not_tell_is_absent(void **state)
{
	struct host *host = open_host(*state);
	struct host_clock clock;
	uint64_t number;
	char arch[16];
	bool on;

	assert_false(host_clock(host, &clock));
	assert_false(host_arch(host, arch, sizeof(arch)));
	assert_false(host_namespace(host, "pid", &number));
	assert_false(host_kernel_option(host, "CONFIG_ONE", &on));
	assert_int_equal(cpuset_count(&host->online), 0);
	assert_int_equal(host->cgroup.version, 0);
	assert_int_equal(host->tick_ns, 10000000);
	assert_int_equal(host->clock_ticks, 0);
	assert_int_equal(host->page_bytes, 0);
	host_close(host);
}

static void a_page_size_that_cannot_be_is_not_known(void **state)
{
	static const char *const sizes[] = { "page_size 0\n", "page_size 5000\n", "page_size x\n" };
	struct tree *tree = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct host *host;

		tree_text(tree, "taskscope-root", sizes[i]);
		host = open_host(tree);
		assert_int_equal(host->page_bytes, 0);
		host_close(host);
	}
}

static void a_root_that_is_none_is_refused_with_a_sentence(void **state)
{
	struct tree *tree = *state;
	struct error error = { 0 };
	struct host *host;
	char path[TREE_PATH];

	tree_path(tree, "nowhere", path);
	assert_int_equal(host_open(&host, path, &error), -ENOENT);
	assert_non_null(strstr(error.message, "nowhere"));
	tree_directory(tree, "nowhere");
	error = (struct error){ 0 };
	assert_int_equal(host_open(&host, path, &error), -ENOENT);
	assert_non_null(strstr(error.message, "proc"));
}

static void the_live_host_has_clocks_and_cpus(void **state)
{
	struct error error = { 0 };
	struct host *host;
	struct host_clock clock;
	uint64_t number = 0;

	(void)state;
	assert_int_equal(host_open(&host, NULL, &error), 0);
	assert_true(host->live);
	assert_true(host_clock(host, &clock));
	assert_true(clock.boottime_ns >= clock.monotonic_ns);
	assert_true(cpuset_count(&host->online) > 0);
	assert_true(host_namespace(host, "pid", &number));
	assert_true(number > 0);
	host_close(host);
}

static void expect_hierarchy(const struct tree *tree, const char *name)
{
	struct host *host = open_host(tree);

	assert_string_equal(host->cgroup.name, name);
	assert_true(host->cgroup.fd >= 0);
	host_close(host);
}

static void a_v2_host_has_one_hierarchy(void **state)
{
	tree_text(*state, "sys/fs/cgroup/cgroup.controllers", "");
	tree_directory(*state, "sys/fs/cgroup/memory");
	expect_hierarchy(*state, "v2");
}

static void a_v2_tree_without_controllers_of_use_does_not_count(void **state)
{
	tree_text(*state, "sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
	tree_directory(*state, "sys/fs/cgroup/pids");
	tree_directory(*state, "sys/fs/cgroup/memory");
	expect_hierarchy(*state, "v1 memory");
}

static void a_v2_tree_with_controllers_of_use_does(void **state)
{
	tree_text(*state, "sys/fs/cgroup/unified/cgroup.controllers", "hugetlb memory\n");
	tree_directory(*state, "sys/fs/cgroup/pids");
	expect_hierarchy(*state, "v2");
}

static void a_v1_host_without_memory_has_the_next_best(void **state)
{
	tree_directory(*state, "sys/fs/cgroup/systemd");
	tree_directory(*state, "sys/fs/cgroup/cpu,cpuacct");
	expect_hierarchy(*state, "v1 cpu");
}

static void a_lone_v2_tree_is_better_than_none(void **state)
{
	tree_text(*state, "sys/fs/cgroup/unified/cgroup.controllers", "");
	expect_hierarchy(*state, "v2");
}

static void expect_directory(const struct hierarchies *hierarchies, enum hierarchy_id id,
			     const char *path, int expected)
{
	int fd = hierarchies_open_cgroup(hierarchies, id, path);

	if (expected < 0) {
		assert_int_equal(fd, expected);
		return;
	}
	assert_true(fd >= 0);
	close(fd);
}

static void each_controller_has_its_tree(void **state)
{
	struct hierarchies hierarchies;
	struct host *host;

	tree_text(*state, "sys/fs/cgroup/unified/cgroup.controllers", "");
	tree_directory(*state, "sys/fs/cgroup/memory/a b/c");
	tree_directory(*state, "sys/fs/cgroup/cpu,cpuacct/x");
	host = open_host(*state);
	assert_int_equal(hierarchies_open(host, &hierarchies), 0);
	assert_string_equal(hierarchies.trees[HIERARCHY_MEMORY].name, "v1 memory");
	assert_string_equal(hierarchies.trees[HIERARCHY_CPUACCT].controller, "cpuacct");
	assert_int_equal(hierarchies.trees[HIERARCHY_PIDS].fd, -1);
	expect_directory(&hierarchies, HIERARCHY_V2, "/", 0);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/a b/c", 0);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/a b/d", -ENOENT);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/../memory", -EXDEV);
	expect_directory(&hierarchies, HIERARCHY_CPU, "/x", 0);
	expect_directory(&hierarchies, HIERARCHY_CPUACCT, "/x", 0);
	expect_directory(&hierarchies, HIERARCHY_PIDS, "/", -ENOENT);
	hierarchies_close(&hierarchies);
	host_close(host);
}

static void a_v2_host_has_no_v1_trees(void **state)
{
	struct hierarchies hierarchies;
	struct host *host;

	tree_text(*state, "sys/fs/cgroup/cgroup.controllers", "");
	tree_directory(*state, "sys/fs/cgroup/memory"); /* a cgroup of that name */
	host = open_host(*state);
	assert_int_equal(hierarchies_open(host, &hierarchies), 0);
	assert_int_equal(hierarchies.trees[HIERARCHY_MEMORY].fd, -1);
	expect_directory(&hierarchies, HIERARCHY_V2, "/memory", 0);
	hierarchies_close(&hierarchies);
	host_close(host);
}

static void a_container_sees_the_part_that_is_mounted(void **state)
{
	struct hierarchies hierarchies;
	struct host *host;

	tree_text(*state, "proc/self/mountinfo",
		  "30 1 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		  "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		  "32 30 0:27 /docker/a\\040b /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		  "33 30 0:28 /other /sys/fs/cgroup/memory2 ro - cgroup cgroup rw\n"
		  "34 30 0:29 /../.. /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
		  "cut\n");
	tree_directory(*state, "sys/fs/cgroup/memory/inner");
	tree_directory(*state, "sys/fs/cgroup/pids");
	host = open_host(*state);
	host->live = true;
	assert_int_equal(hierarchies_open(host, &hierarchies), 0);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/docker/a b", 0);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/docker/a b/inner", 0);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/docker/a bc", -ENOENT);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/docker", -ENOENT);
	expect_directory(&hierarchies, HIERARCHY_MEMORY, "/", -ENOENT);
	expect_directory(&hierarchies, HIERARCHY_PIDS, "/", -ENOENT);
	hierarchies_close(&hierarchies);
	host_close(host);
}

static void expect_path(const char *text, unsigned version, const char *controller,
			const char *expected)
{
	struct cgroup_hierarchy hierarchy = { .version = version, .fd = -1 };
	size_t length = 0;
	const char *path;

	snprintf(hierarchy.controller, sizeof(hierarchy.controller), "%s", controller);
	path = cgroup_path(text, &hierarchy, &length);
	if (!expected) {
		assert_null(path);
		return;
	}
	assert_non_null(path);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(path, expected, length);
}

static void the_path_is_of_the_hierarchy_that_was_chosen(void **state)
{
	static const char text[] = "9:name=systemd:/init.scope\n4:memory,hugetlb:/a b:c\n"
				   "2:cpuacct:/acct\n1:cpu:/cpu\n0::/unified:with: blanks\n";

	(void)state;
	expect_path(text, 2, "", "/unified:with: blanks");
	expect_path(text, 1, "memory", "/a b:c");
	expect_path(text, 1, "hugetlb", "/a b:c");
	expect_path(text, 1, "cpu", "/cpu");
	expect_path(text, 1, "name=systemd", "/init.scope");
	expect_path(text, 1, "pids", NULL);
	expect_path(text, 1, "mem", NULL);
	expect_path("", 2, "", NULL);
	expect_path("0::", 2, "", "");
	expect_path("0:", 2, "", NULL);
	expect_path("no colon\n0::/x", 2, "", "/x");
	expect_path("0::/gone (deleted)\n", 2, "", "/gone (deleted)");
}

static void cpu_lists_come_back_in_canonical_form(void **state)
{
	static const struct {
		const char *list;
		const char *canonical;
	} cases[] = {
		{ "", "" },	      { "\n", "" },	  { "0", "0" },
		{ "0-3\n", "0-3" },   { "3,2,1", "1-3" }, { "0-1,2-3,5", "0-3,5" },
		{ "63,64", "63-64" }, { "0,0,0", "0" },	  { "65535", "65535" },
		{ "7,5,3", "3,5,7" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text text = { 0 };
		struct cpuset set;

		assert_int_equal(cpulist_parse(cases[i].list, &set), 0);
		cpulist_format(set.words, set.word_count, &text);
		assert_string_equal(text_string(&text), cases[i].canonical);
		assert_int_equal(cpuset_count(&set), cpulist_count(cases[i].list));
		cpuset_clear(&set);
		text_free(&text);
	}
}

static void lists_that_make_no_sense_are_refused(void **state)
{
	static const char *const lists[] = {
		"x",	 "1-",	"-1",	 "3-1",	    "1,",   ",1",
		"1,,2",	 "1 2", "65536", "0-65536", "0\n1", "99999999999999999999",
		"0-3/2",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cpuset set;

		assert_int_equal(cpulist_parse(lists[i], &set), -EINVAL);
		assert_int_equal(cpulist_count(lists[i]), 0);
	}
}

static void an_intersection_has_what_both_have(void **state)
{
	struct cpuset set, other;

	(void)state;
	assert_int_equal(cpulist_parse("0-200", &set), 0);
	assert_int_equal(cpulist_parse("2,64-65", &other), 0);
	cpuset_intersect(&set, &other);
	assert_int_equal(cpuset_count(&set), 3);
	cpuset_intersect(&other, &set);
	assert_int_equal(cpuset_count(&other), 3);
	cpuset_clear(&set);
	cpuset_clear(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recorded_host_tells_its_own_facts),
		TEST(what_a_recording_does_not_tell_is_absent),
		TEST(a_page_size_that_cannot_be_is_not_known),
		TEST(a_root_that_is_none_is_refused_with_a_sentence),
		TEST(the_live_host_has_clocks_and_cpus),
		TEST(a_v2_host_has_one_hierarchy),
		TEST(a_v2_tree_without_controllers_of_use_does_not_count),
		TEST(a_v2_tree_with_controllers_of_use_does),
		TEST(a_v1_host_without_memory_has_the_next_best),
		TEST(a_lone_v2_tree_is_better_than_none),
		TEST(each_controller_has_its_tree),
		TEST(a_v2_host_has_no_v1_trees),
		TEST(a_container_sees_the_part_that_is_mounted),
		cmocka_unit_test(the_path_is_of_the_hierarchy_that_was_chosen),
		cmocka_unit_test(cpu_lists_come_back_in_canonical_form),
		cmocka_unit_test(lists_that_make_no_sense_are_refused),
		cmocka_unit_test(an_intersection_has_what_both_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
