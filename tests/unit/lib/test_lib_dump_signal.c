/* SPDX-License-Identifier: MIT */
/* SIGUSR2 as a wish for lines: whose it is, in a process and in its children. */
#include <signal.h>
#include <sys/wait.h>

#include "lib_support.h"

static int setup(void **state)
{
	(void)state;
	library_start(TASKSCOPE_DUMP_ON_SIGUSR2);
	taskscope_leave(taskscope_enter("main"));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	signal(SIGUSR2, SIG_DFL);
	return 0;
}

static bool is_default(void)
{
	struct sigaction action;

	sigaction(SIGUSR2, NULL, &action);
	return action.sa_handler == SIG_DFL;
}

/* How a child ends that does this. */
static int child_status(void (*function)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		alarm(HANG_SECONDS);
		function();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void signal_self(void)
{
	raise(SIGUSR2);
}

static void a_child_without_scopes_survives_the_signal(void **state)
{
	(void)state;
	assert_int_equal(child_status(signal_self), 0);
}

static void open_and_signal(void)
{
	taskscope_leave(taskscope_enter("child"));
	raise(SIGUSR2);
	if (is_default())
		_exit(1);
	taskscope_stop();
	raise(SIGUSR2);
}

static void a_child_with_scopes_survives_the_signal_too(void **state)
{
	(void)state;
	assert_int_equal(child_status(open_and_signal), 0);
}

static void stop_and_signal(void)
{
	taskscope_stop();
	raise(SIGUSR2);
}

static void a_child_that_stops_survives_a_late_signal(void **state)
{
	(void)state;
	assert_int_equal(child_status(stop_and_signal), 0);
}

static void fork_and_signal(void)
{
	int status = child_status(signal_self);

	if (status)
		_exit(1);
	taskscope_leave(taskscope_enter("child"));
	raise(SIGUSR2);
}

static void so_do_grandchildren(void **state)
{
	(void)state;
	assert_int_equal(child_status(fork_and_signal), 0);
}

static void a_late_signal_does_nothing(void **state)
{
	(void)state;
	assert_false(is_default());
	taskscope_stop();
	raise(SIGUSR2);
	library_start(TASKSCOPE_DUMP_ON_SIGUSR2);
	assert_false(is_default());
}

static unsigned int lines_seen;

static void count_line(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
	__atomic_add_fetch(&lines_seen, 1, __ATOMIC_RELAXED);
}

/* The next start does not want it any more. */
static void a_start_without_it_has_no_lines_for_the_signal(void **state)
{
	struct taskscope_options options = { .size = sizeof(options),
					     .heartbeat_ms = TASKSCOPE_NEVER,
					     .log = count_line };

	(void)state;
	taskscope_stop();
	taskscope_start(&options);
	raise(SIGUSR2);
	usleep(50 * 1000);
	taskscope_stop();
	assert_int_equal(lines_seen, 0);
}

static int signals_seen;

static void count_signal(int number)
{
	(void)number;
	signals_seen++;
}

static void what_the_program_sets_stays(void **state)
{
	(void)state;
	signal(SIGUSR2, count_signal);
	taskscope_stop();
	library_start(TASKSCOPE_DUMP_ON_SIGUSR2);
	taskscope_stop();
	raise(SIGUSR2);
	assert_int_equal(signals_seen, 1);
}

#define SIGNAL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIGNAL_TEST(a_child_without_scopes_survives_the_signal),
		SIGNAL_TEST(a_child_with_scopes_survives_the_signal_too),
		SIGNAL_TEST(a_child_that_stops_survives_a_late_signal),
		SIGNAL_TEST(so_do_grandchildren),
		SIGNAL_TEST(a_late_signal_does_nothing),
		SIGNAL_TEST(a_start_without_it_has_no_lines_for_the_signal),
		SIGNAL_TEST(what_the_program_sets_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
