/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "session/watch/launch.h"
#include "patience.h"

static struct error error;

static struct launch hold_as_found(const char *const *command, const struct launch_found *found)
{
	struct launch launch = LAUNCH_NONE;

	assert_int_equal(launch_hold(&launch, (char **)command, found, &error), 0);
	return launch;
}

static struct launch hold(const char *const *command)
{
	struct launch_found found;

	launch_remember(&found);
	return hold_as_found(command, &found);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	return poll(&polled, 1, timeout_ms) == 1;
}

/* Lets it go, and gives what came of its exec. */
static int release(struct launch *launch)
{
	launch_release(launch);
	assert_true(is_readable(launch->exec_fd, HANG_MS));
	return launch_result(launch);
}

/* Gives what it ended with. */
static int await_end(struct launch *launch)
{
	int status = -1;

	assert_true(is_readable(launch->pidfd, HANG_MS));
	assert_int_equal(waitpid(launch->pid, &status, 0), launch->pid);
	launch->pid = -1;
	launch_finish(launch);
	return status;
}

static int finish(struct launch *launch)
{
	assert_int_equal(release(launch), 0);
	return await_end(launch);
}

static void expect_refused(const char *const *command, int code)
{
	struct launch launch = hold(command);

	assert_int_equal(release(&launch), code);
	launch_finish(&launch);
}

#define COMMAND(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SHELL(script) COMMAND("sh", "-c", script)

static void a_command_waits_until_it_is_let_go(void **state)
{
	struct launch launch = hold(SHELL("exit 7"));

	(void)state;
	assert_false(is_readable(launch.exec_fd, 100));
	assert_false(is_readable(launch.pidfd, 0));
	assert_int_equal(WEXITSTATUS(finish(&launch)), 7);
}

static void a_command_that_is_not_there_is_told(void **state)
{
	(void)state;
	expect_refused(COMMAND("there-is-no-such-command"), -ENOENT);
}

static void a_directory_cannot_be_executed(void **state)
{
	(void)state;
	expect_refused(COMMAND("/"), -EACCES);
}

static void a_cancelled_command_never_runs(void **state)
{
	struct launch launch;
	char path[] = "/tmp/taskscope-launch-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	launch = hold(COMMAND("rm", path));
	launch_cancel(&launch);
	assert_true(launch.pid == -1 && launch.pidfd == -1);
	assert_true(launch.hold_fd == -1 && launch.exec_fd == -1);
	assert_int_equal(unlink(path), 0);
}

static void a_command_whose_holder_is_gone_does_not_run(void **state)
{
	struct launch launch = hold(SHELL("exit 0"));

	(void)state;
	close(launch.hold_fd);
	launch.hold_fd = -1;
	assert_int_not_equal(await_end(&launch), 0);
}

static void a_command_has_the_signals_that_we_were_given(void **state)
{
	struct launch launch;

	(void)state;
	launch = hold(SHELL("kill -PIPE $$; exit 3"));
	assert_int_equal(WTERMSIG(finish(&launch)), SIGPIPE);
	launch = hold(SHELL("kill -XFSZ $$; exit 3"));
	assert_int_equal(WTERMSIG(finish(&launch)), SIGXFSZ);
	launch = hold(SHELL("kill -TERM $$; exit 3"));
	assert_int_equal(WEXITSTATUS(finish(&launch)), 3);
}

static void a_command_has_the_mask_that_we_were_given(void **state)
{
	struct launch_found found;
	struct launch launch;
	sigset_t set;

	(void)state;
	launch_remember(&found);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	launch = hold_as_found(SHELL("kill -USR1 $$; exit 3"), &found);
	assert_int_equal(WTERMSIG(finish(&launch)), SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void a_command_has_the_limits_that_we_were_given(void **state)
{
	struct launch_found found;
	struct launch launch;
	struct rlimit files, changed;

	(void)state;
	launch_remember(&found);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	changed = files;
	changed.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &changed), 0);
	launch = hold_as_found(SHELL("test `ulimit -n` != 100"), &found);
	assert_int_equal(finish(&launch), 0);
	setrlimit(RLIMIT_NOFILE, &files);
}

static void a_signal_ends_a_held_command(void **state)
{
	struct launch launch = hold(SHELL("exit 0"));

	(void)state;
	kill(launch.pid, SIGINT);
	assert_true(is_readable(launch.exec_fd, HANG_MS));
	assert_int_equal(launch_result(&launch), 0);
	assert_int_equal(WTERMSIG(await_end(&launch)), SIGINT);
}

static void without_descriptors_nothing_is_started(void **state)
{
	struct launch launch = LAUNCH_NONE;
	struct launch_found found;
	struct rlimit before;
	struct error problem = { 0 };
	int next;

	(void)state;
	launch_remember(&found);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = dup(STDIN_FILENO);
	close(next);
	for (int room = 0; room < 4; room++) { /* two pipes have two ends each */
		struct rlimit few = { (rlim_t)(next + room), before.rlim_max };

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(launch_hold(&launch, (char *[]){ "true", NULL }, &found, &problem),
				 -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(fcntl(next, F_GETFD), -1); /* nothing is left open */
	}
	assert_non_null(strstr(problem.message, "cannot make a pipe"));
	assert_int_equal(launch.pid, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_descriptors_nothing_is_started),
		cmocka_unit_test(a_command_waits_until_it_is_let_go),
		cmocka_unit_test(a_command_that_is_not_there_is_told),
		cmocka_unit_test(a_directory_cannot_be_executed),
		cmocka_unit_test(a_cancelled_command_never_runs),
		cmocka_unit_test(a_command_whose_holder_is_gone_does_not_run),
		cmocka_unit_test(a_command_has_the_signals_that_we_were_given),
		cmocka_unit_test(a_command_has_the_mask_that_we_were_given),
		cmocka_unit_test(a_command_has_the_limits_that_we_were_given),
		cmocka_unit_test(a_signal_ends_a_held_command),
	};

	signal(SIGTERM, SIG_IGN);
	launch_take_signals();
	/* In a folder that may not be read there may be any command. */
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
