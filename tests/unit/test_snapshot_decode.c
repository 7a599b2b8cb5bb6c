/* Bytes that are broken, of a newer version or made to do harm: an error at most. */
#include <endian.h>
#include <sys/resource.h>
#include <xxhash.h>
#include <zstd.h>

#include "sample_snapshot.h"
#include "base/array.h"
#include "store/bytes.h"
#include "store/container.h"
#include "store/layout.h"
#include "store/series.h"
#include "sanitized.h"

/* Decodes what must be refused; gives the sentence. */
static const char *refuse(const void *bytes, size_t size, int code)
{
	static struct error error;
	struct snapshot *snapshot = NULL;

	error = (struct error){ 0 };
	assert_int_equal(snapshot_decode(bytes, size, &snapshot, &error), code);
	assert_null(snapshot);
	assert_string_not_equal(error.message, "");
	return error.message;
}

/* A file around a payload that is not the encoder's. */
static struct bytes wrap(const struct bytes *payload)
{
	size_t bound = ZSTD_compressBound(payload->size);
	struct bytes file = { 0 };

	assert_non_null(bytes_reserve(&file, HEADER_SIZE + bound));
	file.size = HEADER_SIZE;
	file.size += ZSTD_compress(file.data + HEADER_SIZE, bound, payload->data, payload->size, 3);
	container_seal(&file, 0);
	assert_false(file.failed);
	return file;
}

/* Gives a file a checksum again after its bytes were changed. */
static void reseal(struct bytes *file)
{
	uint64_t checksum = htole64(XXH3_64bits(file->data, file->size));

	bytes_put(file, &checksum, sizeof(checksum));
}

static void put_block(struct bytes *payload, const char *name, uint8_t type,
		      const struct bytes *body)
{
	bytes_put_string(payload, name);
	bytes_put_u8(payload, type);
	bytes_put_varint(payload, body->size);
	bytes_put(payload, body->data, body->size);
}

/* A block of rows with ids from 1. */
static void put_rows(struct bytes *payload, const char *name, uint64_t rows)
{
	struct bytes body = { 0 };

	bytes_put_varint(&body, rows);
	bytes_put_u8(&body, SERIES_PLAIN);
	for (uint64_t id = 1; id <= rows; id++)
		bytes_put_varint(&body, id);
	put_block(payload, name, BLOCK_ROWS, &body);
	bytes_free(&body);
}

/* Decodes a made-up payload and frees it; the sentence, or NULL and a snapshot. */
static const char *decode_payload(struct bytes *payload, struct snapshot **ret)
{
	static struct error error;
	struct bytes file = wrap(payload);
	int status;

	error = (struct error){ 0 };
	status = snapshot_decode(file.data, file.size, ret, &error);
	bytes_free(&file);
	bytes_free(payload);
	return status < 0 ? error.message : NULL;
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
		assert_true(snapshot_decode(bytes, size, &snapshot, &error) < 0);
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
	assert_string_equal(refuse(foreign, 7, -EBADMSG), "the snapshot is not a .tscope file");
}

static void what_a_newer_version_adds_is_skipped(void **state)
{
	struct bytes payload = { 0 }, body = { 0 };
	struct snapshot *snapshot = NULL;

	(void)state;
	bytes_put_string(&body, "anything");
	put_block(&payload, "future", 200, &body);
	put_block(&payload, "future", BLOCK_VALUES, &body);
	put_rows(&payload, BLOCK_PROCESSES, 1);
	put_rows(&payload, BLOCK_TASKS, 2);
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
	put_block(&payload, BLOCK_HOST, BLOCK_VALUES, &body);
	body.size = 0;
	bytes_put_string(&body, "future_metric");
	bytes_put_string(&body, "some reason");
	put_block(&payload, BLOCK_ABSENT, BLOCK_REASONS, &body);
	bytes_free(&body);
	assert_null(decode_payload(&payload, &snapshot));
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->tasks[1].tid, 2);
	assert_false(snapshot->facts[FACT_page_size].present);
	assert_int_equal(snapshot->facts[FACT_clock_ticks].number, 100);
	snapshot_free(snapshot);
}

static void put_column(struct bytes *payload, const char *name, const char *unit, const char *kind,
		       const char *scope)
{
	struct bytes body = { 0 };

	bytes_put_string(&body, unit);
	bytes_put_string(&body, kind);
	bytes_put_string(&body, scope);
	bytes_put_u8(&body, PRESENCE_ALL);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 7);
	put_block(payload, name, BLOCK_COLUMN, &body);
	bytes_free(&body);
}

static void a_metric_stored_as_something_else_is_absent_with_that_reason(void **state)
{
	struct bytes payload = { 0 };
	struct snapshot *snapshot = NULL;
	uint64_t value;

	(void)state;
	put_rows(&payload, BLOCK_PROCESSES, 1);
	put_rows(&payload, BLOCK_TASKS, 2);
	put_column(&payload, "run_time_ns", "us", "counter", "thread");
	put_column(&payload, "wait_time_ns", "ns", "gauge", "thread");
	put_column(&payload, "minflt", "count", "counter", "process");
	put_column(&payload, "majflt", "count", "counter", "thread");
	assert_null(decode_payload(&payload, &snapshot));
	assert_string_equal(snapshot->absent[METRIC_run_time_ns],
			    "stored as counter in us by thread, which this version does not read");
	assert_non_null(strstr(snapshot->absent[METRIC_wait_time_ns], "stored as gauge in ns"));
	assert_non_null(strstr(snapshot->absent[METRIC_minflt], "by process"));
	assert_false(snapshot_get(snapshot, METRIC_run_time_ns, 0, &value));
	assert_false(snapshot_get(snapshot, METRIC_minflt, 0, &value));
	assert_true(snapshot_get(snapshot, METRIC_majflt, 1, &value));
	assert_int_equal(value, 7);
	snapshot_free(snapshot);
}

static void a_source_state_of_a_newer_version_is_told_as_partial(void **state)
{
	struct bytes payload = { 0 }, body = { 0 };
	struct snapshot *snapshot = NULL;

	(void)state;
	put_rows(&payload, BLOCK_PROCESSES, 0);
	put_rows(&payload, BLOCK_TASKS, 0);
	bytes_put_string(&body, "netlink");
	bytes_put_string(&body, "throttled");
	bytes_put_u8(&body, 0);
	bytes_put_varint(&body, 1);
	bytes_put_varint(&body, 2);
	put_block(&payload, BLOCK_CAPTURE, BLOCK_SOURCES, &body);
	bytes_free(&body);
	assert_null(decode_payload(&payload, &snapshot));
	assert_int_equal(snapshot->source_count, 1);
	assert_int_equal(snapshot->sources[0].state, SOURCE_PARTIAL);
	assert_string_equal(snapshot->sources[0].reason, "throttled");
	assert_int_equal(snapshot->sources[0].failed, 2);
	snapshot_free(snapshot);
}

/* Payloads whose checksum is right and whose content is not. */

static void put_one_of_each(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void put_bytes(struct bytes *payload, const char *name, uint8_t type, const char *bytes,
		      size_t size)
{
	struct bytes body = { .data = (uint8_t *)bytes, .size = size };

	put_block(payload, name, type, &body);
}

static void no_tasks(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
}

static void tasks_without_processes(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 0);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void rows_twice(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 0);
	put_rows(payload, BLOCK_PROCESSES, 0);
	put_rows(payload, BLOCK_TASKS, 0);
}

static void processes_out_of_order(struct bytes *payload)
{
	put_bytes(payload, BLOCK_PROCESSES, BLOCK_ROWS, "\2\1\2\1", 4);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void a_process_twice(struct bytes *payload)
{
	put_bytes(payload, BLOCK_PROCESSES, BLOCK_ROWS, "\2\1\2\2", 4);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void tasks_out_of_order(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
	put_bytes(payload, BLOCK_TASKS, BLOCK_ROWS, "\2\1\2\1", 4);
}

static void an_id_too_large(struct bytes *payload)
{
	put_bytes(payload, BLOCK_PROCESSES, BLOCK_ROWS, "\1\1\x80\x80\x80\x80\x08", 7);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void fewer_ids_than_rows(struct bytes *payload)
{
	put_bytes(payload, BLOCK_PROCESSES, BLOCK_ROWS, "\3\1\1\2", 4);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void an_encoding_of_tomorrow(struct bytes *payload)
{
	put_bytes(payload, BLOCK_PROCESSES, BLOCK_ROWS, "\1\4\1", 3);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void a_process_that_is_not_there(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "task.process", BLOCK_FIELD, "\0\1", 2);
}

static void a_string_that_is_not_there(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "task.comm", BLOCK_FIELD, "\0\1", 2);
}

static void a_field_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "task.comm", BLOCK_FIELD, "\0\0", 2);
	put_bytes(payload, "task.comm", BLOCK_FIELD, "\0\0", 2);
}

static void a_cpu_set_that_is_not_there(struct bytes *payload)
{
	put_one_of_each(payload);
	put_column(payload, "cpu_affinity", "cpus", "cpu set", "thread");
}

static void a_column_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_column(payload, "majflt", "count", "counter", "thread");
	put_column(payload, "majflt", "count", "counter", "thread");
}

static void a_presence_bit_past_the_last_row(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
	put_rows(payload, BLOCK_TASKS, 3);
	put_bytes(payload, "majflt", BLOCK_COLUMN, "\5count\7counter\6thread\1\x0f\0\7", 25);
}

static void a_column_before_its_rows(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
	put_column(payload, "majflt", "count", "counter", "thread");
	put_rows(payload, BLOCK_TASKS, 1);
}

static void a_field_before_its_rows(struct bytes *payload)
{
	put_rows(payload, BLOCK_TASKS, 1);
	put_bytes(payload, "process.start_time_ns", BLOCK_FIELD, "\0\1", 2);
	put_rows(payload, BLOCK_PROCESSES, 1);
}

static void strings_after_rows(struct bytes *payload)
{
	put_rows(payload, BLOCK_PROCESSES, 1);
	put_bytes(payload, BLOCK_TEXTS, BLOCK_STRINGS, "\1\1a", 3);
	put_rows(payload, BLOCK_TASKS, 1);
}

static void strings(struct bytes *payload, const char *bytes, size_t size)
{
	put_bytes(payload, BLOCK_TEXTS, BLOCK_STRINGS, bytes, size);
	put_one_of_each(payload);
}

static void a_string_twice(struct bytes *payload)
{
	strings(payload, "\2\1a\1a", 5);
}

static void an_empty_string_of_its_own(struct bytes *payload)
{
	strings(payload, "\1\0", 2);
}

static void a_string_with_a_nul(struct bytes *payload)
{
	strings(payload, "\1\2a\0", 4);
}

static void fewer_strings_than_announced(struct bytes *payload)
{
	strings(payload, "\2\1a", 3);
}

static void bytes_after_the_last_string(struct bytes *payload)
{
	strings(payload, "\1\1ab", 4);
}

static void a_number_of_more_than_64_bits(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, BLOCK_TALLY, BLOCK_VALUES,
		  "\1x\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 13);
}

static void a_tally_that_is_text(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, BLOCK_TALLY, BLOCK_VALUES, "\1x\1\1a", 5);
}

static void a_fact_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, BLOCK_HOST, BLOCK_VALUES, "\4arch\1\1x\4arch\1\1x", 16);
}

static void a_fact_of_no_type(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, BLOCK_HOST, BLOCK_VALUES, "\4arch\2\1x", 8);
}

static void a_source_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, BLOCK_CAPTURE, BLOCK_SOURCES, "\1x\2ok\0\0\0\1x\2ok\0\0\0", 16);
}

static void too_many_sources(struct bytes *payload)
{
	struct bytes body = { 0 };

	put_one_of_each(payload);
	for (char name = 'A'; name <= 'A' + SNAPSHOT_SOURCES; name++) {
		bytes_put(&body, "\1", 1);
		bytes_put(&body, &name, 1);
		bytes_put(&body, "\2ok\0\0\0", 6);
	}
	put_block(payload, BLOCK_CAPTURE, BLOCK_SOURCES, &body);
	bytes_free(&body);
}

static void a_block_longer_than_the_payload(struct bytes *payload)
{
	put_one_of_each(payload);
	bytes_put_string(payload, "future");
	bytes_put_u8(payload, 99);
	bytes_put_varint(payload, UINT64_MAX);
}

static void a_name_too_long(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "0123456789012345678901234567890123456789012345678901234567890123", 99,
		  "", 0);
}

/* One row of the host with one reading: flags, states and values as given. */
static void put_reading(struct bytes *payload, const char *sheet, const char *name,
			const char *cells, size_t size)
{
	struct bytes body = { 0 };

	put_one_of_each(payload);
	bytes_put(&body, "\1\0\0\1", 4);
	bytes_put_string(&body, name);
	bytes_put(&body, cells, size);
	put_block(payload, sheet, BLOCK_SHEET, &body);
	bytes_free(&body);
}

static void a_reading_in_no_state(struct bytes *payload)
{
	put_reading(payload, "host", "memory.current", "\4\5bytes\5gauge\0\4\0\0", 17);
}

static void a_reading_of_a_text_that_is_not_there(struct bytes *payload)
{
	put_reading(payload, "host", "cpuset.cpus", "\4\4text\4text\0\3\0\1", 15);
}

static void a_reading_that_says_nothing(struct bytes *payload)
{
	put_reading(payload, "host", "memory.current", "\0", 1);
}

static void a_reading_whose_name_is_too_long(struct bytes *payload)
{
	char name[SHEET_NAME_SIZE + 1];

	memset(name, 'n', SHEET_NAME_SIZE);
	name[SHEET_NAME_SIZE] = '\0';
	put_reading(payload, "host", name, "\2\0", 2);
}

static void two_hosts(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "host", BLOCK_SHEET, "\2\0\0\0", 4);
}

static void a_cgroup_without_a_path(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "cgroups", BLOCK_SHEET, "\1\0\7\0", 4);
}

static void readings_of_a_process_that_is_not_there(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "processes", BLOCK_SHEET, "\1\0\1\0", 4);
}

static void a_sheet_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "host", BLOCK_SHEET, "\1\0\0\0", 4);
	put_bytes(payload, "host", BLOCK_SHEET, "\1\0\0\0", 4);
}

static void a_sheet_before_its_rows(struct bytes *payload)
{
	put_bytes(payload, "host", BLOCK_SHEET, "\1\0\0\0", 4);
	put_one_of_each(payload);
}

static void nothing(struct bytes *payload)
{
	bytes_put(payload, "", 0);
}

static const struct {
	void (*make)(struct bytes *payload);
	const char *why;
} malformations[] = {
	{ no_tasks, "it has no rows" },
	{ tasks_without_processes, "rows are out of order" },
	{ rows_twice, "a block is there twice" },
	{ processes_out_of_order, "rows are out of order" },
	{ a_process_twice, "rows are out of order" },
	{ tasks_out_of_order, "rows are out of order" },
	{ an_id_too_large, "an id is out of range" },
	{ fewer_ids_than_rows, "a block is not what it should be" },
	{ an_encoding_of_tomorrow, "a block is not what it should be" },
	{ a_process_that_is_not_there, "a row refers to what is not there" },
	{ a_string_that_is_not_there, "a row refers to what is not there" },
	{ a_field_twice, "a block is there twice" },
	{ a_cpu_set_that_is_not_there, "a CPU set is not there" },
	{ a_column_twice, "a metric is there twice" },
	{ a_presence_bit_past_the_last_row, "a block is not what it should be" },
	{ a_column_before_its_rows, "its blocks are out of order" },
	{ a_field_before_its_rows, "its blocks are out of order" },
	{ strings_after_rows, "its blocks are out of order" },
	{ a_string_twice, "a text is there twice" },
	{ an_empty_string_of_its_own, "a text is there twice" },
	{ a_string_with_a_nul, "a block is not what it should be" },
	{ fewer_strings_than_announced, "a block is not what it should be" },
	{ bytes_after_the_last_string, "a block is not what it should be" },
	{ a_number_of_more_than_64_bits, "a block is not what it should be" },
	{ a_tally_that_is_text, "a count is not a number" },
	{ a_fact_twice, "a fact about the host is there twice" },
	{ a_fact_of_no_type, "a fact about the host is no number and no text" },
	{ a_source_twice, "a source is there twice" },
	{ too_many_sources, "it has too many sources" },
	{ a_block_longer_than_the_payload, "a block is cut short" },
	{ a_name_too_long, "a block is cut short" },
	{ a_reading_in_no_state, "a reading is in no known state" },
	{ a_reading_of_a_text_that_is_not_there, "a text is not there" },
	{ a_reading_that_says_nothing, "a reading is there twice, or says nothing" },
	{ a_reading_whose_name_is_too_long, "a block is not what it should be" },
	{ two_hosts, "it has two hosts" },
	{ a_cgroup_without_a_path, "a row refers to what is not there" },
	{ readings_of_a_process_that_is_not_there, "a row refers to what is not there" },
	{ a_sheet_twice, "a block is there twice" },
	{ a_sheet_before_its_rows, "its blocks are out of order" },
	{ nothing, "it has no rows" },
};

static void content_that_makes_no_sense_is_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(malformations); i++) {
		struct bytes payload = { 0 };
		struct snapshot *snapshot = NULL;
		char expected[128];

		snprintf(expected, sizeof(expected),
			 "the snapshot is damaged: %s; copy it again or capture again",
			 malformations[i].why);
		malformations[i].make(&payload);
		assert_string_equal(decode_payload(&payload, &snapshot), expected);
		assert_null(snapshot);
	}
}

static void a_reading_stored_as_something_else_is_absent_with_that_reason(void **state)
{
	struct bytes payload = { 0 };
	struct snapshot *snapshot = NULL;
	const struct sheet_column *column;
	uint64_t value;

	(void)state;
	put_reading(&payload, "host", "memory.current", "\4\2us\5gauge\0\1\0\7", 14);
	assert_null(decode_payload(&payload, &snapshot));
	column = sheet_find(&snapshot->sheets[SHEET_HOST], "memory.current");
	assert_non_null(column);
	assert_string_equal(column->absent,
			    "stored as gauge in us, which this version does not read");
	assert_int_equal(sheet_get(column, 0, &value), CELL_ABSENT);
	snapshot_free(snapshot);
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

/* A file whose payload unfolds to a gigabyte of zeros. */
static struct bytes make_zero_bomb(void)
{
	size_t size = (size_t)1 << 20;
	uint8_t *zeros = calloc(1, size);
	ZSTD_CCtx *compressor = ZSTD_createCCtx();
	struct bytes file = { 0 };

	bytes_reserve(&file, HEADER_SIZE + size);
	file.size = HEADER_SIZE;
	for (int i = 0; i <= 1024; i++) {
		ZSTD_inBuffer input = { zeros, i < 1024 ? size : 0, 0 };
		ZSTD_outBuffer output = { file.data, file.capacity, file.size };

		ZSTD_compressStream2(compressor, &output, &input,
				     i < 1024 ? ZSTD_e_continue : ZSTD_e_end);
		file.size = output.pos;
	}
	container_seal(&file, 0);
	ZSTD_freeCCtx(compressor);
	free(zeros);
	return file;
}

/* A file whose frame says that it holds terabytes. */
static struct bytes make_size_bomb(void)
{
	static const uint8_t frame[] = {
		0x28, 0xb5, 0x2f, 0xfd, /* magic */
		0xe0,			/* single segment, content size of 8 bytes */
		0,    0,    0,	  0,	0, 1, 0, 0, 1, 0, 0,
	};
	struct bytes file = { 0 };

	bytes_reserve(&file, HEADER_SIZE);
	file.size = HEADER_SIZE;
	bytes_put(&file, frame, sizeof(frame));
	container_seal(&file, 0);
	return file;
}

/* A small file that announces 2^40 of something. */
static struct bytes make_count_bomb(const char *name, enum block_type type)
{
	struct bytes payload = { 0 }, body = { 0 };
	struct bytes file;

	bytes_put_varint(&body, (uint64_t)1 << 40);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 1);
	put_block(&payload, name, type, &body);
	file = wrap(&payload);
	bytes_free(&body);
	bytes_free(&payload);
	return file;
}

/* As many rows as may be, of a few bytes. */
static void put_many_rows(struct bytes *payload)
{
	struct bytes body = { 0 };

	put_rows(payload, BLOCK_PROCESSES, 1);
	bytes_put_varint(&body, 200000);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 1);
	put_block(payload, BLOCK_TASKS, BLOCK_ROWS, &body);
	bytes_free(&body);
}

/* Every metric, each of a few bytes. */
static void put_every_column(struct bytes *payload)
{
	for (int id = 0; id < METRIC_STORED; id++)
		put_column(payload, metrics[id].name, metric_unit_name(metrics[id].unit),
			   metric_kind_name(metrics[id].kind),
			   metric_scope_name(metrics[id].scope));
}

static struct bytes make_cell_bomb(void)
{
	struct bytes payload = { 0 };
	struct bytes file;

	put_many_rows(&payload);
	put_every_column(&payload);
	file = wrap(&payload);
	bytes_free(&payload);
	return file;
}

/* Columns that hold nothing yet, and then the rows that make them grow. */
static struct bytes make_late_rows_bomb(void)
{
	struct bytes payload = { 0 };
	struct bytes file;

	put_every_column(&payload);
	put_many_rows(&payload);
	file = wrap(&payload);
	bytes_free(&payload);
	return file;
}

/* Rows of cgroups, as many as may be claimed. */
static struct bytes make_sheet_bomb(void)
{
	struct bytes payload = { 0 };
	struct bytes body = { 0 };
	struct bytes file;

	put_one_of_each(&payload);
	bytes_put_varint(&body, 4000000);
	bytes_put(&body, "\0\0\0", 3);
	put_block(&payload, "cgroups", BLOCK_SHEET, &body);
	file = wrap(&payload);
	bytes_free(&payload);
	bytes_free(&body);
	return file;
}

struct bomb {
	struct bytes file;
	int code; /* that it is refused with */
};

/* The child's verdict: refused, in time and in little memory. */
static int survive(const void *argument)
{
	const struct bomb *bomb = argument;
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	int status;

	alarm(20);
#ifndef ADDRESS_SPACE_IS_RESERVED
	{
		struct rlimit limit = { 96 << 20, 96 << 20 };

		setrlimit(RLIMIT_AS, &limit);
	}
#endif
	status = snapshot_decode(bomb->file.data, bomb->file.size, &snapshot, &error);
	return status == bomb->code ? 0 : 1;
}

static void a_small_file_that_claims_much_costs_little(void **state)
{
	struct bomb bombs[] = {
		{ make_zero_bomb(), -EFBIG },
		{ make_size_bomb(), -EBADMSG },
		{ make_count_bomb(BLOCK_TEXTS, BLOCK_STRINGS), -EFBIG },
		{ make_count_bomb(BLOCK_PROCESSES, BLOCK_ROWS), -EFBIG },
		{ make_count_bomb(BLOCK_TASKS, BLOCK_ROWS), -EFBIG },
		{ make_sheet_bomb(), -EFBIG },
		{ make_cell_bomb(), -EFBIG },
		{ make_late_rows_bomb(), -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
		assert_true(bombs[i].file.size < 100000);
		assert_int_equal(in_child(survive, &bombs[i]), 0);
		bytes_free(&bombs[i].file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_flipped_bit_is_refused),
		cmocka_unit_test(any_truncation_is_refused),
		cmocka_unit_test(a_trailing_byte_is_refused),
		cmocka_unit_test(a_newer_format_is_named),
		cmocka_unit_test(a_copy_in_text_mode_is_told_from_a_foreign_file),
		cmocka_unit_test(what_a_newer_version_adds_is_skipped),
		cmocka_unit_test(a_metric_stored_as_something_else_is_absent_with_that_reason),
		cmocka_unit_test(a_source_state_of_a_newer_version_is_told_as_partial),
		cmocka_unit_test(content_that_makes_no_sense_is_refused_with_the_reason),
		cmocka_unit_test(a_reading_stored_as_something_else_is_absent_with_that_reason),
		cmocka_unit_test(a_header_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_small_file_that_claims_much_costs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
