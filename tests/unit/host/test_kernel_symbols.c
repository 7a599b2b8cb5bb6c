/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "host/proc/kernel_symbols.h"

static int parse(struct kernel_symbols *symbols, const char *text)
{
	struct error error = { 0 };

	assert_int_equal(kernel_symbols_parse(symbols, text, strlen(text)), strlen(text));
	return kernel_symbols_finish(symbols, &error);
}

static void an_address_belongs_to_the_function_before_it(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };

	(void)state;
	assert_int_equal(parse(&symbols, "ffffffff81002000 t second\n"
					 "ffffffff81001000 T first\n"
					 "ffffffff81001800 D data\n"
					 "ffffffff81001f00 T __pfx_second\n"
					 "ffffffffc0000000 t in_module\t[ext4]\n"
					 "ffffffff81002000 T alias\n"),
			 0);
	assert_null(kernel_symbols_find(&symbols, 0xffffffff81000fff));
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81001000), "first");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81001fff), "first");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81002010), "second");
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffffc0000001), "in_module");
	/* Far behind the last one there may be anything. */
	assert_null(kernel_symbols_find(&symbols, 0xffffffffc0000000 + (1 << 20)));
}

static void a_function_of_a_module_has_its_module(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };

	(void)state;
	assert_int_equal(parse(&symbols, "ffffffff81001000 T first\n"
					 "ffffffffc0000000 t one\t[ext4]\n"
					 "ffffffffc0001000 t two\t[ext4]\n"
					 "ffffffffc0002000 t three\t[ext]\n"
					 "ffffffffc0003000 t four\t[bad\n"
					 "ffffffffc0004000 t five\t[]\n"),
			 0);
	assert_null(kernel_symbols_module(&symbols, 0xffffffff81001010));
	assert_string_equal(kernel_symbols_module(&symbols, 0xffffffffc0000010), "[ext4]");
	assert_string_equal(kernel_symbols_module(&symbols, 0xffffffffc0001010), "[ext4]");
	assert_string_equal(kernel_symbols_module(&symbols, 0xffffffffc0002010), "[ext]");
	assert_null(kernel_symbols_module(&symbols, 0xffffffffc0003010));
	assert_null(kernel_symbols_module(&symbols, 0xffffffffc0004010));
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffffc0001010), "two");
}

static void lines_that_are_none_are_left_out(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };

	(void)state;
	assert_int_equal(parse(&symbols, "\n"
					 "T no_address\n"
					 "ffffffff81001000\n"
					 "ffffffff81001000 T\n"
					 "ffffffff81001000 T \n"
					 "ffffffff81001000 T a;b\n"
					 "ffffffff81001000 T \033[31m\n"
					 "fffffffff81001000a T too_long\n"
					 "ffffffff81001000 T good\n"),
			 0);
	assert_int_equal(symbols.list.count, 1);
	assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81001000), "good");
}

static void a_line_waits_for_its_end(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };
	const char *text = "ffffffff81001000 T first\nffffffff81002000 T sec";

	(void)state;
	assert_int_equal(kernel_symbols_parse(&symbols, text, strlen(text)),
			 strchr(text, '\n') + 1 - text);
	assert_int_equal(symbols.list.count, 1);
}

static void what_is_hidden_is_said(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 }, none = { 0 };
	struct error error = { 0 };
	const char *text = "0000000000000000 T first\n0000000000000000 t second\n";

	(void)state;
	kernel_symbols_parse(&symbols, text, strlen(text));
	assert_int_equal(kernel_symbols_finish(&symbols, &error), -EPERM);
	assert_non_null(strstr(error.message, "kptr_restrict"));
	assert_int_equal(parse(&none, ""), -ENODATA);
}

/* A plain user may see no addresses, which is an answer, too. */
static void this_kernel_is_read(void **state)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct error error = { 0 };
	int status;

	(void)state;
	assert_int_equal(host_open(&host, NULL, &error), 0);
	status = kernel_symbols_read(&symbols, host, &error);
	if (status == 0)
		assert_true(symbols.list.count > 1000);
	else
		assert_true(error.message[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_function_before_it),
		cmocka_unit_test(a_function_of_a_module_has_its_module),
		cmocka_unit_test(lines_that_are_none_are_left_out),
		cmocka_unit_test(a_line_waits_for_its_end),
		cmocka_unit_test(what_is_hidden_is_said),
		cmocka_unit_test(this_kernel_is_read),
	};

	return cmocka_run_group_tests_name("kernel_symbols", tests, NULL, NULL);
}
