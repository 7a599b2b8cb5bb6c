/* SPDX-License-Identifier: MIT */
/* A run that is written and read back is the same run: the same summary, the same report. */
#include "watched_run.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "render/run_text.h"
#include "store/run_file.h"

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
	struct run_text_options options = { .rows = 10 };
	struct diagnosis diagnosis = { 0 };

	open_buffer(buffer);
	diagnose(run, &diagnosis);
	run_text_report(buffer->file, run, &diagnosis, &options);
	close_buffer(buffer);
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
	watched_summary(live, lines.file);
	close_buffer(&lines);
	saved = read_back(lines.text, lines.size);
	assert_same_run(live, saved);
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
	assert_int_equal(run_add_source(live, "scopes", "unavailable", "nobody may look"), 0);
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
		strstr(lines.text, "\"at_least\":[\"processes\",\"cpu_ns\",\"peak_rss_bytes\"]"));
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
	assert_int_equal(saved->tree->usage.values[USAGE_CPU], 1200 * MILLISECOND);
	assert_int_equal(saved->tree->largest_rss_bytes, 700 << 20);
	assert_int_equal(saved->tree->ledger.off_cpu.count, 20);
	assert_int_equal(saved->tree->ledger.off_cpu.shortest_ns, MILLISECOND / 4);
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
		cmocka_unit_test(phases_come_back_as_they_were),
		cmocka_unit_test(phases_that_nobody_could_see_stay_absent),
		cmocka_unit_test(a_file_without_a_summary_has_what_ended_and_the_last_sample),
		cmocka_unit_test(a_file_that_ends_anywhere_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
