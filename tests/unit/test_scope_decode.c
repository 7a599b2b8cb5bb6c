#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collect/scope_decode.h"
#include "collect/scope_reader.h"
#include "model/scopes.h"
#include "scope_memory.h"

/* From a copy that has not a byte more. */
static int decode(const char *memory, size_t size, struct scopes *ret)
{
	struct error error = { 0 };
	char *bytes = malloc(size);
	int status;

	memcpy(bytes, memory, size);
	status = scopes_decode(bytes, size, MEMORY_NOW_TICKS, MEMORY_NOW_NS, true, ret, &error);
	if (status < 0)
		assert_true(error.message[0]);
	free(bytes);
	return status;
}

static void decode_well(char *memory, struct scopes *ret)
{
	assert_int_equal(decode(memory, MEMORY_SIZE, ret), 0);
}

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

/* Bytes that change between two reads. */
struct unsteady {
	char *memory;
	size_t size;
	unsigned changes; /* of the first block that are still to come */
	unsigned ends;	  /* how often the second thread still begins and ends */
	bool has_late;	  /* with its end, the first thread opens a scope of a new label */
};

static void open_late(struct unsteady *unsteady)
{
	memory_frame(unsteady->memory, 0, 0)->label = memory_add_label(unsteady->memory, "late");
	memory_thread(unsteady->memory, 0)->sequence += 2;
}

/* It loses a scope, and its losses move to those of ended threads. */
static void end_second(struct unsteady *unsteady)
{
	struct scope_header *header = memory_header(unsteady->memory);
	struct scope_thread *thread = memory_thread(unsteady->memory, 1);

	header->ended_unwound += thread->unwound;
	header->retired_sequence += 2;
	thread->unwound = unsteady->ends > 1;
	thread->tid = unsteady->ends > 1 ? 4243 : 0;
	unsteady->ends--;
	if (unsteady->has_late)
		open_late(unsteady);
}

static ssize_t read_unsteady(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct unsteady *unsteady = context;

	if (offset >= unsteady->size)
		return 0;
	if (size > unsteady->size - offset)
		size = unsteady->size - offset;
	memcpy(buffer, unsteady->memory + offset, size);
	if (unsteady->changes && offset == MEMORY_THREAD_OFFSET && size > 4) {
		unsteady->changes--;
		memory_thread(unsteady->memory, 0)->sequence += 2;
	}
	if (unsteady->ends && offset == MEMORY_THREAD_OFFSET && size > 4)
		end_second(unsteady);
	return (ssize_t)size;
}

static void decode_unsteady(struct unsteady *unsteady, bool with_statistics, struct scopes *ret)
{
	struct scope_source source = { read_unsteady, unsteady, MEMORY_SIZE };
	struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	struct error error = { 0 };

	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	assert_int_equal(
		scope_source_decode(&source, &header, &moment, with_statistics, &workspace, ret),
		0);
	scope_workspace_clear(&workspace);
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

/* Every place and size at the edges of what a number can be. */
static void headers_that_lie_are_refused(void **state)
{
	static const size_t members[] = {
		offsetof(struct scope_header, label_offset),
		offsetof(struct scope_header, label_max),
		offsetof(struct scope_header, retired_offset),
		offsetof(struct scope_header, retired_max),
		offsetof(struct scope_header, statistic_size),
		offsetof(struct scope_header, thread_offset),
		offsetof(struct scope_header, thread_size),
		offsetof(struct scope_header, thread_max),
		offsetof(struct scope_header, frame_offset),
		offsetof(struct scope_header, frame_max),
		offsetof(struct scope_header, texts_offset),
		offsetof(struct scope_header, texts_size),
		offsetof(struct scope_header, statistics_offset),
		offsetof(struct scope_header, statistics_max),
		offsetof(struct scope_header, bucket_count),
		offsetof(struct scope_header, label_size),
		offsetof(struct scope_header, frame_size),
	};
	static const uint32_t lies[] = { MEMORY_SIZE + 1, 0x7fffffff, 0x80000000, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(members) * ARRAY_SIZE(lies); i++) {
		char *memory = memory_sample();
		struct scopes scopes = { 0 };

		memcpy(memory + members[i / ARRAY_SIZE(lies)], &lies[i % ARRAY_SIZE(lies)],
		       sizeof(lies[0]));
		assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -EPROTO);
		assert_int_equal(scopes.tasks.count, 0);
		scopes_free(&scopes);
		free(memory);
	}
}

static void pieces_of_no_size_are_refused(void **state)
{
	static const size_t members[] = {
		offsetof(struct scope_header, label_size),
		offsetof(struct scope_header, statistic_size),
		offsetof(struct scope_header, thread_size),
		offsetof(struct scope_header, frame_size),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		char *memory = memory_sample();
		struct scopes scopes = { 0 };

		memset(memory + members[i], 0, sizeof(uint32_t));
		assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -EPROTO);
		free(memory);
	}
}

static void a_size_is_held_also_where_there_is_no_piece(void **state)
{
	char *memory = memory_sample();
	struct scopes scopes = { 0 };

	(void)state;
	memory_header(memory)->thread_max = 0;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.tasks.count, 0);
	memory_header(memory)->thread_size = UINT32_MAX;
	assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -EPROTO);
	scopes_free(&scopes);
	free(memory);
}

static void what_is_no_such_memory_is_refused(void **state)
{
	char *memory = memory_sample();
	struct scopes scopes = { 0 };

	(void)state;
	assert_int_equal(decode(memory, sizeof(struct scope_header) - 1, &scopes), -EPROTO);
	assert_int_equal(decode(memory, MEMORY_SIZE - 1, &scopes), -EPROTO);
	memory_header(memory)->version = SCOPE_VERSION + 1;
	assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -ENOTSUP);
	memory_header(memory)->state = SCOPE_STATE_NEW;
	assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -ENOENT);
	memory_header(memory)->magic++;
	assert_int_equal(decode(memory, MEMORY_SIZE, &scopes), -EPROTO);
	free(memory);
}

static void a_file_without_bounds_is_refused(void **state)
{
	struct unsteady unsteady = { .memory = memory_sample(), .size = MEMORY_SIZE };
	struct scope_source source = { read_unsteady, &unsteady, SCOPE_FILE_LIMIT + 1 };
	struct scope_header header;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(scope_header_read(&source, &header, &error), -EPROTO);
	free(unsteady.memory);
}

static void more_blocks_than_handles_can_name_are_refused(void **state)
{
	struct unsteady unsteady = { .memory = memory_new(), .size = MEMORY_SIZE };
	struct scope_source source = { read_unsteady, &unsteady, SCOPE_FILE_LIMIT };
	struct scope_header *told = memory_header(unsteady.memory);
	struct scope_header header;
	struct error error = { 0 };

	(void)state;
	told->frame_max = told->texts_offset = told->texts_size = told->statistics_max = 0;
	told->statistics_offset = 0;
	told->thread_size = 512;
	told->thread_max = 65536;
	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	told->thread_max++;
	assert_int_equal(scope_header_read(&source, &header, &error), -EPROTO);
	free(unsteady.memory);
}

static void more_frames_than_handles_can_name_are_refused(void **state)
{
	struct unsteady unsteady = { .memory = memory_new(), .size = MEMORY_SIZE };
	struct scope_source source = { read_unsteady, &unsteady, SCOPE_FILE_LIMIT };
	struct scope_header *told = memory_header(unsteady.memory);
	struct scope_header header;
	struct error error = { 0 };

	(void)state;
	told->thread_size = 1 << 20;
	told->frame_max = 255;
	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	told->frame_max++;
	assert_int_equal(scope_header_read(&source, &header, &error), -EPROTO);
	free(unsteady.memory);
}

/* As many blocks as can be, and each of them is being written for ever. */
struct restless {
	struct scope_header header;
	size_t reads;
};

static ssize_t read_restless(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct restless *restless = context;
	struct scope_thread thread = { .sequence = 1, .tid = 1 };

	restless->reads++;
	memset(buffer, 0, size);
	if (offset >= restless->header.thread_offset)
		memcpy(buffer, &thread, size < sizeof(thread) ? size : sizeof(thread));
	return (ssize_t)size;
}

static void patience_is_for_the_whole_memory(void **state)
{
	char *memory = memory_new();
	struct restless restless = { .header = *memory_header(memory) };
	struct scope_source source = { read_restless, &restless, SCOPE_FILE_LIMIT };
	struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
	struct scope_workspace workspace = { 0 };
	struct scopes scopes = { 0 };

	(void)state;
	restless.header.thread_count = restless.header.thread_max = 65536;
	assert_int_equal(
		scope_source_decode(&source, &restless.header, &moment, true, &workspace, &scopes),
		0);
	assert_int_equal(scopes.tasks.count, 65536);
	assert_true(scopes.tasks.data[65535].is_torn);
	assert_true(restless.reads < (65536 + 5000) * 3);
	scopes_free(&scopes);
	scope_workspace_clear(&workspace);
	free(memory);
}

static void losses_are_of_all_threads(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->lost_threads = 1;
	memory_header(memory)->lost_scopes = 2;
	memory_header(memory)->ended_unwound = 10;
	memory_thread(memory, 0)->unwound = 3;
	memory_thread(memory, 1)->unwound = 4;
	memory_thread(memory, 1)->lost_depth = 5;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.losses.threads, 1);
	assert_int_equal(scopes.losses.scopes, 2);
	assert_int_equal(scopes.losses.unwound, 17);
	assert_int_equal(scopes.losses.depth, 5);
	scopes_free(&scopes);
	free(memory);
}

static void losses_of_a_thread_that_ends_meanwhile_are_counted_once(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct unsteady unsteady = {
			.memory = memory_sample(),
			.size = MEMORY_SIZE,
			.ends = i / 2 + 1,
		};
		struct scopes scopes = { 0 };

		memory_header(unsteady.memory)->ended_unwound = 10;
		memory_thread(unsteady.memory, 1)->unwound = 1;
		decode_unsteady(&unsteady, i % 2, &scopes);
		assert_int_equal(unsteady.ends, 0);
		assert_int_equal(scopes.losses.unwound, 11 + i / 2);
		assert_int_equal(scopes.tasks.count, 1);
		scopes_free(&scopes);
		free(unsteady.memory);
	}
}

static void labels_that_come_meanwhile_are_read_with_the_rest(void **state)
{
	struct unsteady unsteady = {
		.memory = memory_sample(),
		.size = MEMORY_SIZE,
		.ends = 1,
		.has_late = true,
	};
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, true, &scopes);
	assert_string_equal(scopes.list.data[0].label, "late");
	scopes_free(&scopes);
	free(unsteady.memory);
}

static void threads_that_never_cease_to_end_are_read_a_few_times(void **state)
{
	struct unsteady unsteady = {
		.memory = memory_sample(),
		.size = MEMORY_SIZE,
		.ends = 1000,
	};
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, false, &scopes);
	assert_true(unsteady.ends > 980);
	scopes_free(&scopes);
	free(unsteady.memory);
}

static char *memory_with_statistics(void)
{
	char *memory = memory_sample();

	memory_count(memory_statistic(memory, 0, 0), 1, 20, 90);
	memory_count(memory_statistic(memory, 0, 0), 1, 30, 10);
	memory_count(memory_statistic(memory, 1, 1), 1, 20, 100);
	memory_count(memory_statistic(memory, 1, 0), 2, 31, 1);
	memory_statistic(memory, 1, 0)->cpu_ns = 500;
	memory_statistic(memory, 1, 0)->cpu_samples = 1;
	memory_count(memory_statistic(memory, 1, MEMORY_STATISTICS - 1), 0, 33, 9);
	memory_count(memory_retired(memory, 0), 2, 31, 4);
	memory_count(memory_retired(memory, MEMORY_RETIRED - 1), 0, 33, 2);
	return memory;
}

static void of_labels_that_are_not_there_no_statistics_are_read(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->label_count = 1;
	memory_count(memory_retired(memory, 1), 1, 31, 4);
	memory_count(memory_retired(memory, MEMORY_RETIRED - 1), 0, 33, 2);
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 1);
	assert_int_equal(scopes.labels.data[0].count, 2);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_are_of_all_threads_also_those_that_ended(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_with_statistics();
	const struct scope_label_use *uses;

	(void)state;
	decode_well(memory, &scopes);
	uses = scopes.labels.data;
	assert_int_equal(scopes.labels.count, 3);
	assert_string_equal(uses[0].label, "load matrix");
	assert_int_equal(uses[0].count, 200);
	assert_int_equal(uses[0].longest_ns, (UINT64_C(1) << 30) / 2);
	assert_in_range(uses[0].p50_ns, (1 << 20) / 2, (1 << 21) / 2);
	assert_in_range(uses[0].p99_ns, (1 << 30) / 2, UINT32_MAX / 2);
	assert_true(uses[0].p99_ns <= uses[0].longest_ns);
	assert_false(uses[0].has_cpu);
	assert_string_equal(uses[1].label, "solve");
	assert_int_equal(uses[1].count, 5);
	assert_true(uses[1].has_cpu);
	assert_int_equal(uses[1].cpu_ns, 500);
	assert_string_equal(uses[2].label, ""); /* the rest, last although it took longest */
	assert_int_equal(uses[2].count, 11);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_come_when_they_are_wanted_and_taken(void **state)
{
	struct scopes scopes = { 0 };
	struct error error = { 0 };
	char *memory = memory_with_statistics();

	(void)state;
	assert_int_equal(scopes_decode(memory, MEMORY_SIZE, MEMORY_NOW_TICKS, MEMORY_NOW_NS, false,
				       &scopes, &error),
			 0);
	assert_int_equal(scopes.labels.count, 0);
	assert_true(scopes.has_statistics);
	memory_header(memory)->flags = 0;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 0);
	assert_false(scopes.has_statistics);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_of_no_label_are_of_the_rest(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_with_statistics();

	(void)state;
	memory_statistic(memory, 0, 0)->label = UINT32_MAX;
	memory_statistic(memory, 0, 0)->total_ticks = UINT64_MAX;
	memory_statistic(memory, 1, 1)->label = 0; /* free: not the last one */
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 2);
	assert_int_equal(scopes.labels.data[1].count, 111);
	assert_int_equal(scopes.labels.data[1].total_ns, INT64_MAX);
	scopes_free(&scopes);
	free(memory);
}

static void time_of_a_label_that_is_open_is_told_before_it_is_closed(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();
	struct scope_statistic *statistic = memory_statistic(memory, 0, 0);

	(void)state;
	statistic->label = 1;
	statistic->cpu_ns = 700;
	statistic->cpu_samples = 2;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 1);
	assert_string_equal(scopes.labels.data[0].label, "load matrix");
	assert_int_equal(scopes.labels.data[0].count, 0);
	assert_true(scopes.labels.data[0].has_cpu);
	assert_int_equal(scopes.labels.data[0].cpu_ns, 700);
	scopes_free(&scopes);
	free(memory);
}

/* Statistics of ended threads in a table of their own, far behind all labels; counts its bytes. */
struct table {
	char *memory;
	struct scope_statistic places[SCOPE_RETIRED];
	size_t bytes_read;
};

static ssize_t read_table(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct table *table = context;

	if (offset < MEMORY_SIZE) {
		memcpy(buffer, table->memory + offset, size);
		return (ssize_t)size;
	}
	table->bytes_read += size;
	memcpy(buffer, (char *)table->places + (offset - MEMORY_SIZE), size);
	return (ssize_t)size;
}

static void decode_table(struct table *table, struct scopes *ret)
{
	struct scope_source source = { read_table, table, MEMORY_SIZE + sizeof(table->places) };
	struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
	struct scope_header *told = memory_header(table->memory);
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	struct error error = { 0 };

	told->statistics_max = 0;
	told->statistic_size = sizeof(struct scope_statistic);
	told->retired_offset = MEMORY_SIZE;
	told->retired_max = SCOPE_RETIRED;
	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	assert_int_equal(scope_source_decode(&source, &header, &moment, true, &workspace, ret), 0);
	scope_workspace_clear(&workspace);
}

/* By the labels' numbers, or one after the other. */
static void places_of_ended_threads_are_read_as_far_as_there_are_labels(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		struct table table = { .memory = memory_sample() };
		struct scopes scopes = { 0 };

		memory_count(&table.places[first], 1, 20, 90);
		memory_count(&table.places[first + 1], 2, 31, 4);
		memory_count(&table.places[SCOPE_RETIRED - 1], 0, 33, 2);
		decode_table(&table, &scopes);
		assert_int_equal(scopes.labels.count, 3);
		assert_string_equal(scopes.labels.data[0].label, "solve");
		assert_int_equal(scopes.labels.data[0].count, 4);
		assert_int_equal(scopes.labels.data[1].count, 90);
		assert_string_equal(scopes.labels.data[2].label, "");
		assert_int_equal(scopes.labels.data[2].count, 2);
		assert_in_range(table.bytes_read, 1, 4 * sizeof(struct scope_statistic));
		scopes_free(&scopes);
		free(table.memory);
	}
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
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(pieces_of_no_size_are_refused),
		cmocka_unit_test(a_size_is_held_also_where_there_is_no_piece),
		cmocka_unit_test(what_is_no_such_memory_is_refused),
		cmocka_unit_test(a_file_without_bounds_is_refused),
		cmocka_unit_test(more_blocks_than_handles_can_name_are_refused),
		cmocka_unit_test(more_frames_than_handles_can_name_are_refused),
		cmocka_unit_test(patience_is_for_the_whole_memory),
		cmocka_unit_test(losses_are_of_all_threads),
		cmocka_unit_test(losses_of_a_thread_that_ends_meanwhile_are_counted_once),
		cmocka_unit_test(labels_that_come_meanwhile_are_read_with_the_rest),
		cmocka_unit_test(threads_that_never_cease_to_end_are_read_a_few_times),
		cmocka_unit_test(of_labels_that_are_not_there_no_statistics_are_read),
		cmocka_unit_test(statistics_are_of_all_threads_also_those_that_ended),
		cmocka_unit_test(statistics_come_when_they_are_wanted_and_taken),
		cmocka_unit_test(statistics_of_no_label_are_of_the_rest),
		cmocka_unit_test(time_of_a_label_that_is_open_is_told_before_it_is_closed),
		cmocka_unit_test(places_of_ended_threads_are_read_as_far_as_there_are_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
