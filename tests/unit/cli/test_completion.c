/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/help.h"

static char *lines;

static int forget(void **state)
{
	(void)state;
	free(lines);
	lines = NULL;
	return 0;
}

static const char *complete(int count, const char **words)
{
	size_t length;
	FILE *out;

	forget(NULL);
	out = open_memstream(&lines, &length);
	complete_words(out, all_commands, count, (char **)words);
	fclose(out);
	return lines;
}

#define COMPLETE(...)                                                                              \
	complete(ARRAY_SIZE(((const char *[]){ __VA_ARGS__ })), (const char *[]){ __VA_ARGS__ })

static void assert_has(const char *printed, const char *line)
{
	if (!strstr(printed, line))
		fail_msg("no '%s' in\n%s", line, printed);
}

static void verbs_come_with_their_summary(void **state)
{
	(void)state;
	assert_string_equal(COMPLETE("rep"), "+report\tthe report of a job, or of a saved run\n");
	assert_has(COMPLETE(""), "+help\t");
	assert_has(COMPLETE("help", "sh"), "+show\t");
	assert_string_equal(COMPLETE("help", "show", ""), "");
	assert_string_equal(COMPLETE("--completions", ""), "+bash\t\n+zsh\t\n+fish\t\n");
	assert_string_equal(COMPLETE("no-such-verb", ""), "");
}

static void options_come_with_their_help(void **state)
{
	(void)state;
	assert_has(COMPLETE("show", "--fo"), "+--forest\tprocesses, each below");
	assert_has(COMPLETE("show", "--fo"), "+--format\thow to print it\n");
	assert_has(COMPLETE("show", "--js"), "+--json\t");
	assert_has(COMPLETE("show", "--col"), "+--color\t");
	assert_has(COMPLETE("show", "-"), "+-g\t");
	assert_null(strstr(COMPLETE("show", "--"), "+-g\t"));
	assert_has(COMPLETE("metrics", ""), "+--format\t");
}

static void values_are_the_choices(void **state)
{
	(void)state;
	assert_string_equal(COMPLETE("show", "--format", ""), "+text\t\n+json\t\n+csv\t\n");
	assert_string_equal(COMPLETE("show", "--format=j"), "+--format=json\t\n");
	assert_string_equal(COMPLETE("show", "--color=a"), "+--color=auto\t\n+--color=always\t\n");
	assert_string_equal(COMPLETE("show", "--no-normalize="),
			    "+--no-normalize=thread\t\n+--no-normalize=cgroup\t\n");
	assert_string_equal(COMPLETE("show", "--no-normalize", "x"), "!files 0 .tscope .jsonl "
								      ".ctprof.zst .db\n");
	assert_has(COMPLETE("show", "-g", "comm"), "+comm-exact\t\n");
	assert_has(COMPLETE("record", "--threshold", "memory_spike_b"), "=\t\n!nospace\n");
	assert_string_equal(COMPLETE("job", "st"), "+start\t\n+step\t\n");
	assert_string_equal(COMPLETE("job", "start", ""), "");
	assert_has(COMPLETE("events", "--since", "1h"), "+1h30m\t\n");
}

static void lists_are_completed_item_by_item(void **state)
{
	(void)state;
	assert_has(COMPLETE("show", "-m", "minflt,majf"), "+minflt,majflt\t\n");
	assert_has(COMPLETE("show", "--metrics=minflt,majf"), "+--metrics=minflt,majflt\t\n");
	assert_has(COMPLETE("show", "--sections", "io,mem"), "+io,memory\t\n");
	assert_has(COMPLETE("compare", "--columns", "gr"), "+group\t\n");
}

static void files_have_the_endings_that_the_verb_reads(void **state)
{
	(void)state;
	assert_string_equal(COMPLETE("report", ""), "!files 0 .tscope .jsonl\n");
	assert_string_equal(COMPLETE("compare", "a,b"), "!files 2 .tscope .jsonl .ctprof.zst .db\n");
	assert_string_equal(COMPLETE("events", "--store", "r"), "!files 0 .db\n");
	assert_string_equal(COMPLETE("events", "--store=r"), "!files 8 .db\n");
	assert_string_equal(COMPLETE("run", "-o", ""), "!files 0\n");
	assert_string_equal(COMPLETE("show", "--root", ""), "!directories 0\n");
}

static void a_command_is_completed_by_itself(void **state)
{
	(void)state;
	assert_string_equal(COMPLETE("run", "ma"), "!command 1\n");
	assert_string_equal(COMPLETE("run", "--", "ma"), "!command 2\n");
	assert_string_equal(COMPLETE("run", "--", "-"), "!command 2\n");
	assert_string_equal(COMPLETE("run", "-q", "-d", "1s", "make", "-j"), "!command 4\n");
	assert_string_equal(COMPLETE("run", "--", "make", "--", "x"), "!command 2\n");
	assert_has(COMPLETE("run", "--no-s"), "+--no-stacks\t");
	assert_has(COMPLETE("run", "-d", "1"), "+10s\t");
}

/* A name that a stranger chose. */
static void processes_come_with_their_names_made_harmless(void **state)
{
	char line[64];

	(void)state;
	prctl(PR_SET_NAME, "!command 1\n$(x)");
	snprintf(line, sizeof(line), "+%d\t!command 1\\x0a$(x)\n", (int)getpid());
	assert_has(COMPLETE("why", "-p", ""), line);
	snprintf(line, sizeof(line), "+1,%d\t", (int)getpid());
	assert_has(COMPLETE("show", "-p", "1,"), line);
	assert_null(strstr(COMPLETE("history", "--name", ""), "!command 1"));
	prctl(PR_SET_NAME, "$(reboot) x");
	assert_has(COMPLETE("history", "--name", "$"), "+$(reboot) x\t\n");
}

static void each_shell_has_a_script(void **state)
{
	(void)state;
	assert_false(completion_write(stdout, "tcsh"));
	for (size_t i = 0; i < 3; i++) {
		size_t length;
		FILE *out;

		forget(NULL);
		out = open_memstream(&lines, &length);
		assert_true(completion_write(out, (const char *[]){ "bash", "zsh", "fish" }[i]));
		fclose(out);
		assert_has(lines, "taskscope --complete");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verbs_come_with_their_summary),
		cmocka_unit_test(options_come_with_their_help),
		cmocka_unit_test(values_are_the_choices),
		cmocka_unit_test(lists_are_completed_item_by_item),
		cmocka_unit_test(files_have_the_endings_that_the_verb_reads),
		cmocka_unit_test(a_command_is_completed_by_itself),
		cmocka_unit_test(processes_come_with_their_names_made_harmless),
		cmocka_unit_test(each_shell_has_a_script),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
