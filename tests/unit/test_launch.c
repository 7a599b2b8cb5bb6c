#include <errno.h>
#include <poll.h>
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
#include "session/launch.h"

static struct error error;

static struct launch hold(const char *const *command, const struct launch_found *found)
{
	struct launch launch = LAUNCH_NONE;

	assert_int_equal(launch_hold(&launch, (char **)command, found, &error), 0);
	return launch;
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	return poll(&polled, 1, timeout_ms) == 1;
}

/* Lets it go, and gives what it ended with. */
static int finish(struct launch *launch)
{
	int status = -1;

	launch_release(launch);
	assert_true(is_readable(launch->exec_fd, 10000));
	assert_int_equal(launch_result(launch), 0);
	assert_true(is_readable(launch->pidfd, 10000));
	assert_int_equal(waitpid(launch->pid, &status, 0), launch->pid);
	launch->pid = -1;
	launch_finish(launch);
	return status;
}

#define COMMAND(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SHELL(script) COMMAND("sh", "-c", script)

static void a_command_waits_until_it_is_let_go(void **state)
{
	struct launch_found found;
	struct launch launch;

	(void)state;
	launch_remember(&found);
	launch = hold(SHELL("exit 7"), &found);
	assert_false(is_readable(launch.exec_fd, 100));
	assert_false(is_readable(launch.pidfd, 0));
	assert_int_equal(WEXITSTATUS(finish(&launch)), 7);
}

static void a_command_that_is_not_there_is_told(void **state)
{
	struct launch_found found;
	struct launch launch;

	(void)state;
	launch_remember(&found);
	launch = hold(COMMAND("there-is-no-such-command"), &found);
	launch_release(&launch);
	assert_true(is_readable(launch.exec_fd, 10000));
	assert_int_equal(launch_result(&launch), -ENOENT);
	launch_finish(&launch);
}

static void a_directory_cannot_be_executed(void **state)
{
	struct launch_found found;
	struct launch launch;

	(void)state;
	launch_remember(&found);
	launch = hold(COMMAND("/"), &found);
	launch_release(&launch);
	assert_true(is_readable(launch.exec_fd, 10000));
	assert_int_equal(launch_result(&launch), -EACCES);
	launch_finish(&launch);
}

static void a_cancelled_command_never_runs(void **state)
{
	struct launch_found found;
	struct launch launch;
	char path[] = "/tmp/taskscope-launch-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	launch_remember(&found);
	launch = hold(COMMAND("rm", path), &found);
	launch_cancel(&launch);
	assert_int_equal(unlink(path), 0);
}

static void a_command_whose_holder_is_gone_does_not_run(void **state)
{
	struct launch_found found;
	struct launch launch;
	int status;

	(void)state;
	launch_remember(&found);
	launch = hold(SHELL("exit 0"), &found);
	close(launch.hold_fd);
	launch.hold_fd = -1;
	assert_true(is_readable(launch.pidfd, 10000));
	assert_int_equal(waitpid(launch.pid, &status, 0), launch.pid);
	assert_int_not_equal(status, 0);
	launch.pid = -1;
	launch_finish(&launch);
}

static void a_command_has_the_signals_that_we_were_given(void **state)
{
	struct launch_found found;
	struct launch launch;

	(void)state;
	launch_remember(&found);
	launch = hold(SHELL("kill -PIPE $$; exit 3"), &found);
	assert_int_equal(WTERMSIG(finish(&launch)), SIGPIPE);
	launch = hold(SHELL("kill -XFSZ $$; exit 3"), &found);
	assert_int_equal(WTERMSIG(finish(&launch)), SIGXFSZ);
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
	launch = hold(SHELL("kill -USR1 $$; exit 3"), &found);
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
	launch = hold(SHELL("test `ulimit -n` != 100"), &found);
	assert_int_equal(finish(&launch), 0);
	setrlimit(RLIMIT_NOFILE, &files);
}

static void a_signal_ends_a_held_command(void **state)
{
	struct launch_found found;
	struct launch launch;
	int status;

	(void)state;
	launch_remember(&found);
	launch = hold(SHELL("exit 0"), &found);
	kill(launch.pid, SIGINT);
	assert_true(is_readable(launch.pidfd, 10000));
	assert_true(is_readable(launch.exec_fd, 10000));
	assert_int_equal(launch_result(&launch), 0);
	assert_int_equal(waitpid(launch.pid, &status, 0), launch.pid);
	assert_int_equal(WTERMSIG(status), SIGINT);
	launch.pid = -1;
	launch_finish(&launch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	launch_take_signals();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
