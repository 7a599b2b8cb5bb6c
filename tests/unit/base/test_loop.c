/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/loop.h"

/* What was called, in order, each by its letter. */
struct setting {
	struct loop loop;
	char calls[32];
	size_t count;
};

struct caller {
	struct setting *setting;
	char letter;
	int fd;			 /* read when called, unless -1 */
	uint64_t again_ns;	 /* how long after a call the timer is due again; 0: never */
	struct loop_fd *removed; /* by the call, or NULL */
	bool stops;
	struct loop_fd watched;
	struct loop_timer timer;
};

static void call(void *context)
{
	struct caller *caller = context;
	struct setting *setting = caller->setting;
	char buffer[sizeof(struct signalfd_siginfo)];

	assert_true(setting->count < sizeof(setting->calls) - 1);
	setting->calls[setting->count++] = caller->letter;
	if (caller->fd >= 0)
		assert_true(read(caller->fd, buffer, sizeof(buffer)) > 0);
	if (caller->removed)
		loop_remove_fd(&setting->loop, caller->removed);
	if (caller->again_ns)
		caller->timer.deadline_ns = monotonic_ns() + caller->again_ns;
	if (caller->stops)
		loop_stop(&setting->loop);
}

static void init(struct caller *caller, struct setting *setting, char letter)
{
	*caller = (struct caller){ .setting = setting, .letter = letter, .fd = -1 };
	caller->watched = (struct loop_fd){ .ready = call, .context = caller };
	caller->timer =
		(struct loop_timer){ .due = call, .context = caller, .deadline_ns = LOOP_NEVER };
}

static int set_up(void **state)
{
	static struct setting setting;

	setting = (struct setting){ 0 };
	*state = &setting;
	return loop_open(&setting.loop);
}

static int tear_down(void **state)
{
	loop_close(&((struct setting *)*state)->loop);
	return 0;
}

static void open_pipe(int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
}

static void close_pipe(int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void a_timer_is_called_at_its_deadline_and_once(void **state)
{
	struct setting *setting = *state;
	struct caller once, last;
	uint64_t begin_ns = monotonic_ns();

	init(&once, setting, 'a');
	init(&last, setting, 'b');
	last.stops = true;
	once.timer.deadline_ns = begin_ns + 2 * NS_PER_MS;
	last.timer.deadline_ns = begin_ns + 6 * NS_PER_MS;
	/* A busy machine may be late for both: then they are called in this order. */
	loop_add_timer(&setting->loop, &once.timer);
	loop_add_timer(&setting->loop, &last.timer);
	assert_int_equal(loop_run(&setting->loop, NULL, NULL), 0);
	assert_true(monotonic_ns() >= begin_ns + 6 * NS_PER_MS);
	assert_string_equal(setting->calls, "ab");
	assert_true(once.timer.deadline_ns == LOOP_NEVER);
}

static void what_is_due_together_is_called_in_the_order_of_adding(void **state)
{
	struct setting *setting = *state;
	struct caller callers[3];

	for (size_t i = 0; i < 3; i++) {
		init(&callers[i], setting, (char)('a' + i));
		callers[i].timer.deadline_ns = 3 - i; /* long ago, the last one first */
		loop_add_timer(&setting->loop, &callers[i].timer);
	}
	callers[2].stops = true;
	assert_int_equal(loop_run(&setting->loop, NULL, NULL), 0);
	assert_string_equal(setting->calls, "abc");
}

static void a_timer_that_is_set_by_its_own_call_comes_again(void **state)
{
	struct setting *setting = *state;
	struct caller again, last;

	init(&again, setting, 'a');
	init(&last, setting, 'b');
	again.again_ns = 1;
	again.timer.deadline_ns = 0;
	last.stops = true;
	loop_add_timer(&setting->loop, &again.timer);
	assert_int_equal(loop_run(&setting->loop, call, &last), 0);
	assert_string_equal(setting->calls, "ab"); /* the round ended in between */
	setting->loop.is_stopped = false;
	assert_int_equal(loop_run(&setting->loop, call, &last), 0);
	assert_string_equal(setting->calls, "abab");
}

static void descriptors_are_called_before_timers_and_as_long_as_they_are_ready(void **state)
{
	struct setting *setting = *state;
	struct caller reader, timer, last;
	int ends[2];

	open_pipe(ends);
	init(&reader, setting, 'r');
	init(&timer, setting, 't');
	init(&last, setting, '.');
	last.stops = true;
	timer.timer.deadline_ns = 0;
	loop_add_timer(&setting->loop, &timer.timer);
	assert_int_equal(loop_add_fd(&setting->loop, &reader.watched, ends[0], EPOLLIN), 0);
	assert_int_equal(loop_add_fd(&setting->loop, &reader.watched, ends[0], EPOLLIN), 0);
	for (int i = 0; i < 2; i++) {
		setting->loop.is_stopped = false;
		assert_int_equal(loop_run(&setting->loop, call, &last), 0);
	}
	assert_string_equal(setting->calls, "rt.r.");
	close_pipe(ends);
}

static void one_that_is_removed_is_not_called_even_in_this_round(void **state)
{
	struct setting *setting = *state;
	struct caller first, second, last;
	int ends[2], others[2];

	open_pipe(ends);
	open_pipe(others);
	init(&first, setting, 'a');
	init(&second, setting, 'a');
	init(&last, setting, 'z');
	first.removed = &second.watched;
	second.removed = &first.watched;
	first.fd = ends[0];
	second.fd = others[0];
	last.timer.deadline_ns = monotonic_ns() + NS_PER_MS;
	last.stops = true;
	loop_add_timer(&setting->loop, &last.timer);
	assert_int_equal(loop_add_fd(&setting->loop, &first.watched, ends[0], EPOLLIN), 0);
	assert_int_equal(loop_add_fd(&setting->loop, &second.watched, others[0], EPOLLIN), 0);
	assert_int_equal(loop_run(&setting->loop, NULL, NULL), 0);
	assert_string_equal(setting->calls, "az"); /* whichever came first removed the other */
	assert_true(first.watched.is_added != second.watched.is_added);
	close_pipe(ends);
	close_pipe(others);
}

static void nothing_is_called_after_a_stop(void **state)
{
	struct setting *setting = *state;
	struct caller first, second;

	init(&first, setting, 'a');
	init(&second, setting, 'b');
	first.stops = true;
	first.timer.deadline_ns = second.timer.deadline_ns = 0;
	loop_add_timer(&setting->loop, &first.timer);
	loop_add_timer(&setting->loop, &second.timer);
	assert_int_equal(loop_run(&setting->loop, call, &second), 0);
	assert_string_equal(setting->calls, "a");
	assert_true(second.timer.deadline_ns == 0);
}

static void signals_and_ends_of_processes_are_heard(void **state)
{
	struct setting *setting = *state;
	struct caller signal_caller, end_caller;
	sigset_t set, before;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &before), 0);
	init(&signal_caller, setting, 's');
	signal_caller.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	pid = fork();
	if (pid == 0) {
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	init(&end_caller, setting, 'e');
	end_caller.watched.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	end_caller.stops = true;
	assert_int_equal(
		loop_add_fd(&setting->loop, &signal_caller.watched, signal_caller.fd, EPOLLIN), 0);
	assert_int_equal(
		loop_add_fd(&setting->loop, &end_caller.watched, end_caller.watched.fd, EPOLLIN),
		0);
	assert_int_equal(loop_run(&setting->loop, NULL, NULL), 0);
	assert_non_null(strchr(setting->calls, 'e'));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(end_caller.watched.fd);
	close(signal_caller.fd);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static void a_plain_file_is_refused(void **state)
{
	struct setting *setting = *state;
	struct caller caller;
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	init(&caller, setting, 'a');
	assert_true(fd >= 0);
	assert_int_equal(loop_add_fd(&setting->loop, &caller.watched, fd, EPOLLIN), -EPERM);
	loop_remove_fd(&setting->loop, &caller.watched);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_timer_is_called_at_its_deadline_and_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_due_together_is_called_in_the_order_of_adding, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_timer_that_is_set_by_its_own_call_comes_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			descriptors_are_called_before_timers_and_as_long_as_they_are_ready, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			one_that_is_removed_is_not_called_even_in_this_round, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_called_after_a_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(signals_and_ends_of_processes_are_heard, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_plain_file_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
