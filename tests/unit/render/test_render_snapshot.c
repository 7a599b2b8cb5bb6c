/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "hand_grouping.h"
#include "hand_snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/snapshot/snapshot_view.h"
#include "render/terminal.h"

/* A server of two threads and a kernel thread that was measured only in part. */
static struct snapshot *small_snapshot(void)
{
	struct snapshot *snapshot = hand_new();
	struct source_report *source;

	hand_task(snapshot, 7, 7, "kthread", "/");
	hand_task(snapshot, 10, 10, "server", "/a b:c");
	hand_task(snapshot, 10, 11, "se\x1b[2J,\"x\"", "/a b:c");
	for (uint32_t row = 0; row < 3; row++) {
		hand_set(snapshot, METRIC_thread_count, row, 1);
		hand_set(snapshot, METRIC_run_time_ns, row, row * 1000);
		hand_set(snapshot, METRIC_state, row, row ? 'S' : 'I');
		hand_set(snapshot, METRIC_nice, row, row ? 0 : (uint64_t)-20);
	}
	hand_set(snapshot, METRIC_rchar, 1, UINT64_MAX);
	hand_set(snapshot, METRIC_rss_bytes, 1, 4096);
	hand_set(snapshot, METRIC_cpu_affinity, 1, hand_text(snapshot, "0-1"));
	snapshot->processes[1].cmdline = hand_text(snapshot, "server --port 1");
	snapshot->processes[1].user = hand_text(snapshot, "www");
	snapshot_set_fact_text(snapshot, FACT_kernel_name, "Linux");
	snapshot_set_fact_text(snapshot, FACT_kernel_release, "6.1.0\x1b");
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, 1700000000000000000);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, 3600100000000);
	snapshot_set_absent(snapshot, METRIC_rchar, "no permission; needs root");
	snapshot_set_absent(snapshot, METRIC_wait_sum, "schedstats are off");
	source = snapshot_source(snapshot, "io");
	source->state = SOURCE_PARTIAL;
	source->reason = "no permission";
	source->read = 1;
	source->failed = 2;
	source = snapshot_source(snapshot, "fds");
	source->state = SOURCE_UNAVAILABLE;
	source->reason = "not\nallowed";
	source->failed = 1;
	snapshot->tally.tids_walked = 4;
	snapshot->tally.vanished = 1;
	assert_int_equal(snapshot_finish(snapshot), 0);
	return snapshot;
}

struct question {
	enum group_axis axis;
	const char *metrics;
	const char *columns;
	size_t limit;
};

#define CONTAINER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define POD "d9ee8a7b-0b3e-4bd8-9a1d-9a9e1c9f7b11"

enum answer_format { TEXT, JSON, CSV };

/* As -v asks for it. */
static bool is_verbose;

static char *show(const struct snapshot *snapshot, struct question question,
		  enum answer_format format)
{
	struct group_sort sort = { .by = ORDER_METRIC, .metric = METRIC_run_time_ns };
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	struct snapshot_view view = { .limit = question.limit, .is_verbose = is_verbose };
	struct terminal terminal = { 0 };
	struct error error = { 0 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	grouping = hand_grouping(snapshot, question.axis, NULL);
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	view.grouping = grouping;
	assert_int_equal(selection_parse(question.metrics, &view.metrics, &error), 0);
	if (question.columns)
		assert_int_equal(view_columns_parse(question.columns, &view.columns, &error), 0);
	if (format == TEXT)
		assert_int_equal(snapshot_text_print(&view, &terminal, out), 0);
	else if (format == CSV)
		assert_int_equal(snapshot_csv_print(&view, out), 0);
	else
		snapshot_json_print(&view, out);
	fclose(out);
	return printed;
}

static void assert_shown(struct question question, enum answer_format format, const char *expected)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = small_snapshot();
	CLEANUP(free_pointer) char *printed = show(snapshot, question, format);

	assert_string_equal(printed, expected);
}

static void assert_has(struct question question, enum answer_format format, const char *part)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = small_snapshot();
	CLEANUP(free_pointer) char *printed = show(snapshot, question, format);

	if (!strstr(printed, part))
		fail_msg("no '%s' in\n%s", part, printed);
}

#define FOOTER                                                                                     \
	"Linux 6.1.0\\x1b, 2023-11-14 22:13:20 UTC: 3 threads of 2 processes, 4 tids walked; "     \
	"1 of %d metrics absent; 1 task ended while being read; 3 reads failed, most often of "    \
	"io: io 2 of 3, fds 1 of 1\n"

static void text_is_a_table_and_what_to_know_about_the_capture(void **state)
{
	char expected[2048];

	(void)state;
	snprintf(expected, sizeof(expected),
		 "group    tasks  run_time_ns      rchar  state  rss_bytes\n"
		 "server       2      3.00 us  16.0 EiB*  S       4.00 KiB\n"
		 "kthread      1         0 ns          -  I              -\n"
		 "\n"
		 "* only part of the group was measured\n" FOOTER
		 "absent for 2 of 3 threads: rchar: no permission; needs root\n"
		 "1 source of other metrics did not read everything (-v says why)\n",
		 METRIC_STORED - (METRIC_end_ns - METRIC_wall_time_ns + 1) -
			 (METRIC_net_tx_bytes - METRIC_net_rx_bytes + 1));
	assert_shown((struct question){ AXIS_PCOMM, "run_time_ns,rchar,state,rss_bytes", NULL, 0 },
		     TEXT, expected);
}

static void a_run_says_of_what_it_is_and_what_it_lost(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = small_snapshot();
	CLEANUP(free_pointer) char *printed = NULL;
	const struct question question = { AXIS_PCOMM, "run_time_ns", NULL, 0 };

	(void)state;
	snapshot_set_fact_text(snapshot, FACT_recording, "attach");
	snapshot_set_fact_text(snapshot, FACT_command, "1234");
	snapshot_set_fact_text(snapshot, FACT_outcome, "detached");
	snapshot_set_fact_number(snapshot, FACT_duration_ns, 2000000000);
	assert_int_equal(snapshot_note_number(snapshot, SHEET_RUN, "losses events", 3), 0);
	assert_int_equal(snapshot_note_number(snapshot, SHEET_RUN, "losses threads", 0), 0);
	assert_int_equal(snapshot_note_number(snapshot, SHEET_RUN, "losses wakers", 14), 0);
	assert_int_equal(
		snapshot_note_number(snapshot, SHEET_RUN, "counts unseen_cpu_ns", 15000000), 0);
	printed = show(snapshot, question, TEXT);
	if (!strstr(printed, ": attached to 1234: ") || !strstr(printed, " in 2.00 s, detached") ||
	    !strstr(printed,
		    "; counters count from attaching; 15.0 ms of CPU time more are of "
		    "processes that were not seen; lost: 3 events (no room in the ring), 14 wakers\n"))
		fail_msg("%s", printed);
}

#define TEN "0123456789"

/* A long command is cut between characters, at 60 bytes. */
static void of_a_command_the_start_is_shown(void **state)
{
	static const char *const commands[][2] = {
		{ "sh", "run of sh: " },
		{ "sh -c true", "run of sh -c true: " },
		{ TEN TEN TEN TEN TEN TEN, "run of " TEN TEN TEN TEN TEN TEN ": " },
		{ TEN TEN TEN TEN TEN TEN "x", "run of " TEN TEN TEN TEN TEN TEN "…: " },
		{ TEN TEN TEN TEN TEN TEN " x", "run of " TEN TEN TEN TEN TEN TEN "…: " },
		{ TEN TEN TEN TEN TEN TEN TEN " x", "run of " TEN TEN TEN TEN TEN TEN "…: " },
		{ TEN TEN TEN TEN TEN "12345678€", "run of " TEN TEN TEN TEN TEN "12345678…: " },
		{ TEN TEN TEN TEN TEN "1234567€€", "run of " TEN TEN TEN TEN TEN "1234567€…: " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = small_snapshot();
		CLEANUP(text_free) struct text note = { 0 };

		snapshot_set_fact_text(snapshot, FACT_recording, "run");
		snapshot_set_fact_text(snapshot, FACT_command, commands[i][0]);
		capture_note(snapshot, &note);
		if (strncmp(text_string(&note), commands[i][1], strlen(commands[i][1])) != 0)
			fail_msg("'%s' is not '%s'", text_string(&note), commands[i][1]);
	}
}

static void hidden_groups_are_counted_and_names_are_escaped(void **state)
{
	struct question question = { AXIS_THREAD, "run_time_ns", "group", 1 };

	(void)state;
	assert_has(question, TEXT,
		   "\nse\\x1b[2J,\"x\"[11]      2.00 us\n"
		   "… 2 more groups (-n 0 shows all)\n");
	question.limit = 2;
	assert_has(question, TEXT, "… 1 more group (-n 0 shows all)\n");
}

static void a_column_of_one_metric_gives_a_line_for_each_metric(void **state)
{
	struct question question = { AXIS_PCOMM, "rchar,wait_sum",
				     "uptime,tags,metric,measured,unit,value,processes", 1 };

	(void)state;
	assert_has(question, TEXT,
		   "uptime  tags                    metric    measured  unit       value  procs\n"
		   "1h 00m  [TASK_IO_ACCOUNTING]    rchar          1/2  bytes  16.0 EiB*      1\n"
		   "1h 00m  [non-ext] [SCHEDSTATS]  wait_sum       0/2  ns             -      1\n");
}

static void a_process_counted_in_another_group_is_explained(void **state)
{
	(void)state;
	assert_has((struct question){ AXIS_THREAD, "rss_bytes", NULL, 1 }, TEXT,
		   "a process counts once, in the group of its first thread\n");
}

static void a_name_that_is_empty_or_not_known_is_visible(void **state)
{
	(void)state;
	assert_has((struct question){ AXIS_USER, "nice", NULL, 0 }, TEXT,
		   "\n(none)      1   -20\n");
}

static void a_derived_metric_gives_the_reason_of_its_input(void **state)
{
	(void)state;
	assert_has((struct question){ AXIS_PCOMM, "avg_wait_ns", NULL, 0 }, TEXT,
		   "absent: avg_wait_ns: schedstats are off\n");
}

static void gaps_of_groups_that_are_not_shown_are_left_out(void **state)
{
	struct question question = { AXIS_PCOMM, "run_time_ns,rchar,rss_bytes", NULL, 1 };

	(void)state;
	assert_has(question, TEXT, "… 1 more group (-n 0 shows all)\n");
	assert_has(question, TEXT, "absent for 1 of 2 threads: rchar: no permission; needs root\n");
	is_verbose = true;
	assert_has(question, TEXT, "absent for 2 of 3 threads: rchar: no permission; needs root\n");
	is_verbose = false;
}

static void a_file_that_the_kernel_lacks_is_put_down_to_its_options(void **state)
{
	struct question question = { AXIS_PCOMM, "run_time_ns", NULL, 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = small_snapshot();
	CLEANUP(free_pointer) char *text = NULL;
	CLEANUP(free_pointer) char *json = NULL;
	struct source_report *source = snapshot_source(snapshot, "schedstat");

	(void)state;
	source->state = SOURCE_MISSING;
	source->failed = 3;
	text = show(snapshot, question, TEXT);
	json = show(snapshot, question, JSON);
	assert_non_null(strstr(text, "the kernel was built without CONFIG_SCHED_INFO"));
	assert_null(strstr(text, "source schedstat"));
	free(text);
	is_verbose = true;
	text = show(snapshot, question, TEXT);
	is_verbose = false;
	assert_non_null(strstr(text, "source schedstat is missing: no reason is known\n"));
	assert_non_null(strstr(json, "\"dominant_read_failure\": \"schedstat\""));
	assert_non_null(strstr(json, "\"kernel_config_dominant\": true"));
}

static void json_of_threads_has_a_key_for_each_present_metric_and_exact_integers(void **state)
{
	struct question question = { AXIS_THREAD,
				     "run_time_ns,state,nice,rchar,rss_bytes,cpu_affinity,"
				     "cpu_efficiency",
				     NULL, 0 };

	(void)state;
	assert_has(question, JSON,
		   "  \"threads\": [\n"
		   "    {\"tid\":11,\"tgid\":10,\"comm\":\"se\\\\x1b[2J,\\\"x\\\"\",\"pcomm\":"
		   "\"server\",\"cgroup\":\"/a b:c\",\"start_time_ns\":110000000,"
		   "\"run_time_ns\":2000,\"state\":\"S\",\"nice\":0},\n"
		   "    {\"tid\":10,\"tgid\":10,\"comm\":\"server\",\"pcomm\":\"server\","
		   "\"cgroup\":\"/a b:c\",\"start_time_ns\":100000000,"
		   "\"cmdline\":\"server --port 1\",\"user\":\"www\",\"run_time_ns\":1000,"
		   "\"state\":\"S\",\"nice\":0,\"rchar\":18446744073709551615,"
		   "\"rss_bytes\":4096,\"cpu_affinity\":\"0-1\"},\n"
		   "    {\"tid\":7,\"tgid\":7,\"comm\":\"kthread\",\"pcomm\":\"kthread\","
		   "\"cgroup\":\"/\",\"start_time_ns\":70000000,\"run_time_ns\":0,\"state\":\"I\","
		   "\"nice\":-20}\n"
		   "  ]\n}\n");
	assert_has(question, JSON,
		   "  \"absent\": {\n    \"rchar\": \"no permission; needs root\"\n  },\n");
}

static void json_says_whose_a_process_is(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(free_pointer) char *printed = NULL;
	struct question question = { AXIS_THREAD, "nice", NULL, 0 };

	(void)state;
	hand_task(snapshot, 5, 5, "web", "/docker/" CONTAINER "/system.slice/web.service");
	hand_task(snapshot, 5, 6, "worker", "/docker/" CONTAINER "/system.slice/web.service");
	hand_task(snapshot, 8, 8, "pause", "/kubepods/pod" POD "/" CONTAINER);
	snapshot->processes[0].exe = hand_text(snapshot, "/usr/bin/web (deleted)");
	assert_int_equal(snapshot_finish(snapshot), 0);
	printed = show(snapshot, question, JSON);
	assert_non_null(strstr(printed,
			       "\"start_time_ns\":50000000,\"exe\":\"/usr/bin/web (deleted)\","
			       "\"container\":{\"runtime\":\"docker\",\"id\":\"" CONTAINER
			       "\"},\"unit\":\"web.service\"}"));
	assert_non_null(strstr(printed, "\"start_time_ns\":60000000}"));
	assert_non_null(strstr(printed,
			       "\"start_time_ns\":80000000,\"container\":{\"runtime\":"
			       "\"containerd\",\"id\":\"" CONTAINER "\",\"pod\":\"" POD "\"}}"));
}

static void json_of_groups_has_folded_values_with_their_coverage(void **state)
{
	struct question question = { AXIS_PCOMM, "rchar,state,nice,rss_bytes,wait_sum", NULL, 0 };

	(void)state;
	assert_has(question, JSON,
		   "  \"group_by\": \"pcomm\",\n"
		   "  \"groups\": [\n"
		   "    {\"key\":\"server\",\"tasks\":2,\"metrics\":{\"rchar\":{\"value\":"
		   "18446744073709551615,\"measured\":1},\"state\":{\"mode\":\"S\",\"count\":2,"
		   "\"measured\":2},\"nice\":{\"min\":0,\"max\":0,\"measured\":2},\"rss_bytes\":{"
		   "\"value\":4096,\"measured\":1}}},\n");
}

static void json_tells_of_the_host_the_sources_and_the_losses(void **state)
{
	struct question question = { AXIS_PCOMM, "rchar", NULL, 1 };

	(void)state;
	assert_has(question, JSON,
		   "{\n  \"format\": \"taskscope-snapshot\",\n  \"version\": 1,\n  \"host\": {\n"
		   "    \"kernel_name\": \"Linux\",\n    \"kernel_release\": \"6.1.0\\\\x1b\",\n"
		   "    \"captured_at_unix_ns\": 1700000000000000000,\n"
		   "    \"boottime_ns\": 3600100000000\n  },\n");
	assert_has(question, JSON,
		   "    {\"name\":\"io\",\"state\":\"partial\",\"reason\":\"no permission\","
		   "\"read\":1,\"failed\":2},\n");
	assert_has(
		question, JSON,
		"    \"tids_walked\": 4,\n    \"vanished\": 1,\n    \"read_failures\": 3,\n"
		"    \"dominant_read_failure\": \"io\",\n    \"kernel_config_dominant\": false,\n"
		"    \"negative_dotted_values\": 0,\n    \"discarded_values\": 0,\n"
		"    \"processes_ended\": 0,\n    \"gap_filled\": 0\n");
}

static void csv_of_threads_has_identity_and_metrics_and_empty_fields_for_absent(void **state)
{
	(void)state;
	assert_shown(
		(struct question){ AXIS_THREAD, "run_time_ns,rchar,state,rss_bytes", NULL, 0 }, CSV,
		"tid,tgid,comm,pcomm,cgroup,start_time_ns,scope,run_time_ns,rchar,state,rss_bytes\n"
		"11,10,\"se\\x1b[2J,\"\"x\"\"\",server,/a b:c,110000000,,2000,,S,\n"
		"10,10,server,server,/a b:c,100000000,,1000,18446744073709551615,S,4096\n"
		"7,7,kthread,kthread,/,70000000,,0,,I,\n");
}

static void csv_of_groups_is_wide_or_long_as_its_columns_say(void **state)
{
	(void)state;
	assert_shown((struct question){ AXIS_USER, "run_time_ns,nice", NULL, 0 }, CSV,
		     "group,tasks,run_time_ns,nice\n"
		     "www,2,3000,0\n"
		     ",1,0,-20\n");
	assert_shown((struct question){ AXIS_PCOMM, "rchar,nice",
					"group,metric,value,measured,unit,tags", 0 },
		     CSV,
		     "group,metric,value,measured,unit,tags\n"
		     "server,rchar,18446744073709551615,1,bytes,[TASK_IO_ACCOUNTING]\n"
		     "server,nice,0,2,level,\n"
		     "kthread,rchar,,0,bytes,[TASK_IO_ACCOUNTING]\n"
		     "kthread,nice,-20,1,level,\n");
}

static void columns_are_found_by_the_names_that_the_option_lists(void **state)
{
	char list[] = VIEW_COLUMNS;
	char *rest = list;
	int column = 0;

	(void)state;
	for (char *name; (name = strsep(&rest, ",")); column++) {
		struct column_list columns;
		struct error error = { 0 };

		assert_int_equal(view_columns_parse(name + (column > 0), &columns, &error), 0);
		assert_int_equal(columns.ids[0], column);
	}
	assert_int_equal(column, COLUMN_COUNT);
}

static void unknown_and_repeated_columns_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "group,colour", "'colour'" },
		{ "group,group", "named twice" },
		{ "", "''" },
		{ "group,", "''" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct column_list columns;
		struct error error = { 0 };

		assert_true(view_columns_parse(bad[i][0], &columns, &error) < 0);
		assert_non_null(strstr(error.message, bad[i][1]));
	}
}

/* The server loads, and one of its threads has been solving for longer. */
static struct snapshot *scoped_snapshot(void)
{
	struct snapshot *snapshot = small_snapshot();

	snapshot->tasks[1].scope = hand_text(snapshot, "load, \"all\"");
	hand_set(snapshot, METRIC_scope_age_ns, 1, 2000000000);
	hand_set(snapshot, METRIC_scope_count, 1, 7);
	snapshot->tasks[2].scope = hand_text(snapshot, "solve\x1b");
	hand_set(snapshot, METRIC_scope_age_ns, 2, 59000000000);
	hand_set(snapshot, METRIC_scope_count, 2, 412);
	hand_set(snapshot, METRIC_scope_total, 2, 1000);
	return snapshot;
}

static void assert_scoped(struct question question, enum answer_format format, const char *part)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = scoped_snapshot();
	CLEANUP(free_pointer) char *printed = show(snapshot, question, format);

	if (!strstr(printed, part))
		fail_msg("no '%s' in\n%s", part, printed);
}

static void text_has_a_column_of_scopes_when_a_thread_is_in_one(void **state)
{
	(void)state;
	assert_scoped((struct question){ AXIS_THREAD, "run_time_ns", NULL, 0 }, TEXT,
		      "group              tasks  scope                         run_time_ns\n"
		      "se\\x1b[2J,\"x\"[11]      1  solve\\x1b (59.0 s, 412/1000)      2.00 us\n");
	assert_scoped((struct question){ AXIS_THREAD, "run_time_ns", NULL, 0 }, TEXT,
		      "  load, \"all\" (2.00 s, 7/?)  ");
	assert_scoped((struct question){ AXIS_THREAD, "run_time_ns", NULL, 0 }, TEXT,
		      "kthread[7]             1  -  ");
	assert_has((struct question){ AXIS_THREAD, "run_time_ns", NULL, 0 }, TEXT,
		   "tasks  run_time_ns\n");
}

static void of_a_group_the_scope_of_longest_standing_is_shown(void **state)
{
	(void)state;
	assert_scoped((struct question){ AXIS_PCOMM, "run_time_ns", NULL, 0 }, TEXT,
		      "solve\\x1b (59.0 s, 412/1000), …  ");
	assert_scoped((struct question){ AXIS_PCOMM, "scope_age_ns", "group,scope", 0 }, CSV,
		      "group,scope,scope_age_ns\nserver,solve\\x1b,59000000000\n");
}

static void a_thread_tells_its_scope_to_programs(void **state)
{
	struct question question = { AXIS_THREAD, "scope_age_ns,scope_count,scope_total", NULL, 0 };

	(void)state;
	assert_scoped(question, JSON,
		      "\"start_time_ns\":110000000,\"scope\":\"solve\\\\x1b\",\"scope_age_ns\":"
		      "59000000000,\"scope_count\":412,\"scope_total\":1000}");
	assert_scoped(question, JSON,
		      "\"scope\":\"load, \\\"all\\\"\",\"cmdline\":\"server --port 1\",\"user\":"
		      "\"www\",\"scope_age_ns\":2000000000,\"scope_count\":7}");
	assert_scoped(question, JSON, "\"start_time_ns\":70000000}");
	assert_scoped(question, CSV, "start_time_ns,scope,scope_age_ns,scope_count,scope_total\n");
	assert_scoped(question, CSV, ",100000000,\"load, \"\"all\"\"\",2000000000,7,\n");
}

/* Two seconds in which the second thread ran for one, and a row of exited threads. */
static void an_interval_is_shown_by_what_was_done_in_a_second(void **state)
{
	static const struct question question = { AXIS_PROCESS, "run_time_ns,rchar,rss_bytes", NULL,
						  1 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(free_pointer) char *text = NULL, *json = NULL;

	(void)state;
	hand_task(snapshot, 10, 10, "server", "/");
	hand_task(snapshot, 10, 0, "server (exited threads)", "/");
	hand_set(snapshot, METRIC_run_time_ns, 0, 1000000000);
	hand_set(snapshot, METRIC_run_time_ns, 1, 500000000);
	hand_set(snapshot, METRIC_rchar, 0, 3);
	hand_set(snapshot, METRIC_rss_bytes, 0, 4096);
	snapshot->interval_ns = 2000000000;
	assert_int_equal(snapshot_finish(snapshot), 0);
	text = show(snapshot, question, TEXT);
	assert_non_null(strstr(text, "group       tasks    %cpu      rchar  rss_bytes\n"
				     "server[10]      1  75.0 %  1.50 B/s*   4.00 KiB\n"));
	assert_non_null(
		strstr(text, "what was done in a second, over 2.000 s; %cpu is of one core"));
	json = show(snapshot, question, JSON);
	assert_non_null(strstr(json, "\"interval_ns\": 2000000000"));
	assert_non_null(strstr(json, "\"run_time_ns\":{\"value\":750000000,"));
	assert_non_null(strstr(json, "\"rchar\":{\"value\":1.5,"));
}

static void an_empty_snapshot_can_be_shown_in_every_format(void **state)
{
	struct question question = { AXIS_THREAD, "*", NULL, 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(free_pointer) char *text = NULL;
	CLEANUP(free_pointer) char *json = NULL;
	CLEANUP(free_pointer) char *csv = NULL;

	(void)state;
	assert_int_equal(snapshot_finish(snapshot), 0);
	text = show(snapshot, question, TEXT);
	json = show(snapshot, question, JSON);
	csv = show(snapshot, question, CSV);
	assert_non_null(strstr(text, "0 threads of 0 processes"));
	assert_non_null(strstr(json, "\"threads\": []"));
	assert_non_null(strstr(csv, "tid,tgid"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_a_table_and_what_to_know_about_the_capture),
		cmocka_unit_test(a_run_says_of_what_it_is_and_what_it_lost),
		cmocka_unit_test(of_a_command_the_start_is_shown),
		cmocka_unit_test(hidden_groups_are_counted_and_names_are_escaped),
		cmocka_unit_test(a_column_of_one_metric_gives_a_line_for_each_metric),
		cmocka_unit_test(a_process_counted_in_another_group_is_explained),
		cmocka_unit_test(a_name_that_is_empty_or_not_known_is_visible),
		cmocka_unit_test(a_derived_metric_gives_the_reason_of_its_input),
		cmocka_unit_test(gaps_of_groups_that_are_not_shown_are_left_out),
		cmocka_unit_test(a_file_that_the_kernel_lacks_is_put_down_to_its_options),
		cmocka_unit_test(
			json_of_threads_has_a_key_for_each_present_metric_and_exact_integers),
		cmocka_unit_test(json_says_whose_a_process_is),
		cmocka_unit_test(json_of_groups_has_folded_values_with_their_coverage),
		cmocka_unit_test(json_tells_of_the_host_the_sources_and_the_losses),
		cmocka_unit_test(
			csv_of_threads_has_identity_and_metrics_and_empty_fields_for_absent),
		cmocka_unit_test(csv_of_groups_is_wide_or_long_as_its_columns_say),
		cmocka_unit_test(columns_are_found_by_the_names_that_the_option_lists),
		cmocka_unit_test(unknown_and_repeated_columns_are_refused),
		cmocka_unit_test(text_has_a_column_of_scopes_when_a_thread_is_in_one),
		cmocka_unit_test(of_a_group_the_scope_of_longest_standing_is_shown),
		cmocka_unit_test(a_thread_tells_its_scope_to_programs),
		cmocka_unit_test(an_interval_is_shown_by_what_was_done_in_a_second),
		cmocka_unit_test(an_empty_snapshot_can_be_shown_in_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
