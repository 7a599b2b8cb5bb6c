/* SPDX-License-Identifier: MIT */
/* The profile of a run in its files: what is read back is what was written, whoever wrote it. */
#include "watched_run.h"

#include "hand_profile.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/output/lines.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "store/run/run_file.h"
#include "store/run/run_json.h"
#include "store/snapshot_file.h"

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static struct run *profiled_run(void)
{
	struct run *run = watched_run(NULL);

	run->profile = hand_profile();
	hand_everything(run->profile);
	return run;
}

/* A file as a session writes it: lines of stacks, then the summary. */
static FILE *write_lines(const struct run *run)
{
	FILE *file = tmpfile();
	struct lines lines;

	assert_non_null(file);
	assert_int_equal(lines_open(&lines, file), 0);
	run_json_metadata(lines_begin(&lines), run);
	lines_end(&lines);
	run_json_stacks(&lines, run, 1000);
	watched_summary(run, lines_begin(&lines));
	lines_end(&lines);
	assert_int_equal(lines_finish(&lines, 1000), 0);
	lines_close(&lines);
	rewind(file);
	return file;
}

static struct run *read_lines(FILE *file)
{
	struct error error = { 0 };
	struct run *run = NULL;

	if (run_file_read_stream(file, "it", &run, &error) < 0)
		fail_msg("%s", error.message);
	return run;
}

static struct run *through_lines(const struct run *live)
{
	CLEANUP(close_file) FILE *file = write_lines(live);

	return read_lines(file);
}

static struct run *through_tscope(const struct run *live)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *again = NULL;
	CLEANUP(free_pointer) void *bytes = NULL;
	struct error error = { 0 };
	struct run *saved = NULL;
	size_t size;

	assert_int_equal(run_to_snapshot(live, &snapshot), 0);
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), 0);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &again, &error), 0);
	assert_int_equal(run_from_snapshot(again, &saved), 0);
	return saved;
}

static void assert_same_profile(const struct profile *live, const struct profile *saved)
{
	CLEANUP(free_pointer) char *expected = hand_dump(live);
	CLEANUP(free_pointer) char *read = hand_dump(saved);

	assert_string_equal(read, expected);
}

static char *summary_of(const struct run *run)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	watched_summary(run, out);
	fclose(out);
	return text;
}

static void both_files_have_the_profile_of_the_live_run(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = profiled_run();
	CLEANUP(run_free_pointer) struct run *lines = through_lines(live);
	CLEANUP(run_free_pointer) struct run *tscope = through_tscope(live);
	CLEANUP(free_pointer) char *expected = summary_of(live);
	CLEANUP(free_pointer) char *from_lines = summary_of(lines);
	CLEANUP(free_pointer) char *from_tscope = summary_of(tscope);

	(void)state;
	assert_same_profile(live->profile, lines->profile);
	assert_same_profile(live->profile, tscope->profile);
	assert_string_equal(from_lines, expected);
	assert_string_equal(from_tscope, expected);
	assert_non_null(strstr(expected,
			       "\"profile\":{\"frequency_hz\":99,\"off_cpu_min_ns\":1000000,"
			       "\"on_cpu\":{\"ns\":30001500,\"complete_ns\":30000000,"
			       "\"missing_ns\":0,\"inferred_ns\":0,\"count\":3,\"top\":["
			       "{\"function\":\"add\",\"module\":\"/usr/bin/made\","
			       "\"self_ns\":30001500,\"total_ns\":30001500,\"share\":1,"));
}

static void a_run_without_stacks_has_no_profile(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer) struct run *lines = through_lines(live);
	CLEANUP(run_free_pointer) struct run *tscope = through_tscope(live);
	CLEANUP(free_pointer) char *summary = summary_of(live);

	(void)state;
	assert_null(lines->profile);
	assert_null(tscope->profile);
	assert_null(strstr(summary, "\"profile\""));
}

/* It ended before its first sample, which is not the same as no profile. */
static void a_profile_without_a_sample_is_one(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer) struct run *lines = NULL;
	CLEANUP(run_free_pointer) struct run *tscope = NULL;

	(void)state;
	live->profile = hand_profile();
	live->profile->frequency_hz = 99;
	lines = through_lines(live);
	tscope = through_tscope(live);
	assert_non_null(lines->profile);
	assert_non_null(tscope->profile);
	assert_same_profile(live->profile, lines->profile);
	assert_same_profile(live->profile, tscope->profile);
}

/* The summary of `report --format json` says how much there was, but the stacks are not there. */
static void a_summary_alone_is_no_profile(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = profiled_run();
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	CLEANUP(close_file) FILE *file = tmpfile();

	(void)state;
	watched_summary(live, file);
	rewind(file);
	saved = read_lines(file);
	assert_null(saved->profile);
}

static struct run *read_text(const struct run *run, const char *lines)
{
	CLEANUP(close_file) FILE *file = tmpfile();

	run_json_metadata(file, run);
	fputs(lines, file);
	rewind(file);
	return read_lines(file);
}

/* Lines that were lost, or that somebody changed. */
static void a_stack_whose_frames_are_missing_keeps_its_time(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(run_free_pointer)
	struct run *saved = read_text(
		live,
		"{\"kind\":\"frame\",\"id\":3,\"function\":\"inner\",\"address\":\"0x10\"}\n"
		"{\"kind\":\"frame\",\"id\":99999999,\"function\":\"far\"}\n"
		"{\"kind\":\"frame\",\"function\":\"nameless\"}\n"
		"{\"kind\":\"stack\",\"type\":\"on-cpu\",\"end\":\"complete\",\"frames\":[3,5,3],\"ns\":10}\n"
		"{\"kind\":\"stack\",\"type\":\"on-cpu\",\"end\":\"complete\",\"frames\":[-1],\"ns\":20}\n"
		"{\"kind\":\"stack\",\"type\":\"on-cpu\",\"end\":\"complete\",\"frames\":[99999999],\"ns\":40}\n"
		"{\"kind\":\"stack\",\"type\":\"none\",\"end\":\"complete\",\"ns\":80}\n"
		"{\"kind\":\"stack\",\"type\":\"on-cpu\",\"end\":\"never\",\"ns\":160}\n");
	struct profile_sum sum;

	(void)state;
	profile_sum(saved->profile, PROFILE_ON_CPU, &sum);
	assert_int_equal(sum.ns, 70);
	assert_int_equal(sum.missing_ns, 60);
	assert_int_equal(sum.complete_ns, 0);
	assert_int_equal(saved->profile->samples.data[0].end, PROFILE_TRUNCATED);
	assert_string_equal(profile_string(saved->profile, saved->profile->frames.data[0].function),
			    "inner");
}

/* A row of a snapshot with so many numbers, by the names of their columns. */
static void add_row(struct snapshot *snapshot, enum sheet_id id, const char *const *names,
		    const uint64_t *numbers, size_t count)
{
	struct sheet *sheet = &snapshot->sheets[id];
	uint32_t row;

	assert_int_equal(sheet_add_row(sheet, 0, &row), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(sheet_set(sheet, row, names[i], CELL_NUMBER, numbers[i]), 0);
}

static void a_hostile_snapshot_costs_its_own_stacks_only(void **state)
{
	static const char *const frame[] = { "address" }, *const node[] = { "parent", "frame" };
	static const char *const sample[] = { "kind", "end", "node", "ns" };
	CLEANUP(run_free_pointer) struct run *live = profiled_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	struct profile_sum before, after;
	size_t nodes = live->profile->nodes.count;

	(void)state;
	assert_int_equal(run_to_snapshot(live, &snapshot), 0);
	add_row(snapshot, SHEET_STACK_FRAMES, frame, (uint64_t[]){ 77 }, 1);
	/*
	 * Its own parent, a parent below it, a frame that is not there, a number that does not fit.
	 */
	add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ nodes, 0 }, 2);
	add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ nodes + 2, 0 }, 2);
	add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ 0, 1000 }, 2);
	add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ UINT64_MAX, UINT64_MAX }, 2);
	add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ nodes + 1, 0 }, 2);
	add_row(snapshot, SHEET_STACK_SAMPLES, sample, (uint64_t[]){ 0, 0, nodes, 16 }, 4);
	add_row(snapshot, SHEET_STACK_SAMPLES, sample, (uint64_t[]){ 0, 0, nodes + 4, 32 }, 4);
	add_row(snapshot, SHEET_STACK_SAMPLES, sample, (uint64_t[]){ 0, 0, UINT32_MAX, 64 }, 4);
	add_row(snapshot, SHEET_STACK_SAMPLES, sample, (uint64_t[]){ 3, 0, 0, 128 }, 4);
	add_row(snapshot, SHEET_STACK_SAMPLES, sample, (uint64_t[]){ 0, 3, 0, 256 }, 4);
	assert_int_equal(run_from_snapshot(snapshot, &saved), 0);
	profile_sum(live->profile, PROFILE_ON_CPU, &before);
	profile_sum(saved->profile, PROFILE_ON_CPU, &after);
	assert_int_equal(after.complete_ns, before.complete_ns);
	assert_int_equal(after.missing_ns, 16 + 32 + 64);
	for (uint32_t i = 1; i < saved->profile->nodes.count; i++)
		assert_true(saved->profile->nodes.data[i].parent < i);
}

/* A chain of nodes as deep as a file is long must not make every stack that long. */
static void a_stack_without_end_is_cut_where_the_others_are(void **state)
{
	static const char *const node[] = { "parent", "frame" };
	CLEANUP(run_free_pointer) struct run *live = profiled_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(run_free_pointer) struct run *saved = NULL;
	size_t nodes = live->profile->nodes.count;

	(void)state;
	assert_int_equal(run_to_snapshot(live, &snapshot), 0);
	for (uint64_t i = nodes; i < 10000; i++)
		add_row(snapshot, SHEET_STACK_NODES, node, (uint64_t[]){ i - 1, 0 }, 2);
	assert_int_equal(run_from_snapshot(snapshot, &saved), 0);
	assert_true(saved->profile->nodes.count < nodes + PROFILE_DEPTH_MAX);
}

/* Nobody reads the other end of the pipe: what does not fit is lost, and counted. */
static void a_reader_that_takes_nothing_costs_lines_and_no_more(void **state)
{
	CLEANUP(run_free_pointer) struct run *live = watched_run(NULL);
	CLEANUP(close_file) FILE *out = NULL;
	struct lines lines;
	int ends[2];

	(void)state;
	live->profile = hand_profile();
	for (int32_t i = 0; i < 60000; i++) {
		struct profile_sample sample =
			hand_sample(live->profile, PROFILE_ON_CPU, "main;work", 1);

		sample.task.tid = i + 1;
		assert_int_equal(profile_add_sample(live->profile, &sample), 0);
	}
	assert_int_equal(pipe(ends), 0);
	out = fdopen(ends[1], "w");
	assert_int_equal(lines_open(&lines, out), 0);
	run_json_stacks(&lines, live, 0);
	assert_true(lines_finish(&lines, 0) < 0);
	assert_true(lines.lost > 59000 && lines.lost <= 60002);
	lines_close(&lines);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_files_have_the_profile_of_the_live_run),
		cmocka_unit_test(a_run_without_stacks_has_no_profile),
		cmocka_unit_test(a_profile_without_a_sample_is_one),
		cmocka_unit_test(a_summary_alone_is_no_profile),
		cmocka_unit_test(a_stack_whose_frames_are_missing_keeps_its_time),
		cmocka_unit_test(a_hostile_snapshot_costs_its_own_stacks_only),
		cmocka_unit_test(a_stack_without_end_is_cut_where_the_others_are),
		cmocka_unit_test(a_reader_that_takes_nothing_costs_lines_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
