/* SPDX-License-Identifier: MIT */
/* JSON lines of a run: their keys, what is left out, names of strangers. */
#include "watched_run.h"

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

struct buffer {
	FILE *file;
	char *text;
	size_t size;
};

static void free_buffer(struct buffer *buffer)
{
	if (buffer->file)
		fclose(buffer->file);
	free(buffer->text);
}

static void open_buffer(struct buffer *buffer)
{
	buffer->file = open_memstream(&buffer->text, &buffer->size);
	assert_non_null(buffer->file);
}

static const char *text_of(struct buffer *buffer)
{
	fflush(buffer->file);
	return buffer->text ? buffer->text : "";
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("%s in %s", part, text);
}

static struct run *empty_run(void)
{
	struct run *run;

	assert_int_equal(run_new(&run), 0);
	run->begin_ns = WATCHED_BEGIN;
	run->end_ns = WATCHED_BEGIN + SECOND;
	run->begin_unix_ns = 1700000000 * SECOND;
	return run;
}

static void each_line_begins_with_its_kind_and_time(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;
	size_t count = 0;

	(void)state;
	open_buffer(&lines);
	run = watched_run(lines.file);
	watched_summary(run, lines.file);
	for (const char *line = text_of(&lines); *line; line = strchr(line, '\n') + 1, count++) {
		size_t length = strcspn(line, "\n");

		assert_memory_equal(line, "{\"kind\":\"", 9);
		assert_memory_equal(line + 9 + strcspn(line + 9, "\""), "\",\"ts_ms\":1700000", 17);
		assert_int_equal(line[length - 1], '}');
		assert_null(memchr(line, '\033', length));
	}
	assert_int_equal(count, 10);
}

static void what_was_not_measured_has_no_key(void **state)
{
	static const char *const keys[] = {
		"exit_code", "\"signal\"",     "online_cpus",	  "rss_bytes\":0",
		"wait_",     "cpu_time_ns\":", "syscalls\":{",	  "offcpu",
		"tracer",    "io_some_us",     "oom_killed",	  "_peak\":",
		"average",   "shortest",       "command_wall_ns", "at_least",
	};
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();
	char *losses;

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	text_of(&line);
	assert_lacks(line.text, "hiwater_rss_bytes");
	assert_lacks(line.text, "rss_peak_bytes");
	losses = strstr(line.text, "\"losses\"");
	assert_non_null(losses);
	*losses = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_lacks(line.text, keys[i]);
	assert_has(line.text, "\"processes_ever\":0");
}

static void a_measured_zero_is_there(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"wait_network_ns\":0,\"wait_network_count\":0,"
				   "\"wait_network_max_ns\":0");
	assert_has(line.text, "\"write_bytes\":0");
	assert_has(line.text, "\"exit_code\":2");
}

static void errors_have_names_and_histograms_upper_ends(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "{\"name\":\"openat\",\"category\":\"file_io\",\"count\":25,"
				   "\"errors\":15,\"errnos\":{\"ENOENT\":10,\"ERESTARTSYS\":5}");
	assert_has(line.text, "\"histogram\":[[2048,20],[390000000000,5]]");
	assert_has(line.text, "\"top_syscalls\":[{\"name\":\"futex\",\"count\":50},"
			      "{\"name\":\"openat\",\"count\":25}]");
}

static void a_signal_has_its_name_and_sender(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	run->has_status = true;
	run->status = SIGTERM;
	run->killer_pid = 77;
	memcpy(run->killer_comm, "oomd", 5);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"signal\":15,\"signal_name\":\"SIGTERM\",\"sender_pid\":77,"
				   "\"sender\":\"oomd\"");
	assert_lacks(line.text, "exit_code");
}

static void names_of_strangers_are_escaped(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"\\\\x01\\\\x02worker\\\\x1b[31m\"");
	assert_has(line.text, "\"a \\\"b\\\".c\"");
	assert_null(memchr(line.text, '\033', line.size));
}

static void an_event_says_what_happened(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();
	struct tree_event event = watched_event(TREE_SIGNAL, 5, 5, 250);

	(void)state;
	open_buffer(&line);
	event.signal.number = SIGKILL;
	event.signal.sender_pid = 9;
	memcpy(event.signal.sender_comm, "bash", 5);
	run_json_event(line.file, run, &event);
	assert_string_equal(text_of(&line),
			    "{\"kind\":\"event\",\"ts_ms\":1700000000250,\"time_ns\":250000000,"
			    "\"event\":\"signal\",\"pid\":5,\"tid\":5,\"start_time_ns\":5000000000,"
			    "\"signal\":9,\"signal_name\":\"SIGKILL\",\"sender_pid\":9,"
			    "\"sender\":\"bash\"}\n");
}

static void an_event_of_a_new_process_or_program_names_it(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();
	struct tree_event fork = watched_event(TREE_FORK, 6, 7, 1);
	struct tree_event exec = watched_event(TREE_EXEC, 6, 6, 2);

	(void)state;
	open_buffer(&lines);
	fork.fork.parent_pid = 5;
	fork.fork.found = true;
	memcpy(fork.fork.comm, "sh", 3);
	run_json_event(lines.file, run, &fork);
	exec.task.start_ns = 0;
	memcpy(exec.exec.comm, "ls", 3);
	exec.exec.arguments = "ls\0-l";
	exec.exec.length = 6;
	exec.exec.cut = true;
	run_json_event(lines.file, run, &exec);
	assert_string_equal(text_of(&lines),
			    "{\"kind\":\"event\",\"ts_ms\":1700000000001,\"time_ns\":1000000,"
			    "\"event\":\"fork\",\"pid\":6,\"tid\":7,\"start_time_ns\":7000000000,"
			    "\"ppid\":5,\"comm\":\"sh\",\"found\":true}\n"
			    "{\"kind\":\"event\",\"ts_ms\":1700000000002,\"time_ns\":2000000,"
			    "\"event\":\"exec\",\"pid\":6,\"tid\":6,\"comm\":\"ls\","
			    "\"cmd\":[\"ls\",\"-l\"],\"cmd_cut\":true}\n");
}

static void a_sample_has_the_use_of_the_last_interval(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	watched_fork(run, 1, WATCHED_ROOT, WATCHED_ROOT, 0, "a");
	watched_account(run, WATCHED_ROOT, WATCHED_ROOT, 500,
			(struct watched_account){ .cpu_ms = 100 });
	run_sample(run, WATCHED_BEGIN + 500 * MILLISECOND);
	watched_account(run, WATCHED_ROOT, WATCHED_ROOT, 700,
			(struct watched_account){ .cpu_ms = 250 });
	run_sample(run, WATCHED_BEGIN + 700 * MILLISECOND);
	run_json_sample(line.file, run);
	assert_has(text_of(&line), "\"uptime_secs\":0.7,\"cpu_usage\":75,");
	assert_lacks(line.text, "mem_rss_kb");
}

static void the_host_has_the_names_that_monitors_share(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *host = NULL;

	(void)state;
	assert_int_equal(snapshot_new(&host), 0);
	open_buffer(&line);
	host->facts[FACT_kernel_release] = (struct fact){ .present = true, .text = "6.12.9" };
	host->facts[FACT_thp_enabled] =
		(struct fact){ .present = true, .text = "always [madvise] never" };
	host->facts[FACT_smt] = (struct fact){ .present = true, .text = "on" };
	host->facts[FACT_captured_at_unix_ns] =
		(struct fact){ .present = true, .number = 5 * SECOND };
	run_json_env(line.file, host);
	assert_string_equal(
		text_of(&line),
		"{\"kind\":\"env\",\"ts_ms\":5000,\"kernel\":\"6.12.9\","
		"\"smt_active\":true,\"kernel_release\":\"6.12.9\",\"smt\":\"on\","
		"\"thp_enabled\":\"always [madvise] never\",\"captured_at_unix_ns\":5000000000,"
		"\"readings\":{\"rows\":[],\"absent\":{},\"origins\":{}}}\n");
}

static void processes_beyond_the_limit_are_counted(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	for (int32_t pid = 10; pid < 15; pid++)
		watched_fork(run, 1, pid, pid, 0, "a");
	run_json_tree(line.file, run, 2);
	assert_has(text_of(&line), "\"processes_alive\":5");
	assert_has(line.text, "\"omitted\":3}");
	assert_lacks(line.text, "\"pid\":12");
}

static void threads_beyond_the_limit_are_counted(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	for (int32_t tid = 10; tid < 1013; tid++)
		watched_fork(run, 1, 10, tid, 0, "a");
	run_json_exit(line.file, run, run->tree->root);
	assert_has(text_of(&line), "\"threads_ever\":1003");
	assert_has(line.text, "\"tid\":1009");
	assert_lacks(line.text, "\"tid\":1010");
	assert_has(line.text, "\"threads_omitted\":3}");
}

/* A count of nothing is not written. */
static void where_all_are_told_nothing_is_omitted(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	for (int32_t tid = 10; tid < 12; tid++)
		watched_fork(run, 1, 10, tid, 0, "a");
	run_json_exit(line.file, run, run->tree->root);
	run_json_tree(line.file, run, 1);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"tid\":11");
	assert_lacks(line.text, "omitted");
}

static void a_summary_counts_what_it_leaves_out(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	for (int32_t pid = 10; pid < 10 + RUN_THREADS_MAX + 7; pid++)
		watched_fork(run, 1, pid, pid, 0, "a");
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"threads_omitted\":7");
	assert_has(line.text, "\"running_processes_omitted\":7199");
}

/* The kernel charges by its own clock, which may run ahead of the switches. */
static void time_on_a_cpu_and_what_was_charged_for_it_are_told_apart(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	amounts_set(&run->tree->amounts, AMOUNT_run_time_ns, 200);
	amounts_set(&run->tree->amounts, AMOUNT_utime_ns, 300);
	amounts_set(&run->tree->amounts, AMOUNT_stime_ns, 100);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"run_time_ns\":200,\"utime_ns\":300,\"stime_ns\":100,"
				   "\"cpu_time_ns\":400,");
}

static void time_of_processes_that_nobody_saw_is_told_apart(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_lacks(text_of(&line), "unseen");
	run->tree->unseen_cpu_ns = 7;
	rewind(line.file);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"threads_folded\":0,\"unseen_cpu_ns\":7");
}

static void what_only_the_kernel_side_knows_has_no_key_without_it(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();

	(void)state;
	open_buffer(&line);
	run->tracer = "procfs";
	amounts_set(&run->tree->amounts, AMOUNT_wait_time_ns, 0);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"wait_time_ns\":0");
	assert_lacks(line.text, "wait_max");
	assert_lacks(line.text, "wait_costly_ns");
	assert_lacks(line.text, "oom_kills");
	assert_lacks(line.text, "syscall_rate_per_sec");
	assert_lacks(line.text, "io_intensity");
	assert_lacks(line.text, "bottleneck_likelihood");
	assert_has(line.text, "\"basis\":\"none\"");
}

static void each_time_off_the_cpu_is_one_event(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"offcpu_count\":70,\"offcpu_max_ns\":979500000,"
				   "\"offcpu_min_ns\":250000,\"wait_disk_ns\":");
	assert_has(line.text, "\"offcpu\":{\"total_time_ns\":5329000000,\"total_events\":70,"
			      "\"avg_time_ns\":76128571,\"max_time_ns\":979500000,"
			      "\"min_time_ns\":250000,");
	assert_has(line.text, "\"120:120\":{\"tid\":120,\"total_time_ns\":0,\"count\":0}");
}

static void times_off_the_cpu_that_go_on_have_no_shortest(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();
	struct amounts *amounts = &run->tree->amounts;

	(void)state;
	open_buffer(&line);
	set_times(amounts, 0, 0);
	amounts_set(amounts, AMOUNT_wait_poll_ns, SECOND);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"total_time_ns\":1000000000,\"thread_stats\"");
	assert_lacks(line.text, "offcpu_count");
	set_offcpu(amounts, 1, SECOND, 0);
	rewind(line.file);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"offcpu_count\":1,\"offcpu_max_ns\":1000000000,");
	assert_has(line.text, "\"max_time_ns\":1000000000,\"thread_stats\"");
}

static void the_share_of_a_waker_is_of_waits_whose_waker_was_recorded(void **state)
{
	CLEANUP(free_buffer) struct buffer line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	open_buffer(&line);
	watched_summary(run, line.file);
	assert_has(text_of(&line), "\"total_ns\":1500000000,");
	assert_has(line.text, "\"recorded_ns\":1350000000,\"share\":1}");
}

static void phases_tell_what_was_not_measured(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	const char *text;

	(void)state;
	open_buffer(&lines);
	watched_summary(run, lines.file);
	assert_lacks(text_of(&lines), "\"phases\"");
	watched_phases(run);
	watched_summary(run, lines.file);
	text = text_of(&lines);
	assert_has(text,
		   "\"comm\":\"make\",\"label\":\"solve\",\"threads_ever\":2,\"wall_ns\":900000000,"
		   "\"run_time_ns\":300000000,\"off_cpu_ns\":600000000,\"off_cpu_exact\":true,"
		   "\"self_wall_ns\":500000000,\"self_run_time_ns\":100000000,"
		   "\"self_off_cpu_ns\":400000000,\"samples\":4,\"count\":3,"
		   "\"total_ns\":910000000,\"self_total_ns\":510000000,\"exact\":true}");
	assert_has(
		text,
		"\"label\":\"quick\",\"threads_ever\":null,\"wall_ns\":null,\"run_time_ns\":null,"
		"\"off_cpu_ns\":7,\"off_cpu_exact\":true,\"self_wall_ns\":null,"
		"\"self_run_time_ns\":null,\"self_off_cpu_ns\":7,\"samples\":0,\"count\":1000,"
		"\"total_ns\":1000000,\"self_total_ns\":1000000,\"exact\":true}");
	assert_has(text,
		   "\"label\":\"odd \\\\x1b[31m\\\\xff\",\"threads_ever\":1,\"wall_ns\":5000000,"
		   "\"run_time_ns\":null,\"off_cpu_ns\":null,\"off_cpu_exact\":false,"
		   "\"self_wall_ns\":null,\"self_run_time_ns\":null,\"self_off_cpu_ns\":null,"
		   "\"samples\":1,\"count\":null,\"total_ns\":null,\"self_total_ns\":null,"
		   "\"exact\":false}");
}

static void open_scopes_are_told_by_thread(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *run = empty_run();
	CLEANUP(scopes_free) struct scopes scopes = { 0 };
	struct scope outer = { .label = "load", .age_ns = 9 },
		     inner = { .label = "a\tb", .age_ns = 5 };
	struct scope_task busy = { .tid = 7, .own_tid = 3, .name = "worker", .count = 2 };
	struct scope_task idle = { .tid = 8, .own_tid = 4, .first = 2 };
	struct run_scopes process = { { 7, 7, 0 }, &scopes };

	(void)state;
	inner.has_progress = true;
	inner.count = 4;
	assert_int_equal(array_append(&scopes.list, outer), 0);
	assert_int_equal(array_append(&scopes.list, inner), 0);
	assert_int_equal(array_append(&scopes.tasks, busy), 0);
	assert_int_equal(array_append(&scopes.tasks, idle), 0);
	open_buffer(&lines);
	run_json_scopes(lines.file, run, WATCHED_BEGIN + MILLISECOND, &process, 1, 2);
	assert_string_equal(
		text_of(&lines),
		"{\"kind\":\"scopes\",\"ts_ms\":1700000000001,\"time_ns\":1000000,\"processes\":["
		"{\"pid\":7,\"threads\":[{\"tid\":7,\"name\":\"worker\",\"scopes\":["
		"{\"label\":\"load\",\"age_ns\":9,\"count\":null,\"total\":null},"
		"{\"label\":\"a\\\\x09b\",\"age_ns\":5,\"count\":4,\"total\":null}]}]}],"
		"\"omitted\":2}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_begins_with_its_kind_and_time),
		cmocka_unit_test(what_was_not_measured_has_no_key),
		cmocka_unit_test(a_measured_zero_is_there),
		cmocka_unit_test(errors_have_names_and_histograms_upper_ends),
		cmocka_unit_test(a_signal_has_its_name_and_sender),
		cmocka_unit_test(names_of_strangers_are_escaped),
		cmocka_unit_test(an_event_says_what_happened),
		cmocka_unit_test(an_event_of_a_new_process_or_program_names_it),
		cmocka_unit_test(a_sample_has_the_use_of_the_last_interval),
		cmocka_unit_test(the_host_has_the_names_that_monitors_share),
		cmocka_unit_test(processes_beyond_the_limit_are_counted),
		cmocka_unit_test(time_on_a_cpu_and_what_was_charged_for_it_are_told_apart),
		cmocka_unit_test(time_of_processes_that_nobody_saw_is_told_apart),
		cmocka_unit_test(what_only_the_kernel_side_knows_has_no_key_without_it),
		cmocka_unit_test(each_time_off_the_cpu_is_one_event),
		cmocka_unit_test(times_off_the_cpu_that_go_on_have_no_shortest),
		cmocka_unit_test(the_share_of_a_waker_is_of_waits_whose_waker_was_recorded),
		cmocka_unit_test(threads_beyond_the_limit_are_counted),
		cmocka_unit_test(where_all_are_told_nothing_is_omitted),
		cmocka_unit_test(a_summary_counts_what_it_leaves_out),
		cmocka_unit_test(phases_tell_what_was_not_measured),
		cmocka_unit_test(open_scopes_are_told_by_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
