/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/cgroup/cgroup_paths.h"
#include "collect/collector.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "tree.h"

/* A host of two directories: task files and a cgroup tree with /here and /there. */
static struct tree tree;
static struct host host;
static struct snapshot *snapshot;
static struct source_tally tally;
static struct cgroup_paths *paths;

static void write_task(int tid, const char *text)
{
	tree_task_text(&tree, tid, tid, "cgroup", text);
}

static uint64_t id_of(const char *cgroup)
{
	struct stat entry;

	assert_int_equal(fstatat(host.cgroup.fd, cgroup, &entry, 0), 0);
	return entry.st_ino;
}

static void expect_path(uint64_t id, int tid, const char *expected)
{
	uint32_t path;

	assert_int_equal(cgroup_paths_find(paths, id, tid, tid, &path), 0);
	assert_string_equal(snapshot_text(snapshot, path), expected);
}

static int prepare(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_directory(&tree, "proc");
	tree_directory(&tree, "cgroup/here");
	tree_directory(&tree, "cgroup/there is");
	host = (struct host){ .proc = tree_open(&tree, "proc") };
	host.cgroup = (struct cgroup_hierarchy){ .version = 2, .fd = tree_open(&tree, "cgroup") };
	tally = (struct source_tally){ 0 };
	if (snapshot_new(&snapshot) < 0)
		return -1;
	paths = cgroup_paths_new(&host, snapshot, &tally);
	return paths ? 0 : -1;
}

static int tidy(void **state)
{
	(void)state;
	cgroup_paths_free(paths);
	snapshot_free(snapshot);
	close(host.proc);
	close(host.cgroup.fd);
	tree_remove(&tree);
	return 0;
}

static void a_cgroups_path_is_read_once(void **state)
{
	(void)state;
	write_task(1, "0::/here\n");
	expect_path(id_of("here"), 1, "/here");
	expect_path(id_of("here"), 2, "/here"); /* has no file */
	assert_int_equal(tally.read, 1);
}

static void cgroups_are_told_apart(void **state)
{
	(void)state;
	write_task(1, "0::/here\n");
	write_task(2, "0::/there is\n");
	write_task(3, "0::/\n");
	for (int round = 0; round < 2; round++) {
		expect_path(id_of("here"), 1, "/here");
		expect_path(id_of("there is"), 2, "/there is");
		expect_path(id_of("."), 3, "/");
	}
	assert_int_equal(tally.read, 3);
}

static void a_task_that_moved_teaches_nothing_about_its_old_cgroup(void **state)
{
	(void)state;
	write_task(1, "0::/there is\n");
	write_task(2, "0::/here\n");
	expect_path(id_of("here"), 1, "/there is");
	expect_path(id_of("here"), 2, "/here");
	expect_path(id_of("there is"), 1, "/there is");
}

static void without_an_id_each_task_is_asked(void **state)
{
	(void)state;
	write_task(1, "0::/here\n");
	write_task(2, "0::/there is\n");
	expect_path(0, 1, "/here");
	expect_path(0, 2, "/there is");
}

static void a_task_that_is_gone_has_no_path(void **state)
{
	uint32_t path;

	(void)state;
	assert_int_equal(cgroup_paths_find(paths, id_of("here"), 9, 9, &path), -ENOENT);
	assert_int_equal(tally.failed, 0);
	write_task(1, "0::/here\n");
	expect_path(id_of("here"), 1, "/here");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, prepare, tidy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cgroups_path_is_read_once),
		TEST(cgroups_are_told_apart),
		TEST(a_task_that_moved_teaches_nothing_about_its_old_cgroup),
		TEST(without_an_id_each_task_is_asked),
		TEST(a_task_that_is_gone_has_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
