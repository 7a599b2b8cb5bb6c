/* SPDX-License-Identifier: MIT */
/* Payloads whose checksum is right and whose content is not. */
#include "snapshot_payload.h"

/* Decodes what must be refused for that reason, and frees it. */
static void refuse_payload(struct bytes *payload, const char *what, const char *why)
{
	struct snapshot *snapshot = NULL;
	const char *sentence = decode_payload(payload, &snapshot);
	char expected[128];

	snprintf(expected, sizeof(expected),
		 "the snapshot is damaged: %s; copy it again or capture again", why);
	if (!sentence || strcmp(sentence, expected) != 0)
		fail_msg("%s: %s", what, sentence ? sentence : "was accepted");
	assert_null(snapshot);
}

/* Where among right rows, one process and one task, a wrong block stands. */
enum place { BEFORE_ROWS, AS_PROCESSES, BETWEEN_ROWS, AS_TASKS, BEHIND_ROWS };

static const struct wrong_block {
	const char *what;
	enum place place;
	const char *name;
	uint8_t type;
	const char *bytes;
	size_t size;
	const char *why;
} wrong_blocks[] = {
	{ "processes out of order", AS_PROCESSES, "processes", BLOCK_ROWS, BYTES("\2\1\2\1"),
	  "rows are out of order" },
	{ "a process twice", AS_PROCESSES, "processes", BLOCK_ROWS, BYTES("\2\1\2\2"),
	  "rows are out of order" },
	{ "tasks out of order", AS_TASKS, "tasks", BLOCK_ROWS, BYTES("\2\1\2\1"),
	  "rows are out of order" },
	{ "an id too large", AS_PROCESSES, "processes", BLOCK_ROWS,
	  BYTES("\1\1\x80\x80\x80\x80\x08"), "an id is out of range" },
	{ "fewer ids than rows", AS_PROCESSES, "processes", BLOCK_ROWS, BYTES("\3\1\1\2"),
	  "a block is not what it should be" },
	{ "an encoding of tomorrow", AS_PROCESSES, "processes", BLOCK_ROWS, BYTES("\1\4\1"),
	  "a block is not what it should be" },
	{ "a process that is not there", BEHIND_ROWS, "task.process", BLOCK_FIELD, BYTES("\0\1"),
	  "a row refers to what is not there" },
	{ "a string that is not there", BEHIND_ROWS, "task.comm", BLOCK_FIELD, BYTES("\0\1"),
	  "a row refers to what is not there" },
	{ "strings after rows", BETWEEN_ROWS, "strings", BLOCK_STRINGS, BYTES("\1\1a"),
	  "its blocks are out of order" },
	{ "a string twice", BEFORE_ROWS, "strings", BLOCK_STRINGS, BYTES("\2\1a\1a"),
	  "a text is there twice" },
	{ "an empty string of its own", BEFORE_ROWS, "strings", BLOCK_STRINGS, BYTES("\1\0"),
	  "a text is there twice" },
	{ "a string with a nul", BEFORE_ROWS, "strings", BLOCK_STRINGS, BYTES("\1\2a\0"),
	  "a block is not what it should be" },
	{ "fewer strings than announced", BEFORE_ROWS, "strings", BLOCK_STRINGS, BYTES("\2\1a"),
	  "a block is not what it should be" },
	{ "bytes after the last string", BEFORE_ROWS, "strings", BLOCK_STRINGS, BYTES("\1\1ab"),
	  "a block is not what it should be" },
	{ "a number of more than 64 bits", BEHIND_ROWS, "tally", BLOCK_VALUES,
	  BYTES("\1x\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
	  "a block is not what it should be" },
	{ "a tally that is text", BEHIND_ROWS, "tally", BLOCK_VALUES, BYTES("\1x\1\1a"),
	  "a count is not a number" },
	{ "a fact twice", BEHIND_ROWS, "host", BLOCK_VALUES, BYTES("\4arch\1\1x\4arch\1\1x"),
	  "a fact about the host is there twice" },
	{ "a fact of no type", BEHIND_ROWS, "host", BLOCK_VALUES, BYTES("\4arch\2\1x"),
	  "a fact about the host is no number and no text" },
	{ "a source twice", BEHIND_ROWS, "sources", BLOCK_SOURCES,
	  BYTES("\1x\2ok\0\0\0\1x\2ok\0\0\0"), "a source is there twice" },
	{ "a name too long", BEHIND_ROWS,
	  "0123456789012345678901234567890123456789012345678901234567890123", 99, BYTES(""),
	  "a block is cut short" },
	{ "two hosts", BEHIND_ROWS, "host", BLOCK_SHEET, BYTES("\2\0\0\0"), "it has two hosts" },
	{ "a cgroup without a path", BEHIND_ROWS, "cgroups", BLOCK_SHEET, BYTES("\1\0\7\0"),
	  "a row refers to what is not there" },
	{ "readings of a process that is not there", BEHIND_ROWS, "processes", BLOCK_SHEET,
	  BYTES("\1\0\1\0"), "a row refers to what is not there" },
	{ "a sheet before its rows", BEFORE_ROWS, "host", BLOCK_SHEET, BYTES("\1\0\0\0"),
	  "its blocks are out of order" },
};

static void put_wrong_block(struct bytes *payload, const struct wrong_block *block)
{
	for (enum place place = BEFORE_ROWS; place <= BEHIND_ROWS; place++) {
		if (place == block->place)
			put_bytes(payload, block->name, block->type, block->bytes, block->size);
		else if (place == AS_PROCESSES)
			put_rows(payload, "processes", 1);
		else if (place == AS_TASKS)
			put_rows(payload, "tasks", 1);
	}
}

static void a_block_that_makes_no_sense_is_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong_blocks); i++) {
		struct bytes payload = { 0 };

		put_wrong_block(&payload, &wrong_blocks[i]);
		refuse_payload(&payload, wrong_blocks[i].what, wrong_blocks[i].why);
	}
}

static void no_tasks(struct bytes *payload)
{
	put_rows(payload, "processes", 1);
}

static void tasks_without_processes(struct bytes *payload)
{
	put_rows(payload, "processes", 0);
	put_rows(payload, "tasks", 1);
}

static void rows_twice(struct bytes *payload)
{
	put_rows(payload, "processes", 0);
	put_rows(payload, "processes", 0);
	put_rows(payload, "tasks", 0);
}

static void a_field_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "task.comm", BLOCK_FIELD, BYTES("\0\0"));
	put_bytes(payload, "task.comm", BLOCK_FIELD, BYTES("\0\0"));
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
	put_rows(payload, "processes", 1);
	put_rows(payload, "tasks", 3);
	put_bytes(payload, "majflt", BLOCK_COLUMN, BYTES("\5count\7counter\6thread\1\x0f\0\7"));
}

static void a_column_before_its_rows(struct bytes *payload)
{
	put_rows(payload, "processes", 1);
	put_column(payload, "majflt", "count", "counter", "thread");
	put_rows(payload, "tasks", 1);
}

static void a_field_before_its_rows(struct bytes *payload)
{
	put_rows(payload, "tasks", 1);
	put_bytes(payload, "process.start_time_ns", BLOCK_FIELD, BYTES("\0\1"));
	put_rows(payload, "processes", 1);
}

static void too_many_sources(struct bytes *payload)
{
	struct bytes body = { 0 };

	put_one_of_each(payload);
	for (char name = 'A'; name <= 'A' + SNAPSHOT_SOURCES; name++) {
		bytes_put(&body, BYTES("\1"));
		bytes_put(&body, &name, 1);
		bytes_put(&body, BYTES("\2ok\0\0\0"));
	}
	put_block(payload, "sources", BLOCK_SOURCES, &body);
	bytes_free(&body);
}

static void a_block_longer_than_the_payload(struct bytes *payload)
{
	put_one_of_each(payload);
	bytes_put_string(payload, "future");
	bytes_put_u8(payload, 99);
	bytes_put_varint(payload, UINT64_MAX);
}

static void a_reading_in_no_state(struct bytes *payload)
{
	put_reading(payload, "host", "memory.current", BYTES("\4\5bytes\5gauge\0\4\0\0"));
}

static void a_reading_of_a_text_that_is_not_there(struct bytes *payload)
{
	put_reading(payload, "host", "cpuset.cpus", BYTES("\4\4text\4text\0\3\0\1"));
}

static void a_reading_that_says_nothing(struct bytes *payload)
{
	put_reading(payload, "host", "memory.current", BYTES("\0"));
}

static void a_reading_whose_name_is_too_long(struct bytes *payload)
{
	char name[SHEET_NAME_SIZE + 1];

	memset(name, 'n', SHEET_NAME_SIZE);
	name[SHEET_NAME_SIZE] = '\0';
	put_reading(payload, "host", name, BYTES("\2\0"));
}

static void a_sheet_twice(struct bytes *payload)
{
	put_one_of_each(payload);
	put_bytes(payload, "host", BLOCK_SHEET, BYTES("\1\0\0\0"));
	put_bytes(payload, "host", BLOCK_SHEET, BYTES("\1\0\0\0"));
}

static void nothing(struct bytes *payload)
{
	bytes_put(payload, BYTES(""));
}

/* A function and its name, which tells what is wrong. */
#define NAMED(make) #make, make

static const struct {
	const char *what;
	void (*make)(struct bytes *payload);
	const char *why;
} wrong_payloads[] = {
	{ NAMED(no_tasks), "it has no rows" },
	{ NAMED(tasks_without_processes), "rows are out of order" },
	{ NAMED(rows_twice), "a block is there twice" },
	{ NAMED(a_field_twice), "a block is there twice" },
	{ NAMED(a_cpu_set_that_is_not_there), "a CPU set is not there" },
	{ NAMED(a_column_twice), "a metric is there twice" },
	{ NAMED(a_presence_bit_past_the_last_row), "a block is not what it should be" },
	{ NAMED(a_column_before_its_rows), "its blocks are out of order" },
	{ NAMED(a_field_before_its_rows), "its blocks are out of order" },
	{ NAMED(too_many_sources), "it has too many sources" },
	{ NAMED(a_block_longer_than_the_payload), "a block is cut short" },
	{ NAMED(a_reading_in_no_state), "a reading is in no known state" },
	{ NAMED(a_reading_of_a_text_that_is_not_there), "a text is not there" },
	{ NAMED(a_reading_that_says_nothing), "a reading is there twice, or says nothing" },
	{ NAMED(a_reading_whose_name_is_too_long), "a block is not what it should be" },
	{ NAMED(a_sheet_twice), "a block is there twice" },
	{ NAMED(nothing), "it has no rows" },
};

static void content_that_makes_no_sense_is_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong_payloads); i++) {
		struct bytes payload = { 0 };

		wrong_payloads[i].make(&payload);
		refuse_payload(&payload, wrong_payloads[i].what, wrong_payloads[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_makes_no_sense_is_refused_with_the_reason),
		cmocka_unit_test(content_that_makes_no_sense_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
