/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/command.h"
#include "cli/help.h"

static const struct command *const commands[] = { &command_capture, &command_show, NULL };

static char *script_of(const char *shell)
{
	char *script = NULL;
	size_t length;
	FILE *out = open_memstream(&script, &length);

	assert_true(completion_write(out, shell, commands));
	fclose(out);
	return script;
}

static void assert_has(const char *shell, const char *part)
{
	char *script = script_of(shell);

	if (!strstr(script, part))
		fail_msg("no '%s' in\n%s", part, script);
	free(script);
}

static void zsh_completes_files_directories_and_choices(void **state)
{
	(void)state;
	assert_has("zsh", ":FILE:_files'");
	assert_has("zsh", ":DIR:_directories'");
	assert_has("zsh", ":FORMAT:(text json csv)'");
	assert_has("zsh", ":N:'");
}

static void an_argument_that_may_be_missing_is_completed_after_its_sign(void **state)
{
	(void)state;
	assert_has("bash", "\t\t--no-normalize=) words=\"thread cgroup\" ;;\n");
	assert_has("bash", "\t\t--format|--format=) words=\"text json csv\" ;;\n");
	assert_has("zsh", "'*--no-normalize=-[");
	assert_has("zsh", "::NAMES:(thread cgroup)'");
	assert_has("fish", "-l no-normalize -f -a 'thread cgroup'");
}

static void an_option_that_may_be_repeated_is_offered_again(void **state)
{
	(void)state;
	assert_has("zsh", "'*--flatten[");
	assert_has("fish", "-l flatten -r");
}

static void help_is_a_verb_but_not_a_topic_of_help(void **state)
{
	(void)state;
	assert_has("bash", "words=\"capture show help --help --version\"\n");
	assert_has("bash", "help) words=\"capture show\" ;;\n");
	assert_has("zsh", "compadd capture show help\n");
	assert_has("zsh", "help) compadd capture show ;;\n");
	assert_has("fish", "__fish_use_subcommand -f -a 'capture show help'\n");
	assert_has("fish", "'__fish_seen_subcommand_from help' -f -a 'capture show'\n");
}

static void an_unknown_shell_gets_nothing(void **state)
{
	(void)state;
	assert_false(completion_write(stdout, "tcsh", commands));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zsh_completes_files_directories_and_choices),
		cmocka_unit_test(an_argument_that_may_be_missing_is_completed_after_its_sign),
		cmocka_unit_test(an_option_that_may_be_repeated_is_offered_again),
		cmocka_unit_test(help_is_a_verb_but_not_a_topic_of_help),
		cmocka_unit_test(an_unknown_shell_gets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
