/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "render/page.h"

static void assert_page(size_t width, const char *lines, const char *expected)
{
	struct terminal terminal = { .width = width };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);
	struct page page;

	page_open_for(&page, terminal, out);
	fputs(lines, page.out);
	assert_int_equal(page_close(&page), 0);
	fclose(out);
	assert_string_equal(printed, expected);
	free(printed);
}

static void wide_lines_are_broken_between_words_and_moved_in(void **state)
{
	(void)state;
	assert_page(20, "one two three four five six\nshort\n\n",
		    "one two three four\n  five six\nshort\n\n");
	assert_page(20, "  - one two three four five\n", "  - one two three\n    four five\n");
	assert_page(20, "exactly twenty wide.\n", "exactly twenty wide.\n");
}

static void a_word_that_is_too_wide_is_broken_anywhere(void **state)
{
	(void)state;
	assert_page(10, "abcdefghijklmnop\n", "abcdefghij\n  klmnop\n");
	assert_page(6, "日本語の名\n", "日本語\n  の名\n");
	assert_page(1, "日本\n", "日\n本\n"); /* there is no room for either */
}

static void colours_take_no_room(void **state)
{
	(void)state;
	assert_page(10, "\033[1mbold\033[0m words\n", "\033[1mbold\033[0m words\n");
}

/* Of a name that was cut, say. */
static void a_colour_without_an_end_is_text(void **state)
{
	(void)state;
	assert_page(6, "word \033[1\n", "word\n  \033[1\n");
	assert_page(10, "word \033[1\n", "word \033[1\n");
}

static void what_is_not_a_terminal_gets_lines_as_they_are(void **state)
{
	(void)state;
	assert_page(0, "a line that is as wide as it likes\n",
		    "a line that is as wide as it likes\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_lines_are_broken_between_words_and_moved_in),
		cmocka_unit_test(a_word_that_is_too_wide_is_broken_anywhere),
		cmocka_unit_test(colours_take_no_room),
		cmocka_unit_test(a_colour_without_an_end_is_text),
		cmocka_unit_test(what_is_not_a_terminal_gets_lines_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
