/* SPDX-License-Identifier: MIT */
/* An answer of `why` as people and programs get it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/parts/why/why_print.h"
#include "render/terminal.h"
#include "session/why/why.h"

#define MS ((uint64_t)1000000)

static struct task_state quiet, stuck = {
	.tid = 12,
	.channel = "io_schedule",
	.stack = { "io_schedule", "wait\x1b" },
	.frames = 2,
};
static struct task_state reading = { .tid = 11, .channel = "pipe_read" };

/* One that runs, one that waits and was woken, one that is stuck. */
static struct why_thread threads[20] = {
	{ .tid = 10,
	  .comm = "m\x1bz",
	  .state = 'R',
	  .reason = -1,
	  .found = &quiet,
	  .amounts = { .present = 1ull << AMOUNT_run_time_ns | 1ull << AMOUNT_wait_time_ns |
				  1ull << AMOUNT_wait_pipe_ns,
		       .values = { [AMOUNT_run_time_ns] = 1500 * MS,
				   [AMOUNT_wait_time_ns] = 250 * MS,
				   [AMOUNT_wait_pipe_ns] = 9 } } },
	{ .tid = 11,
	  .comm = "reader",
	  .state = 'S',
	  .reason = WAIT_PIPE,
	  .call = "read",
	  .has_since = true,
	  .since_ns = 300 * MS,
	  .amounts = { .present = 1ull << AMOUNT_run_time_ns },
	  .has_waker = true,
	  .waker = { .reason = WAIT_PIPE,
		     .waker_pid = 20,
		     .waker_tid = 21,
		     .waker_comm = "writer" },
	  .waker_share = 0.5,
	  .object = { .kind = "pipe",
		      .name = "pipe:[7]",
		      .reason = WAIT_PIPE,
		      .peers = { { .pid = 20, .comm = "writer" } },
		      .peer_count = 1 },
	  .found = &reading },
	{ .tid = 12,
	  .comm = "stuck",
	  .state = 'D',
	  .reason = WAIT_DISK,
	  .has_since = true,
	  .since_ns = 2000 * MS,
	  .at_least = true,
	  .has_waker = true,
	  .waker = { .reason = WAIT_DISK },
	  .waker_share = 1,
	  .found = &stuck },
};

static struct why plain_answer(void)
{
	struct why why = {
		.before = { .pid = 10,
			    .asked = 10,
			    .comm = "m\x1bz",
			    .state = 'S',
			    .thread_count = 9 },
		.after = { .pid = 10,
			   .asked = 10,
			   .comm = "main",
			   .state = 'R',
			   .parent_pid = 1,
			   .thread_count = 3 },
		.watched_ns = 2000 * MS,
		.answer = "it computes",
	};

	why.threads.data = threads;
	why.threads.count = 3;
	return why;
}

static void judge(struct why *why, enum run_cause cause)
{
	struct verdict *verdict = &why->diagnosis.verdict;

	why->judged = true;
	verdict->class = CLASS_CPU_BOUND;
	verdict->cause = cause;
	verdict->confidence = 0.75;
	verdict->evidence_count = 2;
	snprintf(verdict->evidence[0], sizeof(verdict->evidence[0]), "first fact");
	snprintf(verdict->evidence[1], sizeof(verdict->evidence[1]), "second fact");
	verdict->hint = "look there";
}

typedef void print(FILE *out, const struct why *why);

static char *printed(print *how, const struct why *why)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	how(out, why);
	fclose(out);
	return text;
}

static void print_text(FILE *out, const struct why *why)
{
	const struct terminal pipe = { 0 };

	why_print_text(out, &pipe, why, false);
}

static void assert_printed(print *how, const struct why *why, const char *expected)
{
	char *text = printed(how, why);

	assert_string_equal(text, expected);
	free(text);
}

static void assert_part(print *how, const struct why *why, const char *part, bool is_there)
{
	char *text = printed(how, why);

	if ((strstr(text, part) != NULL) != is_there)
		fail_msg("'%s' is%s in: %s", part, is_there ? " not" : "", text);
	free(text);
}

static void text_has_the_answer_and_a_row_for_each_thread(void **state)
{
	struct why why = plain_answer();
	const struct amounts before = threads[1].amounts;

	(void)state;
	amounts_set_waited_ns(&threads[1].amounts, WAIT_DISK, 100 * MS);
	amounts_set_waited_ns(&threads[1].amounts, WAIT_PIPE, 1500 * MS);
	amounts_set_waited_ns(&threads[1].amounts, WAIT_OTHER, 10 * MS);
	assert_printed(
		print_text, &why,
		"10 m\\x1bz: it computes\n"
		"  12 in the kernel: io_schedule, wait\\x1b\n"
		"\n"
		"tid  thread  state     cpu   ready  blocked              waits for  in    at                                  since  woken by\n"
		" 10  m\\x1bz  R      75.0 %  12.5 %  -                    -          -     -                                       -  -\n"
		" 11  reader  S         0 %       -  pipe 75 %, disk 5 %  pipe       read  pipe:[7], other end: writer (20)   300 ms  writer (21)\n"
		" 12  stuck   D           -       -  -                    disk       -     io_schedule                       >2.00 s  the kernel\n");
	threads[1].amounts = before;
}

static void text_has_the_verdict_with_its_evidence(void **state)
{
	struct why why = plain_answer();

	(void)state;
	why.threads.count = 0;
	judge(&why, CAUSE_CPU);
	assert_printed(print_text, &why,
		       "10 m\\x1bz: it computes\n"
		       "  cpu_bound, by cpu (75 % sure)\n"
		       "  - first fact\n"
		       "  - second fact\n"
		       "  first: look there\n");
	judge(&why, CAUSE_NONE);
	assert_part(print_text, &why, "first:", false);
}

static void text_says_what_could_not_be_seen(void **state)
{
	struct why why = plain_answer();

	(void)state;
	why.threads.count = 0;
	why.before.asked = 12;
	why.after.denied = true;
	snprintf(why.problem.message, sizeof(why.problem.message), "no\x1b way");
	assert_printed(
		print_text, &why,
		"10 m\\x1bz: it computes\n"
		"  12 is a thread of it\n"
		"  not watched: no\\x1b way\n"
		"  its calls and wait channels may not be read here: that takes CAP_SYS_PTRACE, or its owner\n");
}

static void the_dead_have_no_threads_to_show(void **state)
{
	struct why why = plain_answer();

	(void)state;
	why.after.is_dead = true;
	assert_printed(print_text, &why, "10 m\\x1bz: it computes\n");
}

static size_t lines_of(print *how, const struct why *why)
{
	char *text = printed(how, why);
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	return lines;
}

static void print_all(FILE *out, const struct why *why)
{
	const struct terminal pipe = { 0 };

	why_print_text(out, &pipe, why, true);
}

static void the_answer_has_twelve_lines_and_the_other_threads_are_counted(void **state)
{
	struct why why = plain_answer();

	(void)state;
	for (size_t i = 3; i < 13; i++)
		threads[i] = (struct why_thread){ .tid = (int32_t)(100 + i),
						  .reason = -1,
						  .found = i == 12 ? &stuck : &quiet };
	why.threads.count = why.after.thread_count = 8;
	assert_int_equal(lines_of(print_text, &why), 12);
	assert_part(print_text, &why, "\n107 ", true);
	assert_part(print_text, &why, "more thread", false);
	why.threads.count = why.after.thread_count = 9;
	assert_int_equal(lines_of(print_text, &why), 12);
	assert_part(print_text, &why, "\nand 2 more threads (-v shows all)\n", true);
	why.threads.count = 13;
	why.after.thread_count = 14;
	assert_int_equal(lines_of(print_text, &why), 12);
	assert_part(print_all, &why, "\n112 ", true);
	assert_part(print_all, &why, "\nand 1 more thread\n", true);
	assert_part(why_print_json, &why, "\"tid\":112", true);
	judge(&why, CAUSE_CPU);
	why.after.denied = why.after.late = true;
	assert_int_equal(lines_of(print_text, &why), 12);
	why.diagnosis.verdict.evidence_count = DIAGNOSIS_EVIDENCE_MAX;
	snprintf(why.problem.message, sizeof(why.problem.message), "no");
	assert_int_equal(lines_of(print_text, &why), 12);
	assert_part(print_text, &why, "tid  thread", false);
}

static void a_deadlock_is_in_the_json(void **state)
{
	struct why why = plain_answer();

	(void)state;
	why.threads.count = 0;
	assert_part(why_print_json, &why, "\"deadlock\"", false);
	why.deadlock.count = 1;
	why.deadlock.members[0] =
		(struct wait_member){ .who = { 10, 11, "a\x1b" },
				      .object = { .kind = "mutex",
						  .name = "0x10",
						  .address = 16,
						  .has_holder = true,
						  .holder = { 10, 11, "a\x1b" } } };
	assert_part(why_print_json, &why, "\"deadlock\": [", true);
	assert_part(why_print_json, &why, "\"address\":\"0x10\"", true);
	assert_part(why_print_json, &why, "\"comm\":\"a\\\\x1b\"", true);
}

static void json_has_all_and_no_keys_for_what_is_not_known(void **state)
{
	struct why why = plain_answer();

	(void)state;
	assert_printed(
		why_print_json, &why,
		"{\n"
		"  \"format\": \"taskscope-why\",\n"
		"  \"version\": 2,\n"
		"  \"kind\": \"why\",\n"
		"  \"pid\": 10,\n"
		"  \"comm\": \"main\",\n"
		"  \"state\": \"R\",\n"
		"  \"parent_pid\": 1,\n"
		"  \"kernel_thread\": false,\n"
		"  \"ended\": false,\n"
		"  \"watched_ns\": 2000000000,\n"
		"  \"thread_count\": 3,\n"
		"  \"answer\": \"it computes\",\n"
		"  \"denied\": false,\n"
		"  \"late\": false,\n"
		"  \"threads\": [\n"
		"    {\"tid\":10,\"comm\":\"m\\\\x1bz\",\"state\":\"R\",\"run_time_ns\":1500000000,\"wait_time_ns\":250000000,\"wait_pipe_ns\":9},\n"
		"    {\"tid\":11,\"comm\":\"reader\",\"state\":\"S\",\"reason\":\"pipe\",\"syscall\":\"read\",\"blocked_for_ns\":300000000,\"blocked_before\":false,\"wait_channel\":\"pipe_read\",\"run_time_ns\":0,\"waker\":{\"pid\":20,\"tid\":21,\"comm\":\"writer\",\"reason\":\"pipe\",\"share\":0.5},\"object\":{\"kind\":\"pipe\",\"name\":\"pipe:[7]\",\"peer\":{\"pid\":20,\"comm\":\"writer\"},\"peer_count\":1}},\n"
		"    {\"tid\":12,\"comm\":\"stuck\",\"state\":\"D\",\"reason\":\"disk\",\"blocked_for_ns\":2000000000,\"blocked_before\":true,\"wait_channel\":\"io_schedule\",\"kernel_stack\":[\"io_schedule\",\"wait\\\\x1b\"],\"waker\":{\"pid\":0,\"tid\":0,\"reason\":\"disk\",\"share\":1}}\n"
		"  ]\n"
		"}\n");
}

static void json_of_one_that_ended_is_of_what_was_seen_before(void **state)
{
	struct why why = plain_answer();

	(void)state;
	why.threads.count = 0;
	why.after = (struct process_state){ .denied = true };
	why.before.tracer_pid = 5;
	memcpy(why.before.tracer_comm, "gdb", 4);
	why.before.is_kernel_thread = true;
	why.ended = why.has_status = true;
	why.status = 3 << 8;
	why.by_children = true;
	judge(&why, CAUSE_NONE);
	snprintf(why.problem.message, sizeof(why.problem.message), "no way");
	assert_printed(why_print_json, &why,
		       "{\n"
		       "  \"format\": \"taskscope-why\",\n"
		       "  \"version\": 2,\n"
		       "  \"kind\": \"why\",\n"
		       "  \"pid\": 10,\n"
		       "  \"comm\": \"m\\\\x1bz\",\n"
		       "  \"state\": \"S\",\n"
		       "  \"parent_pid\": 0,\n"
		       "  \"tracer_pid\": 5,\n"
		       "  \"tracer_comm\": \"gdb\",\n"
		       "  \"kernel_thread\": true,\n"
		       "  \"ended\": true,\n"
		       "  \"exit_code\": 3,\n"
		       "  \"watched_ns\": 2000000000,\n"
		       "  \"thread_count\": 9,\n"
		       "  \"answer\": \"it computes\",\n"
		       "  \"verdict\": {\n"
		       "    \"class\": \"cpu_bound\",\n"
		       "    \"cause\": \"none\",\n"
		       "    \"score\": 0,\n"
		       "    \"confidence\": 0.75,\n"
		       "    \"evidence\": [\"first fact\",\"second fact\"],\n"
		       "    \"hint\": \"look there\"\n"
		       "  },\n"
		       "  \"by_children\": true,\n"
		       "  \"not_watched\": \"no way\",\n"
		       "  \"denied\": true,\n"
		       "  \"late\": false,\n"
		       "  \"threads\": []\n"
		       "}\n");
	why.status = SIGKILL;
	assert_part(why_print_json, &why, "\"signal\": 9,\n  \"signal_name\": \"SIGKILL\",", true);
	assert_part(why_print_json, &why, "exit_code", false);
	why.has_status = false;
	assert_part(why_print_json, &why, "signal", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_the_answer_and_a_row_for_each_thread),
		cmocka_unit_test(text_has_the_verdict_with_its_evidence),
		cmocka_unit_test(text_says_what_could_not_be_seen),
		cmocka_unit_test(the_dead_have_no_threads_to_show),
		cmocka_unit_test(the_answer_has_twelve_lines_and_the_other_threads_are_counted),
		cmocka_unit_test(a_deadlock_is_in_the_json),
		cmocka_unit_test(json_has_all_and_no_keys_for_what_is_not_known),
		cmocka_unit_test(json_of_one_that_ended_is_of_what_was_seen_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
