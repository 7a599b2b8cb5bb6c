/* SPDX-License-Identifier: MIT */
/* Work that may wait for a stranger is not waited for beyond its time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/deadline_run.h"
#include "patience.h"

static atomic_int released;

static void add_one(void *context)
{
	++*(int *)context;
}

static void wait_for_a_pipe(void *context)
{
	char byte;

	if (read(*(int *)context, &byte, 1) != 0)
		return;
}

static void note_release(void *context)
{
	(void)context;
	atomic_store(&released, 1);
}

static void work_is_done_before_the_call_returns(void **state)
{
	int number = 4;

	(void)state;
	assert_int_equal(deadline_run(add_one, note_release, &number, HANG_MS), 0);
	assert_int_equal(number, 5);
	assert_int_equal(released, 0);
}

static void note_thread(void *context)
{
	*(pid_t *)context = gettid();
}

static void a_thread_that_is_done_is_used_again(void **state)
{
	pid_t first = 0, second = 0;

	(void)state;
	assert_int_equal(deadline_run(note_thread, note_release, &first, HANG_MS), 0);
	assert_int_equal(deadline_run(note_thread, note_release, &second, HANG_MS), 0);
	assert_int_equal(first, second);
}

/* It was copied without the thread that waits for work. */
static void a_child_starts_a_thread_of_its_own(void **state)
{
	int number = 4, ended = 1;
	pid_t child;

	(void)state;
	assert_int_equal(deadline_run(add_one, note_release, &number, HANG_MS), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(deadline_run(add_one, note_release, &number, HANG_MS) != 0 || number != 6);
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
}

static void work_that_waits_too_long_is_left_alone_and_cleans_up_after_itself(void **state)
{
	static int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(deadline_run(wait_for_a_pipe, note_release, &ends[0], 20), -ETIMEDOUT);
	assert_int_equal(released, 0);
	close(ends[1]); /* the thread ends, and lets go of what it was given */
	WAIT_UNTIL(atomic_load(&released));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_done_before_the_call_returns),
		cmocka_unit_test(a_thread_that_is_done_is_used_again),
		cmocka_unit_test(a_child_starts_a_thread_of_its_own),
		cmocka_unit_test(work_that_waits_too_long_is_left_alone_and_cleans_up_after_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
