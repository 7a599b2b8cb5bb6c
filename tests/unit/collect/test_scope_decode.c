/* SPDX-License-Identifier: MIT */
/* Stacks, labels and clocks of a memory of scopes. */
#include "scope_decoding.h"

static void every_thread_has_its_stack(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();
	const struct scope *list;

	(void)state;
	decode_well(memory, &scopes);
	list = scopes.list.data;
	assert_int_equal(scopes.pid, 4242);
	assert_true(scopes.is_on);
	assert_int_equal(scopes.age_ns, 10000000000);
	assert_int_equal(scopes.tasks.count, 2);
	assert_string_equal(scopes.tasks.data[0].name, "main");
	assert_int_equal(scopes.tasks.data[0].count, 2);
	assert_int_equal(scopes.tasks.data[0].changed_ns, 5000000000);
	assert_false(scopes.tasks.data[0].is_idle);
	assert_false(scopes.tasks.data[0].is_torn);
	assert_string_equal(list[0].label, "load matrix");
	assert_int_equal(list[0].age_ns, 8000000000);
	assert_false(list[0].has_progress);
	assert_string_equal(list[1].label, "solve");
	assert_int_equal(list[1].count, 412);
	assert_int_equal(list[1].total, 1000);
	assert_int_equal(scopes.tasks.data[1].tid, 4243);
	assert_string_equal(list[scopes.tasks.data[1].first].label, "tile 7");
	scopes_free(&scopes);
	free(memory);
}

static void idle_counts_since_it_was_said(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_thread(memory, 0)->idle_ticks = memory_ago(3000);
	memory_thread(memory, 1)->idle_ticks = memory_ago(6000);
	decode_well(memory, &scopes);
	assert_true(scopes.tasks.data[0].is_idle);
	assert_int_equal(scopes.tasks.data[0].changed_ns, 3000000000);
	assert_false(scopes.tasks.data[1].is_idle); /* a change came after */
	scopes_free(&scopes);
	free(memory);
}

static void a_stall_names_its_scope(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_thread(memory, 0)->stall = SCOPE_STALL_BUSY;
	memory_thread(memory, 0)->stall_frame = 1;
	memory_thread(memory, 0)->stalled_ticks = memory_ago(2500);
	memory_thread(memory, 1)->stall = SCOPE_STALL_WAITING;
	memory_thread(memory, 1)->stall_frame = 2; /* there is no such scope */
	decode_well(memory, &scopes);
	assert_int_equal(scopes.tasks.data[0].stall, SCOPE_STALL_BUSY);
	assert_int_equal(scopes.tasks.data[0].stalled_scope, 1);
	assert_int_equal(scopes.tasks.data[0].stalled_ns, 2500000000);
	assert_int_equal(scopes.tasks.data[1].stall, SCOPE_STALL_NONE);
	/* What no version wrote is no stall, and without one there is no scope or time of it. */
	memory_thread(memory, 0)->stall = SCOPE_STALL_STOPPED + 1;
	memory_thread(memory, 1)->stall = SCOPE_STALL_NONE;
	memory_thread(memory, 1)->stall_frame = 0;
	memory_thread(memory, 1)->stalled_ticks = memory_ago(2500);
	scopes_clear(&scopes);
	decode_well(memory, &scopes);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(scopes.tasks.data[i].stall, SCOPE_STALL_NONE);
		assert_int_equal(scopes.tasks.data[i].stalled_ns, 0);
	}
	scopes_free(&scopes);
	free(memory);
}

static void free_blocks_are_no_threads(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_thread(memory, 0)->tid = 0;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.tasks.count, 1);
	assert_int_equal(scopes.tasks.data[0].tid, 4243);
	scopes_free(&scopes);
	free(memory);
}

static void a_block_that_is_being_written_is_marked(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_thread(memory, 0)->sequence = 3;
	memory_frame(memory, 0, 1)->generation = 0; /* not written yet */
	decode_well(memory, &scopes);
	assert_true(scopes.tasks.data[0].is_torn);
	assert_int_equal(scopes.tasks.data[0].count, 1);
	assert_false(scopes.tasks.data[1].is_torn);
	scopes_free(&scopes);
	free(memory);
}

static void a_block_that_changes_is_read_again(void **state)
{
	struct unsteady unsteady = { .memory = memory_sample(), .size = MEMORY_SIZE, .changes = 5 };
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, true, &scopes);
	assert_int_equal(unsteady.changes, 0);
	assert_int_equal(scopes.tasks.count, 2);
	assert_false(scopes.tasks.data[0].is_torn);
	scopes_free(&scopes);
	free(unsteady.memory);
}

static void a_block_that_never_holds_still_is_taken_and_marked(void **state)
{
	struct unsteady unsteady = { .memory = memory_sample(),
				     .size = MEMORY_SIZE,
				     .changes = UINT_MAX };
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, true, &scopes);
	assert_int_equal(scopes.tasks.count, 2);
	assert_true(scopes.tasks.data[0].is_torn);
	assert_int_equal(scopes.tasks.data[0].count, 2);
	scopes_free(&scopes);
	free(unsteady.memory);
}

/* The header is checked while the file is whole; then it is cut. */
static void a_file_that_is_cut_has_fewer_threads(void **state)
{
	(void)state;
	for (size_t size = 0; size <= MEMORY_SIZE; size += 24) {
		struct unsteady unsteady = { .memory = memory_sample(), .size = MEMORY_SIZE };
		struct scope_source source = { read_unsteady, &unsteady, MEMORY_SIZE };
		struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
		struct scope_workspace workspace = { 0 };
		struct scopes scopes = { 0 };
		struct scope_header header;
		struct error error = { 0 };

		assert_int_equal(scope_header_read(&source, &header, &error), 0);
		unsteady.size = size;
		assert_int_equal(
			scope_source_decode(&source, &header, &moment, true, &workspace, &scopes),
			0);
		assert_int_equal(scopes.pid, header.pid);
		if (size < MEMORY_THREAD_OFFSET)
			assert_int_equal(scopes.tasks.count, 0);
		else if (size < MEMORY_THREAD_OFFSET + 2 * MEMORY_THREAD_SIZE)
			assert_true(scopes.tasks.count <= 1);
		scopes_free(&scopes);
		scope_workspace_clear(&workspace);
		free(unsteady.memory);
	}
}

static void labels_without_an_end_are_cut(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memset(memory_label(memory, 1), 'x', MEMORY_LABEL_SIZE);
	memset(memory_texts(memory, 1), 'y', MEMORY_TEXTS_SIZE);
	memset(memory_thread(memory, 1)->name, 'z', SCOPE_THREAD_NAME_SIZE);
	memory_frame(memory, 1, 0)->label = SCOPE_TEXT | (MEMORY_TEXTS_SIZE - 2);
	decode_well(memory, &scopes);
	assert_int_equal(strlen(scopes.list.data[0].label), SCOPE_LABEL_SIZE - 1);
	assert_string_equal(scopes.list.data[2].label, "yy");
	assert_int_equal(strlen(scopes.tasks.data[1].name), SCOPE_THREAD_NAME_SIZE - 1);
	scopes_free(&scopes);
	free(memory);
}

static void labels_that_are_nowhere_are_empty(void **state)
{
	static const uint32_t nowhere[] = {
		0,
		3,
		MEMORY_LABELS,
		UINT32_MAX & ~SCOPE_TEXT,
		SCOPE_TEXT | MEMORY_TEXTS_SIZE,
		UINT32_MAX,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
		struct scopes scopes = { 0 };
		char *memory = memory_sample();

		memory_frame(memory, 0, 0)->label = nowhere[i];
		decode_well(memory, &scopes);
		assert_string_equal(scopes.list.data[0].label, "");
		scopes_free(&scopes);
		free(memory);
	}
}

static void stamps_that_cannot_be_are_no_age(void **state)
{
	static const uint64_t stamps[] = { 0, MEMORY_NOW_TICKS + 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stamps); i++) {
		struct scopes scopes = { 0 };
		char *memory = memory_sample();

		memory_frame(memory, 0, 0)->entered_ticks = stamps[i];
		memory_thread(memory, 0)->changed_ticks = stamps[i];
		decode_well(memory, &scopes);
		assert_int_equal(scopes.list.data[0].age_ns, 0);
		assert_int_equal(scopes.tasks.data[0].changed_ns, 0);
		scopes_free(&scopes);
		free(memory);
	}
}

static void nothing_is_older_than_the_clock(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	/* At 5 us a tick, its first one was before the host began. */
	memory_header(memory)->anchor_ticks = MEMORY_NOW_TICKS - 2000000;
	memory_frame(memory, 0, 0)->entered_ticks = 1;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.list.data[0].age_ns, 0);
	scopes_free(&scopes);
	free(memory);
}

static void a_clock_that_stands_still_gives_no_ages(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->anchor_ticks = MEMORY_NOW_TICKS;
	memory_header(memory)->anchor_ns = MEMORY_NOW_NS + 5;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.age_ns, 0);
	assert_int_equal(scopes.list.data[0].age_ns, 0);
	scopes_free(&scopes);
	free(memory);
}

static void a_clock_that_cannot_be_read_is_the_heartbeats(void **state)
{
	char *memory = memory_sample();
	struct scope_header *header = memory_header(memory);
	struct scope_moment moment = { .ns = MEMORY_NOW_NS };
	struct scope_scale scale;

	(void)state;
	header->latest_ticks = MEMORY_ANCHOR_TICKS + 16000000000;
	header->latest_ns = MEMORY_ANCHOR_NS + 8000000000;
	scale = scope_scale_of(header, &moment);
	assert_int_equal(scope_scale_age(&scale, memory_ago(3000)), 3000000000);
	header->latest_ticks = header->latest_ns = 0;
	scale = scope_scale_of(header, &moment);
	assert_int_equal(scope_scale_age(&scale, memory_ago(3000)), 0);
	free(memory);
}

static void nanoseconds_need_no_rate(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->clock = SCOPE_CLOCK_MONOTONIC;
	memory_header(memory)->anchor_ticks = UINT64_MAX;
	memory_frame(memory, 0, 0)->entered_ticks = MEMORY_NOW_NS - 77;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.list.data[0].age_ns, 77);
	scopes_free(&scopes);
	free(memory);
}

static void depth_and_counts_are_held_by_the_frames(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_thread(memory, 0)->depth = UINT32_MAX;
	memory_thread(memory, 0)->hidden = 7;
	memory_frame(memory, 0, 2)->generation = 9;
	memset(memory_texts(memory, 0), 1, MEMORY_TEXTS_SIZE); /* where a fourth would be */
	memory_header(memory)->thread_count = UINT32_MAX;
	memory_header(memory)->label_count = UINT32_MAX;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.tasks.count, 2);
	assert_int_equal(scopes.tasks.data[0].count, MEMORY_FRAMES);
	assert_int_equal(scopes.tasks.data[0].hidden, 7);
	scopes_free(&scopes);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_thread_has_its_stack),
		cmocka_unit_test(idle_counts_since_it_was_said),
		cmocka_unit_test(a_stall_names_its_scope),
		cmocka_unit_test(free_blocks_are_no_threads),
		cmocka_unit_test(a_block_that_is_being_written_is_marked),
		cmocka_unit_test(a_block_that_changes_is_read_again),
		cmocka_unit_test(a_block_that_never_holds_still_is_taken_and_marked),
		cmocka_unit_test(a_file_that_is_cut_has_fewer_threads),
		cmocka_unit_test(labels_without_an_end_are_cut),
		cmocka_unit_test(labels_that_are_nowhere_are_empty),
		cmocka_unit_test(stamps_that_cannot_be_are_no_age),
		cmocka_unit_test(nothing_is_older_than_the_clock),
		cmocka_unit_test(a_clock_that_stands_still_gives_no_ages),
		cmocka_unit_test(a_clock_that_cannot_be_read_is_the_heartbeats),
		cmocka_unit_test(nanoseconds_need_no_rate),
		cmocka_unit_test(depth_and_counts_are_held_by_the_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
