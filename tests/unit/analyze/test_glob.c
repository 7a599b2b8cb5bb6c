/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "analyze/group/glob.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"

struct example {
	const char *glob, *text;
	bool matches;
};

static void assert_examples(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(glob_free_pointer) struct glob *glob = NULL;

		assert_int_equal(glob_new(examples[i].glob, &glob, NULL), 0);
		if (glob_match(glob, examples[i].text) != examples[i].matches)
			fail_msg("'%s' %s '%s'", examples[i].glob,
				 examples[i].matches ? "does not match" : "matches",
				 examples[i].text);
	}
}

static void one_star_stays_in_its_segment_and_two_do_not(void **state)
{
	static const struct example examples[] = {
		{ "/a/*", "/a/b", true },
		{ "/a/*", "/a/", true },
		{ "/a/*", "/a", false },
		{ "/a/*", "/a/b/c", false },
		{ "/a/**", "/a/b/c", true },
		{ "/a/**", "/a", false },
		{ "/a**", "/a", true },
		{ "/a**", "/ab/c", true },
		{ "*", "/", false },
		{ "*", "", true },
		{ "**", "", true },
		{ "**", "/a/b", true },
		{ "***", "/a/b", true },
		{ "/*/b", "/a/b", true },
		{ "/*/b", "/a/a/b", false },
		{ "/*.scope", "/x.scope", true },
		{ "/*.scope", "/x/y.scope", false },
		{ "/**.scope", "/x/y.scope", true },
		{ "/x*y*z", "/xaybz", true },
		{ "/x*y*z", "/xay/z", false },
		{ "/x*y", "/xyxyx", false },
		{ "/x*y", "/xyxyxy", true },
	};

	(void)state;
	assert_examples(examples, ARRAY_SIZE(examples));
}

static void two_stars_between_slashes_may_be_no_segment_at_all(void **state)
{
	static const struct example examples[] = {
		{ "/a/**/b", "/a/b", true },
		{ "/a/**/b", "/a/x/b", true },
		{ "/a/**/b", "/a/x/y/b", true },
		{ "/a/**/b", "/ab", false },
		{ "/a/**/b", "/a/xb", false },
		{ "/a/**/b/**/c", "/a/b/c", true },
		{ "/a/**/b/**/c", "/a/c/b/c", true },
		{ "/a/**/b/**/c", "/a/c", false },
		{ "**/b", "/b", true },
		{ "**/b", "b", true },
		{ "**/b", "/xb", false },
		{ "/a**/b", "/a/b", true },
		{ "/a**/b", "/ax/y/b", true },
	};

	(void)state;
	assert_examples(examples, ARRAY_SIZE(examples));
}

static void a_question_mark_is_one_character_of_any_length(void **state)
{
	static const struct example examples[] = {
		{ "/a?", "/ab", true },		 { "/a?", "/a", false },
		{ "/a?", "/a/", false },	 { "/a?", "/abc", false },
		{ "/?", "/\xe5\xb7\xa5", true }, { "/??", "/\xe5\xb7\xa5", false },
		{ "/??", "/\xff\xfe", true },
	};

	(void)state;
	assert_examples(examples, ARRAY_SIZE(examples));
}

static void a_set_is_one_character_and_never_a_slash(void **state)
{
	static const struct example examples[] = {
		{ "/[ab]c", "/bc", true },
		{ "/[ab]c", "/cc", false },
		{ "/[a-c]", "/b", true },
		{ "/[a-c]", "/-", false },
		{ "/[!a-c]", "/b", false },
		{ "/[!a-c]", "/d", true },
		{ "/[^a-c]", "/d", true },
		{ "/x[!a]y", "/x/y", false },
		{ "/x[+-9]y", "/x/y", false },
		{ "/x[+-9]y", "/x5y", true },
		{ "/[a-]", "/-", true },
		{ "/[]a]", "/]", true },
		{ "/[!]a]", "/]", false },
		{ "/[*]", "/*", true },
		{ "/[*]", "/x", false },
		{ "/[\xc3\xa0-\xc3\xbf]", "/\xc3\xa9", true },
		{ "/[\xc3\xa0-\xc3\xbf]", "/e", false },
	};

	(void)state;
	assert_examples(examples, ARRAY_SIZE(examples));
}

static void a_backslash_is_itself(void **state)
{
	static const struct example examples[] = {
		{ "/machine-qemu\\x2d*.scope", "/machine-qemu\\x2d12\\x2dvm.scope", true },
		{ "/\\*", "/\\x", true },
		{ "/{a,b}", "/{a,b}", true },
		{ "/{a,b}", "/a", false },
	};

	(void)state;
	assert_examples(examples, ARRAY_SIZE(examples));
}

static void a_bad_glob_is_refused_with_its_position(void **state)
{
	static const struct {
		const char *glob;
		size_t position;
		const char *reason;
	} examples[] = {
		{ "", 0, "it is empty" },
		{ "/a[", 2, "'[' has no ']'" },
		{ "/a[]", 2, "'[' has no ']'" },
		{ "/a[!]", 2, "'[' has no ']'" },
		{ "/[a]b[cd", 5, "'[' has no ']'" },
		{ "/[az-c]", 3, "the range ends before it starts" },
		{ "/[a/b]", 3, "'/' cannot be in a set, which is of one segment" },
		{ "/[a-/]", 2, "'/' cannot be in a set, which is of one segment" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct glob_fault fault;
		struct glob *glob;

		assert_int_equal(glob_new(examples[i].glob, &glob, &fault), -EINVAL);
		assert_int_equal(fault.position, examples[i].position);
		assert_string_equal(fault.reason, examples[i].reason);
	}
}

static void a_glob_has_a_longest_length(void **state)
{
	char pattern[GLOB_MAX + 2];
	struct glob_fault fault;
	struct glob *glob;

	(void)state;
	memset(pattern, 'x', sizeof(pattern));
	pattern[GLOB_MAX] = '\0';
	assert_int_equal(glob_new(pattern, &glob, NULL), 0);
	assert_true(glob_match(glob, pattern));
	glob_free(glob);
	pattern[GLOB_MAX] = 'x';
	pattern[GLOB_MAX + 1] = '\0';
	assert_int_equal(glob_new(pattern, &glob, &fault), -EINVAL);
	assert_int_equal(fault.position, GLOB_MAX);
}

static void the_sentence_names_the_glob_and_points_at_the_mistake(void **state)
{
	struct error error = { .message = "" };

	(void)state;
	assert_int_equal(glob_check("/fine/*", &error), 0);
	assert_int_equal(glob_check("/a[bc", &error), -EINVAL);
	assert_non_null(strstr(error.message, "'/a[bc'"));
	assert_non_null(strstr(error.message, "'[' has no ']'"));
	assert_non_null(strstr(error.message, "3"));
	assert_int_equal(error.caret, 2);
}

/* A matcher that tries one way after the other would not end within a lifetime. */
static void many_stars_take_no_longer_than_their_number(void **state)
{
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	static char pattern[GLOB_MAX + 1], text[4097];
	clock_t start = clock();

	(void)state;
	for (size_t i = 0; i + 5 < GLOB_MAX; i += 4)
		memcpy(pattern + i, "*a**b", 6);
	memset(text, 'a', sizeof(text) - 1);
	assert_int_equal(glob_new(pattern, &glob, NULL), 0);
	assert_false(glob_match(glob, text));
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_star_stays_in_its_segment_and_two_do_not),
		cmocka_unit_test(two_stars_between_slashes_may_be_no_segment_at_all),
		cmocka_unit_test(a_question_mark_is_one_character_of_any_length),
		cmocka_unit_test(a_set_is_one_character_and_never_a_slash),
		cmocka_unit_test(a_backslash_is_itself),
		cmocka_unit_test(a_bad_glob_is_refused_with_its_position),
		cmocka_unit_test(a_glob_has_a_longest_length),
		cmocka_unit_test(the_sentence_names_the_glob_and_points_at_the_mistake),
		cmocka_unit_test(many_stars_take_no_longer_than_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
