/* SPDX-License-Identifier: MIT */
/* Directories, opened with the rights of a user.  As root, also with those of another one. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/user_directory.h"

#define STRANGER 65534

static char top[64];

static const char *below(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void make(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(below(name), 0700), 0);
	assert_int_equal(chmod(below(name), mode), 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/user-directory-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	chmod(top, 0755);
	make("open", 0755);
	make("open/inner", 0755);
	make("closed", 0700);
	make("closed/inner", 0755);
	make("group", 0750);
	make("searched", 0711);
	return symlink("open", below("link"));
}

static int tear_down(void **state)
{
	static const char *const names[] = { "open/inner", "open",  "closed/inner",
					     "closed",	   "group", "searched" };

	(void)state;
	unlink(below("link"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		rmdir(below(names[i]));
	return rmdir(top);
}

static int try_open(uid_t uid, const char *name)
{
	CLEANUP(close_fd) int fd = user_directory_open(uid, below(name));

	return fd < 0 ? fd : 0;
}

static void links_and_ways_up_are_refused(void **state)
{
	(void)state;
	assert_int_equal(try_open(geteuid(), "open/inner"), 0);
	assert_int_equal(try_open(geteuid(), "open//inner/"), 0);
	assert_int_equal(try_open(geteuid(), "link"), -ELOOP);
	assert_int_equal(try_open(geteuid(), "link/inner"), -ELOOP);
	assert_int_equal(try_open(geteuid(), "open/../closed"), -EINVAL);
	assert_int_equal(try_open(geteuid(), "nothing"), -ENOENT);
	assert_int_equal(user_directory_open(geteuid(), "open"), -EINVAL);
}

static void a_stranger_gets_what_a_stranger_may(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return;
	assert_int_equal(try_open(STRANGER, "open/inner"), 0);
	assert_int_equal(try_open(STRANGER, "closed"), -EACCES);
	assert_int_equal(try_open(STRANGER, "closed/inner"), -EACCES);
	assert_int_equal(try_open(STRANGER, "searched"), -EACCES);
	/* Our groups are not the stranger's. */
	assert_int_equal(try_open(STRANGER, "group"), -EACCES);
	/* And afterwards we are ourselves again. */
	assert_int_equal(try_open(0, "closed/inner"), 0);
	assert_int_equal(access(below("closed"), R_OK | W_OK), 0);
}

static void what_is_open_can_be_watched(void **state)
{
	CLEANUP(close_fd) int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	CLEANUP(close_fd) int directory = user_directory_open(geteuid(), below("open"));
	CLEANUP(close_fd) int inner = user_directory_open_below(geteuid(), directory, "inner");
	char events[512];

	(void)state;
	assert_true(inner >= 0);
	assert_true(user_directory_watch(geteuid(), inotify, inner, IN_CREATE) > 0);
	assert_int_equal(mkdirat(inner, "made", 0700), 0);
	assert_true(read(inotify, events, sizeof(events)) > 0);
	assert_int_equal(unlinkat(inner, "made", AT_REMOVEDIR), 0);
	assert_int_equal(user_directory_watch(geteuid(), inotify, -1, IN_CREATE), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(links_and_ways_up_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stranger_gets_what_a_stranger_may, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_open_can_be_watched, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
