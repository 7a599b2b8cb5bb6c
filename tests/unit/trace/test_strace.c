/* SPDX-License-Identifier: MIT */
/* What strace prints, and what it may be asked. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "model/syscall/call_lines.h"
#include "trace/strace/strace.h"

#define PLAIN_TITLES                                                                               \
	"% time     seconds  usecs/call     calls    errors syscall\n"                             \
	"------ ----------- ----------- --------- --------- ----------------\n"
#define PLAIN_END                                                                                  \
	"------ ----------- ----------- --------- --------- ----------------\n"                    \
	"100.00    0.006238          43       144        19 total\n"

static const struct call_line *find(const struct call_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->list.count; i++)
		if (strcmp(lines->list.data[i].name, name) == 0)
			return &lines->list.data[i];
	fail_msg("there is no line of %s", name);
	return NULL;
}

static ssize_t parse(const char *text, struct call_lines *ret)
{
	*ret = (struct call_lines){ 0 };
	return strace_summary_parse(text, strlen(text), ret);
}

static void a_row_has_all_its_figures(void **state)
{
	struct call_lines lines;
	const struct call_line *line;

	(void)state;
	assert_int_equal(parse("    seconds  longest     calls    errors syscall\n"
			       "----------- -------- --------- --------- ----------------\n"
			       "  12.000436 0.000024        40        19 openat\n"
			       "   0.007431 0.007007        30           mmap\n"
			       "----------- -------- --------- --------- ----------------\n"
			       "   0.009891 0.007007       156        26 total\n",
			       &lines),
			 0);
	assert_int_equal(lines.list.count, 2);
	line = find(&lines, "openat");
	assert_true(line->time_ns == 12000436000 && line->max_ns == 24000);
	assert_true(line->calls == 40 && line->errors == 19);
	line = find(&lines, "mmap");
	assert_true(line->time_ns == 7431000 && line->calls == 30 && line->errors == 0);
	call_lines_clear(&lines);
}

static void a_call_may_be_named_after_the_title(void **state)
{
	struct call_lines lines;

	(void)state;
	assert_int_equal(
		parse(PLAIN_TITLES
		      " 75.64    0.004718         205        23           restart_syscall\n"
		      "  6.14    0.000383          12        30        30 syscall_0x1b7\n" PLAIN_END,
		      &lines),
		0);
	assert_int_equal(lines.list.count, 2);
	assert_true(find(&lines, "restart_syscall")->calls == 23);
	assert_true(find(&lines, "syscall_0x1b7")->errors == 30);
	call_lines_clear(&lines);
}

static void tables_of_several_machines_are_added_up(void **state)
{
	struct call_lines lines;
	static const char row[] = "100.00    0.000002           2         1           read\n";
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s",
		 "System call usage summary for 64 bit mode:\n", PLAIN_TITLES, row, PLAIN_END,
		 "System call usage summary for 32 bit mode:\n", PLAIN_TITLES, row, PLAIN_END);
	assert_int_equal(parse(text, &lines), 0);
	assert_int_equal(lines.list.count, 1);
	assert_true(find(&lines, "read")->calls == 2 && find(&lines, "read")->time_ns == 4000);
	call_lines_clear(&lines);
}

static void what_is_not_understood_is_counted(void **state)
{
	static const char *const rows[] = {
		" 75.64    0.004718         205        x3           close\n",
		" 75.64    0.004718         205\n",
		" 75.64    4718         205        23           close\n",
		" 75.64    0.004718         205        23           a_name_that_is_much_too_long_for_a_call\n",
		" 75.64    99999999999999.0         205        23           close\n",
		" 1 2 3 4 5 6 7 8 9 10 11 12\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_lines lines;
		char text[1024];

		snprintf(text, sizeof(text), "%s%s%s", PLAIN_TITLES, rows[i], PLAIN_END);
		assert_int_equal(parse(text, &lines), 1);
		assert_int_equal(lines.list.count, 0);
		call_lines_clear(&lines);
	}
}

static void no_table_is_no_call(void **state)
{
	struct call_lines lines;

	(void)state;
	assert_int_equal(parse("", &lines), 0);
	assert_int_equal(parse("strace: Process 12 detached\n 1 2 3 4 5 read\n", &lines), 0);
	assert_int_equal(lines.list.count, 0);
	call_lines_clear(&lines);
}

static void expressions_that_only_choose_are_taken(void **state)
{
	static const char *const taken[] = {
		"openat",	 "openat,close",   "!futex",   "%network",  "/^rmdir",
		"?statx",	 "trace=read",	   "t=!read",  "a=none",    "verbose=all",
		"signal=none",	 "s=!SIGIO",	   "read=0,1", "write=all", "raw=all",
		"status=failed", "decode-fds=all",
	};
	struct error error = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		assert_int_equal(strace_expression_check(taken[i], &error), 0);
}

static void expressions_that_change_the_target_are_refused(void **state)
{
	static const char *const refused[] = {
		"inject=read:error=EIO",  "fault=read",	 "inject=", "fault=", "kvm=vcpu",
		"quiet=attach",		  "silent=all",	 "q=all",   "=read",  "new=x",
		"!inject=read:error=EIO", "Inject=read", "",	    "a\nb",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error error = { 0 };

		assert_int_equal(strace_expression_check(refused[i], &error), -EINVAL);
		assert_true(error.message[0]);
	}
}

static void take_nothing(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
}

static void count_end(void *context, struct strace_child *child)
{
	(void)child;
	++*(int *)context;
}

/* Both would end by themselves, but after the limit that they share. */
static void those_that_are_late_share_one_limit(void **state)
{
	static const char *const words[] = { "-c", "trap '' INT; sleep 1", NULL };
	const struct strace_request request = { open("/bin/sh", O_RDONLY | O_CLOEXEC), words, NULL,
						0 };
	struct strace_child children[2];
	struct error error = { 0 };
	struct loop loop;
	int ended = 0;

	(void)state;
	assert_int_equal(loop_open(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(strace_child_start(&children[i], &loop, &request, take_nothing,
						    count_end, &ended, &error),
				 0);
		children[i].is_stopping = true;
		children[i].kill_due.deadline_ns = 1;
	}
	for (int i = 0; i < 2; i++) {
		strace_child_wait(&children[i]);
		assert_true(children[i].was_killed);
	}
	assert_int_equal(ended, 2);
	loop_close(&loop);
	close(request.program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_all_its_figures),
		cmocka_unit_test(a_call_may_be_named_after_the_title),
		cmocka_unit_test(tables_of_several_machines_are_added_up),
		cmocka_unit_test(what_is_not_understood_is_counted),
		cmocka_unit_test(no_table_is_no_call),
		cmocka_unit_test(expressions_that_only_choose_are_taken),
		cmocka_unit_test(expressions_that_change_the_target_are_refused),
		cmocka_unit_test(those_that_are_late_share_one_limit),
	};

	return cmocka_run_group_tests_name("strace", tests, NULL, NULL);
}
