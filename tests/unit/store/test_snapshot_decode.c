/* SPDX-License-Identifier: MIT */
/* Files that are broken or of a newer version: an error at most. */
#include "snapshot_payload.h"

#include <endian.h>
#include <xxhash.h>

/* Decodes what must be refused; gives the sentence. */
static const char *refuse(const void *bytes, size_t size, int code)
{
	static struct error error;
	struct snapshot *snapshot = NULL;

	error = (struct error){ 0 };
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &snapshot, &error), code);
	assert_null(snapshot);
	assert_string_not_equal(error.message, "");
	return error.message;
}

static void any_flipped_bit_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = make_file(&size);

	(void)state;
	for (size_t bit = 0; bit < size * 8; bit++) {
		struct snapshot *snapshot = NULL;
		struct error error = { 0 };

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(snapshot_decode("the snapshot", bytes, size, &snapshot, &error) < 0);
		assert_string_not_equal(error.message, "");
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
}

static void any_truncation_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = make_file(&size);

	(void)state;
	for (size_t length = 0; length < size; length++) {
		/* Of its own size, so that a sanitizer sees a read past the end. */
		uint8_t *copy = malloc(length ? length : 1);
		const char *sentence;

		memcpy(copy, bytes, length);
		sentence = refuse(copy, length, -EBADMSG);
		assert_non_null(strstr(sentence, length ? "cut short" : "is empty"));
		free(copy);
	}
	free(bytes);
}

static void a_trailing_byte_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = make_file(&size);

	(void)state;
	bytes = realloc(bytes, size + 1);
	for (int last = 0; last < 256; last++) {
		bytes[size] = (uint8_t)last;
		assert_non_null(strstr(refuse(bytes, size + 1, -EBADMSG), "1 bytes follow"));
	}
	free(bytes);
}

static void a_newer_format_is_named(void **state)
{
	size_t size;
	uint8_t *bytes = make_file(&size);

	(void)state;
	bytes[8] = 2;
	assert_string_equal(refuse(bytes, size, -ENOTSUP),
			    "the snapshot was written by a newer taskscope (format 2); "
			    "this one reads up to 1");
	free(bytes);
}

static void a_copy_in_text_mode_is_told_from_a_foreign_file(void **state)
{
	static const uint8_t no_carriage_return[] = "\xd3TSC\n\x1a\n\x01\0\0\0\0\0\0\0";
	static const uint8_t seven_bits[] = "STSC\r\n\x1a\n\x01\0\0\0\0\0\0\0";
	static const uint8_t foreign[] = "\x7f"
					 "ELF\x02\x01\x01";

	(void)state;
	assert_non_null(strstr(refuse(no_carriage_return, 16, -EBADMSG), "text mode"));
	assert_non_null(strstr(refuse(seven_bits, 16, -EBADMSG), "text mode"));
	assert_string_equal(
		refuse(foreign, 7, -EBADMSG),
		"the snapshot is not a snapshot: `taskscope capture -o NAME.tscope` writes one");
}

/* Gives a file a checksum again after its bytes were changed. */
static void reseal(struct bytes *file)
{
	uint64_t checksum = htole64(XXH3_64bits(file->data, file->size));

	bytes_put(file, &checksum, sizeof(checksum));
}

/* Bytes of the header that are wrong under a right checksum. */
static void a_header_that_makes_no_sense_is_refused(void **state)
{
	struct bytes payload = { 0 };
	struct bytes file;

	(void)state;
	put_one_of_each(&payload);
	for (size_t at = 8; at < 16; at++) {
		file = wrap(&payload);
		file.data[at] ^= at == 8 ? 1 : 0x80;
		file.size -= CHECKSUM_SIZE;
		reseal(&file);
		refuse(file.data, file.size, at > 8 && at < 12 ? -ENOTSUP : -EBADMSG);
		bytes_free(&file);
	}
	bytes_free(&payload);
}

/* Adds a block that no version knows, too long to be unpacked in one step. */
static void put_long_block(struct bytes *payload)
{
	struct bytes body = { 0 };
	uint64_t number = 1;

	for (int i = 0; i < 100000; i++) {
		number = number * 6364136223846793005 + 1442695040888963407;
		bytes_put(&body, &number, sizeof(number));
	}
	put_block(payload, "future", 200, &body);
	bytes_free(&body);
}

static void blocks_around_a_long_one_are_read(void **state)
{
	struct snapshot *snapshot = NULL;
	struct bytes payload = { 0 };

	(void)state;
	put_long_block(&payload);
	put_rows(&payload, "processes", 1);
	put_long_block(&payload);
	put_long_block(&payload);
	put_rows(&payload, "tasks", 2);
	put_long_block(&payload);
	assert_null(decode_payload(&payload, &snapshot));
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->task_count, 2);
	snapshot_free(snapshot);
}

/* The end of the frame is missing, and long before it a block is wrong. */
static void a_frame_that_cannot_be_unpacked_is_named_before_a_wrong_block(void **state)
{
	struct bytes payload = { 0 }, file;

	(void)state;
	put_bytes(&payload, "processes", BLOCK_ROWS, BYTES("\1\77"));
	put_long_block(&payload);
	file = wrap(&payload);
	assert_non_null(strstr(refuse(file.data, file.size, -EBADMSG), "not what it should be"));
	file.size -= CHECKSUM_SIZE + 1;
	container_seal(&file, 0);
	assert_non_null(strstr(refuse(file.data, file.size, -EBADMSG), "cannot be decompressed"));
	bytes_free(&file);
	bytes_free(&payload);
}

static void what_a_newer_version_adds_is_skipped(void **state)
{
	struct bytes payload = { 0 }, body = { 0 };
	struct snapshot *snapshot = NULL;

	(void)state;
	bytes_put_string(&body, "anything");
	put_block(&payload, "future", 200, &body);
	put_block(&payload, "future", BLOCK_VALUES, &body);
	put_rows(&payload, "processes", 1);
	put_rows(&payload, "tasks", 2);
	put_block(&payload, "task.future", BLOCK_FIELD, &body);
	put_block(&payload, "future_metric", BLOCK_COLUMN, &body);
	put_block(&payload, "cpu_efficiency", BLOCK_COLUMN, &body);
	body.size = 0;
	bytes_put_string(&body, "future_fact");
	bytes_put_u8(&body, VALUE_TEXT);
	bytes_put_string(&body, "text");
	bytes_put_string(&body, "page_size"); /* a number to this version */
	bytes_put_u8(&body, VALUE_TEXT);
	bytes_put_string(&body, "4 KiB");
	bytes_put_string(&body, "clock_ticks");
	bytes_put_u8(&body, VALUE_NUMBER);
	bytes_put_varint(&body, 100);
	put_block(&payload, "host", BLOCK_VALUES, &body);
	body.size = 0;
	bytes_put_string(&body, "future_metric");
	bytes_put_string(&body, "some reason");
	put_block(&payload, "absent", BLOCK_REASONS, &body);
	bytes_free(&body);
	assert_null(decode_payload(&payload, &snapshot));
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->tasks[1].tid, 2);
	assert_false(snapshot->facts[FACT_page_size].present);
	assert_int_equal(snapshot->facts[FACT_clock_ticks].number, 100);
	snapshot_free(snapshot);
}

static void a_metric_stored_as_something_else_is_absent_with_that_reason(void **state)
{
	struct bytes payload = { 0 };
	struct snapshot *snapshot = NULL;
	uint64_t value;

	(void)state;
	put_rows(&payload, "processes", 1);
	put_rows(&payload, "tasks", 2);
	put_column(&payload, "run_time_ns", "us", "counter", "thread");
	put_column(&payload, "wait_time_ns", "ns", "gauge", "thread");
	put_column(&payload, "minflt", "count", "counter", "process");
	put_column(&payload, "majflt", "count", "counter", "thread");
	assert_null(decode_payload(&payload, &snapshot));
	assert_string_equal(snapshot->columns[METRIC_run_time_ns].absent,
			    "stored as counter in us by thread, which this version does not read");
	assert_non_null(
		strstr(snapshot->columns[METRIC_wait_time_ns].absent, "stored as gauge in ns"));
	assert_non_null(strstr(snapshot->columns[METRIC_minflt].absent, "by process"));
	assert_false(snapshot_get(snapshot, METRIC_run_time_ns, 0, &value));
	assert_false(snapshot_get(snapshot, METRIC_minflt, 0, &value));
	assert_true(snapshot_get(snapshot, METRIC_majflt, 1, &value));
	assert_int_equal(value, 7);
	snapshot_free(snapshot);
}

static void a_reading_stored_as_something_else_is_absent_with_that_reason(void **state)
{
	struct bytes payload = { 0 };
	struct snapshot *snapshot = NULL;
	const struct column *column;
	uint64_t value;

	(void)state;
	put_reading(&payload, "host", "memory.current", BYTES("\4\2us\5gauge\0\1\0\7"));
	assert_null(decode_payload(&payload, &snapshot));
	column = sheet_find(&snapshot->sheets[SHEET_HOST], "memory.current");
	assert_non_null(column);
	assert_string_equal(column->absent,
			    "stored as gauge in us, which this version does not read");
	assert_int_equal(column_get(column, 0, &value), CELL_ABSENT);
	snapshot_free(snapshot);
}

static void a_source_state_of_a_newer_version_is_told_as_partial(void **state)
{
	struct bytes payload = { 0 }, body = { 0 };
	struct snapshot *snapshot = NULL;

	(void)state;
	put_rows(&payload, "processes", 0);
	put_rows(&payload, "tasks", 0);
	bytes_put_string(&body, "netlink");
	bytes_put_string(&body, "throttled");
	bytes_put_u8(&body, 0);
	bytes_put_varint(&body, 1);
	bytes_put_varint(&body, 2);
	put_block(&payload, "sources", BLOCK_SOURCES, &body);
	bytes_free(&body);
	assert_null(decode_payload(&payload, &snapshot));
	assert_int_equal(snapshot->source_count, 1);
	assert_int_equal(snapshot->sources[0].state, SOURCE_PARTIAL);
	assert_string_equal(snapshot->sources[0].reason, "throttled");
	assert_int_equal(snapshot->sources[0].failed, 2);
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_flipped_bit_is_refused),
		cmocka_unit_test(any_truncation_is_refused),
		cmocka_unit_test(a_trailing_byte_is_refused),
		cmocka_unit_test(a_newer_format_is_named),
		cmocka_unit_test(a_copy_in_text_mode_is_told_from_a_foreign_file),
		cmocka_unit_test(a_header_that_makes_no_sense_is_refused),
		cmocka_unit_test(blocks_around_a_long_one_are_read),
		cmocka_unit_test(a_frame_that_cannot_be_unpacked_is_named_before_a_wrong_block),
		cmocka_unit_test(what_a_newer_version_adds_is_skipped),
		cmocka_unit_test(a_metric_stored_as_something_else_is_absent_with_that_reason),
		cmocka_unit_test(a_reading_stored_as_something_else_is_absent_with_that_reason),
		cmocka_unit_test(a_source_state_of_a_newer_version_is_told_as_partial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
