/* SPDX-License-Identifier: MIT */
/* What the files of a task tell of it, and of the program that it runs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "trace/proc/proc_sample.h"

#define TICK_NS 10000000
#define FORKED_NO_EXEC 0x40 /* PF_FORKNOEXEC */
#define CODE 0x55d0a000
#define STACK 0x7ffd1000
#define ARGUMENTS 0x7ffd1800

struct stat_line {
	char state;
	unsigned flags;
	uint64_t code, stack;
};

/* Up to the exit code, the 52nd; fields without a say in it have their number for a value. */
static struct proc_sample sample_thread(struct stat_line line)
{
	struct proc_sample sample = { 0 };
	char text[1024];

	snprintf(text, sizeof(text),
		 "7 (a (b) c) %c 4 5 6 7 8 %u 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 "
		 "%ju 27 %ju 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 %ju 49 50 51 "
		 "52\n",
		 line.state, line.flags, (uintmax_t)line.code, (uintmax_t)line.stack,
		 (uintmax_t)ARGUMENTS);
	assert_true(proc_sample_parse_stat(text, TICK_NS, &sample));
	return sample;
}

static void each_field_is_found_behind_a_name_with_parentheses(void **state)
{
	struct proc_sample sample = sample_thread((struct stat_line){ 'S', 0, CODE, STACK });

	(void)state;
	assert_string_equal(sample.comm, "a (b) c");
	assert_int_equal(sample.state, 'S');
	assert_int_equal(sample.parent_pid, 4);
	assert_int_equal(sample.start_ns, 22 * (uint64_t)TICK_NS);
	assert_int_equal(sample.waited_ns, (16 + 17) * (uint64_t)TICK_NS);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_run_time_ns),
			 (14 + 15) * (uint64_t)TICK_NS);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_utime_ns), 14 * (uint64_t)TICK_NS);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_stime_ns), 15 * (uint64_t)TICK_NS);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_minflt), 10);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_majflt), 12);
	assert_int_equal(sample.status, 52);
}

static void a_process_that_runs_its_program_has_executed_it(void **state)
{
	struct proc_sample sample = sample_thread((struct stat_line){ 'R', 0, CODE, STACK });
	struct proc_sample other = sample_thread((struct stat_line){ 'R', 0, CODE, STACK + 16 });

	(void)state;
	assert_true(sample.has_executed);
	assert_true(sample.image != 0 && other.image != 0);
	assert_true(sample.image != other.image);
}

static void one_that_was_forked_runs_the_program_of_its_parent(void **state)
{
	struct proc_sample sample =
		sample_thread((struct stat_line){ 'R', FORKED_NO_EXEC, CODE, STACK });
	struct proc_sample parent = sample_thread((struct stat_line){ 'R', 0, CODE, STACK });

	(void)state;
	assert_false(sample.has_executed);
	assert_true(sample.image == parent.image);
}

static void one_in_the_middle_of_an_exec_did_not_execute_yet(void **state)
{
	static const struct stat_line lines[] = {
		{ 'R', 0, 0, 0 },
		{ 'R', 0, 0, STACK },
		{ 'D', 0, CODE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct proc_sample sample = sample_thread(lines[i]);

		assert_false(sample.has_executed);
		assert_true(sample.image == 0);
	}
}

/* The kernel shows such ones the same addresses for every program. */
static void one_that_may_not_be_seen_counts_as_executed(void **state)
{
	struct proc_sample sample = sample_thread((struct stat_line){ 'S', 0, 1, 0 });

	(void)state;
	assert_true(sample.has_executed);
	assert_true(sample.image != 0);
}

static void a_dead_one_has_no_program_but_had_one(void **state)
{
	struct proc_sample dead = sample_thread((struct stat_line){ 'Z', 0, 0, 0 });
	struct proc_sample forked = sample_thread((struct stat_line){ 'X', FORKED_NO_EXEC, 0, 0 });
	struct proc_sample leader = sample_thread((struct stat_line){ 'Z', 0, CODE, STACK });

	(void)state;
	assert_true(dead.is_dead && dead.has_executed);
	assert_true(dead.image == 0);
	assert_true(forked.is_dead && !forked.has_executed);
	assert_true(leader.has_executed && leader.image == 0);
}

static void a_line_that_is_cut_before_the_start_time_is_none(void **state)
{
	struct proc_sample sample = { 0 };

	(void)state;
	assert_false(proc_sample_parse_stat("", TICK_NS, &sample));
	assert_false(proc_sample_parse_stat("7 (x", TICK_NS, &sample));
	assert_false(proc_sample_parse_stat("7 (x) ", TICK_NS, &sample));
	assert_false(proc_sample_parse_stat(
		"7 (x) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", TICK_NS, &sample));
	assert_true(sample.start_ns == 0 && sample.state == 0);
}

static void expect(const struct proc_sample *sample, enum amount_id id, uint64_t value)
{
	assert_true(amounts_has(&sample->counters, id));
	assert_int_equal(amounts_get(&sample->counters, id), value);
}

static void schedstat_has_three_numbers(void **state)
{
	struct proc_sample sample = { 0 };

	(void)state;
	proc_sample_parse_schedstat("", &sample);
	proc_sample_parse_schedstat("5", &sample);
	proc_sample_parse_schedstat("5 6", &sample);
	proc_sample_parse_schedstat("5 6 x", &sample);
	proc_sample_parse_schedstat("5-6 7", &sample);
	proc_sample_parse_schedstat("5 6-7", &sample);
	assert_false(amounts_has(&sample.counters, AMOUNT_wait_time_ns) ||
		     amounts_has(&sample.counters, AMOUNT_run_time_ns));
	proc_sample_parse_schedstat("5 6 7\n", &sample);
	expect(&sample, AMOUNT_run_time_ns, 5);
	assert_true(amounts_has(&sample.counters, AMOUNT_wait_time_ns));
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_wait_time_ns), 6);
	assert_int_equal(amounts_get(&sample.counters, AMOUNT_wait_count), 7);
}

static void lines_are_found_by_their_keys(void **state)
{
	struct proc_sample sample = { 0 };

	(void)state;
	proc_sample_parse_io(
		"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
		"cancelled_write_bytes: 7\n",
		&sample);
	expect(&sample, AMOUNT_rchar, 1);
	expect(&sample, AMOUNT_wchar, 2);
	expect(&sample, AMOUNT_syscr, 3);
	expect(&sample, AMOUNT_syscw, 4);
	expect(&sample, AMOUNT_read_bytes, 5);
	expect(&sample, AMOUNT_write_bytes, 6);
	proc_sample_parse_status("Name:\tx\nVmRSS:\t 9 kB\n", &sample);
	assert_false(sample.has_peak);
	proc_sample_parse_status("Name:\tx\nVmHWM:\t   8 kB\nvoluntary_ctxt_switches:\t10\n"
				 "nonvoluntary_ctxt_switches:\t11",
				 &sample);
	assert_true(sample.has_peak);
	assert_int_equal(sample.peak_rss_bytes, 8 * 1024);
	expect(&sample, AMOUNT_voluntary_csw, 10);
	expect(&sample, AMOUNT_nonvoluntary_csw, 11);
}

static bool has(const struct proc_numbers *tasks, int32_t number)
{
	for (size_t i = 0; i < tasks->list.count; i++)
		if (tasks->list.data[i] == number)
			return true;
	return false;
}

/* A child that waits to be killed, by what proc shows of it while it lives and after. */
static void a_process_that_lives_is_seen_with_all_its_files(void **state)
{
	struct deadline_threads reader = { 0 };
	char buffer[TREE_ARGUMENTS_MAX + 2], own[TREE_ARGUMENTS_MAX + 2];
	struct tree_exec arguments, ours;
	struct error error = { 0 };
	struct proc_numbers tasks = { 0 };
	struct proc_sample sample, whole;
	struct host *host;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		for (;;)
			pause();
	assert_int_equal(host_open(&host, NULL, &error), 0);
	assert_true(proc_numbers_are_ours(host));
	assert_int_equal(proc_sample_thread(host, &reader, child, child, &sample), 0);
	assert_int_equal(proc_sample_process(host, child, &whole), 0);
	assert_int_equal(sample.parent_pid, getpid());
	assert_int_equal(whole.start_ns, sample.start_ns);
	assert_true(sample.has_peak && amounts_has(&sample.counters, AMOUNT_wait_time_ns));
	assert_true(amounts_has(&sample.counters, AMOUNT_voluntary_csw));
	assert_true(amounts_has(&sample.counters, AMOUNT_rchar));
	assert_true(proc_sample_may_see_status(host, child));
	assert_int_equal(proc_list_threads(host->proc, child, &tasks), 0);
	assert_int_equal(tasks.list.count, 1);
	assert_true(has(&tasks, child));
	assert_int_equal(proc_list(host->proc, ".", &tasks), 0);
	assert_true(has(&tasks, child) && has(&tasks, getpid()));
	tasks.list.count = 0;
	if (proc_sample_knows_children(host)) {
		assert_int_equal(proc_sample_list_children(host, getpid(), getpid(), &tasks), 0);
		assert_int_equal(tasks.list.count, 1);
		assert_true(has(&tasks, child));
	}
	assert_int_equal(proc_sample_arguments(host, &reader, child, 0, buffer, &arguments), 0);
	assert_int_equal(proc_sample_arguments(host, &reader, getpid(), 0, own, &ours), 0);
	assert_int_equal(arguments.length, ours.length);
	assert_memory_equal(arguments.arguments, ours.arguments, ours.length);
	assert_false(arguments.cut);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(proc_sample_thread(host, &reader, child, child, &sample), -ESRCH);
	assert_int_equal(proc_sample_process(host, child, &sample), -ESRCH);
	assert_int_equal(proc_list_threads(host->proc, child, &tasks), -ENOENT);
	assert_int_equal(proc_sample_list_children(host, child, child, &tasks), -ESRCH);
	assert_int_equal(proc_sample_arguments(host, &reader, child, 0, buffer, &arguments),
			 -ESRCH);
	array_free(&tasks.list);
	deadline_threads_clear(&reader);
	host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_found_behind_a_name_with_parentheses),
		cmocka_unit_test(a_process_that_runs_its_program_has_executed_it),
		cmocka_unit_test(one_that_was_forked_runs_the_program_of_its_parent),
		cmocka_unit_test(one_in_the_middle_of_an_exec_did_not_execute_yet),
		cmocka_unit_test(one_that_may_not_be_seen_counts_as_executed),
		cmocka_unit_test(a_dead_one_has_no_program_but_had_one),
		cmocka_unit_test(a_line_that_is_cut_before_the_start_time_is_none),
		cmocka_unit_test(schedstat_has_three_numbers),
		cmocka_unit_test(lines_are_found_by_their_keys),
		cmocka_unit_test(a_process_that_lives_is_seen_with_all_its_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
