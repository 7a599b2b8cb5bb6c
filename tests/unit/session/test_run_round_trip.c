/* SPDX-License-Identifier: MIT */
/* A run that is written and read back is the same run: the same summary, the same report. */
#include "watched_run.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "render/run/run_text.h"
#include "store/run/run_file.h"
#include "store/snapshot_file.h"

struct buffer {
	FILE *file;
	char *text;
	size_t size;
};

static void open_buffer(struct buffer *buffer)
{
	buffer->file = open_memstream(&buffer->text, &buffer->size);
	assert_non_null(buffer->file);
}

static void close_buffer(struct buffer *buffer)
{
	if (buffer->file)
		fclose(buffer->file);
	buffer->file = NULL;
}

static void free_buffer(struct buffer *buffer)
{
	close_buffer(buffer);
	free(buffer->text);
}

static struct run *read_back(const char *text, size_t size)
{
	struct error error = { 0 };
	struct run *run = NULL;
	FILE *in = fmemopen((void *)text, size, "r");
	int status = run_file_read_stream(in, "it", &run, &error);

	fclose(in);
	if (status < 0)
		fail_msg("%s", error.message);
	return run;
}

static void report_of(const struct run *run, struct buffer *buffer)
{
	struct run_text_options options = { .rows = 10, .is_verbose = true };
	struct diagnosis diagnosis = { 0 };

	open_buffer(buffer);
	diagnose(run, &diagnosis);
	run_text_report(buffer->file, run, &diagnosis, &options);
	close_buffer(buffer);
}

/* A path with every member set, and one with as few as there can be. */
static void add_path(struct run *run)
{
	struct critical_path *path = &run->path;
	struct path_part part = {
		.program = "cc1",
		.thread = "cc\x1b[1m",
		.kind = PATH_RUN_QUEUE,
		.via = WAIT_CHILD,
		.ns = 900 * MILLISECOND,
		.peer = "hog",
		.peer_ns = 11,
		.by_tree_ns = 12,
		.by_outside_ns = 13,
		.processes = 14,
		.command = "cc1 -quiet a.c",
		.command_ns = 15,
	};
	struct path_segment segment = { 16,	  17,	     { WATCHED_ROOT, WATCHED_ROOT + 1, 18 },
					PATH_CPU, WAIT_LOCK, 19 };

	path->is_known = path->of_busiest = true;
	path->total_ns = 1000 * MILLISECOND;
	path->not_seen_ns = 20;
	path->threshold_ns = 10000;
	path->edges = 21;
	path->thread = (struct task_key){ WATCHED_ROOT, WATCHED_ROOT, 22 };
	path->segments_omitted = 23;
	assert_int_equal(critical_path_add_part(path, &part), 0);
	part = (struct path_part){ .program = "sh", .kind = WAIT_DISK, .via = PATH_DIRECT };
	part.ns = 100 * MILLISECOND;
	assert_int_equal(critical_path_add_part(path, &part), 0);
	assert_int_equal(critical_path_add_segment(path, &segment), 0);
	segment.via = PATH_DIRECT;
	segment.object = segment.task.start_ns = 0;
	assert_int_equal(critical_path_add_segment(path, &segment), 0);
}

static void add_deadlock(struct run *run)
{
	run->deadlock = (struct run_deadlock){
		{ { WATCHED_ROOT, WATCHED_ROOT, "le\033ft", "mutex 0x40 held by right (12)" },
		  { 99, 12, "right", "pipe:[7], other end: ? (99)" } },
		2
	};
}

static void add_segments(struct run *run)
{
	run->segments = (struct run_segments){ { { .begin_ns = 0,
						   .end_ns = 1500 * MILLISECOND,
						   .cores = { true, 1.234 },
						   .rss_bytes = { true, 0 },
						   .read_bytes_per_s = { true, 12345678 },
						   .write_bytes_per_s = { true, 9 },
						   .threads = { true, 4 },
						   .what = "computing, reading" },
						 { .begin_ns = 1500 * MILLISECOND,
						   .end_ns = 2000 * MILLISECOND } },
					       2 };
}

static void add_gpu_users(struct run *run)
{
	run->gpu.samples = (struct run_number){ true, 3 };
	run->gpu.processes_omitted = (struct run_number){ true, 5 };
	run->gpu_users = (struct run_gpu_users){
		{ { .pid = WATCHED_ROOT,
		    .start_ns = 7,
		    .comm = "tr\033ain",
		    .memory_peak_bytes = { true, 3 << 20 },
		    .busy_peak_percent = { true, 0 } },
		  { .pid = 99, .comm = "draw", .time_ns = { true, 2000 * MILLISECOND } } },
		2
	};
}

static void summary_of(const struct run *run, struct buffer *buffer)
{
	open_buffer(buffer);
	watched_summary(run, buffer->file);
	close_buffer(buffer);
}

static void assert_same_run(const struct run *live, const struct run *saved)
{
	CLEANUP(free_buffer) struct buffer live_summary = { 0 };
	CLEANUP(free_buffer) struct buffer saved_summary = { 0 };
	CLEANUP(free_buffer) struct buffer live_report = { 0 };
	CLEANUP(free_buffer) struct buffer saved_report = { 0 };

	summary_of(live, &live_summary);
	summary_of(saved, &saved_summary);
	assert_string_equal(saved_summary.text, live_summary.text);
	report_of(live, &live_report);
	report_of(saved, &saved_report);
	assert_string_equal(saved_report.text, live_report.text);
}

static void a_whole_file_gives_the_same_summary_and_report(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *live = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;

	(void)state;
	open_buffer(&lines);
	live = watched_run(lines.file);
	add_path(live);
	add_deadlock(live);
	add_segments(live);
	add_gpu_users(live);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	saved = read_back(lines.text, lines.size);
	assert_same_run(live, saved);
	assert_memory_equal(&saved->deadlock, &live->deadlock, sizeof(live->deadlock));
	assert_memory_equal(&saved->segments, &live->segments, sizeof(live->segments));
	assert_memory_equal(&saved->gpu_users, &live->gpu_users, sizeof(live->gpu_users));
}

/* The same by way of the bytes of a .tscope file. */
static struct run *through_tscope(const struct run *live)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *again = NULL;
	CLEANUP(free_pointer) void *bytes = NULL;
	CLEANUP(free_pointer) void *bytes_again = NULL;
	struct error error = { 0 };
	size_t size, size_again;
	struct run *saved = NULL;

	assert_int_equal(run_to_snapshot(live, &snapshot), 0);
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), 0);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &again, &error), 0);
	assert_int_equal(snapshot_encode(again, &bytes_again, &size_again, &error), 0);
	assert_int_equal(size_again, size);
	assert_memory_equal(bytes_again, bytes, size);
	assert_int_equal(run_from_snapshot(again, &saved), 0);
	return saved;
}

static void a_tscope_file_gives_the_same_summary_and_report(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	CLEANUP(free_buffer) struct buffer report = { 0 };

	(void)state;
	watched_phases(live);
	add_path(live);
	add_deadlock(live);
	add_segments(live);
	add_gpu_users(live);
	saved = through_tscope(live);
	assert_same_run(live, saved);
	assert_memory_equal(&saved->deadlock, &live->deadlock, sizeof(live->deadlock));
	assert_memory_equal(&saved->segments, &live->segments, sizeof(live->segments));
	assert_memory_equal(&saved->gpu_users, &live->gpu_users, sizeof(live->gpu_users));
	report_of(saved, &report);
	assert_non_null(strstr(report.text, "  2 threads wait for each other: le\\x1bft (100)"));
	assert_non_null(strstr(report.text, "deadlock: each waits for the next"));
	assert_non_null(strstr(report.text, "le\\x1bft"));
	assert_non_null(strstr(report.text, "tr\\x1bain"));
	assert_non_null(strstr(report.text, "mutex 0x40 held by right (12)\n"));
	assert_int_equal(saved->phases.list.count, 3);
	assert_int_equal(saved->tree->root->key.pid, WATCHED_ROOT);
}

static void both_files_of_a_run_are_the_same_snapshot(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *live = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *one = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *other = NULL;

	(void)state;
	open_buffer(&lines);
	live = watched_run(lines.file);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	saved = read_back(lines.text, lines.size);
	assert_int_equal(run_to_snapshot(live, &one), 0);
	assert_int_equal(run_to_snapshot(saved, &other), 0);
	assert_int_equal(one->task_count, other->task_count);
	assert_int_equal(one->process_count, other->process_count);
	for (int id = 0; id < METRIC_STORED; id++)
		for (uint32_t row = 0; row < snapshot_rows(one, (enum metric_id)id); row++) {
			uint64_t first = 0, second = 0;
			bool has = snapshot_get(one, (enum metric_id)id, row, &first);

			if (snapshot_get(other, (enum metric_id)id, row, &second) != has ||
			    first != second)
				fail_msg("%s of row %u: %llu and %llu", metrics[id].name, row,
					 (unsigned long long)first, (unsigned long long)second);
		}
}

static void phases_come_back_as_they_were(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(free_buffer) struct buffer report = { 0 };
	CLEANUP(run_free_pointer) struct run *live = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;

	(void)state;
	open_buffer(&lines);
	live = watched_run(lines.file);
	watched_phases(live);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	saved = read_back(lines.text, lines.size);
	assert_same_run(live, saved);
	assert_int_equal(saved->phases.list.count, 3);
	assert_memory_equal(saved->phases.list.data, live->phases.list.data,
			    3 * sizeof(struct phase));
	report_of(saved, &report);
	assert_non_null(strstr(report.text, "odd \\x1b[31m\\xff"));
}

static void phases_that_nobody_could_see_stay_absent(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer) struct run *saved = NULL;

	(void)state;
	assert_int_equal(run_add_source(live, "scopes", SOURCE_UNAVAILABLE, "nobody may look"), 0);
	open_buffer(&lines);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	assert_non_null(strstr(lines.text, "\"phases\":null"));
	saved = read_back(lines.text, lines.size);
	assert_false(saved->phases.known);
	assert_same_run(live, saved);
}

static void a_summary_alone_is_enough(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer) struct run *saved = NULL;

	(void)state;
	live->command_ns = (struct run_number){ true, 1500 * MILLISECOND };
	live->losses.events = 2;
	open_buffer(&lines);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	assert_non_null(strstr(lines.text, "\"command_wall_ns\":1500000000,"));
	assert_non_null(
		strstr(lines.text,
		       "\"at_least\":[\"processes_ever\",\"cpu_time_ns\",\"hiwater_rss_bytes\"]"));
	saved = read_back(lines.text, lines.size);
	assert_same_run(live, saved);
}

static void a_file_without_a_summary_has_what_ended_and_the_last_sample(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(free_buffer) struct buffer report = { 0 };
	CLEANUP(run_free_pointer) struct run *live = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;

	(void)state;
	open_buffer(&lines);
	assert_int_equal(run_new(&live), 0);
	watched_begin(live, lines.file);
	watched_middle(live, lines.file);
	fputs("{\"kind\":\"exit\",\"ts_ms\":17000", lines.file);
	close_buffer(&lines);
	saved = read_back(lines.text, lines.size);
	assert_int_equal(saved->end, RUN_UNFINISHED);
	assert_int_equal(run_wall_ns(saved), 1600 * MILLISECOND);
	assert_int_equal(saved->tree->exited, 2);
	assert_int_equal(saved->tree->failed, 1);
	assert_int_equal(saved->tree->oom_kills, 1);
	assert_int_equal(saved->tree->processes, 4);
	assert_int_equal(saved->tree->live_processes, 2);
	assert_int_equal(saved->tree->count, 4);
	assert_int_equal(amounts_cpu_ns(&saved->tree->amounts), 1200 * MILLISECOND);
	assert_int_equal(saved->tree->largest_rss_bytes, 700 << 20);
	assert_int_equal(amounts_get(&saved->tree->amounts, AMOUNT_offcpu_count), 20);
	assert_int_equal(amounts_get(&saved->tree->amounts, AMOUNT_offcpu_min_ns), MILLISECOND / 4);
	assert_int_equal(saved->losses.lines, 1);
	report_of(saved, &report);
	assert_non_null(strstr(report.text, "make: cut off after 1.60 s: no summary; "
					    "2 processes ended by then, 4 in all,"));
	assert_non_null(strstr(report.text, "file: its last line is cut off"));
}

/* Whoever kills us at whatever moment: each start of a file is a run, or no run yet. */
static void a_file_that_ends_anywhere_can_be_read(void **state)
{
	CLEANUP(free_buffer) struct buffer lines = { 0 };
	CLEANUP(run_free_pointer) struct run *live = NULL;

	(void)state;
	open_buffer(&lines);
	live = watched_run(lines.file);
	watched_summary(live, lines.file);
	close_buffer(&lines);
	for (size_t size = strcspn(lines.text, "\n") + 1; size + 1 < lines.size; size += 7) {
		CLEANUP(run_free_pointer) struct run *saved = read_back(lines.text, size);

		assert_true(saved->end == RUN_UNFINISHED);
		assert_int_equal(saved->pid, WATCHED_ROOT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_gives_the_same_summary_and_report),
		cmocka_unit_test(a_summary_alone_is_enough),
		cmocka_unit_test(a_tscope_file_gives_the_same_summary_and_report),
		cmocka_unit_test(both_files_of_a_run_are_the_same_snapshot),
		cmocka_unit_test(phases_come_back_as_they_were),
		cmocka_unit_test(phases_that_nobody_could_see_stay_absent),
		cmocka_unit_test(a_file_without_a_summary_has_what_ended_and_the_last_sample),
		cmocka_unit_test(a_file_that_ends_anywhere_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
