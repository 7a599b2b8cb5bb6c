/* SPDX-License-Identifier: MIT */
/* A file that makes its reader wait costs one thread and the time that was said, not more. */
#include <errno.h>
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

#include "base/clock.h"
#include "host/deadline_run.h"
#include "patience.h"

#define STUCK 100 /* a process whose file is a pipe that nobody writes to */
#define OTHER 200

struct setting {
	char place[64];
	int dir;
	struct deadline_threads reader;
};

static void put(struct setting *setting, const char *name, const char *text)
{
	int fd = openat(setting->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int set_up(void **state)
{
	static struct setting setting;

	snprintf(setting.place, sizeof(setting.place), "/tmp/deadline.XXXXXX");
	if (!mkdtemp(setting.place))
		return -1;
	setting.dir = open(setting.place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	put(&setting, "file", "some text\n");
	if (mkfifoat(setting.dir, "fifo", 0600) < 0)
		return -1;
	*state = &setting;
	return 0;
}

static int tear_down(void **state)
{
	struct setting *setting = *state;

	deadline_threads_clear(&setting->reader);
	unlinkat(setting->dir, "file", 0);
	unlinkat(setting->dir, "fifo", 0);
	close(setting->dir);
	return rmdir(setting->place);
}

static ssize_t read_of(struct setting *setting, int32_t pid, const char *name, char *buffer,
		       size_t capacity)
{
	return deadline_read(&setting->reader, pid, setting->dir, name, buffer, capacity);
}

/* A busy machine can be late with any file, and is not when it is asked again. */
static ssize_t read_in_time(struct setting *setting, const char *name, char *buffer,
			    size_t capacity)
{
	ssize_t length;

	WAIT_UNTIL((length = read_of(setting, OTHER, name, buffer, capacity)) != -ETIMEDOUT);
	return length;
}

static void a_file_is_read_and_cut_where_the_buffer_ends(void **state)
{
	struct setting *setting = *state;
	char buffer[64], small[5];

	assert_int_equal(read_in_time(setting, "file", buffer, sizeof(buffer)), 10);
	assert_string_equal(buffer, "some text\n");
	assert_int_equal(read_in_time(setting, "file", small, sizeof(small)), 4);
	assert_string_equal(small, "some");
	assert_int_equal(read_in_time(setting, "none", buffer, sizeof(buffer)), -ENOENT);
}

/* Ends the wait of those who opened the pipe to read it, if there are any by now. */
static void let_go(struct setting *setting)
{
	int fd = openat(setting->dir, "fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

static void who_makes_wait_is_late_at_once_until_the_thread_is_back(void **state)
{
	struct setting *setting = *state;
	uint64_t begin_ns = monotonic_ns(), took_ns;
	char buffer[64];

	assert_int_equal(read_of(setting, STUCK, "fifo", buffer, sizeof(buffer)), -ETIMEDOUT);
	took_ns = monotonic_ns() - begin_ns;
	assert_true(took_ns >= DEADLINE_READ_MS * NS_PER_MS);
	begin_ns = monotonic_ns();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(read_of(setting, STUCK, "file", buffer, sizeof(buffer)),
				 -ETIMEDOUT);
	assert_true(monotonic_ns() - begin_ns < 1000 * DEADLINE_READ_MS * NS_PER_MS);
	assert_int_equal(read_in_time(setting, "file", buffer, sizeof(buffer)), 10);
	WAIT_UNTIL(
		(let_go(setting), read_of(setting, STUCK, "file", buffer, sizeof(buffer)) == 10));
}

static void many_that_make_wait_leave_no_thread_for_others(void **state)
{
	struct setting *setting = *state;
	char buffer[64];
	int32_t pid = STUCK;

	while (read_of(setting, OTHER, "file", buffer, sizeof(buffer)) == 10) {
		assert_true(pid < STUCK + 100);
		assert_int_equal(read_of(setting, pid++, "fifo", buffer, sizeof(buffer)),
				 -ETIMEDOUT);
	}
	WAIT_UNTIL(
		(let_go(setting), read_of(setting, OTHER, "file", buffer, sizeof(buffer)) == 10));
}

static void one_that_waits_for_ever_is_not_waited_for_at_the_end(void **state)
{
	struct setting *setting = *state;
	char buffer[64];

	assert_int_equal(read_of(setting, STUCK, "fifo", buffer, sizeof(buffer)), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_read_and_cut_where_the_buffer_ends,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			who_makes_wait_is_late_at_once_until_the_thread_is_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_that_make_wait_leave_no_thread_for_others,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			one_that_waits_for_ever_is_not_waited_for_at_the_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
