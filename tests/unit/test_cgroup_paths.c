#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/cgroup_paths.h"
#include "collect/collector.h"
#include "host/host.h"
#include "model/snapshot.h"

/* A host of two directories: task files and a cgroup tree with /here and /there. */
static char directory[] = "/tmp/taskscope-cgroup-XXXXXX";
static struct host host;
static struct snapshot *snapshot;
static struct source_tally tally;
static struct cgroup_paths *paths;

static void make_directory(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", directory, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

static int open_directory(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", directory, path);
	return open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void write_task(int tid, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%d", tid);
	mkdirat(host.proc, path, 0700);
	snprintf(path, sizeof(path), "%d/task", tid);
	mkdirat(host.proc, path, 0700);
	snprintf(path, sizeof(path), "%d/task/%d", tid, tid);
	mkdirat(host.proc, path, 0700);
	snprintf(path, sizeof(path), "%d/task/%d/cgroup", tid, tid);
	fd = openat(host.proc, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
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
	memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
	if (!mkdtemp(directory))
		return -1;
	make_directory("proc");
	make_directory("cgroup");
	make_directory("cgroup/here");
	make_directory("cgroup/there is");
	host = (struct host){ .proc = open_directory("proc") };
	host.cgroup = (struct cgroup_hierarchy){ .version = 2, .fd = open_directory("cgroup") };
	tally = (struct source_tally){ 0 };
	if (snapshot_new(&snapshot) < 0)
		return -1;
	paths = cgroup_paths_new(&host, snapshot, &tally);
	return paths ? 0 : -1;
}

static int tidy(void **state)
{
	char command[128];

	(void)state;
	cgroup_paths_free(paths);
	snapshot_free(snapshot);
	close(host.proc);
	close(host.cgroup.fd);
	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	return system(command) == 0 ? 0 : -1;
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
	(void)state;
	expect_path(id_of("here"), 9, "");
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
