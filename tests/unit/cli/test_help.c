/* SPDX-License-Identifier: MIT */
/*
 * Everything that is made from a table of commands, held against tests/data/help.
 * TASKSCOPE_ACCEPT=1 writes what comes out as what is expected.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/help.h"

static const struct option every_type[] = {
	{ 'a', "all", OPTION_FLAG, NULL, NULL, "everything: [all] of it, it's much", NULL },
	{ 0, "quiet", OPTION_FLAG, NULL, NULL, "silent", NULL },
	{ 'o', "output", OPTION_TEXT, NULL, "FILE", "a file", NULL },
	{ 0, "root", OPTION_TEXT, NULL, "DIR", "a directory", NULL },
	{ 'f', "format", OPTION_TEXT, NULL, "FORMAT", "a form", "text|json" },
	{ 0, "json", OPTION_ALIAS, NULL, "format", "the same as --format json", NULL },
	{ 'm', "metrics", OPTION_NAMES, NULL, "LIST", "metrics", "|majflt|minflt" },
	{ 's', "sections", OPTION_TEXT, NULL, "LIST", "sections", "io, memory" },
	{ 'n', "limit", OPTION_NUMBER, NULL, "N", "a number", NULL },
	{ 0, "interval", OPTION_DURATION, NULL, "TIME", "a time", NULL },
	{ 0, "a-name-that-is-too-long", OPTION_LIST, NULL, "GLOB", "a glob", NULL },
	{ 'N', "no-normalize", OPTION_SET, NULL, "NAMES", "as it is", "thread|cgroup" },
	{ 0 },
};

static const struct command full = {
	.name = "full",
	.arguments = "[FILE_NAME]",
	.summary = "has everything",
	.description = "Has *everything*.\n\nAnd more.",
	.examples = "taskscope full\tas it is\ntaskscope full -a\tmore",
	.exits = "1\t[it] may be",
	.options = every_type,
};

static const struct command bare = {
	.name = "bare",
	.arguments = "",
	.summary = "has nothing",
	.description = "Has nothing.",
};

static const struct command runs = {
	.name = "runs",
	.arguments = "[--] COMMAND",
	.summary = "runs a command",
	.description = "Runs it.",
	.exits = "N\tthe command's",
	.words_are_a_command = true,
	.error_status = 125,
};

static const struct command *const commands[] = { &full, &bare, &runs, NULL };

static void help(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		help_command(out, commands[i]);
	help_overview(out, commands);
}

static void man(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		man_command(out, commands[i]);
	man_overview(out, commands);
}

static void assert_expected(const char *name, void (*print)(FILE *out))
{
	CLEANUP(free_pointer) char *printed = NULL;
	CLEANUP(free_pointer) char *expected = NULL;
	char path[PATH_MAX];
	size_t length = 0, size = 0;
	FILE *out = open_memstream(&printed, &length), *file;

	print(out);
	fclose(out);
	snprintf(path, sizeof(path), "%s/help/%s", getenv("TASKSCOPE_TEST_DATA"), name);
	if (getenv("TASKSCOPE_ACCEPT")) {
		file = fopen(path, "w");
		fputs(printed, file);
		fclose(file);
	}
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(getdelim(&expected, &size, '\0', file) > 0);
	fclose(file);
	assert_string_equal(printed, expected);
}

static void help_and_manual_are_as_expected(void **state)
{
	(void)state;
	assert_expected("help.txt", help);
	assert_expected("man.scd", man);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_and_manual_are_as_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
