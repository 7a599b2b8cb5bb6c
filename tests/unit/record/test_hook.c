/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "record/hook.h"

static char path[64];
static struct loop loop;
static struct hooks hooks;
static struct loop_timer limit;

static void stop(void *context)
{
	loop_stop(context);
}

static int open_loop(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/hook.XXXXXX");
	close(mkstemp(path));
	assert_int_equal(loop_open(&loop), 0);
	limit = (struct loop_timer){ .due = stop, .context = &loop, .deadline_ns = LOOP_NEVER };
	loop_add_timer(&loop, &limit);
	return 0;
}

static int close_loop(void **state)
{
	(void)state;
	hooks_close(&hooks);
	loop_close(&loop);
	return unlink(path);
}

static size_t running(void)
{
	size_t count = 0;

	for (size_t i = 0; i < HOOKS; i++)
		count += hooks.children[i].pidfd >= 0;
	return count;
}

static void stop_when_done(void *context)
{
	(void)context;
	if (!running())
		loop_stop(&loop);
}

static void wait_for_all(void)
{
	loop.is_stopped = false;
	if (running())
		assert_int_equal(loop_run(&loop, stop_when_done, NULL), 0);
}

static void open_hooks(const char *format)
{
	struct error error = { 0 };
	char command[128];

	snprintf(command, sizeof(command), format, path);
	assert_int_equal(hooks_open(&hooks, &loop, command, &error), 0);
}

static void the_command_gets_the_json_on_its_input(void **state)
{
	char bytes[64] = "";
	FILE *file;

	(void)state;
	/* No shell: the redirection is a word like any other. */
	open_hooks("dd  of=%s status=none");
	hooks_start(&hooks, "{\"rule\":\"x; y\"}\n", 16);
	wait_for_all();
	file = fopen(path, "r");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), 16);
	fclose(file);
	assert_string_equal(bytes, "{\"rule\":\"x; y\"}\n");
	assert_int_equal(hooks.started, 1);
	assert_int_equal(hooks.failed, 0);
}

static char *read_file(const char *from)
{
	static char bytes[8192];
	FILE *file = fopen(from, "r");

	assert_non_null(file);
	memset(bytes, 0, sizeof(bytes));
	assert_true(fread(bytes, 1, sizeof(bytes) - 1, file) > 0);
	fclose(file);
	return bytes;
}

static void make_script(const char *script, const char *lines)
{
	FILE *file = fopen(script, "w");

	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
	assert_int_equal(chmod(script, 0755), 0);
}

static void the_command_inherits_nothing_but_what_is_said(void **state)
{
	int leaked = dup(STDERR_FILENO); /* without O_CLOEXEC, as a careless parent leaves it */
	char script[80], session[32], *seen;

	(void)state;
	snprintf(script, sizeof(script), "%s.sh", path);
	make_script(script, "#!/bin/sh\nexec >$1\nenv\nls /proc/$$/fd\n"
			    "echo end; cut -d' ' -f6 /proc/$$/stat\n");
	assert_int_equal(setenv("SECRET_TOKEN", "x", 1), 0);
	assert_int_equal(setenv("LD_PRELOAD_OF_TEST", "x", 1), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/run/made", 1), 0);
	memmove(script + strlen(script), " %s", 4);
	open_hooks(script);
	script[strlen(script) - 3] = '\0';
	hooks_start(&hooks, "{}\n", 3);
	snprintf(session, sizeof(session), "\n%d\n", (int)hooks.children[0].pid);
	wait_for_all();
	unlink(script);
	close(leaked);
	seen = read_file(path);
	assert_null(strstr(seen, "SECRET_TOKEN"));
	assert_null(strstr(seen, "LD_PRELOAD"));
	assert_non_null(strstr(seen, "PATH="));
	assert_non_null(strstr(seen, "XDG_RUNTIME_DIR=/run/made\n"));
	/* The shell has its script open at 10 or beyond. */
	assert_non_null(strstr(seen, "\n0\n1\n10\n2\nend\n"));
	assert_non_null(strstr(seen, session));
	assert_int_equal(hooks.failed, 0);
}

static void at_most_four_run_and_the_rest_is_counted(void **state)
{
	(void)state;
	/* It runs until it is killed. */
	open_hooks("tail -f --pid=1 %s");
	for (int i = 0; i < HOOKS + 3; i++)
		hooks_start(&hooks, "{}\n", 3);
	assert_int_equal(hooks.started, HOOKS);
	assert_int_equal(hooks.skipped, 3);
	for (size_t i = 0; i < HOOKS; i++)
		kill(hooks.children[i].pid, SIGKILL);
	wait_for_all();
	assert_int_equal(hooks.failed, HOOKS);
}

static void a_command_that_cannot_run_is_counted(void **state)
{
	(void)state;
	open_hooks("/nonexistent/command %s");
	hooks_start(&hooks, "{}\n", 3);
	wait_for_all();
	assert_int_equal(hooks.failed, 1);
}

static void without_a_command_nothing_runs(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(hooks_open(&hooks, &loop, NULL, &error), 0);
	hooks_start(&hooks, "{}\n", 3);
	assert_int_equal(running(), 0);
	assert_int_equal(hooks_open(&hooks, &loop, "  ", &error), -EINVAL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_loop, close_loop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_command_gets_the_json_on_its_input),
		TEST(the_command_inherits_nothing_but_what_is_said),
		TEST(at_most_four_run_and_the_rest_is_counted),
		TEST(a_command_that_cannot_run_is_counted),
		TEST(without_a_command_nothing_runs),
	};

	return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}
