/* SPDX-License-Identifier: MIT */
/* Names of signals and errors. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/kernel_names.h"

static void signals_have_the_names_of_programs(void **state)
{
	char name[KERNEL_NAME_SIZE];

	(void)state;
	assert_string_equal(signal_name(SIGKILL, name), "SIGKILL");
	assert_string_equal(signal_name(SIGRTMIN + 3, name), "SIGRTMIN+3");
	assert_string_equal(signal_name(SIGSYS, name), "SIGSYS");
	assert_string_equal(signal_name(SIGRTMIN, name), "SIGRTMIN+0");
	assert_string_equal(signal_name(SIGRTMAX, name), "SIGRTMIN+30");
	assert_string_equal(signal_name(SIGRTMAX + 1, name), "signal 65");
	assert_string_equal(signal_name(32, name), "signal 32");
	assert_string_equal(signal_name(99, name), "signal 99");
	assert_string_equal(signal_name(0, name), "signal 0");
}

static void every_error_is_found_by_its_name(void **state)
{
	char name[KERNEL_NAME_SIZE];

	(void)state;
	assert_string_equal(error_name(ENOENT, name), "ENOENT");
	assert_string_equal(error_name(512, name), "ERESTARTSYS");
	assert_string_equal(error_name(999, name), "errno_999");
	for (unsigned number = 1; number < 4096; number++)
		assert_int_equal(error_number(error_name(number, name)), number);
	assert_int_equal(error_number("ESOMETHING"), -1);
	assert_int_equal(error_number("errno_"), -1);
	assert_string_equal(error_name(0, name), "errno_0");
	assert_string_equal(error_name(EHWPOISON, name), "EHWPOISON");
	assert_int_equal(error_number("errno_65535"), 65535);
	assert_int_equal(error_number("errno_65536"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_have_the_names_of_programs),
		cmocka_unit_test(every_error_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
