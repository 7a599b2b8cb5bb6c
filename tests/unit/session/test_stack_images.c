/* SPDX-License-Identifier: MIT */
/* Which address space a stack belongs to: that of its process and program, at its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/code/code.h"
#include "host/code/mapped_code.h"
#include "host/host.h"
#include "session/stack/stack_images.h"

/* Larger than any process number can be, so that /proc has nothing of them. */
#define PARENT 5000001
#define CHILD 5000002

static struct host *host;
static struct code *code;
static struct stack_images images;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(host_open(&host, NULL, NULL), 0);
	assert_int_equal(code_open(host, NULL, &code), 0);
	stack_images_init(&images, code);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stack_images_clear(&images);
	code_close(code);
	host_close(host);
	return 0;
}

static void take(enum tracer_image type, int32_t pid, uint64_t time_ns)
{
	struct tracer_image_event event = {
		.type = type, .pid = pid, .parent_pid = PARENT, .time_ns = time_ns
	};

	assert_int_equal(stack_images_take(&images, &event), 0);
}

/* Code without a file. */
static void map(int32_t pid, uint64_t start, uint64_t time_ns)
{
	struct tracer_image_event event = { .type = TRACER_MAP,
					    .pid = pid,
					    .time_ns = time_ns,
					    .start = start,
					    .end = start + 0x1000,
					    .path = "//anon" };

	assert_int_equal(stack_images_take(&images, &event), 0);
}

static bool has_code(int32_t pid, uint64_t time_ns, uint64_t address)
{
	const struct task_key task = { .pid = pid, .tid = pid };
	struct address_space *space = stack_images_find(&images, &task, time_ns);

	return space && mapped_code_at(space, address);
}

static void a_stack_has_the_program_of_its_time(void **state)
{
	(void)state;
	take(TRACER_EXEC, PARENT, 100);
	map(PARENT, 0x1000, 110);
	take(TRACER_EXEC, PARENT, 200);
	map(PARENT, 0x5000, 210);
	assert_true(has_code(PARENT, 150, 0x1000) && !has_code(PARENT, 150, 0x5000));
	assert_true(has_code(PARENT, 250, 0x5000) && !has_code(PARENT, 250, 0x1000));
}

static void a_child_has_what_its_parent_had(void **state)
{
	(void)state;
	take(TRACER_EXEC, PARENT, 100);
	map(PARENT, 0x1000, 110);
	take(TRACER_FORK, CHILD, 120);
	map(PARENT, 0x5000, 130);
	assert_true(has_code(CHILD, 140, 0x1000) && !has_code(CHILD, 140, 0x5000));
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
	(void)state;
	take(TRACER_EXEC, CHILD, 100);
	map(CHILD, 0x1000, 110);
	take(TRACER_END, CHILD, 200);
	take(TRACER_EXEC, PARENT, 210);
	map(PARENT, 0x5000, 220);
	take(TRACER_FORK, CHILD, 300);
	assert_true(has_code(CHILD, 150, 0x1000) && !has_code(CHILD, 150, 0x5000));
	assert_true(has_code(CHILD, 350, 0x5000) && !has_code(CHILD, 350, 0x1000));
}

static void a_program_that_was_there_before_is_read(void **state)
{
	(void)state;
	map(getpid(), 0x1000, 100);
	assert_true(has_code(getpid(), 150, (uint64_t)&take));
}

static void a_program_that_is_gone_is_not_taken_for_the_one_that_runs(void **state)
{
	(void)state;
	map(getpid(), 0x1000, 100);
	take(TRACER_EXEC, getpid(), 200);
	assert_true(has_code(getpid(), 150, 0x1000));
	assert_false(has_code(getpid(), 150, (uint64_t)&take));
}

static void a_process_that_ended_is_not_taken_for_the_one_with_its_number(void **state)
{
	(void)state;
	map(getpid(), 0x1000, 100);
	take(TRACER_END, getpid(), 200);
	assert_true(has_code(getpid(), 150, 0x1000));
	assert_false(has_code(getpid(), 150, (uint64_t)&take));
}

static void mappings_that_find_no_room_are_counted(void **state)
{
	(void)state;
	take(TRACER_EXEC, PARENT, 100);
	for (uint64_t i = 1; i <= MAPPED_CODE_MAX + 10; i++)
		map(PARENT, i * 0x2000, 110);
	assert_int_equal(images.lost, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_stack_has_the_program_of_its_time),
		TEST(a_child_has_what_its_parent_had),
		TEST(a_number_that_is_used_again_is_another_process),
		TEST(a_program_that_was_there_before_is_read),
		TEST(a_program_that_is_gone_is_not_taken_for_the_one_that_runs),
		TEST(mappings_that_find_no_room_are_counted),
		TEST(a_process_that_ended_is_not_taken_for_the_one_with_its_number),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
