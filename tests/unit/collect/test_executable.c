/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scene.h"

static void write_process(const struct tree *tree, int tgid, const char *statm)
{
	char text[256];

	snprintf(text, sizeof(text), "%d (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n",
		 tgid);
	tree_text(tree, "taskscope-root", "clock_ticks 100\npage_size 4096\n");
	tree_task_text(tree, tgid, tgid, "stat", text);
	tree_task_text(tree, tgid, 0, "stat", text);
	tree_task_text(tree, tgid, 0, "statm", statm);
}

static void write_link(const struct tree *tree, const char *target, const char *path)
{
	char full[TREE_PATH];

	tree_path(tree, path, full);
	assert_int_equal(symlink(target, full), 0);
}

static const char *exe_of(const struct snapshot *snapshot, int32_t tgid)
{
	int64_t row = snapshot_find_process(snapshot, tgid);

	assert_true(row >= 0);
	return snapshot_text(snapshot, snapshot->processes[row].exe);
}

static void a_program_is_called_as_the_kernel_calls_it(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 1, "5 4 3 2 0 1 0\n");
	write_process(&scene->tree, 2, "5 4 3 2 0 1 0\n");
	write_process(&scene->tree, 3, "5 4 3 2 0 1 0\n");
	write_link(&scene->tree, "/usr/bin/a b", "proc/1/exe");
	write_link(&scene->tree, "/tmp/gone (deleted)", "proc/2/exe");
	write_process(&scene->tree, 4, "0 0 0 0 0 0 0\n"); /* a kernel thread runs none */
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	assert_string_equal(exe_of(scene->capture.snapshot, 1), "/usr/bin/a b");
	assert_string_equal(exe_of(scene->capture.snapshot, 2), "/tmp/gone (deleted)");
	assert_string_equal(exe_of(scene->capture.snapshot, 3), "");
	assert_int_equal(scene->capture.tallies[SOURCE_EXE].read, 2);
	/* That of the third was not recorded. */
	assert_int_equal(scene->capture.tallies[SOURCE_EXE].failed, 1);
	assert_string_equal(scene->capture.tallies[SOURCE_EXE].reason, NOT_RECORDED);
}

static void a_recording_without_links_says_so(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 1, "5 4 3 2 0 1 0\n");
	write_process(&scene->tree, 2, "0 0 0 0 0 0 0\n");
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	assert_string_equal(scene->capture.tallies[SOURCE_EXE].reason, NOT_RECORDED);
	assert_null(scene->capture.images);
}

static void a_link_of_a_recording_is_never_followed(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 1, "5 4 3 2 0 1 0\n");
	write_link(&scene->tree, "exe", "proc/1/exe");
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	assert_string_equal(exe_of(scene->capture.snapshot, 1), "exe");
}

static void what_is_no_link_is_a_failure(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 1, "5 4 3 2 0 1 0\n");
	tree_text(&scene->tree, "proc/1/exe", "not a link");
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	assert_int_equal(scene->capture.tallies[SOURCE_EXE].failed, 1);
}

static void we_run_the_file_that_we_were_started_from(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	const int32_t self = getpid();
	char path[TREE_PATH] = "";
	struct stat file;
	int64_t row;

	scene->options.pids = &self;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	scene_collect(scene);
	snapshot = scene->capture.snapshot;
	row = snapshot_find_process(snapshot, self);
	assert_true(row >= 0);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_string_equal(exe_of(snapshot, self), path);
	assert_int_equal(stat("/proc/self/exe", &file), 0);
	assert_true(scene->capture.images[row].present);
	assert_int_equal(scene->capture.images[row].device, file.st_dev);
	assert_int_equal(scene->capture.images[row].inode, file.st_ino);
	assert_int_equal(scene->capture.images[row].changed_ns,
			 file.st_mtim.tv_sec * 1000000000ll + file.st_mtim.tv_nsec);
}

/* A copy of a program whose time of change is the last that there is. */
static int make_timeless_program(void)
{
	const struct timespec times[2] = { { .tv_sec = INT64_MAX }, { .tv_sec = INT64_MAX } };
	int source = open("/bin/sleep", O_RDONLY | O_CLOEXEC);
	int copy = memfd_create("timeless", MFD_CLOEXEC);

	assert_true(source >= 0 && copy >= 0);
	while (sendfile(copy, source, NULL, 1 << 20) > 0)
		;
	close(source);
	assert_int_equal(futimens(copy, times), 0);
	return copy;
}

static void a_time_of_change_may_be_any(void **state)
{
	struct scene *scene = *state;
	int program = make_timeless_program();
	char *arguments[] = { "sleep", "60", NULL };
	pid_t child = vfork();
	int64_t row;

	if (child == 0) {
		fexecve(program, arguments, environ);
		_exit(127);
	}
	close(program);
	scene->options.pids = &child;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	scene_collect(scene);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	row = snapshot_find_process(scene->capture.snapshot, child);
	assert_true(row >= 0 && scene->capture.images[row].present);
	assert_int_equal((uint64_t)scene->capture.images[row].changed_ns,
			 (uint64_t)INT64_MAX * 1000000000u);
}

static void nobody_looks_at_files_without_need(void **state)
{
	struct scene *scene = *state;
	const int32_t self = getpid();

	scene->options.pids = &self;
	scene->options.pid_count = 1;
	scene->options.without = 1u << SOURCE_JEMALLOC | 1u << SOURCE_EXE;
	scene_open(scene, NULL);
	scene_collect(scene);
	assert_null(scene->capture.images);
	assert_string_equal(exe_of(scene->capture.snapshot, self), "");
	assert_int_equal(scene->capture.tallies[SOURCE_EXE].read, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_program_is_called_as_the_kernel_calls_it),
		SCENE_TEST(a_recording_without_links_says_so),
		SCENE_TEST(a_link_of_a_recording_is_never_followed),
		SCENE_TEST(what_is_no_link_is_a_failure),
		SCENE_TEST(we_run_the_file_that_we_were_started_from),
		SCENE_TEST(a_time_of_change_may_be_any),
		SCENE_TEST(nobody_looks_at_files_without_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
