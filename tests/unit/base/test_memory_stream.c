/* SPDX-License-Identifier: MIT */
/* What is printed into memory is there as a whole, or closing the stream says that it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/output/memory_stream.h"
#include "scarce_memory.h"

#define LINES 2000

/* More than the stream's own buffer holds, so that memory is asked for several times. */
static int print_lines(char **bytes, size_t *length)
{
	FILE *out = memory_stream_open(bytes, length);

	if (!out)
		return EOF;
	for (int i = 0; i < LINES; i++)
		fprintf(out, "line %04d\n", i);
	return fclose(out);
}

static void what_was_printed_is_there_when_the_stream_is_closed(void **state)
{
	char *bytes;
	size_t length;

	(void)state;
	assert_int_equal(print_lines(&bytes, &length), 0);
	assert_int_equal(length, LINES * strlen("line 0000\n"));
	assert_int_equal(strlen(bytes), length);
	assert_memory_equal(bytes + length - 10, "line 1999\n", 10);
	free(bytes);
}

static void nothing_printed_is_an_empty_text(void **state)
{
	char *bytes;
	size_t length;

	(void)state;
	assert_int_equal(fclose(memory_stream_open(&bytes, &length)), 0);
	assert_string_equal(bytes, "");
	assert_int_equal(length, 0);
	free(bytes);
}

static void closing_fails_wherever_memory_ran_out(void **state)
{
	unsigned long needed;
	char *bytes;
	size_t length;

	(void)state;
	memory.asked = 0;
	assert_int_equal(print_lines(&bytes, &length), 0);
	free(bytes);
	needed = memory.asked;
	assert_in_range(needed, 3, 100);
	assert_false(memory_was_missing());
	for (unsigned long i = 0; i < 2 * needed; i++) {
		memory.asked = 0;
		memory.refused = i / 2 + 1;
		memory.for_good = i % 2;
		assert_int_equal(print_lines(&bytes, &length), EOF);
		assert_null(bytes);
		assert_int_equal(length, 0);
	}
	assert_true(memory_was_missing()); /* which the program says at its end */
	memory.refused = 0;
}

static void more_than_the_limit_is_refused(void **state)
{
	static const struct {
		size_t most;
		int end;
	} cases[] = { { 11, EOF }, { 12, 0 }, { 13, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *bytes;
		size_t length;
		FILE *out = memory_stream_open_limited(&bytes, &length, cases[i].most);

		for (int k = 0; k < 3; k++) {
			fputs("four", out);
			(void)fflush(out);
		}
		assert_int_equal(fclose(out), cases[i].end);
		assert_int_equal(length, cases[i].end ? 0 : 12);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_printed_is_there_when_the_stream_is_closed),
		cmocka_unit_test(nothing_printed_is_an_empty_text),
		cmocka_unit_test(closing_fails_wherever_memory_ran_out),
		cmocka_unit_test(more_than_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
