/* SPDX-License-Identifier: MIT */
/* Comparisons made by hand, in every format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/digest/digest.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "hand_snapshot.h"
#include "metric/reading.h"
#include "render/compare/compare_value.h"
#include "render/compare/compare_view.h"
#include "render/terminal.h"

enum { SERVER, FRESH, OVER, SLICE, HOST_GROUP, GROUPS };

static struct compared_group groups[GROUPS] = {
	[SERVER] = { .key = "server", .tasks_before = 4, .tasks_after = 6, .born = 3, .ended = 1 },
	[FRESH] = { .key = "fresh\x1b",
		    .tasks_after = 2,
		    .has_run_time = true,
		    .run_time_ns = 5000000,
		    .has_rss = true,
		    .rss_bytes = 8192 },
	[OVER] = { .key = "over", .tasks_before = 1, .has_run_time = true, .run_time_ns = 7 },
	[SLICE] = { .key = "/a.slice", .renamed_from = "/b.slice" },
	[HOST_GROUP] = { .key = "" },
};

static const char *const files[2] = { "a.tscope", "b.tscope" };

/* A comparison as it is being made. */
static struct {
	struct comparison comparison;
	struct comparison_row rows[32];
	struct host_change changes[2];
	const char *notes[2];
	struct compare_view view;
	struct snapshot *snapshots[2];
} hand;

static struct compared_value number(uint64_t value)
{
	return (struct compared_value){
		.shape = VALUE_NUMBER, .number = value, .measured = 4, .population = 4
	};
}

static struct compared_value real(double value)
{
	return (struct compared_value){
		.shape = VALUE_REAL, .real = value, .measured = 4, .population = 4
	};
}

static struct compared_value words(const char *text)
{
	return (struct compared_value){
		.shape = VALUE_TEXT, .text = text, .number = 4, .measured = 4, .population = 4
	};
}

static struct compared_value absent(void)
{
	return (struct compared_value){ .shape = VALUE_ABSENT, .population = 4 };
}

static struct difference whole(int64_t value)
{
	return (struct difference){ .known = true,
				    .is_negative = value < 0,
				    .magnitude = (uint64_t)(value < 0 ? -value : value),
				    .real = (double)value };
}

/* A reading, for as long as the test runs. */
static const struct metric *describe(const char *name)
{
	struct metric *metric = arena_alloc(&hand.comparison.arena, sizeof(*metric));

	assert_non_null(metric);
	*metric = reading_metric(name);
	return metric;
}

static struct comparison_row *add_row(enum compare_section section, uint32_t group,
				      const char *name, struct compared_value before,
				      struct compared_value after, enum row_state state)
{
	struct comparison_row *row = &hand.rows[hand.comparison.rows.count++];
	int id = metric_find(name);

	*row = (struct comparison_row){ .section = section,
					.group = group,
					.metric = id < 0 ? describe(name) : &metrics[id],
					.before = before,
					.after = after,
					.state = state };
	return row;
}

static int make(void **state)
{
	(void)state;
	memset(&hand, 0, sizeof(hand));
	for (int i = 0; i < 2; i++) {
		hand.snapshots[i] = hand_new();
		hand_task(hand.snapshots[i], 10, 10, "server", "/");
		snapshot_set_fact_number(hand.snapshots[i], FACT_captured_at_unix_ns,
					 1700000000000000000u + (uint64_t)i * 10000000000u);
		assert_int_equal(snapshot_finish(hand.snapshots[i]), 0);
	}
	hand.comparison.mode = COMPARE_INTERVAL;
	hand.comparison.elapsed_ns = 10000000000;
	hand.comparison.rows.data = hand.rows;
	hand.comparison.groups.data = groups;
	hand.comparison.groups.count = GROUPS;
	hand.comparison.notes.data = hand.notes;
	hand.comparison.host_changes.data = hand.changes;
	hand.view = (struct compare_view){
		.comparison = &hand.comparison,
		.before = { &files[0], (const struct snapshot *const *)&hand.snapshots[0], 1 },
		.after = { &files[1], (const struct snapshot *const *)&hand.snapshots[1], 1 },
	};
	return 0;
}

static int drop(void **state)
{
	(void)state;
	snapshot_free(hand.snapshots[0]);
	snapshot_free(hand.snapshots[1]);
	arena_clear(&hand.comparison.arena);
	return 0;
}

enum format { TEXT, COLOURED, JSON, CSV };

static char *print(enum format format)
{
	struct terminal terminal = { .colour = format == COLOURED, .width = 0 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	if (format == JSON)
		compare_json_print(&hand.view, out);
	else if (format == CSV)
		assert_int_equal(compare_csv_print(&hand.view, out), 0);
	else
		assert_int_equal(compare_text_print(&hand.view, &terminal, out), 0);
	fclose(out);
	return printed;
}

static void assert_has(enum format format, const char *part)
{
	CLEANUP(free_pointer) char *printed = print(format);

	if (!strstr(printed, part))
		fail_msg("no '%s' in\n%s", part, printed);
}

static void assert_lacks(enum format format, const char *part)
{
	CLEANUP(free_pointer) char *printed = print(format);

	if (strstr(printed, part))
		fail_msg("'%s' is in\n%s", part, printed);
}

static struct comparison_row *add_run_time(void)
{
	struct comparison_row *row = add_row(COMPARE_PRIMARY, SERVER, "run_time_ns",
					     number(1500000000), number(3490000000), ROW_CHANGED);

	row->delta = whole(2000000000);
	row->has_rate = true;
	row->per_second = 2e8;
	row->share = 0.4;
	return row;
}

static void text_begins_with_what_was_compared(void **state)
{
	CLEANUP(free_pointer) char *printed = NULL;

	(void)state;
	hand.notes[0] = "both are of one boot\n";
	hand.notes[1] = "one host lost reads";
	hand.comparison.notes.count = 2;
	hand.changes[0] = (struct host_change){ .name = "kernel_release", .before = "6.1" };
	hand.comparison.host_changes.count = 1;
	add_run_time();
	printed = print(TEXT);
	assert_string_equal(
		printed, "side    file      captured                 tasks\n"
			 "before  a.tscope  2023-11-14 22:13:20 UTC  1 thread of 1 process\n"
			 "after   b.tscope  2023-11-14 22:13:30 UTC  1 thread of 1 process\n"
			 "mode: both are of one boot\\x0a\n"
			 "note: one host lost reads\n"
			 "\n"
			 "## host changes\n"
			 "host            before  after\n"
			 "kernel_release  6.1     not known\n"
			 "\n"
			 "## primary\n"
			 "group   tasks  metric       before   after    delta  per_second   share\n"
			 "server    4→6  run_time_ns  1.50 s  3.49 s  +2.00 s    200 ms/s  40.0 %\n"
			 "\n"
			 "## groups only after: 1\n"
			 "group      tasks  run_time_ns  rss_bytes  most\n"
			 "fresh\\x1b      2      5.00 ms   8.00 KiB\n"
			 "\n"
			 "## groups only before: 1\n"
			 "group  tasks  run_time_ns  rss_bytes  most\n"
			 "over       1         7 ns          -\n");
}

static void of_a_long_fact_only_what_differs_is_shown(void **state)
{
	(void)state;
	hand.changes[0] = (struct host_change){
		.name = "features",
		.before = "FIRST_FEATURE SECOND_FEATURE THIRD_FEATURE FOURTH_FEATURE FIFTH_FEATURE",
		.after =
			"FIRST_FEATURE NO_SECOND_FEATURE THIRD_FEATURE FOURTH_FEATURE FIFTH_FEATURE SIXTH"
	};
	hand.changes[1] = (struct host_change){ "memory", "3145728", "4194304", true, UNIT_BYTES };
	hand.comparison.host_changes.count = 2;
	assert_has(TEXT, "memory    3.00 MiB          4.00 MiB\n");
	assert_has(JSON, "{\"name\":\"memory\",\"before\":3145728,\"after\":4194304}");
	assert_has(TEXT, "features  … SECOND_FEATURE  … NO_SECOND_FEATURE SIXTH\n");
}

static void every_state_looks_different(void **state)
{
	struct comparison_row *row;

	(void)state;
	add_row(COMPARE_PRIMARY, FRESH, "run_time_ns", absent(), number(5000000), ROW_NEW)->delta =
		whole(5000000);
	add_row(COMPARE_PRIMARY, OVER, "run_time_ns", number(7), absent(), ROW_GONE);
	row = add_row(COMPARE_PRIMARY, SERVER, "majflt", number(7), absent(), ROW_ABSENT);
	row->reason = "no permission";
	add_row(COMPARE_SCHED_EXT, HOST_GROUP, "sched_ext nr_rejected", number(9), number(1),
		ROW_RESET);
	add_row(COMPARE_PRIMARY, SERVER, "minflt", number(0), number(3), ROW_CHANGED)->delta =
		whole(3);
	add_row(COMPARE_PRIMARY, SERVER, "wchar", number(5), number(5), ROW_SAME)->delta = whole(0);
	assert_has(TEXT, "fresh\\x1b    0→2  run_time_ns       -  5.00 ms  +5.00 ms  new\n");
	assert_has(TEXT, "over         1→0  run_time_ns    7 ns        -            gone\n");
	assert_has(TEXT, "server       4→6  majflt            7   absent            absent\n");
	assert_has(TEXT, "server       4→6  minflt            0        3        +3\n");
	assert_has(TEXT, "(none)  sched_ext nr_rejected       9      1         reset\n");
	assert_has(TEXT, "\nabsent: majflt: no permission\n");
	assert_has(TEXT, "\nreset: a counter began again");
	assert_has(TEXT, "server       4→6  wchar           5 B      5 B       0 B  same\n");
}

static void both_sides_have_one_unit_and_the_difference_its_own(void **state)
{
	(void)state;
	add_row(COMPARE_PRIMARY, SERVER, "wchar", number(3u << 20), number((3u << 20) + 512),
		ROW_CHANGED)
		->delta = whole(512);
	add_row(COMPARE_PRIMARY, SERVER, "rchar", number(3u << 20), number(7), ROW_CHANGED)->delta =
		whole(7 - (3 << 20));
	assert_has(TEXT, "server    4→6  wchar   3.00 MiB    3.00 MiB     +512 B\n");
	assert_has(TEXT, "server    4→6  rchar   3.00 MiB  <0.001 MiB  -3.00 MiB\n");
	hand.comparison.mode = COMPARE_POPULATION;
	assert_has(TEXT, "server    4→6  wchar   3.00 MiB    3.00 MiB     +512 B  +0.02 %\n");
	assert_has(TEXT, "server    4→6  rchar   3.00 MiB  <0.001 MiB  -3.00 MiB   -100 %\n");
}

static void ratios_have_no_percent_and_show_the_interval(void **state)
{
	struct comparison_row *row = add_row(COMPARE_DERIVED, SERVER, "cpu_efficiency", real(0.5),
					     real(0.6), ROW_CHANGED);

	(void)state;
	row->interval = real(0.75);
	row->delta = (struct difference){ .known = true, .is_real = true, .real = 0.25 };
	assert_has(TEXT, "cpu_efficiency   0.500  0.750  +0.250\n");
	assert_has(JSON, "\"before\":0.5,\"after\":0.6,\"interval\":0.75,"
			 "\"delta\":0.25,");
	assert_has(CSV, "cpu_efficiency,ratio,amount,0.5,0.6,0.75,0.25,,");
	hand.comparison.mode = COMPARE_POPULATION;
	assert_has(TEXT, "cpu_efficiency   0.500  0.600  +0.250\n");
	row->delta.real = -2.5e-5;
	assert_has(TEXT, "cpu_efficiency   0.500  0.600  -2.5e-05\n");
}

static void peaks_say_where_they_rose_to(void **state)
{
	(void)state;
	add_row(COMPARE_PRIMARY, SERVER, "wait_max", number(1000), number(5000), ROW_CHANGED)
		->delta = whole(4000);
	add_row(COMPARE_CGROUP, SLICE, "memory.peak", number(4096), number(8192), ROW_CHANGED)
		->delta = whole(4096);
	assert_has(TEXT, "server    4→6  wait_max  1.00 us  rose to 5.00 us  +4.00 us\n");
	assert_has(TEXT,
		   "/a.slice (was /b.slice)  memory.peak  4.00 KiB  rose to 8.00 KiB  +4.00 KiB\n");
	hand.comparison.mode = COMPARE_POPULATION;
	assert_lacks(TEXT, "rose to");
}

static void what_has_no_number_has_no_difference(void **state)
{
	struct compared_value unlimited = { .shape = VALUE_UNLIMITED };
	struct compared_value range = {
		.shape = VALUE_RANGE, .min = -5, .max = 19, .measured = 4, .population = 4
	};
	struct compared_value most = words("SCHED_FIFO");

	(void)state;
	most.number = 3;
	add_row(COMPARE_LIMITS, SLICE, "memory.max", unlimited, number(1u << 30), ROW_CHANGED);
	add_row(COMPARE_PRIMARY, SERVER, "nice", range, range, ROW_CHANGED);
	add_row(COMPARE_PRIMARY, SERVER, "policy", words("SCHED_OTHER"), most, ROW_CHANGED);
	assert_has(TEXT, "/a.slice (was /b.slice)  memory.max     max  1.00 GiB  changed\n");
	assert_has(TEXT, "nice         -5..19            -5..19  changed\n");
	assert_has(TEXT, "policy  SCHED_OTHER  SCHED_FIFO (3/4)  changed\n");
	assert_has(JSON, "\"before\":\"max\",\"after\":1073741824,\"measured_before\":0,");
	assert_has(JSON, "\"before\":{\"min\":-5,\"max\":19},");
	assert_has(JSON, "\"after\":\"SCHED_FIFO\",");
	assert_has(
		CSV,
		"limits,/a.slice,0,0,memory.max,bytes,amount,max,1073741824,,,,,0,4,changed,0,,\n");
	assert_has(CSV, "primary,server,4,6,nice,level,amount,-5..19,-5..19,,,");
}

static void what_was_measured_in_part_is_marked(void **state)
{
	struct comparison_row *row = add_run_time();

	(void)state;
	row->after.measured = 3;
	assert_has(TEXT, "1.50 s  3.49 s*");
	assert_has(TEXT, "\n* only part of the group was measured");
	assert_int_equal(compare_columns_parse("group,metric,measured", &hand.view.columns, NULL),
			 0);
	assert_has(TEXT, "group   metric       measured\nserver  run_time_ns   4/4→3/4\n");
}

static void what_is_hidden_is_counted(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		add_run_time();
	hand.view.limit = 2;
	hand.comparison.tallies[COMPARE_PRIMARY].beyond_limit = 10;
	hand.comparison.tallies[COMPARE_PRIMARY].unchanged = 1;
	hand.comparison.tallies[COMPARE_HOST].unchanged = 7;
	hand.comparison.tallies[COMPARE_DELAYS].noise = 3;
	assert_has(TEXT, "… 13 more rows (-n 0 shows all); 1 row unchanged or not measured\n");
	assert_has(TEXT, "\n## delays\n3 rows within noise (--all shows them)\n");
	assert_has(TEXT, "\nnothing changed, or was measured, in host (7 rows)\n");
	assert_has(JSON, "\"unchanged\": {\n    \"primary\": 1,\n    \"host\": 7\n  }");
	assert_has(JSON, "\"noise\": {\n    \"delays\": 3\n  }");
	assert_has(JSON, "\"beyond_limit\": {\n    \"primary\": 10\n  }");
}

static void rows_of_several_runs_have_their_spread(void **state)
{
	struct comparison_row *row = add_run_time();

	(void)state;
	row->significance = (struct significance){ .tested = true,
						   .p = 0.7,
						   .is_noise = true,
						   .before_low = 1e9,
						   .before_high = 2e9,
						   .after_low = 3e9,
						   .after_high = 4e9 };
	assert_has(JSON,
		   "\"significance\":{\"p\":0.7,\"noise\":true,"
		   "\"before\":{\"median\":1500000000,\"low\":1000000000,\"high\":2000000000},"
		   "\"after\":{\"median\":3490000000,\"low\":3000000000,\"high\":4000000000}}");
	row->significance.is_noise = false;
	row->significance.p = 0.1;
	assert_has(
		TEXT,
		"server    4→6  run_time_ns  1.50 (1.00..2.00) s  3.49 (3.00..4.00) s  +2.00 s    200 ms/s  40.0 %  0.100\n");
}

static void the_metric_of_an_order_is_always_shown(void **state)
{
	(void)state;
	add_run_time();
	add_row(COMPARE_DELAYS, SERVER, "blkio_delay_total_ns", number(1), number(2), ROW_CHANGED)
		->delta = whole(1);
	add_row(COMPARE_DELAYS, OVER, "blkio_delay_total_ns", number(1), absent(), ROW_GONE);
	hand.view.ordered = &hand.comparison;
	hand.view.sort =
		(struct sort_spec){ .keys = { { METRIC_run_time_ns, false } }, .count = 1 };
	assert_has(TEXT, "  run_time_ns\n");
	assert_has(
		TEXT,
		"server    4→6  blkio_delay_total_ns    1 ns   2 ns  +1 ns            +2.00 s\n");
	assert_has(
		TEXT,
		"over      1→0  blkio_delay_total_ns    1 ns      -         gone            -\n");
	assert_has(CSV, "state,share,p,by_ended,delta_run_time_ns\n");
	assert_has(CSV, ",4,4,changed,0,,,2000000000\n");
}

static void signs_are_colours_on_a_terminal_only(void **state)
{
	(void)state;
	add_run_time();
	assert_has(COLOURED, "\033[33m+2.00 s\033[0m");
	assert_lacks(TEXT, "\033");
}

static void json_numbers_are_exact(void **state)
{
	struct comparison_row *row = add_row(COMPARE_PRIMARY, SERVER, "wchar", number(UINT64_MAX),
					     number(9007199254740993), ROW_CHANGED);

	(void)state;
	row->delta = (struct difference){ .known = true,
					  .is_negative = true,
					  .magnitude = UINT64_MAX - 9007199254740993,
					  .real = -1.8e19 };
	assert_has(JSON, "{\"section\":\"primary\",\"group\":\"server\",\"metric\":\"wchar\","
			 "\"unit\":\"bytes\",\"values\":\"amount\",\"before\":18446744073709551615,"
			 "\"after\":9007199254740993,\"delta\":-18437736874454810622,"
			 "\"measured_before\":4,\"measured_after\":4,\"state\":\"changed\","
			 "\"share\":0}");
	assert_has(CSV, "18446744073709551615,9007199254740993,,-18437736874454810622,");
}

static void json_says_what_was_compared(void **state)
{
	struct compare_finding finding = { FAIL_FAILED, "majflt > 1", "server", 3, "it did" };

	(void)state;
	hand.notes[0] = "a note";
	hand.comparison.notes.count = 1;
	hand.changes[0] = (struct host_change){ .name = "smt", .after = "on" };
	hand.comparison.host_changes.count = 1;
	hand.view.findings = &finding;
	hand.view.finding_count = 1;
	assert_has(JSON, "{\n  \"format\": \"taskscope-comparison\",\n  \"version\": 2,\n"
			 "  \"mode\": \"interval\",\n  \"elapsed_ns\": 10000000000,\n");
	assert_has(JSON, "{\"file\":\"b.tscope\",\"captured_at_unix_ns\":1700000010000000000,"
			 "\"tasks\":1,\"processes\":1}");
	assert_has(JSON, "\"a note\"");
	assert_has(JSON, "{\"name\":\"smt\",\"after\":\"on\"}");
	assert_has(JSON, "{\"key\":\"/a.slice\",\"tasks_before\":0,\"tasks_after\":0,\"born\":0,"
			 "\"ended\":0,\"renamed_from\":\"/b.slice\"}");
	assert_has(JSON,
		   "{\"condition\":\"majflt > 1\",\"outcome\":\"failed\",\"group\":\"server\","
		   "\"change\":3,\"sentence\":\"it did\"}");
}

static void rates_of_a_population_are_of_each_side(void **state)
{
	struct comparison_row *row = add_run_time();

	(void)state;
	hand.comparison.mode = COMPARE_POPULATION;
	row->has_rate_before = row->has_rate_after = true;
	row->rate_before = 1e6;
	row->rate_after = 25e5;
	assert_has(
		TEXT,
		"server    4→6  run_time_ns  1.50 s  3.49 s  +2.00 s  +133 %   1.00→2.50 ms/s  40.0 %\n");
	assert_has(JSON, "\"per_task_second_before\":1000000,\"per_task_second_after\":2500000,");
	assert_has(CSV, ",per_task_second_before,per_task_second_after,");
}

static void rates_of_two_intervals_are_the_values_themselves(void **state)
{
	struct comparison_row *row =
		add_row(COMPARE_PRIMARY, SERVER, "run_time_ns", real(5e8), real(75e7), ROW_CHANGED);

	(void)state;
	hand.comparison.mode = COMPARE_INTERVALS;
	row->values = VALUES_PER_SECOND;
	row->delta = (struct difference){ .known = true, .is_real = true, .real = 25e7 };
	assert_has(TEXT, "run_time_ns  500 ms/s  750 ms/s  +250 ms/s  +50.0 %\n");
	assert_has(JSON, "\"values\":\"per_second\",\"before\":500000000,\"after\":750000000,"
			 "\"delta\":250000000,");
	assert_has(JSON, "\"mode\": \"intervals\"");
	assert_lacks(CSV, "per_second_");
}

static void a_restarted_group_says_so_and_has_a_percent(void **state)
{
	struct comparison_row *row =
		add_row(COMPARE_PRIMARY, SERVER, "run_time_ns", real(5e8), real(75e7), ROW_CHANGED);

	(void)state;
	groups[SERVER].restart = RESTART_WHOLE;
	row->values = VALUES_PER_TASK_SECOND;
	row->delta = (struct difference){ .known = true, .is_real = true, .real = 25e7 };
	assert_has(TEXT, "run_time_ns  500 ms/s  750 ms/s  +250 ms/s  +50.0 %  restarted\n");
	assert_has(JSON, "\"values\":\"per_task_second\",");
	assert_has(JSON, "\"born\":3,\"ended\":1,\"restarted\":\"whole\"}");
	groups[SERVER].restart = RESTART_PART;
	assert_has(TEXT, "+50.0 %  restarted in part\n");
	groups[SERVER].restart = RESTART_NONE;
}

static void what_ended_tasks_did_is_said_in_the_row(void **state)
{
	struct comparison_row *row = add_run_time();

	(void)state;
	row->by_ended = 400000000;
	assert_has(TEXT, "40.0 %  400 ms by ended threads\n");
	assert_has(JSON, "\"by_ended\":400000000");
	groups[SERVER].children_ns = 90000000;
	assert_has(TEXT, "40.0 %  400 ms by ended threads, and 90.0 ms by children\n");
	row->by_ended = 0;
	assert_has(TEXT, "40.0 %  and 90.0 ms by children\n");
	groups[SERVER].children_ns = 0;
}

static void the_digest_comes_before_everything(void **state)
{
	struct digest_line line = { .resource = "cpu",
				    .who = "server",
				    .has_delta = true,
				    .delta = 2e9,
				    .has_share = true,
				    .share = 0.5,
				    .sentence = "server used 2.00 s of CPU",
				    .section = COMPARE_PRIMARY,
				    .group = "server",
				    .metric = "run_time_ns" };
	struct digest digest = { .lines = { .data = &line, .count = 1 } };
	CLEANUP(free_pointer) char *printed = NULL;

	(void)state;
	hand.view.digest = &digest;
	printed = print(TEXT);
	assert_ptr_equal(strstr(printed, "server used 2.00 s of CPU\n\nside "), printed);
	assert_has(JSON,
		   "{\"resource\":\"cpu\",\"who\":\"server\",\"delta\":2000000000,"
		   "\"share\":0.5,\"sentence\":\"server used 2.00 s of CPU\",\"row\":"
		   "{\"section\":\"primary\",\"group\":\"server\",\"metric\":\"run_time_ns\"}}");
}

static void csv_has_a_line_for_each_row_with_all_columns(void **state)
{
	CLEANUP(free_pointer) char *printed = NULL;

	(void)state;
	add_run_time();
	add_row(COMPARE_PRIMARY, FRESH, "majflt", absent(), number(2), ROW_NEW);
	printed = print(CSV);
	assert_string_equal(
		printed, "section,group,tasks_before,tasks_after,metric,unit,values,before,"
			 "after,interval,delta,percent,per_second,measured_before,measured_after,"
			 "state,share,p,by_ended\n"
			 "primary,server,4,6,run_time_ns,ns,amount,1500000000,3490000000,,"
			 "2000000000,,200000000,4,4,changed,0.4,,\n"
			 "primary,fresh\\x1b,0,2,majflt,count,amount,,2,,,,,0,4,new,0,,\n");
}

static void columns_are_checked(void **state)
{
	struct column_list columns;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(compare_columns_parse("group,%,p", &columns, &error), 0);
	assert_int_equal(columns.count, 3);
	assert_int_equal(compare_columns_parse("group,colour", &columns, &error), -EINVAL);
	assert_non_null(strstr(error.message, "per_second"));
	assert_int_equal(error.caret, 6);
	error = (struct error){ 0 };
	assert_int_equal(compare_columns_parse("p,p", &columns, &error), -EINVAL);
	assert_int_equal(compare_columns_parse("", &columns, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
		TEST(text_begins_with_what_was_compared),
		TEST(of_a_long_fact_only_what_differs_is_shown),
		TEST(every_state_looks_different),
		TEST(both_sides_have_one_unit_and_the_difference_its_own),
		TEST(ratios_have_no_percent_and_show_the_interval),
		TEST(peaks_say_where_they_rose_to),
		TEST(what_has_no_number_has_no_difference),
		TEST(what_was_measured_in_part_is_marked),
		TEST(what_is_hidden_is_counted),
		TEST(rows_of_several_runs_have_their_spread),
		TEST(the_metric_of_an_order_is_always_shown),
		TEST(signs_are_colours_on_a_terminal_only),
		TEST(json_numbers_are_exact),
		TEST(json_says_what_was_compared),
		TEST(rates_of_a_population_are_of_each_side),
		TEST(rates_of_two_intervals_are_the_values_themselves),
		TEST(a_restarted_group_says_so_and_has_a_percent),
		TEST(what_ended_tasks_did_is_said_in_the_row),
		TEST(the_digest_comes_before_everything),
		TEST(csv_has_a_line_for_each_row_with_all_columns),
		TEST(columns_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
