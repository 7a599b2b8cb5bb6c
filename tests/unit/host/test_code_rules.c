/* SPDX-License-Identifier: MIT */
/* Unwind rules: what the service may say, what is kept of it, and what hostile files do. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/code/code_rules.h"
#include "host/code/code_state.h"
#include "host/host.h"
#include "objects.h"

#define ADDRESSES 128
#define HOSTILE_FILES 60

static struct code_rules_answer answer;

static struct unwind_rules some_rules(int32_t offset)
{
	struct unwind_rules rules = { .cfa = { .kind = RULE_REGISTER, .offset = offset } };

	return rules;
}

/* Rows of [start, start + size), each with rules of its own. */
static void make_answer(uint64_t start, uint32_t size, int32_t first)
{
	memset(&answer, 0, sizeof(answer));
	answer.start = start;
	answer.size = size;
	for (uint32_t offset = 0; offset < size; offset += 1 + (uint32_t)rand() % 4) {
		answer.rules[answer.rules_count] =
			some_rules(first + (int32_t)answer.row_count % 7);
		answer.rows[answer.row_count++] = (struct code_row){ offset, answer.rules_count++ };
	}
}

static void an_answer_is_about_the_address(void **state)
{
	(void)state;
	make_answer(100, 50, 0);
	assert_true(code_rules_answer_is_valid(&answer, 100));
	assert_true(code_rules_answer_is_valid(&answer, 149));
	assert_false(code_rules_answer_is_valid(&answer, 150));
	assert_false(code_rules_answer_is_valid(&answer, 99));
	make_answer(100, 0, 0);
	assert_true(code_rules_answer_is_valid(&answer, 100)); /* there are none */
	assert_false(code_rules_answer_is_valid(&answer, 101));
}

static void rows_are_in_order_and_within_their_bounds(void **state)
{
	(void)state;
	make_answer(100, 50, 0);
	answer.rows[1].offset = answer.rows[0].offset;
	assert_false(code_rules_answer_is_valid(&answer, 100));
	make_answer(100, 50, 0);
	answer.rows[0].offset = 1;
	assert_false(code_rules_answer_is_valid(&answer, 120));
	make_answer(100, 50, 0);
	answer.rows[answer.row_count - 1].offset = 50;
	assert_false(code_rules_answer_is_valid(&answer, 100));
	make_answer(100, 50, 0);
	answer.rows[2].rules = answer.rules_count;
	assert_false(code_rules_answer_is_valid(&answer, 100));
	make_answer(100, 50, 0);
	answer.row_count = CODE_ROWS_MAX + 1;
	assert_false(code_rules_answer_is_valid(&answer, 100));
	make_answer(100, 50, 0);
	answer.rules_count = CODE_RULES_MAX + 1;
	assert_false(code_rules_answer_is_valid(&answer, 100));
}

static void an_answer_may_be_full(void **state)
{
	(void)state;
	memset(&answer, 0, sizeof(answer));
	answer.size = answer.row_count = CODE_ROWS_MAX;
	answer.rules_count = CODE_RULES_MAX;
	for (uint32_t i = 0; i < CODE_RULES_MAX; i++)
		answer.rules[i] = some_rules((int32_t)i);
	for (uint32_t i = 0; i < CODE_ROWS_MAX; i++)
		answer.rows[i] = (struct code_row){ i, i % CODE_RULES_MAX };
	assert_true(code_rules_answer_is_valid(&answer, 0));
}

static void rules_name_kinds_and_registers_that_exist(void **state)
{
	(void)state;
	make_answer(100, 50, 0);
	answer.rules[1].cfa.kind = RULE_KINDS;
	assert_false(code_rules_answer_is_valid(&answer, 100));
	make_answer(100, 50, 0);
	answer.rules[0].registers[UNWIND_PC].reg = UNWIND_REGISTERS;
	assert_false(code_rules_answer_is_valid(&answer, 100));
}

/* INT32_MIN: not known. */
static int32_t offset_at(const struct code_rules *rules, const struct code_rows *rows, uint32_t at)
{
	uint32_t found = CODE_NO_RULES;

	for (size_t i = 0; i < rows->list.count && rows->list.data[i].offset <= at; i++)
		found = rows->list.data[i].rules;
	return found < rules->list.count ? rules->list.data[found].cfa.offset : INT32_MIN;
}

static void the_last_answer_about_an_address_is_kept(void **state)
{
	int32_t expected[ADDRESSES];
	struct code_rules rules = { 0 };
	struct code_rows rows = { 0 };

	(void)state;
	for (size_t i = 0; i < ADDRESSES; i++)
		expected[i] = INT32_MIN;
	srand(3);
	for (int round = 0; round < 2000; round++) {
		uint32_t start = (uint32_t)rand() % (ADDRESSES - 1);
		uint32_t size = (uint32_t)rand() % 40;

		if (start + size >= ADDRESSES)
			size = ADDRESSES - 1 - start;
		make_answer(start, size, round);
		assert_int_equal(code_rules_keep(&rules, &rows, start, &answer), 0);
		for (uint32_t i = 0; i < answer.row_count; i++)
			for (uint32_t at = answer.rows[i].offset; at < size; at++)
				expected[start + at] = answer.rules[i].cfa.offset;
		if (size == 0)
			expected[start] = INT32_MIN;
		for (uint32_t i = 0; i < ADDRESSES; i++)
			assert_int_equal(offset_at(&rules, &rows, i), expected[i]);
		for (size_t i = 1; i < rows.list.count; i++)
			assert_true(rows.list.data[i - 1].offset < rows.list.data[i].offset);
	}
	assert_int_equal(rules.list.count, 2006); /* equal ones are kept once */
	code_rows_clear(&rows);
	code_rules_clear(&rules);
}

/* ---- files ---- */

struct room {
	struct host *host;
	struct code *code;
};

static struct room room_open(const struct code_limits *limits)
{
	struct room room;

	assert_int_equal(host_open(&room.host, NULL, NULL), 0);
	assert_int_equal(code_open(room.host, limits, &room.code), 0);
	return room;
}

static void room_close(struct room *room)
{
	code_close(room->code);
	host_close(room->host);
}

/* A file that was opened already. */
static struct code_file *add_file(struct room *room, int fd)
{
	static uint64_t inode;
	struct code_mapping mapping = { .path = "/file", .inode = ++inode };
	struct code_file *file = code_file_find(room->code, &mapping, 0, 0);

	assert_non_null(file);
	file->fd = fd;
	file->state = CODE_FILE_NEW;
	room->code->open_fds++;
	return file;
}

/* Asks about addresses all over the code; how many of them have rules. */
static unsigned ask_everywhere(struct room *room, struct code_file *file)
{
	unsigned found = 0;

	code_file_learn(room->code, file);
	for (size_t i = 0; i < file->segment_count && file->state == CODE_FILE_KNOWN; i++)
		for (uint64_t at = 0; at < file->segments[i].size && at < 4096; at += 7)
			found += code_rules_find(room->code, file,
						 file->segments[i].address + at) != NULL;
	return found;
}

static void memory_is_bounded(void **state)
{
	const struct code_limits limits = { .memory_bytes = 4096 };
	struct room room = room_open(&limits);
	struct code_file *file = add_file(&room, object_copy("static"));

	(void)state;
	assert_true(ask_everywhere(&room, file) > 100);
	assert_true(room.code->rules.row_count < 4096);
	room_close(&room);
}

/* Bytes that are nobody's table any more: at worst the file is given up, and the next one is answered. */
static void a_hostile_file_costs_itself_only(void **state)
{
	const struct code_limits limits = { .answer_ms = 5000 };
	unsigned found = 0;

	(void)state;
	srand(4);
	for (unsigned round = 0; round < HOSTILE_FILES; round++) {
		struct room room = room_open(&limits);
		int copy = object_copy("plain");
		off_t size = lseek(copy, 0, SEEK_END);

		for (unsigned i = 1 + (unsigned)rand() % 200; i > 0; i--) {
			/* The headers decide most, so they are hit more often. */
			off_t at = rand() % (i % 4 ? size : 1024);
			uint8_t byte = (uint8_t)(rand() % 3 ? rand() : 0xff * (rand() % 2));

			object_patch(copy, at, &byte, 1);
		}
		if (rand() % 8 == 0)
			assert_int_equal(ftruncate(copy, rand() % size), 0);
		found += ask_everywhere(&room, add_file(&room, copy));
		assert_true(ask_everywhere(&room, add_file(&room, object_copy("plain"))) > 10);
		room_close(&room);
	}
	assert_true(found > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_about_the_address),
		cmocka_unit_test(rows_are_in_order_and_within_their_bounds),
		cmocka_unit_test(an_answer_may_be_full),
		cmocka_unit_test(rules_name_kinds_and_registers_that_exist),
		cmocka_unit_test(the_last_answer_about_an_address_is_kept),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_hostile_file_costs_itself_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
