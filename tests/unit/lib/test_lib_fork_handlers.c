/* SPDX-License-Identifier: MIT */
/* Scopes of handlers that run in the middle of a fork: of signals, and those of pthread_atfork(). */
#include <signal.h>
#include <sys/wait.h>

#include "lib_support.h"

/* The library's own handlers are inside of these three, which were there before the start. */
static void (*while_preparing)(void), (*while_parent)(void), (*while_child)(void);

static void prepare(void)
{
	if (while_preparing)
		while_preparing();
}

static void parent(void)
{
	if (while_parent)
		while_parent();
}

static void child(void)
{
	if (while_child)
		while_child();
}

static struct taskscope_site new_site;

static void open_some(void)
{
	TASKSCOPE("in a handler");
	taskscope_leave(taskscope_enter_site(&new_site));
	taskscope_leave((taskscope_enter)("made at run time"));
}

static void on_signal(int number)
{
	(void)number;
	open_some();
}

static void interrupt(void)
{
	raise(SIGUSR1);
}

static int setup(void **state)
{
	(void)state;
	alarm(HANG_SECONDS);
	while_preparing = NULL;
	while_parent = NULL;
	while_child = NULL;
	new_site = (struct taskscope_site){ .label = "of a handler" };
	library_start(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	alarm(0);
	return 0;
}

/* A child that goes on with the scopes that it has ends well. */
static int child_run(void)
{
	struct taskscope_scope scope;

	alarm(HANG_SECONDS);
	if (self.is_changing)
		return 1;
	scope = taskscope_enter("child");
	if (!scope.handle || own_depth() != 2)
		return 2;
	taskscope_leave(scope);
	return own_depth() != 1;
}

static void fork_and_go_on(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child_run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Forks with a scope open; gives how many scopes were not recorded. */
static uint64_t fork_inside(void)
{
	struct taskscope_scope scope = taskscope_enter("parent");
	uint64_t before = own_block()->interrupted;

	fork_and_go_on();
	assert_false(self.is_changing);
	assert_int_equal(own_depth(), 1);
	taskscope_leave(scope);
	assert_int_equal(own_depth(), 0);
	return own_block()->interrupted - before;
}

static void a_handler_before_the_fork_may_open_scopes(void **state)
{
	(void)state;
	while_preparing = open_some;
	assert_int_equal(fork_inside(), 3);
}

static void a_handler_in_the_child_may_open_scopes(void **state)
{
	(void)state;
	while_child = open_some;
	fork_inside();
}

static void a_handler_in_the_parent_may_open_scopes(void **state)
{
	(void)state;
	while_parent = open_some;
	assert_int_equal(fork_inside(), 3);
}

static void a_signal_may_come_at_any_moment_of_a_fork(void **state)
{
	(void)state;
	while_preparing = interrupt;
	while_parent = interrupt;
	while_child = interrupt;
	fork_inside();
}

static void name_thread(void)
{
	taskscope_thread("forking");
}

static void a_handler_may_name_its_thread(void **state)
{
	(void)state;
	while_preparing = name_thread;
	assert_int_equal(fork_inside(), 0);
}

static void a_fork_in_the_middle_of_a_change_leaves_it_open(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	taskscope_leave(taskscope_enter("parent"));
	self_begin_change();
	pid = fork();
	if (pid == 0)
		_exit(!self.is_changing);
	assert_true(self.is_changing);
	self_end_change();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define HANDLER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HANDLER_TEST(a_handler_before_the_fork_may_open_scopes),
		HANDLER_TEST(a_handler_in_the_child_may_open_scopes),
		HANDLER_TEST(a_handler_in_the_parent_may_open_scopes),
		HANDLER_TEST(a_signal_may_come_at_any_moment_of_a_fork),
		HANDLER_TEST(a_handler_may_name_its_thread),
		HANDLER_TEST(a_fork_in_the_middle_of_a_change_leaves_it_open),
	};

	signal(SIGUSR1, on_signal);
	pthread_atfork(prepare, parent, child);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
