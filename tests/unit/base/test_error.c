/* SPDX-License-Identifier: MIT */
/* Sentences for people, and the places that they are about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"

static void the_first_error_is_the_one_that_is_kept(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(error_set(&error, -ENOENT, "there is no %s", "file"), -ENOENT);
	assert_int_equal(error_set(&error, -EINVAL, "and more"), -EINVAL);
	assert_string_equal(error.message, "there is no file");
	assert_int_equal(error_set(NULL, -EINVAL, "nobody listens"), -EINVAL);
}

static void a_mistake_in_a_text_has_a_place(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(
		error_mark(&error, error_set(&error, -EINVAL, "what is this?"), "\xc3\xa4=b", 3),
		-EINVAL);
	assert_string_equal(error.message, "at character 3: what is this?");
	assert_string_equal(error.excerpt, "\xc3\xa4=b");
	assert_int_equal(error.caret, 3);
	assert_int_equal(error_mark(NULL, -EINVAL, "x", 0), -EINVAL);
}

static void something_may_be_missing_at_the_end(void **state)
{
	struct error error = { 0 };

	(void)state;
	error_mark(&error, error_set(&error, -EINVAL, "more is needed"), "abc", 3);
	assert_int_equal(error.caret, 3);
	assert_string_equal(error.excerpt, "abc");
}

static void a_long_text_is_shown_around_the_mistake_and_a_long_sentence_is_cut(void **state)
{
	struct error error = { 0 };
	char text[10000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	text[5000] = '!';
	error_mark(&error, error_set(&error, -EINVAL, "%s", text), text, 5000);
	assert_int_equal(error.excerpt[error.caret], '!');
	assert_int_equal(strlen(error.excerpt), sizeof(error.excerpt) - 1);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
	assert_memory_equal(error.message, "at character 5001: xxx", 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_is_the_one_that_is_kept),
		cmocka_unit_test(a_mistake_in_a_text_has_a_place),
		cmocka_unit_test(something_may_be_missing_at_the_end),
		cmocka_unit_test(
			a_long_text_is_shown_around_the_mistake_and_a_long_sentence_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
