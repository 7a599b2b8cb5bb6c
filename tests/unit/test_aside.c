/* Work that may wait for a stranger is not waited for beyond its time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/aside.h"

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

static void work_is_done_before_the_call_returns(void **state)
{
	int number = 4;

	(void)state;
	assert_int_equal(aside_run(add_one, &number, 10000), 0);
	assert_int_equal(number, 5);
}

static void work_that_waits_for_ever_is_left_alone(void **state)
{
	static int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(aside_run(wait_for_a_pipe, &ends[0], 20), -ETIMEDOUT);
	close(ends[1]); /* the thread ends, whenever it does */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_done_before_the_call_returns),
		cmocka_unit_test(work_that_waits_for_ever_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
