/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/cleanup.h"
#include "collect/process/namespace_tids.h"
#include "tree.h"

static struct tree tree;
static struct namespace_tids tids;
static int process = -1;

static int setup(void **state)
{
	(void)state;
	tree_make(&tree);
	tids = (struct namespace_tids){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	namespace_tids_clear(&tids);
	close_fd(&process);
	process = -1;
	tree_remove(&tree);
	return 0;
}

static void write_status(const char *path, const char *text)
{
	tree_text(&tree, path, text);
}

static void open_process(void)
{
	process = tree_open(&tree, "process");
	assert_true(process >= 0);
}

/* Numbers start again inside, so the order of one side says nothing about the other. */
static void threads_have_another_number_inside(void **state)
{
	(void)state;
	write_status("process/status", "Tgid:\t40\nNStgid:\t40\t7\t1\nNSpid:\t40\t7\t1\n");
	write_status("process/task/40/status", "NSpid:\t40\t7\t1\n");
	write_status("process/task/41/status", "NSpid:\t41\t8\t900\n");
	write_status("process/task/42/status", "NSpid:\t42\t9\t3\n");
	write_status("process/task/43/status", "NSpid:\t43\t10\t20\n");
	write_status("process/task/44/status", "Name:\tends\n");
	open_process();
	assert_int_equal(namespace_tids_init(&tids, process), 0);
	assert_true(tids.differ);
	assert_int_equal(tids.pid, 40);
	assert_int_equal(tids.own_pid, 1);
	assert_int_equal(namespace_tids_ours(&tids, 1), 0);
	for (int i = 0; i < 2; i++) { /* what is read again replaces what was there */
		assert_int_equal(namespace_tids_refresh(&tids, process), 0);
		assert_int_equal(tids.list.count, 4);
		assert_int_equal(namespace_tids_ours(&tids, 1), 40);
		assert_int_equal(namespace_tids_ours(&tids, 900), 41);
		assert_int_equal(namespace_tids_ours(&tids, 3), 42);
		assert_int_equal(namespace_tids_ours(&tids, 20), 43);
		assert_int_equal(namespace_tids_ours(&tids, 8), 0);
	}
}

static void in_our_namespace_numbers_are_the_same(void **state)
{
	static const char *const texts[] = { "Tgid:\t40\nNStgid:\t40\n", "Tgid:\t40\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_status("process/status", texts[i]);
		open_process();
		assert_int_equal(namespace_tids_init(&tids, process), 0);
		assert_false(tids.differ);
		assert_int_equal(tids.pid, 40);
		assert_int_equal(tids.own_pid, 40);
		assert_int_equal(namespace_tids_refresh(&tids, process), 0);
		assert_int_equal(namespace_tids_ours(&tids, 41), 41);
		close_fd(&process);
		process = -1;
	}
}

static void what_has_ended_or_makes_no_sense_has_no_numbers(void **state)
{
	(void)state;
	write_status("process/other", "");
	open_process();
	assert_int_equal(namespace_tids_init(&tids, process), -ESRCH);
	write_status("process/status", "Name:\tx\nTgid:\t\n");
	assert_int_equal(namespace_tids_init(&tids, process), -EBADMSG);
	write_status("process/status", "Tgid:\t2147483648\n");
	assert_int_equal(namespace_tids_init(&tids, process), -EBADMSG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(threads_have_another_number_inside),
		TEST(in_our_namespace_numbers_are_the_same),
		TEST(what_has_ended_or_makes_no_sense_has_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
