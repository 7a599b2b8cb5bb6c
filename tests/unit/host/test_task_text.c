/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "host/proc/task_text.h"

#define LAST_FIELD 10 /* in the text that is cut off */

static void a_name_may_look_like_anything(void **state)
{
	struct task_stat stat;
	char comm[4];

	(void)state;
	assert_true(task_stat_parse("7 (a) S 1 (b)) R 4 5\n", &stat));
	assert_int_equal(stat.comm_length, 10);
	assert_memory_equal(stat.comm, "a) S 1 (b)", 10);
	assert_int_equal(task_stat_state(&stat), 'R');
	assert_int_equal(task_stat_value(&stat, TASK_STAT_PARENT), 4);
	task_stat_copy_comm(&stat, comm, sizeof(comm));
	assert_string_equal(comm, "a) ");
}

static void what_is_no_stat_is_refused(void **state)
{
	static const char *const texts[] = { "", "7", "7 (x", "7 x) S", ")(", "7 (x)", "7 (x) \n" };
	struct task_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(task_stat_parse(texts[i], &stat));
}

static void a_field_that_is_cut_off_or_no_number_is_absent(void **state)
{
	struct task_stat stat;
	uint64_t number = 99;

	(void)state;
	assert_true(task_stat_parse("7 (x) S -4 5 6 7 8 12x 10", &stat));
	assert_false(task_stat_number(&stat, TASK_STAT_PARENT, &number));
	assert_false(task_stat_number(&stat, TASK_STAT_FLAGS, &number));
	assert_false(task_stat_number(&stat, LAST_FIELD, &number));
	assert_false(task_stat_number(&stat, TASK_STAT_START, &number));
	assert_int_equal(number, 99);
	assert_int_equal(task_stat_value(&stat, LAST_FIELD), 0);
}

static void more_fields_than_any_kernel_has_are_left_out(void **state)
{
	char text[1024] = "7 (x) S";
	struct task_stat stat;

	(void)state;
	for (size_t i = strlen(text); i + 2 < sizeof(text); i += 2)
		memcpy(text + i, " 1", 3);
	assert_true(task_stat_parse(text, &stat));
	assert_int_equal(stat.end, TASK_STAT_FIELDS);
}

static void flags_tell_who_ends_and_who_is_the_kernels(void **state)
{
	struct task_stat stat;

	(void)state;
	assert_true(task_stat_parse("7 (x) S 4 5 6 7 8 4 10\n", &stat));
	assert_true(task_stat_is_ending(&stat));
	assert_false(task_stat_is_kernel_thread(&stat));
	assert_true(task_stat_parse("7 (x) S 4 5 6 7 8 2097152 10\n", &stat));
	assert_false(task_stat_is_ending(&stat));
	assert_true(task_stat_is_kernel_thread(&stat));
	assert_true(task_stat_parse("7 (x) Z 4 5 6 7 8 0 10\n", &stat));
	assert_true(task_stat_is_ending(&stat));
}

static void a_value_is_found_by_its_whole_key(void **state)
{
	static const char text[] =
		"Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,6\nPid: 12x";
	uint64_t number = 0;
	size_t length = 0;
	const char *value = task_status_find(text, "Cpus_allowed_list", &length);

	(void)state;
	assert_non_null(value);
	assert_int_equal(length, 5);
	assert_memory_equal(value, "0-3,6", 5);
	assert_null(task_status_find(text, "Cpus", &length));
	assert_null(task_status_find("", "Cpus", &length));
	assert_true(task_status_number(text, "Pid", &number));
	assert_int_equal(number, 12);
	assert_false(task_status_number(text, "Name", &number));
}

static void a_process_lives_as_long_as_a_thread_of_it_does(void **state)
{
	CLEANUP(close_fd) int self = -1;
	CLEANUP(close_fd) int ended = -1;
	char path[32], buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	snprintf(path, sizeof(path), "/proc/%d", getpid());
	self = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	ended = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(task_stat_read(ended, "stat", buffer, &stat), 0);
	assert_int_equal(task_stat_state(&stat), 'Z');
	assert_false(process_has_living_thread(ended));
	assert_true(process_has_living_thread(self));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(process_has_living_thread(ended));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_look_like_anything),
		cmocka_unit_test(what_is_no_stat_is_refused),
		cmocka_unit_test(a_field_that_is_cut_off_or_no_number_is_absent),
		cmocka_unit_test(more_fields_than_any_kernel_has_are_left_out),
		cmocka_unit_test(flags_tell_who_ends_and_who_is_the_kernels),
		cmocka_unit_test(a_value_is_found_by_its_whole_key),
		cmocka_unit_test(a_process_lives_as_long_as_a_thread_of_it_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
