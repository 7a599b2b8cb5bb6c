/* SPDX-License-Identifier: MIT */
/* The call of a task, and the locks of files, as proc writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "host/wait/call_text.h"
#include "host/wait/file_locks.h"

static void a_call_has_its_number_and_arguments(void **state)
{
	struct call_text call = { .number = 99 };

	(void)state;
	assert_true(call_text_parse(
		"202 0x7f0010 0x189 0x0 0x0 0x0 0xffffffffffffffff 0x7ffe 0x7f01\n", &call));
	assert_int_equal(call.number, 202);
	assert_int_equal(call.arguments[0], 0x7f0010);
	assert_int_equal(call.arguments[1], 0x189);
	assert_true(call.arguments[5] == UINT64_MAX);
	assert_true(call_text_parse("0 0x3", &call));
	assert_int_equal(call.arguments[0], 3);
	assert_int_equal(call.arguments[1], 0);
}

static void a_task_outside_of_a_call_has_none(void **state)
{
	struct call_text call = { .number = 99 };

	(void)state;
	assert_false(call_text_parse("running\n", &call));
	assert_false(call_text_parse("-1 0x7ffe 0x7f01\n", &call));
	assert_false(call_text_parse("", &call));
	assert_false(call_text_parse("4294967296 0x0\n", &call));
	assert_int_equal(call.number, 99);
}

/* As of kernel 6.18. */
static const char locks_text[] = "1: POSIX  ADVISORY  WRITE 2772 fe:00:10955308 0 EOF\n"
				 "1: -> POSIX  ADVISORY  WRITE 2844 fe:00:10955308 0 EOF\n"
				 "1:  -> POSIX  ADVISORY  READ  2845 fe:00:10955308 100 199\n"
				 "2: FLOCK  ADVISORY  WRITE 2772 fe:00:10952892 0 EOF\n"
				 "2: -> FLOCK  ADVISORY  WRITE 2842 fe:00:10952892 0 EOF\n"
				 "3: LEASE  ACTIVE    READ  77 00:2b:5 0 EOF\n"
				 "4: OFDLCK ADVISORY  READ  -1 08:01:17 0 0\n"
				 "4: -> OFDLCK ADVISORY  WRITE -1 08:01:17 0 0\n";

static void each_lock_is_read(void **state)
{
	CLEANUP(file_locks_clear) struct file_locks locks = { 0 };

	(void)state;
	assert_int_equal(file_locks_parse(locks_text, &locks), 0);
	assert_int_equal(locks.list.count, 8);
	assert_int_equal(locks.list.data[0].kind, FILE_LOCK_POSIX);
	assert_true(locks.list.data[0].is_write);
	assert_false(locks.list.data[0].waits);
	assert_int_equal(locks.list.data[0].major, 0xfe);
	assert_int_equal(locks.list.data[0].inode, 10955308);
	assert_true(locks.list.data[0].end == UINT64_MAX);
	assert_true(locks.list.data[2].waits);
	assert_false(locks.list.data[2].is_write);
	assert_int_equal(locks.list.data[2].start, 100);
	assert_int_equal(locks.list.data[2].end, 199);
	assert_int_equal(locks.list.data[3].kind, FILE_LOCK_FLOCK);
	assert_int_equal(locks.list.data[5].kind, FILE_LOCK_OTHER);
	assert_int_equal(locks.list.data[6].kind, FILE_LOCK_OPEN);
	assert_int_equal(locks.list.data[6].pid, -1);
}

static void a_line_without_a_whole_file_is_no_lock(void **state)
{
	static const char *const lines[] = {
		"1: POSIX  ADVISORY  WRITE 812 08 77 EOF\n",
		"1: POSIX  ADVISORY  WRITE 812 08:01 77 EOF\n",
		"1: POSIX  ADVISORY  WRITE 812 08:01: EOF\n",
		"1: POSIX  ADVISORY  WRITE 812 08:123456789:77 0 EOF\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(file_locks_clear) struct file_locks locks = { 0 };

		file_locks_parse(lines[i], &locks);
		assert_int_equal(locks.list.count, 0);
	}
}

static void one_that_waits_finds_the_lock_that_is_held(void **state)
{
	CLEANUP(file_locks_clear) struct file_locks locks = { 0 };

	(void)state;
	assert_int_equal(file_locks_parse(locks_text, &locks), 0);
	assert_ptr_equal(file_locks_awaited(&locks, 2845, FILE_LOCK_POSIX, 10955308),
			 &locks.list.data[0]);
	assert_ptr_equal(file_locks_awaited(&locks, 2842, FILE_LOCK_FLOCK, 10952892),
			 &locks.list.data[3]);
	assert_ptr_equal(file_locks_awaited(&locks, 5, FILE_LOCK_OPEN, 17), &locks.list.data[6]);
	/* Another process, kind, file; one that holds a lock does not wait for it. */
	assert_null(file_locks_awaited(&locks, 2846, FILE_LOCK_POSIX, 10955308));
	assert_null(file_locks_awaited(&locks, 2842, FILE_LOCK_POSIX, 10952892));
	assert_null(file_locks_awaited(&locks, 2842, FILE_LOCK_FLOCK, 1));
	assert_null(file_locks_awaited(&locks, 2772, FILE_LOCK_FLOCK, 10952892));
}

static void lines_that_are_not_understood_are_left_out(void **state)
{
	CLEANUP(file_locks_clear) struct file_locks locks = { 0 };

	(void)state;
	assert_int_equal(file_locks_parse("\nx\n1:\n1: POSIX\n1: POSIX ADVISORY WRITE\n"
					  "1: POSIX ADVISORY WRITE 5\n"
					  "1: POSIX ADVISORY WRITE 5 fe:00\n"
					  "1: POSIX ADVISORY WRITE 5 fe:00:7\n"
					  "1: POSIX ADVISORY WRITE 5 fe:00:7 0\n"
					  "1: POSIX ADVISORY WRITE 5 123456789:00:7 0 EOF\n"
					  "1: POSIX ADVISORY WRITE -2 fe:00:7 0 EOF\n"
					  "1: POSIX ADVISORY WRITE 99999999999 fe:00:7 0 EOF\n"
					  "9: POSIX ADVISORY WRITE 5 fe:00:7 0 EOF",
					  &locks),
			 0);
	assert_int_equal(locks.list.count, 1);
	assert_int_equal(locks.list.data[0].id, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_its_number_and_arguments),
		cmocka_unit_test(a_task_outside_of_a_call_has_none),
		cmocka_unit_test(each_lock_is_read),
		cmocka_unit_test(a_line_without_a_whole_file_is_no_lock),
		cmocka_unit_test(one_that_waits_finds_the_lock_that_is_held),
		cmocka_unit_test(lines_that_are_not_understood_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
