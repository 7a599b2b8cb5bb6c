/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "cli/option.h"

static struct {
	bool all;
	bool quiet;
	const char *output;
	const char *format;
	struct option_number limit;
	struct option_list globs;
	unsigned literal;
	const char *metrics;
	struct option_number interval;
} args;

static const struct option options[] = {
	{ 'a', "all", OPTION_FLAG, &args.all, NULL, "everything", NULL },
	{ 'q', "quiet", OPTION_FLAG, &args.quiet, NULL, "silent", NULL },
	{ 'o', "output", OPTION_TEXT, &args.output, "FILE", "a file", NULL },
	{ 0, "format", OPTION_TEXT, &args.format, "FORMAT", "a form", "text|json" },
	{ 0, "json", OPTION_ALIAS, &args.format, "format", "the same as --format json", NULL },
	{ 'n', "limit", OPTION_NUMBER, &args.limit, "N", "a number", NULL },
	{ 'd', "duration", OPTION_DURATION, &args.interval, "TIME", "a duration", NULL },
	{ 'f', "flatten", OPTION_LIST, &args.globs, "GLOB", "a glob", NULL },
	{ 'N', "no-normalize", OPTION_SET, &args.literal, "NAMES", "as is", "thread|cgroup" },
	{ 'm', "metrics", OPTION_NAMES, &args.metrics, "LIST", "metrics", "majflt|minflt" },
	{ 0 },
};

static char *words[16];
static struct error error;

static int parse(int count, const char **arguments)
{
	memset(&args, 0, sizeof(args));
	memset(&error, 0, sizeof(error));
	return options_parse(options, count, (char **)arguments, words, &error);
}

#define PARSE(...)                                                                                 \
	parse(ARRAY_SIZE(((const char *[]){ __VA_ARGS__ })), (const char *[]){ __VA_ARGS__ })

static int forget(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	return 0;
}

static void options_and_words_may_be_mixed(void **state)
{
	(void)state;
	assert_int_equal(PARSE("first", "-a", "second", "--output", "x"), 2);
	assert_string_equal(words[0], "first");
	assert_string_equal(words[1], "second");
	assert_true(args.all);
	assert_string_equal(args.output, "x");
}

static void an_argument_may_be_attached_or_follow(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-ofile"), 0);
	assert_string_equal(args.output, "file");
	assert_int_equal(PARSE("--output=file"), 0);
	assert_string_equal(args.output, "file");
	assert_int_equal(PARSE("-aqo", "file"), 0);
	assert_true(args.all && args.quiet);
	assert_string_equal(args.output, "file");
}

static void after_two_dashes_all_are_words(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--", "-a", "--", "--output"), 3);
	assert_false(args.all);
	assert_string_equal(words[0], "-a");
}

static void a_lone_dash_is_a_word(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-"), 1);
}

static void numbers_know_whether_they_were_given(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-a"), 0);
	assert_false(args.limit.given);
	assert_int_equal(PARSE("-n0"), 0);
	assert_true(args.limit.given);
	assert_int_equal(args.limit.value, 0);
}

static void durations_are_in_nanoseconds(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-a"), 0);
	assert_false(args.interval.given);
	assert_int_equal(PARSE("-d", "250ms"), 0);
	assert_true(args.interval.given);
	assert_int_equal(args.interval.value, 250000000);
	assert_int_equal(PARSE("-d2"), 0);
	assert_int_equal(args.interval.value, 2000000000);
}

static void a_list_keeps_each_value_that_is_given(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--flatten", "/a", "word", "-f/b", "--flatten=/c"), 1);
	assert_int_equal(args.globs.count, 3);
	assert_string_equal(args.globs.values[0], "/a");
	assert_string_equal(args.globs.values[1], "/b");
	assert_string_equal(args.globs.values[2], "/c");
}

static void a_list_has_an_end_that_is_told(void **state)
{
	const char *many[OPTION_LIST_MAX + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = "-f/x";
	assert_int_equal(parse(OPTION_LIST_MAX, many), 0);
	assert_int_equal(args.globs.count, OPTION_LIST_MAX);
	assert_int_equal(parse(OPTION_LIST_MAX + 1, many), -EINVAL);
	assert_non_null(strstr(error.message, "--flatten is given more than 64 times"));
}

static void a_set_has_a_bit_for_each_choice_and_all_without_one(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--no-normalize=cgroup"), 0);
	assert_int_equal(args.literal, 2);
	assert_int_equal(PARSE("--no-normalize=cgroup", "--no-normalize=thread"), 0);
	assert_int_equal(args.literal, 3);
	assert_int_equal(PARSE("--no-normalize", "thread"), 1);
	assert_string_equal(words[0], "thread");
	assert_int_equal(args.literal, ~0u);
	assert_int_equal(PARSE("-aNq"), 0);
	assert_true(args.quiet);
	assert_int_equal(args.literal, ~0u);
}

static void bad_input_is_refused_with_a_sentence(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--nonsense"), -EINVAL);
	assert_non_null(strstr(error.message, "--nonsense"));
	assert_int_equal(PARSE("-z"), -EINVAL);
	assert_int_equal(PARSE("--output"), -EINVAL);
	assert_int_equal(PARSE("-o"), -EINVAL);
	assert_int_equal(PARSE("--all=yes"), -EINVAL);
	assert_int_equal(PARSE("--format", "xml"), -EINVAL);
	assert_non_null(strstr(error.message, "text|json"));
	assert_int_equal(PARSE("--format", "text|json"), -EINVAL);
	assert_int_equal(PARSE("--format", ""), -EINVAL);
	assert_int_equal(PARSE("--no-normalize=threads"), -EINVAL);
	assert_non_null(strstr(error.message, "thread|cgroup"));
	assert_int_equal(PARSE("--no-normalize="), -EINVAL);
	assert_int_equal(PARSE("-n", "-1"), -EINVAL);
	assert_int_equal(PARSE("-n", "18446744073709551616"), -EINVAL);
	assert_int_equal(PARSE("-n", "1x"), -EINVAL);
	assert_int_equal(PARSE("-d", "5 s"), -EINVAL);
	assert_non_null(strstr(error.message, "250ms"));
	assert_int_equal(PARSE("-d", "99999999999999999999h"), -EINVAL);
	assert_int_equal(PARSE("-d", "1.2.3s"), -EINVAL);
}

static int before_words(int count, const char **arguments)
{
	return options_before_words(options, count, (char **)arguments);
}

#define BEFORE_WORDS(...)                                                                          \
	before_words(ARRAY_SIZE(((const char *[]){ __VA_ARGS__ })), (const char *[]){ __VA_ARGS__ })

static void options_before_a_command_end_at_its_first_word(void **state)
{
	(void)state;
	assert_int_equal(BEFORE_WORDS("make", "-a"), 0);
	assert_int_equal(BEFORE_WORDS("-a", "make", "-a"), 1);
	assert_int_equal(BEFORE_WORDS("-o", "file", "make", "-a"), 2);
	assert_int_equal(BEFORE_WORDS("-ofile", "make"), 1);
	assert_int_equal(BEFORE_WORDS("-aqo", "file", "make"), 2);
	assert_int_equal(BEFORE_WORDS("--output", "file", "make"), 2);
	assert_int_equal(BEFORE_WORDS("--output=file", "make"), 1);
	assert_int_equal(BEFORE_WORDS("--no-normalize", "make"), 1);
	assert_int_equal(BEFORE_WORDS("-a", "--", "-a"), 2);
	assert_int_equal(BEFORE_WORDS("-a", "-"), 1);
	assert_int_equal(BEFORE_WORDS("--nonsense", "make"), 1);
	assert_int_equal(BEFORE_WORDS("-a", "-o"), 2);
}

static void names_are_offered_but_others_are_taken_too(void **state)
{
	(void)state;
	assert_int_equal(parse(2, (const char *[]){ "-m", "majflt,nr_*" }), 0);
	assert_string_equal(args.metrics, "majflt,nr_*");
}

static void a_flag_of_a_file_is_yes_or_no(void **state)
{
	bool flag = false;
	const struct option option = { 0, "quiet", OPTION_FLAG, &flag, NULL, "", NULL };

	(void)state;
	error.message[0] = '\0';
	assert_int_equal(option_set(&option, "yes", &error), 0);
	assert_true(flag);
	assert_int_equal(option_set(&option, "maybe", &error), -EINVAL);
	assert_string_equal(error.message, "quiet is yes or no, not 'maybe'");
	assert_true(flag);
	assert_int_equal(option_set(&option, "no", &error), 0);
	assert_false(flag);
}

static void an_alias_gives_another_option_its_name(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--json"), 0);
	assert_string_equal(args.format, "json");
	assert_int_equal(PARSE("--json", "--format", "json", "--json"), 0);
	assert_string_equal(args.format, "json");
	assert_int_equal(PARSE("--json=yes"), -EINVAL);
}

static void an_alias_that_contradicts_is_refused_in_either_order(void **state)
{
	static const char sentence[] =
		"--json contradicts --format text: leave out one of them";

	(void)state;
	assert_int_equal(PARSE("--json", "--format", "text"), -EINVAL);
	assert_string_equal(error.message, sentence);
	assert_int_equal(PARSE("--format=text", "--json"), -EINVAL);
	assert_string_equal(error.message, sentence);
}

static void every_verb_takes_common_options(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--color", "never", "a"), 1);
	assert_int_equal(PARSE("--color=always"), 0);
	assert_int_equal(PARSE("--color=often"), -EINVAL);
	assert_string_equal(error.message, "--color takes one of auto|always|never, not 'often'");
	assert_int_equal(options_before_words(options, 3, (char *[]){ "--color", "never", "x" }), 2);
}

static void the_option_that_waits_for_its_argument_is_known(void **state)
{
	(void)state;
	assert_ptr_equal(option_awaiting(options, "--output"), &options[2]);
	assert_ptr_equal(option_awaiting(options, "-o"), &options[2]);
	assert_ptr_equal(option_awaiting(options, "-aqo"), &options[2]);
	assert_null(option_awaiting(options, "-ofile"));
	assert_null(option_awaiting(options, "--output=file"));
	assert_null(option_awaiting(options, "--all"));
	assert_null(option_awaiting(options, "--json"));
	assert_null(option_awaiting(options, "-"));
	assert_null(option_awaiting(options, "output"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_alias_gives_another_option_its_name),
		cmocka_unit_test(an_alias_that_contradicts_is_refused_in_either_order),
		cmocka_unit_test(every_verb_takes_common_options),
		cmocka_unit_test(the_option_that_waits_for_its_argument_is_known),
		cmocka_unit_test_setup(options_and_words_may_be_mixed, forget),
		cmocka_unit_test_setup(names_are_offered_but_others_are_taken_too, forget),
		cmocka_unit_test_setup(an_argument_may_be_attached_or_follow, forget),
		cmocka_unit_test_setup(after_two_dashes_all_are_words, forget),
		cmocka_unit_test_setup(a_lone_dash_is_a_word, forget),
		cmocka_unit_test_setup(numbers_know_whether_they_were_given, forget),
		cmocka_unit_test_setup(durations_are_in_nanoseconds, forget),
		cmocka_unit_test_setup(a_list_keeps_each_value_that_is_given, forget),
		cmocka_unit_test_setup(a_list_has_an_end_that_is_told, forget),
		cmocka_unit_test_setup(a_set_has_a_bit_for_each_choice_and_all_without_one, forget),
		cmocka_unit_test_setup(bad_input_is_refused_with_a_sentence, forget),
		cmocka_unit_test(options_before_a_command_end_at_its_first_word),
		cmocka_unit_test(a_flag_of_a_file_is_yes_or_no),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
