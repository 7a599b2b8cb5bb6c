/* SPDX-License-Identifier: MIT */
/* Files of runs from anyone: what is read, what is left out, what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "model/tree/run.h"
#include "store/run/run_file.h"

#define METADATA "{\"kind\":\"metadata\",\"version\":2,\"ts_ms\":1,\"pid\":7,\"cmd\":[\"a\"]}\n"

static int read_bytes(const void *bytes, size_t size, struct run **ret, struct error *error)
{
	FILE *in = fmemopen((void *)bytes, size, "r");
	int status = run_file_read_stream(in, "it", ret, error);

	fclose(in);
	return status;
}

static struct run *read_text(const char *text)
{
	struct error error = { 0 };
	struct run *run = NULL;

	if (read_bytes(text, strlen(text), &run, &error) < 0)
		fail_msg("%s", error.message);
	return run;
}

static void assert_refused(const void *bytes, size_t size, const char *sentence)
{
	struct error error = { 0 };
	struct run *run = NULL;

	assert_true(read_bytes(bytes, size, &run, &error) < 0);
	assert_null(run);
	assert_string_equal(error.message, sentence);
}

static void a_line_that_is_cut_off_is_left_out_and_counted(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run =
		read_text(METADATA "{\"kind\":\"exit\",\"pid\":9,\"stime_ns\":0,\"utime_ns\":5}\n"
				   "{\"kind\":\"exit\",\"pid\":10,\"utim");

	(void)state;
	assert_int_equal(run->tree->exited, 1);
	assert_int_equal(amounts_cpu_ns(&run->tree->amounts), 5);
	assert_int_equal(run->losses.lines, 1);
	assert_string_equal(run_source(run, "file")->reason, "its last line is cut off");
}

static void kinds_and_keys_that_are_not_known_are_skipped(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run =
		read_text("{\"kind\":\"hologram\",\"x\":[1,2]}\n" METADATA
			  "{\"kind\":\"exit\",\"pid\":9,\"new_key\":{\"a\":[]},\"exit_code\":"
			  "3}\n\n");

	(void)state;
	assert_int_equal(run->tree->failed, 1);
	assert_int_equal(run->losses.lines, 0);
	assert_null(run_source(run, "file"));
}

static void values_of_the_wrong_type_are_absent(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		"{\"kind\":\"summary\",\"version\":2,\"pid\":\"x\",\"cmd\":5,\"wall_ns\":-3,\"exit_code\":900,"
		"\"utime_ns\":\"7\",\"wait_lock_ns\":[1],\"threads\":[3,{}],\"running_processes\":{},"
		"\"sources\":[{\"name\":\"a\"}],\"top_waits\":[{\"reason\":\"magic\"}],"
		"\"syscalls\":{\"table\":[{\"name\":3}]},\"losses\":null,\"self\":\"me\"}\n");

	(void)state;
	assert_false(run->has_status);
	assert_int_equal(run_wall_ns(run), 0);
	assert_int_equal(run->tree->amounts.present, 0);
	assert_int_equal(run->tree->top_wait_count, 0);
	assert_int_equal(run->tree->syscalls.count, 0);
	assert_int_equal(run->source_count, 1);
	assert_string_equal(run_source(run, "file")->reason, "its summary cannot be read in full");
	assert_int_equal(run->end, RUN_EXITED);
}

#define FORK(pid) "{\"kind\":\"event\",\"event\":\"fork\",\"pid\":" #pid ",\"tid\":" #pid "}\n"
#define EXEC(pid) "{\"kind\":\"event\",\"event\":\"exec\",\"pid\":" #pid ",\"tid\":" #pid "}\n"

static void a_file_without_a_summary_counts_its_events(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA FORK(7) EXEC(7) FORK(8) EXEC(
		8) "{\"kind\":\"sample\",\"time_ns\":5,\"processes_alive\":3,\"threads_alive\":4}\n"
		   "{\"kind\":\"exit\",\"pid\":8,\"threads_ever\":1,\"execs\":1,\"wall_ns\":9}\n" FORK(
			   9));

	(void)state;
	assert_int_equal(run->tree->forks, 3);
	assert_int_equal(run->tree->execs, 2);
	assert_int_equal(run->tree->processes, 3);
	assert_int_equal(run->tree->exited, 1);
	assert_int_equal(run->tree->live_processes, 2);
	assert_int_equal(run->tree->most_processes, 3);
	assert_int_equal(run->tree->most_threads, 4);
	assert_int_equal(run->tree->unknown, 0);
}

static void living_tasks_have_another_name_in_older_files(void **state)
{
	static const char *const files[] = {
		METADATA "{\"kind\":\"sample\",\"process_count\":3,\"thread_count\":4}\n"
			 "{\"kind\":\"summary\",\"process_count\":3,\"thread_count\":4}\n",
		METADATA "{\"kind\":\"sample\",\"processes_alive\":3,\"threads_alive\":4}\n"
			 "{\"kind\":\"summary\",\"processes_alive\":3,\"threads_alive\":4}\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		CLEANUP(run_free_pointer) struct run *run = read_text(files[i]);

		assert_int_equal(run->past.samples.data[0].processes, 3);
		assert_int_equal(run->past.samples.data[0].threads, 4);
		assert_int_equal(run->tree->live_processes, 3);
		assert_int_equal(run->tree->live_threads, 4);
	}
}

static void a_command_line_that_was_not_known_is_not_that_of_the_parent(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		METADATA "{\"kind\":\"event\",\"event\":\"exec\",\"pid\":7,\"cmd\":[\"a\"]}\n"
			 "{\"kind\":\"event\",\"event\":\"fork\",\"pid\":8,\"ppid\":7}\n"
			 "{\"kind\":\"event\",\"event\":\"exec\",\"pid\":8,\"cmd\":[]}\n"
			 "{\"kind\":\"exit\",\"pid\":8,\"execs\":1}\n");

	(void)state;
	assert_int_equal(run->tree->count, 2);
	assert_string_equal(run->tree->all[0]->arguments, "a");
	assert_null(run->tree->all[1]->arguments);
}

static void what_names_no_process_is_not_running(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA "{\"kind\":\"tree\",\"processes\":[3,{\"pid\":7}]}\n");

	(void)state;
	assert_int_equal(run->tree->processes, 1);
	assert_int_equal(run->tree->count, 1);
}

static void counts_that_no_line_tells_are_not_known(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA "{\"kind\":\"exit\",\"pid\":7,\"execs\":1}\n");

	(void)state;
	assert_int_equal(run->tree->unknown, TREE_UNKNOWN_FORKS | TREE_UNKNOWN_MOST_PROCESSES |
						     TREE_UNKNOWN_MOST_THREADS);
	assert_int_equal(run->tree->execs, 1);
}

static void a_summary_that_does_not_tell_the_end_is_no_file_that_was_cut_off(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run =
		read_text(METADATA "{\"kind\":\"exit\",\"pid\":7,\"wall_ns\":9}\n"
				   "{\"kind\":\"summary\",\"end\":-1,\"wall_ns\":1e300}\n");

	(void)state;
	assert_int_equal(run->end, RUN_EXITED);
	assert_int_equal(run_wall_ns(run), 9);
	assert_string_equal(run_source(run, "file")->reason, "its summary cannot be read in full");
}

static void numbers_that_are_too_large_are_no_whole_numbers(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		"{\"kind\":\"summary\",\"version\":2,\"wall_ns\":5,\"stime_ns\":0,\"utime_ns\":"
		"9223372036854775808,\"stime_ns\":99999999999999999999999}\n");

	(void)state;
	assert_int_equal(run_wall_ns(run), 5);
	assert_true(amounts_cpu_ns(&run->tree->amounts) == UINT64_C(9223372036854775808));
	assert_false(amounts_has(&run->tree->amounts, AMOUNT_stime_ns));
}

static void sums_that_are_too_large_stay_at_the_maximum(void **state)
{
#define MOST "9223372036854775807"
#define CALL(name)                                                                                 \
	"{\"name\":\"" name "\",\"count\":" MOST ",\"histogram\":"                                 \
	"[[128," MOST "],[128," MOST "],[128," MOST "]]}"
	CLEANUP(run_free_pointer)
	struct run *run =
		read_text(METADATA "{\"kind\":\"exit\",\"pid\":9,\"syscalls\":{\"table\":[" CALL(
			"read") "," CALL("write") "," CALL("pread64") "]}}\n");
	const struct syscall_table *table = &run->tree->syscalls;

	(void)state;
	assert_int_equal(table->count, 3);
	assert_true(table->by_category[table->rows[0].category] == UINT64_MAX);
	assert_true(table->rows[0].stats.buckets[0] == UINT64_MAX);
}

static void a_process_ends_when_its_line_says(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		METADATA
		"{\"kind\":\"exit\",\"pid\":7,\"begin_ns\":2,\"wall_ns\":5,\"threads_ever\":2,\"threads\":["
		"{\"pid\":7,\"tid\":7,\"begin_ns\":2,\"wall_ns\":9,\"ended\":true},"
		"{\"pid\":7,\"tid\":8,\"begin_ns\":3,\"wall_ns\":1,\"ended\":true}]}\n");

	(void)state;
	assert_int_equal(run->tree->root->begin_ns, 2);
	assert_int_equal(run->tree->root->end_ns, 7);
}

#define OWNER(start) "\"pid\":9,\"tid\":9,\"start_time_ns\":" #start

/* The exit lines of a number's owners may all come after the beginnings of the next ones. */
static void an_exit_line_is_of_the_process_that_it_names(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA "{\"kind\":\"event\",\"event\":\"fork\"," OWNER(
		10) "}\n"
		    "{\"kind\":\"event\",\"event\":\"fork\"," OWNER(
			    20) "}\n"
				"{\"kind\":\"event\",\"event\":\"exec\",\"comm\":\"next\"," OWNER(
					20) "}\n"
					    "{\"kind\":\"event\",\"event\":\"fork\"," OWNER(
						    30) "}\n"
							"{\"kind\":\"exit\",\"exit_code\":1,\"utime_ns\":5,\"stime_ns\":0," OWNER(
								10) "}\n"
								    "{\"kind\":\"exit\",\"exit_code\":2,\"utime_ns\":7,\"stime_ns\":0," OWNER(
									    20) "}\n");
	const struct tree *tree = run->tree;
	int code;

	(void)state;
	assert_int_equal(tree->count, 3);
	assert_int_equal(tree->processes, 3);
	assert_int_equal(tree->exited, 2);
	assert_int_equal(tree->failed, 2);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 12);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tree->all[i]->key.start_ns, 10 * (i + 1));
	assert_true(tree_process_exit_code(tree->all[0], &code));
	assert_int_equal(code, 1);
	assert_true(tree_process_exit_code(tree->all[1], &code));
	assert_int_equal(code, 2);
	assert_string_equal(tree->all[1]->comm, "next");
	assert_false(tree->all[2]->exited);
}

static void a_beginning_without_an_exit_line_before_it_is_not_forgotten(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA "{\"kind\":\"event\",\"event\":\"fork\"," OWNER(
		10) "}\n"
		    "{\"kind\":\"event\",\"event\":\"fork\"," OWNER(20) "}\n");

	(void)state;
	assert_int_equal(run->tree->processes, 2);
	assert_int_equal(run->tree->forks, 2);
}

static void all_times_count_from_the_beginning_in_the_summary(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		"{\"kind\":\"metadata\",\"version\":2,\"pid\":7,\"begin_monotonic_ns\":1000}\n"
		"{\"kind\":\"exit\",\"pid\":7,\"wall_ns\":50,\"threads_ever\":2,\"threads\":["
		"{\"pid\":7,\"tid\":8,\"begin_ns\":3,\"wall_ns\":1}]}\n"
		"{\"kind\":\"summary\",\"end\":\"exited\",\"begin_monotonic_ns\":5000,\"wall_ns\":90}\n");

	(void)state;
	assert_int_equal(run->tree->root->end_ns, 5050);
	assert_int_equal(run->tree->ended_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(run->tree->ended[i]->begin_ns >= 5000);
		assert_true(run->tree->ended[i]->end_ns >= run->tree->ended[i]->begin_ns);
	}
}

static void of_several_runs_the_last_one_counts(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(METADATA "{\"kind\":\"exit\",\"pid\":9}\n"
					     "{\"kind\":\"summary\",\"exit_code\":1,\"pid\":7}\n"
					     "{\"kind\":\"metadata\",\"pid\":8}\n");

	(void)state;
	assert_int_equal(run->pid, 8);
	assert_int_equal(run->tree->exited, 0);
	assert_int_equal(run->end, RUN_UNFINISHED);
	assert_string_equal(run_source(run, "file")->reason, "it has 2 runs, this is the last");
}

static void the_end_of_the_command_is_known_from_its_exit_line(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run =
		read_text(METADATA "{\"kind\":\"exit\",\"pid\":7,\"signal\":9,\"sender_pid\":3,"
				   "\"sender\":\"a name that is too long\",\"wall_ns\":77}\n");

	(void)state;
	assert_true(run->has_status);
	assert_int_equal(run->status, 9);
	assert_int_equal(run->killer_pid, 3);
	assert_string_equal(run->killer_comm, "a name that is ");
	assert_int_equal(run_wall_ns(run), 77);
	assert_int_equal(run->tree->root->key.pid, 7);
}

static void what_ended_after_the_last_sample_is_not_forgotten(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		METADATA
		"{\"kind\":\"exit\",\"pid\":9,\"stime_ns\":0,\"utime_ns\":50,\"read_bytes\":8}\n"
		"{\"kind\":\"sample\",\"time_ns\":100,\"stime_ns\":0,\"utime_ns\":60,\"processes_ever\":2,"
		"\"processes_alive\":1,\"mem_rss_kb\":4,\"read_bytes\":8}\n"
		"{\"kind\":\"exit\",\"pid\":7,\"stime_ns\":0,\"utime_ns\":30,\"begin_ns\":0,\"wall_ns\":140}\n");

	(void)state;
	assert_int_equal(amounts_cpu_ns(&run->tree->amounts), 80);
	assert_int_equal(amounts_get(&run->tree->amounts, AMOUNT_read_bytes), 8);
	assert_int_equal(run->tree->processes, 2);
	assert_int_equal(run->tree->rss_bytes, 4096);
	assert_int_equal(run_wall_ns(run), 140);
}

static void samples_of_a_file_give_what_samples_of_a_run_give(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *run = read_text(
		METADATA
		"{\"kind\":\"sample\",\"time_ns\":100000000,\"stime_ns\":0,\"utime_ns\":60000000}\n"
		"{\"kind\":\"sample\",\"time_ns\":200000000,\"mem_rss_kb\":4,\"stime_ns\":0,\"utime_ns\":90000000}\n"
		"{\"kind\":\"sample\",\"time_ns\":300000000,\"mem_rss_kb\":8,\"stime_ns\":0,\"utime_ns\":80000000}\n");

	(void)state;
	assert_int_equal(run->sampling.samples, 3);
	assert_int_equal(run->sampling.covered_ns, 200000000);
	assert_int_equal(run->sampling.rss_ns, 100000000);
	assert_true(run->sampling.rss_average.value == 6144);
	assert_int_equal(run->sampling.peak_rss_bytes.value, 8192);
	assert_false(run->sampling.most_fds.present);
	assert_true(run->sampling.cores_peak.value > 0.299);
	assert_true(run->sampling.cores_peak.value < 0.301);
}

static void the_command_is_the_first_that_had_its_number(void **state)
{
	CLEANUP(run_free_pointer)
	struct run *cut = read_text(
		METADATA "{\"kind\":\"exit\",\"pid\":7,\"start_time_ns\":5,\"exit_code\":3}\n"
			 "{\"kind\":\"exit\",\"pid\":7,\"start_time_ns\":9,\"exit_code\":4}\n");
	CLEANUP(run_free_pointer)
	struct run *whole =
		read_text("{\"kind\":\"summary\",\"version\":2,\"pid\":7,\"exit_code\":3,"
			  "\"running_processes\":[{\"pid\":7,\"start_time_ns\":9,"
			  "\"running\":true}],\"top_processes\":["
			  "{\"pid\":7,\"start_time_ns\":8},"
			  "{\"pid\":7,\"start_time_ns\":5},"
			  "{\"pid\":6,\"start_time_ns\":4}]}\n");

	(void)state;
	assert_int_equal(cut->tree->root->key.start_ns, 5);
	assert_int_equal(cut->status, 3 << 8);
	assert_int_equal(whole->tree->root->key.start_ns, 5);
}

static void no_more_threads_are_kept_than_a_summary_names(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;

	(void)state;
	text_append_string(&text,
			   "{\"kind\":\"summary\",\"version\":2,\"pid\":7,\"threads_omitted\":3,"
			   "\"running_processes\":[{\"pid\":7,\"running\":true}],"
			   "\"threads\":[{\"pid\":7}");
	for (int i = 1; i < 100000; i++)
		text_format(&text, ",{\"pid\":7,\"tid\":%d}", 100 + i);
	text_append_string(&text, "]}\n");
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->root->live_count, RUN_THREADS_MAX);
	assert_int_equal(run->tree->folded_threads, 100000 - RUN_THREADS_MAX + 3);
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Each exit is of a former owner of a number, and there are many live processes to mistake it for. */
static void exits_of_unknown_processes_do_not_cost_more_the_more_there_are(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;
	double begin = cpu_seconds();

	(void)state;
	text_append_string(&text, METADATA);
	for (int i = 1; i <= 50000; i++)
		text_format(&text,
			    "{\"kind\":\"event\",\"event\":\"fork\",\"pid\":%d,"
			    "\"start_time_ns\":1000000}\n",
			    i);
	for (int i = 1; i <= 50000; i++)
		text_format(&text, "{\"kind\":\"exit\",\"pid\":7,\"start_time_ns\":%d}\n", i);
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->threads, 100000);
	assert_true(cpu_seconds() - begin < 20); /* 1 s; it was more than 60 s */
}

static void processes_that_have_one_number_in_turn_take_no_memory(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;

	(void)state;
	text_append_string(&text, METADATA);
	for (int i = 1; i <= 3 * TREE_KEPT; i++)
		text_format(&text,
			    "{\"kind\":\"event\",\"event\":\"fork\",\"pid\":7,"
			    "\"start_time_ns\":%d}\n",
			    i);
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->processes, 3 * TREE_KEPT);
	assert_true(run->tree->count <= TREE_KEPT + 2);
}

static void append_processes(struct text *text, const char *key, int count)
{
	text_format(text, ",\"%s\":[{\"pid\":7}", key);
	for (int i = 1; i < count; i++)
		text_format(text, ",{\"pid\":%d,\"threads_ever\":2,\"ended\":true}", 100 + i);
	text_append_string(text, "]");
}

static void no_more_processes_are_read_than_a_summary_names(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL, *other = NULL;

	(void)state;
	text_append_string(&text, "{\"kind\":\"summary\",\"version\":2,\"pid\":7");
	append_processes(&text, "running_processes", 200000);
	text_append_string(&text, "}\n");
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->count, RUN_RUNNING_MAX);
	text_clear(&text);
	text_append_string(&text, "{\"kind\":\"summary\",\"version\":2,\"pid\":7");
	append_processes(&text, "top_processes", 200000);
	append_processes(&text, "threads", 200000);
	text_append_string(&text, "}\n");
	other = read_text(text_string(&text));
	assert_int_equal(other->tree->exited, RUN_TOP_PROCESSES);
}

static void more_processes_than_are_kept_are_counted(void **state)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;

	(void)state;
	text_append_string(&text, METADATA FORK(7));
	for (int i = 1; i <= TREE_KEPT + 100; i++)
		text_format(
			&text,
			"{\"kind\":\"exit\",\"pid\":%d,\"stime_ns\":0,\"utime_ns\":%d,\"cmd\":[\"a\"]}\n",
			100 + i, i);
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->count, 1 + TREE_KEPT);
	assert_int_equal(run->tree->exited, TREE_KEPT + 100);
	assert_int_equal(run->tree->folded_processes, 100);
	for (size_t i = 0; i < run->tree->count; i++)
		assert_true(run->tree->all[i] == run->tree->root ||
			    amounts_cpu_ns(&run->tree->all[i]->amounts) > 100);
}

/* The summary says when the run really began: all times move by the difference. */
static void times_of_all_programs_count_from_the_same_beginning(void **state)
{
	const int count = 1 + TREE_KEPT + TREE_PROGRAMS + 10; /* the root is always kept */
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;

	(void)state;
	text_append_string(&text, "{\"kind\":\"metadata\",\"version\":2,\"pid\":7,"
				  "\"begin_monotonic_ns\":1000}\n");
	for (int i = 1; i <= count; i++)
		text_format(&text,
			    "{\"kind\":\"exit\",\"pid\":%d,\"comm\":\"p%d\",\"begin_ns\":40,"
			    "\"wall_ns\":2,\"stime_ns\":0,\"utime_ns\":%d}\n",
			    100 + i, i, count - i);
	text_append_string(&text, "{\"kind\":\"summary\",\"version\":2,\"pid\":7,"
				  "\"begin_monotonic_ns\":1300,\"wall_ns\":99}\n");
	run = read_text(text_string(&text));
	assert_int_equal(run->tree->program_count, TREE_PROGRAMS);
	assert_int_equal(run->tree->programs[0].begin_ns, 1340);
	assert_int_equal(run->tree->programs[0].end_ns, 1342);
	assert_int_equal(run->tree->other_programs.processes, 10);
	assert_int_equal(run->tree->other_programs.begin_ns, 1340);
	assert_int_equal(run->tree->other_programs.end_ns, 1342);
}

static void runs_of_another_version_are_refused_with_a_sentence(void **state)
{
	static const char first[] = "{\"kind\":\"metadata\",\"format\":\"taskscope-run\","
				    "\"version\":1,\"pid\":7}\n";
	static const char summary[] = "{\"kind\":\"summary\",\"pid\":7,\"cpu_ns\":5}\n";
	static const char newer[] = "{\"kind\":\"metadata\",\"version\":3}\n";

	(void)state;
	assert_refused(first, sizeof(first) - 1,
		       "it is a run in version 1 of the format, and this taskscope reads version "
		       "2: run it again, or read it with the taskscope that wrote it");
	assert_refused(summary, sizeof(summary) - 1,
		       "it is a run in version 1 of the format, and this taskscope reads version "
		       "2: run it again, or read it with the taskscope that wrote it");
	assert_refused(newer, sizeof(newer) - 1,
		       "it is a run in version 3 of the format, and this taskscope reads version "
		       "2: run it again, or read it with the taskscope that wrote it");
}

static void other_files_are_refused_with_a_sentence(void **state)
{
	static const char snapshot[] = "\xd3TSC\r\n\x1a\n and more";
	static const char prose[] = "Dear reader,\nthis is a letter.\n";

	(void)state;
	assert_refused(snapshot, sizeof(snapshot) - 1,
		       "it is a snapshot: `taskscope show` shows it");
	assert_refused(prose, sizeof(prose) - 1,
		       "it is not a file of run: it has no line of kind metadata or summary");
}

static void a_line_with_more_values_than_a_run_has_is_refused(void **state)
{
	const size_t size = 5 << 20;
	CLEANUP(free_pointer) char *bytes = malloc(size);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, '[', size);
	assert_refused(bytes, size, "it is not a file of run: line 1 is larger than any");
}

static void an_endless_line_is_refused_before_it_fills_the_memory(void **state)
{
	struct error error = { 0 };
	struct run *run = NULL;
	FILE *in = fopen("/dev/zero", "r");

	(void)state;
	assert_non_null(in);
	assert_int_equal(run_file_read_stream(in, "it", &run, &error), -EFBIG);
	assert_string_equal(error.message, "it is not a file of run: line 1 is larger than any");
	fclose(in);
}

static void a_file_that_is_not_there_is_told(void **state)
{
	struct error error = { 0 };
	struct run *run = NULL;

	(void)state;
	assert_int_equal(run_file_read("/nowhere/at/all", &run, &error), -ENOENT);
	assert_string_equal(error.message,
			    "cannot open '/nowhere/at/all': No such file or directory");
	assert_int_equal(run_file_read("/", &run, &(struct error){ 0 }), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_that_is_cut_off_is_left_out_and_counted),
		cmocka_unit_test(kinds_and_keys_that_are_not_known_are_skipped),
		cmocka_unit_test(values_of_the_wrong_type_are_absent),
		cmocka_unit_test(a_file_without_a_summary_counts_its_events),
		cmocka_unit_test(living_tasks_have_another_name_in_older_files),
		cmocka_unit_test(a_command_line_that_was_not_known_is_not_that_of_the_parent),
		cmocka_unit_test(what_names_no_process_is_not_running),
		cmocka_unit_test(counts_that_no_line_tells_are_not_known),
		cmocka_unit_test(a_summary_that_does_not_tell_the_end_is_no_file_that_was_cut_off),
		cmocka_unit_test(numbers_that_are_too_large_are_no_whole_numbers),
		cmocka_unit_test(sums_that_are_too_large_stay_at_the_maximum),
		cmocka_unit_test(a_process_ends_when_its_line_says),
		cmocka_unit_test(an_exit_line_is_of_the_process_that_it_names),
		cmocka_unit_test(a_beginning_without_an_exit_line_before_it_is_not_forgotten),
		cmocka_unit_test(all_times_count_from_the_beginning_in_the_summary),
		cmocka_unit_test(of_several_runs_the_last_one_counts),
		cmocka_unit_test(the_end_of_the_command_is_known_from_its_exit_line),
		cmocka_unit_test(what_ended_after_the_last_sample_is_not_forgotten),
		cmocka_unit_test(samples_of_a_file_give_what_samples_of_a_run_give),
		cmocka_unit_test(the_command_is_the_first_that_had_its_number),
		cmocka_unit_test(no_more_threads_are_kept_than_a_summary_names),
		cmocka_unit_test(no_more_processes_are_read_than_a_summary_names),
		cmocka_unit_test(exits_of_unknown_processes_do_not_cost_more_the_more_there_are),
		cmocka_unit_test(processes_that_have_one_number_in_turn_take_no_memory),
		cmocka_unit_test(more_processes_than_are_kept_are_counted),
		cmocka_unit_test(times_of_all_programs_count_from_the_same_beginning),
		cmocka_unit_test(runs_of_another_version_are_refused_with_a_sentence),
		cmocka_unit_test(other_files_are_refused_with_a_sentence),
		cmocka_unit_test(a_line_with_more_values_than_a_run_has_is_refused),
		cmocka_unit_test(an_endless_line_is_refused_before_it_fills_the_memory),
		cmocka_unit_test(a_file_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
