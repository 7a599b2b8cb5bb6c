/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "host/proc/kept_files.h"
#include "host/proc/proc_file.h"
#include "support/tree.h"

struct scene {
	struct tree tree;
	struct kept_files kept;
	struct proc_buffer buffer;
};

static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	tree_make(&scene->tree);
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	kept_files_clear(&scene->kept);
	proc_buffer_clear(&scene->buffer);
	tree_remove(&scene->tree);
	free(scene);
	return 0;
}

static void keep(struct scene *scene, const char *name)
{
	char full[TREE_PATH];
	int fd;

	tree_path(&scene->tree, name, full);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	kept_files_add(&scene->kept, name, fd);
}

static void what_is_read_is_new(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(kept_files_read(&scene->kept, "a", &scene->buffer), -ENOENT);
	tree_text(&scene->tree, "a", "first");
	keep(scene, "a");
	assert_int_equal(kept_files_read(&scene->kept, "a", &scene->buffer), 5);
	tree_text(&scene->tree, "a", "second");
	assert_int_equal(kept_files_read(&scene->kept, "a", &scene->buffer), 6);
	assert_string_equal(scene->buffer.data, "second");
	assert_int_equal(kept_files_read(&scene->kept, "b", &scene->buffer), -ENOENT);
}

static void a_file_that_nobody_reads_is_closed(void **state)
{
	struct scene *scene = *state;

	tree_text(&scene->tree, "a", "a");
	tree_text(&scene->tree, "b", "b");
	keep(scene, "a");
	keep(scene, "b");
	kept_files_sweep(&scene->kept);
	assert_int_equal(scene->kept.open, 2);
	assert_int_equal(kept_files_read(&scene->kept, "b", &scene->buffer), 1);
	kept_files_sweep(&scene->kept);
	assert_int_equal(scene->kept.open, 1);
	assert_int_equal(kept_files_read(&scene->kept, "a", &scene->buffer), -ENOENT);
	assert_int_equal(kept_files_read(&scene->kept, "b", &scene->buffer), 1);
}

/* The file of an ended process fails, as that of a cgroup that was removed does. */
static void a_file_that_is_gone_is_forgotten(void **state)
{
	struct scene *scene = *state;
	char path[64];
	pid_t child = fork();
	int fd;

	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	kept_files_add(&scene->kept, "child", fd);
	assert_true(kept_files_read(&scene->kept, "child", &scene->buffer) > 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(kept_files_read(&scene->kept, "child", &scene->buffer), -ENOENT);
	assert_int_equal(scene->kept.open, 0);
}

static void names_do_not_pile_up(void **state)
{
	struct scene *scene = *state;
	char name[16];

	tree_text(&scene->tree, "stays", "here");
	keep(scene, "stays");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		tree_text(&scene->tree, name, "x");
		keep(scene, name);
		assert_int_equal(kept_files_read(&scene->kept, "stays", &scene->buffer), 4);
		kept_files_sweep(&scene->kept);
	}
	assert_true(scene->kept.open <= 2);
	assert_true(scene->kept.list.count < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_read_is_new, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_nobody_reads_is_closed, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_is_gone_is_forgotten, begin, end),
		cmocka_unit_test_setup_teardown(names_do_not_pile_up, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
