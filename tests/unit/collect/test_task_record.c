/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/task/task_record.h"

#define WORDS 2

/* A record with every section, as the program lays it out. */
static struct {
	struct task_record_head head;
	struct task_fields task;
	uint64_t cpus[WORDS];
	struct group_fields group;
	struct delay_fields delay;
	struct stats_fields stats;
	struct name_fields name;
	struct activity_fields activity;
} full;

static int make_record(void **state)
{
	(void)state;
	memset(&full, 0, sizeof(full));
	full.head.size = sizeof(full);
	full.head.sections = (1u << TASK_SECTION_COUNT) - 1;
	full.task.present = ~0ull;
	full.task.pid = 42;
	full.task.tgid = 40;
	return 0;
}

static int parse(size_t length, struct task_record *ret)
{
	return task_record_parse(&full, length, WORDS, ret);
}

static void sections_are_found_in_their_order(void **state)
{
	struct task_record record;

	(void)state;
	assert_int_equal(parse(sizeof(full), &record), sizeof(full));
	assert_ptr_equal(record.task, &full.task);
	assert_ptr_equal(record.cpus, full.cpus);
	assert_ptr_equal(record.group, &full.group);
	assert_ptr_equal(record.delay, &full.delay);
	assert_ptr_equal(record.stats, &full.stats);
	assert_ptr_equal(record.name, &full.name);
	assert_ptr_equal(record.activity, &full.activity);
}

static void a_section_that_is_left_out_is_null(void **state)
{
	struct task_record record;
	int size = sizeof(full.head) + sizeof(full.task) + sizeof(full.cpus);

	(void)state;
	full.head.size = (uint32_t)size;
	full.head.sections = 1u << TASK_SECTION_TASK | 1u << TASK_SECTION_CPUS;
	assert_int_equal(parse(sizeof(full), &record), size);
	assert_null(record.group);
	assert_null(record.delay);
	assert_null(record.stats);
	assert_null(record.name);

	full.head.size += sizeof(full.stats);
	full.head.sections |= 1u << TASK_SECTION_STATS;
	assert_int_equal(parse(sizeof(full), &record), size + sizeof(full.stats));
	assert_ptr_equal(record.stats, &full.group);
}

static void the_start_of_a_record_waits_for_its_end(void **state)
{
	struct task_record record;

	(void)state;
	for (size_t length = 0; length < sizeof(full); length++)
		assert_int_equal(parse(length, &record), 0);
}

static void a_size_that_does_not_fit_the_sections_is_refused(void **state)
{
	static const uint32_t sizes[] = { 0, 7, 8, sizeof(full) - 8, sizeof(full) + 8, UINT32_MAX };
	struct task_record record;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		full.head.size = sizes[i];
		assert_int_equal(parse(sizeof(full), &record), -EBADMSG);
	}
}

static void unknown_and_missing_sections_are_refused(void **state)
{
	struct task_record record;

	(void)state;
	full.head.sections |= 1u << TASK_SECTION_COUNT;
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);

	full.head.sections = 1u << TASK_SECTION_CPUS;
	full.head.size = sizeof(full.head) + sizeof(full.cpus);
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);

	full.head.sections = 1u << TASK_SECTION_TASK;
	full.head.size = sizeof(full.head) + sizeof(full.task);
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);
}

static void a_task_without_identity_is_refused(void **state)
{
	struct task_record record;

	(void)state;
	full.task.present &= ~(1ull << TASK_BIT_start_boottime);
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);

	make_record(NULL);
	full.task.pid = (uint64_t)-1;
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);

	make_record(NULL);
	full.task.tgid = 1ull << 31;
	assert_int_equal(parse(sizeof(full), &record), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sections_are_found_in_their_order, make_record),
		cmocka_unit_test_setup(a_section_that_is_left_out_is_null, make_record),
		cmocka_unit_test_setup(the_start_of_a_record_waits_for_its_end, make_record),
		cmocka_unit_test_setup(a_size_that_does_not_fit_the_sections_is_refused,
				       make_record),
		cmocka_unit_test_setup(unknown_and_missing_sections_are_refused, make_record),
		cmocka_unit_test_setup(a_task_without_identity_is_refused, make_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
