/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/suggest.h"

#define VERBS "run|attach|why|scopes|report|capture|show|compare|metrics|doctor"
#define NAMES "rss_bytes, hiwater_rss_bytes, run_time_ns, wait_time_ns, wait_sum, io"

static void assert_hint(const char *word, const char *candidates, const char *hint)
{
	struct suggestion suggestion = suggest_for(word, strlen(word));

	suggest_list(&suggestion, candidates);
	assert_string_equal(suggestion_hint(&suggestion, "", "none is near"), hint);
}

static void a_slip_is_mended(void **state)
{
	(void)state;
	assert_hint("shwo", VERBS, "did you mean show?");
	assert_hint("rn", VERBS, "did you mean run?");
	assert_hint("captrue", VERBS, "did you mean capture?");
	assert_hint("reprot", VERBS, "did you mean report?");
	assert_hint("docter", VERBS, "did you mean doctor?");
	assert_hint("wait_tim_ns", NAMES, "did you mean wait_time_ns?");
	assert_hint("runtime_ns", NAMES, "did you mean run_time_ns?");
}

static void a_beginning_is_meant_before_a_slip_and_a_part_after_it(void **state)
{
	(void)state;
	assert_hint("rss", NAMES, "did you mean rss_bytes?");
	assert_hint("com", VERBS, "did you mean compare?");
	assert_hint("hiwater", NAMES, "did you mean hiwater_rss_bytes?");
	assert_hint("time", NAMES, "did you mean run_time_ns?");
	assert_hint("abc", "xabcx, abd", "did you mean abd?");
	assert_hint("abd", "abdomen, abc", "did you mean abdomen?");
	/* Of several the shortest. */
	assert_hint("wait", NAMES, "did you mean wait_sum?");
}

static void what_is_far_has_no_suggestion(void **state)
{
	char long_word[200];

	(void)state;
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_hint("frobnicate", VERBS, "none is near");
	assert_hint("x", "io, xy", "none is near");
	assert_hint("", VERBS, "none is near");
	assert_hint("show", "", "none is near");
	assert_hint("show", "show", "none is near"); /* it was refused although it is right */
	assert_hint(long_word, long_word, "none is near");
	assert_hint("top", VERBS, "none is near");
}

/* Less than half of the word, but one letter of two and of three. */
static void how_much_may_be_wrong_depends_on_the_length(void **state)
{
	(void)state;
	assert_hint("ab", "xb", "did you mean xb?");
	assert_hint("abc", "abxx", "none is near");
	assert_hint("abcd", "abxx", "none is near");
	assert_hint("abcde", "abcxx", "did you mean abcxx?");
	assert_hint("abcde", "abxxx", "none is near");
	/* Letters that changed places are one slip, at either end as well. */
	assert_hint("ba", "ab", "did you mean ab?");
	assert_hint("bacdfe", "abcdef", "did you mean abcdef?");
	assert_hint("abc", "xabc", "did you mean xabc?");
	assert_hint("ab", "xxabxx", "none is near");
}

static void words_of_64_letters_are_compared_and_no_longer_ones(void **state)
{
	char word[66] = "", candidate[66] = "";
	struct suggestion near = suggest_for(word, 64), far = suggest_for(word, 64);

	(void)state;
	memset(word, 'a', sizeof(word));
	memset(candidate, 'a', sizeof(candidate));
	candidate[10] = 'b';
	word[64] = candidate[64] = '\0';
	suggest(&near, candidate);
	assert_ptr_equal(near.best, candidate);
	candidate[64] = 'a';
	candidate[65] = '\0';
	suggest(&far, candidate);
	assert_null(far.best);
}

static void the_mark_stands_before_the_word(void **state)
{
	struct suggestion suggestion = suggest_for("grup-by=x", strlen("grup-by"));

	(void)state;
	suggest(&suggestion, "group-by");
	assert_string_equal(suggestion_hint(&suggestion, "--", ""), "did you mean --group-by?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_is_mended),
		cmocka_unit_test(a_beginning_is_meant_before_a_slip_and_a_part_after_it),
		cmocka_unit_test(what_is_far_has_no_suggestion),
		cmocka_unit_test(how_much_may_be_wrong_depends_on_the_length),
		cmocka_unit_test(words_of_64_letters_are_compared_and_no_longer_ones),
		cmocka_unit_test(the_mark_stands_before_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
