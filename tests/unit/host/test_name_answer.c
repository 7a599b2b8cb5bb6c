/* SPDX-License-Identifier: MIT */
/* What the code service may say about names, and what is kept of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/dictionary.h"
#include "host/code/name/name_answer.h"
#include "host/code/service/code_protocol.h"

#define HEAD offsetof(struct code_name_answer, texts)

static struct code_name_answer answer;
static struct kept_names kept;
static struct dictionary *texts;

/* An answer about [start, end) with one name; returns its size. */
static size_t set_answer(uint64_t start, uint64_t end, const char *name)
{
	answer = (struct code_name_answer){ .start = start, .end = end, .count = 1 };
	answer.names[0].function = 1;
	return HEAD + 1 + (size_t)snprintf(answer.texts + 1, 64, "%s", name) + 1;
}

static int set_up(void **state)
{
	(void)state;
	texts = dictionary_new();
	return texts ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	kept_names_clear(&kept);
	dictionary_free(texts);
	return 0;
}

static const char *name_at(uint64_t address)
{
	const struct kept_range *range = kept_names_find(&kept, address);

	return range ? dictionary_text(texts, kept.names.data[range->first].function) : NULL;
}

static void keep(uint64_t start, uint64_t end, uint64_t address, const char *name)
{
	assert_true(name_answer_is_valid(&answer, set_answer(start, end, name), address));
	assert_int_equal(kept_names_add(&kept, &answer, address, texts), 0);
}

static void an_answer_holds_for_its_range(void **state)
{
	(void)state;
	keep(0x100, 0x200, 0x150, "one");
	keep(0x300, 0x400, 0x300, "two");
	assert_string_equal(name_at(0x100), "one");
	assert_string_equal(name_at(0x1ff), "one");
	assert_null(name_at(0x200));
	assert_null(name_at(0xff));
	assert_string_equal(name_at(0x3ff), "two");
}

static void a_later_answer_takes_nothing_from_an_earlier_one(void **state)
{
	(void)state;
	keep(0x100, 0x200, 0x150, "inner");
	keep(0x80, 0x280, 0x90, "low");
	keep(0x80, 0x280, 0x210, "high");
	assert_string_equal(name_at(0x80), "low");
	assert_string_equal(name_at(0xff), "low");
	assert_string_equal(name_at(0x100), "inner");
	assert_string_equal(name_at(0x1ff), "inner");
	assert_string_equal(name_at(0x200), "high");
	assert_string_equal(name_at(0x27f), "high");
}

static void answers_that_make_no_sense_are_refused(void **state)
{
	size_t size = set_answer(0x100, 0x200, "name");

	(void)state;
	assert_true(name_answer_is_valid(&answer, size, 0x1ff));
	assert_false(name_answer_is_valid(&answer, size, 0x200));
	assert_false(name_answer_is_valid(&answer, size, 0xff));
	assert_false(name_answer_is_valid(&answer, size - 1, 0x100)); /* the text has no end */
	assert_false(name_answer_is_valid(&answer, HEAD, 0x100));
	assert_false(name_answer_is_valid(&answer, 0, 0x100));
	assert_false(name_answer_is_valid(&answer, sizeof(answer) + 1, 0x100));
	answer.count = 0;
	assert_false(name_answer_is_valid(&answer, size, 0x100));
	answer.count = ELF_NAMES_MAX + 1;
	assert_false(name_answer_is_valid(&answer, size, 0x100));
	answer.count = 2;
	answer.names[1].source = (uint32_t)(size - HEAD);
	assert_false(name_answer_is_valid(&answer, size, 0x100));
	answer.names[1].source = 0;
	answer.names[1].function = UINT32_MAX;
	assert_false(name_answer_is_valid(&answer, size, 0x100));
	answer.names[1].function = 0;
	assert_true(name_answer_is_valid(&answer, size, 0x100));
	answer.texts[0] = 'x';
	assert_false(name_answer_is_valid(&answer, size, 0x100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_holds_for_its_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_later_answer_takes_nothing_from_an_earlier_one,
						set_up, tear_down),
		cmocka_unit_test(answers_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
