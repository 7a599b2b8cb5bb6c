/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "host/bpf.h"
#include "host/host.h"

static void a_recorded_root_has_no_bpf(void **state)
{
	const struct host host = { .live = false, .sys = -1 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(host_bpf_check(&host, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "recorded root"));
}

static void a_kernel_without_type_information_is_named_as_the_reason(void **state)
{
	struct host host = { .live = true, .sys = -1 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(host_bpf_check(&host, &error), -ENOENT);
	assert_non_null(strstr(error.message, "CONFIG_DEBUG_INFO_BTF"));

	error = (struct error){ 0 };
	host.sys = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* no btf in here */
	assert_int_equal(host_bpf_check(&host, &error), -ENOENT);
	close(host.sys);
}

static void failures_say_what_to_do(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(host_bpf_explain(-EPERM, &error), -EPERM);
	assert_non_null(strstr(error.message, "CAP_BPF and CAP_PERFMON"));

	error = (struct error){ 0 };
	assert_int_equal(host_bpf_explain(-EXDEV, &error), -EXDEV);
	assert_non_null(strstr(error.message, strerror(EXDEV)));
}

static ssize_t consume_nothing(void *context, const void *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	return (ssize_t)length;
}

static void what_is_no_program_cannot_be_run(void **state)
{
	(void)state;
	assert_true(host_bpf_iterate(-1, 0, consume_nothing, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_root_has_no_bpf),
		cmocka_unit_test(a_kernel_without_type_information_is_named_as_the_reason),
		cmocka_unit_test(failures_say_what_to_do),
		cmocka_unit_test(what_is_no_program_cannot_be_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
