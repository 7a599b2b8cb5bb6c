/* SPDX-License-Identifier: MIT */
/* What a header may say, and how much is read because of it. */
#include "scope_decoding.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(pieces_of_no_size_are_refused),
		cmocka_unit_test(a_size_is_held_also_where_there_is_no_piece),
		cmocka_unit_test(what_is_no_such_memory_is_refused),
		cmocka_unit_test(a_file_without_bounds_is_refused),
		cmocka_unit_test(more_blocks_than_handles_can_name_are_refused),
		cmocka_unit_test(more_frames_than_handles_can_name_are_refused),
		cmocka_unit_test(patience_is_for_the_whole_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
