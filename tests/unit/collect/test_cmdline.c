/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/process/cmdline.h"
#include "collect/process/reader_pool.h"
#include "scene.h"

static void a_command_line_becomes_one_line(void **state)
{
	char command[] = "sh\0-c\0\0echo  hi\0\0";

	(void)state;
	assert_int_equal(cmdline_join(command, sizeof(command) - 1), 15);
	assert_memory_equal(command, "sh -c  echo  hi", 15);
	assert_int_equal(cmdline_join(command, 0), 0);
}

static void a_long_command_line_is_cut_and_a_padded_title_is_not(void **state)
{
	char command[CMDLINE_MAX];

	(void)state;
	memset(command, 'x', sizeof(command));
	assert_int_equal(cmdline_join(command, sizeof(command)), CMDLINE_MAX);
	assert_memory_equal(command + CMDLINE_MAX - 4, "x...", 4);
	memset(command, '\0', sizeof(command));
	memcpy(command, "title", 5);
	assert_int_equal(cmdline_join(command, sizeof(command)), 5);
}

static void a_command_line_that_blocks_holds_up_nobody(void **state)
{
	struct scene *scene = *state;
	struct reader_pool *pool;
	struct snapshot *snapshot;
	char path[TREE_PATH];
	uint32_t row;
	int writer;

	tree_directory(&scene->tree, "proc/1");
	tree_text(&scene->tree, "proc/2/cmdline", "quick");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot_process(snapshot, 1, &row), 0);
	assert_int_equal(snapshot_process(snapshot, 2, &row), 0);
	/* Opening a pipe that nobody writes to blocks, as the lock on a memory map would. */
	tree_path(&scene->tree, "proc/1/cmdline", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(cmdline_start(&scene->capture, &pool), 0);
	cmdline_add(pool, 0, tree_open(&scene->tree, "proc/1"));
	cmdline_add(pool, 1, tree_open(&scene->tree, "proc/2"));
	assert_int_equal(reader_pool_finish(pool), 0);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[1].cmdline), "quick");
	assert_int_equal(snapshot->processes[0].cmdline, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].read, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].failed, 1);
	assert_non_null(strstr(scene->capture.tallies[SOURCE_CMDLINE].reason, "deadline"));
	writer = open(path, O_WRONLY | O_CLOEXEC); /* lets the reader go */
	assert_true(writer >= 0);
	close(writer);
}

static void a_pipe_in_a_recorded_tree_is_an_empty_command_line(void **state)
{
	struct scene *scene = *state;
	struct reader_pool *pool;
	char path[TREE_PATH];
	uint32_t row;

	tree_directory(&scene->tree, "proc/1");
	scene_open(scene, scene->tree.root);
	assert_int_equal(snapshot_process(scene->capture.snapshot, 1, &row), 0);
	tree_path(&scene->tree, "proc/1/cmdline", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(cmdline_start(&scene->capture, &pool), 0);
	cmdline_add(pool, row, tree_open(&scene->tree, "proc/1"));
	assert_int_equal(reader_pool_finish(pool), 0);
	assert_int_equal(scene->capture.snapshot->processes[0].cmdline, 0);
}

/* The pool outlives the host while a reader is stuck, so it needs a descriptor of its own. */
static void processes_are_also_read_by_number(void **state)
{
	struct scene *scene = *state;
	struct reader_pool *pool;
	struct snapshot *snapshot;
	uint32_t row;

	tree_text(&scene->tree, "proc/7/cmdline", "seven");
	tree_text(&scene->tree, "proc/8/cmdline", "eight");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	snapshot = scene->capture.snapshot;
	assert_int_equal(cmdline_start(&scene->capture, &pool), 0);
	close_fd(&scene->host->proc);
	for (int32_t tgid = 7; tgid <= 9; tgid++) {
		assert_int_equal(snapshot_process(snapshot, tgid, &row), 0);
		cmdline_add_number(pool, &scene->capture, row);
	}
	assert_int_equal(reader_pool_finish(pool), 0);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].cmdline), "seven");
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[1].cmdline), "eight");
	assert_int_equal(snapshot->processes[2].cmdline, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].read, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(processes_are_also_read_by_number),
		cmocka_unit_test(a_command_line_becomes_one_line),
		cmocka_unit_test(a_long_command_line_is_cut_and_a_padded_title_is_not),
		SCENE_TEST(a_command_line_that_blocks_holds_up_nobody),
		SCENE_TEST(a_pipe_in_a_recorded_tree_is_an_empty_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
