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
	assert_hint(long_word, long_word, "none is near");
	assert_hint("top", VERBS, "none is near");
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
		cmocka_unit_test(the_mark_stands_before_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
