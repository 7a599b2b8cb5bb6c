/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/usage/throttle.h"

static struct throttle throttle;

static bool parse(const char *groups, const char *mounts)
{
	char groups_copy[512], mounts_copy[512];

	snprintf(groups_copy, sizeof(groups_copy), "%s", groups);
	snprintf(mounts_copy, sizeof(mounts_copy), "%s", mounts);
	return throttle_parse(&throttle, groups_copy, mounts_copy);
}

static void the_group_is_found_in_both_versions(void **state)
{
	static const struct {
		const char *groups, *mounts, *path;
	} cases[] = {
		{ "0::/user.slice/job\n",
		  "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
		  "/sys/fs/cgroup/user.slice/job" },
		{ "4:memory:/m\n3:cpu,cpuacct:/job\n0::/\n",
		  "1 1 0:1 / / rw - ext4 /dev/x rw\n"
		  "31 23 0:27 / /cg/memory rw - cgroup cgroup rw,memory\n"
		  "32 23 0:28 / /cg/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n",
		  "/cg/cpu/job" },
		/* A container that sees its own part, and the whole path. */
		{ "3:cpu:/docker/abc/job\n",
		  "32 23 0:28 /docker/abc /cg/cpu ro - cgroup cgroup rw,cpu\n", "/cg/cpu/job" },
		{ "0::/\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		  "/sys/fs/cgroup" },
		/* The first of two mounts; a colon and a slash at the end of a path. */
		{ "0::/a:b/\n",
		  "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n31 23 0:26 / /mnt rw - cgroup2 x rw\n",
		  "/cg/a:b" },
		/* Both versions, the old one without CPUs. */
		{ "2:pids:/p\n0::/new\n",
		  "31 23 0:27 / /cg/pids rw - cgroup cgroup rw,pids\n"
		  "30 23 0:26 / /cg/unified rw - cgroup2 cgroup2 rw\n",
		  "/cg/unified/new" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(cases[i].groups, cases[i].mounts));
		assert_string_equal(throttle.path, cases[i].path);
	}
}

static void files_that_make_no_sense_find_nothing(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "0::/a", "" },
		{ "0::/a", "30 23" },
		{ "::", "30 23 0:26 / /sys/fs/cgroup rw" },
		{ "garbage", "garbage - - -" },
		{ "3:cpuset:/a\n", "32 23 0:28 / /cg/cpu rw - cgroup cgroup rw,cpuset\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(parse(cases[i][0], cases[i][1]));
}

/* A hierarchy of files that a test can write. */
static char root[] = "/tmp/throttle.XXXXXX";

static void write_stat(const char *group, unsigned int microseconds)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s/cpu.stat", root, group);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "usage_usec 5\nnr_throttled 1\nthrottled_usec %u\n", microseconds);
	fclose(file);
}

static int make_root(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/a", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/a/b", root);
	return mkdir(path, 0700);
}

static int remove_root(void **state)
{
	static const char *const names[] = { "/a/b/cpu.stat", "/a/cpu.stat", "/cpu.stat",
					     "/a/b",	      "/a",	     "" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, names[i]);
		remove(path);
	}
	return 0;
}

static void a_quota_of_any_group_above_counts(void **state)
{
	char mounts[128];

	(void)state;
	snprintf(mounts, sizeof(mounts), "30 23 0:26 / %s rw - cgroup2 cgroup2 rw\n", root);
	assert_true(parse("0::/a/b\n", mounts));
	write_stat("/a/b", 100);
	write_stat("/a", 7000);
	assert_int_equal(throttle_grown_ns(&throttle), 0); /* nothing to compare with */
	assert_int_equal(throttle_grown_ns(&throttle), 0);
	write_stat("/a", 7500);
	assert_int_equal(throttle_grown_ns(&throttle), 500000);
	write_stat("/a/b", 900);
	assert_int_equal(throttle_grown_ns(&throttle), 800000);
	assert_int_equal(throttle_grown_ns(&throttle), 0);
	write_stat("", 3); /* the root of a container is a group like others */
	throttle_grown_ns(&throttle);
	write_stat("", 5);
	assert_int_equal(throttle_grown_ns(&throttle), 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_group_is_found_in_both_versions),
		cmocka_unit_test(files_that_make_no_sense_find_nothing),
		cmocka_unit_test_setup_teardown(a_quota_of_any_group_above_counts, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
