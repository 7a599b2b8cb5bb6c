/* SPDX-License-Identifier: MIT */
/* How much of a thread's stack the kernel side copies. */
#include "actors.h"

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	kernel_absent_page = 0;
	return 0;
}

static void what_is_in_use_ends_where_the_stack_begins(void **state)
{
	struct actor leader, thread;

	(void)state;
	actor_init(&leader, 10, 10, NULL);
	actor_init_thread(&thread, 11, &leader);
	leader.mm.start_stack = 0x7000;
	leader.task.thread.fsbase = 0x9000; /* not on its stack */
	thread.task.thread.fsbase = 0x9000;
	assert_int_equal(stack_size(&leader.task, 0x6f00), 0x100);
	assert_int_equal(stack_size(&thread.task, 0x8ff0), 0x10);
	/* One that a program made itself, or that is larger than what is copied. */
	assert_int_equal(stack_size(&thread.task, 0x9000), TREE_STACK_BYTES);
	assert_int_equal(stack_size(&thread.task, 0x9001), TREE_STACK_BYTES);
	thread.task.thread.fsbase = 0x9000 + TREE_STACK_BYTES;
	assert_int_equal(stack_size(&thread.task, 0x9001), TREE_STACK_BYTES - 1);
	assert_int_equal(stack_size(&thread.task, 0x9000), TREE_STACK_BYTES);
	assert_int_equal(stack_size(&thread.task, 0x8fff), TREE_STACK_BYTES);
}

static __u8 pages[TREE_STACK_BYTES + 2 * STACK_PAGE] __attribute__((aligned(STACK_PAGE)));
static __u8 copy[TREE_STACK_BYTES];

/* From there on; what was copied, up to which zeros stand for what is not there. */
static __u32 copied(size_t begin, size_t size)
{
	__u32 found = 0;

	for (size_t i = 0; i < sizeof(pages); i++)
		pages[i] = (__u8)(1 + i % 251);
	memset(copy, 0, sizeof(copy));
	user_stack_copy(copy, (__u64)pages + begin, size, &found);
	for (size_t i = 0; i < found; i++) {
		__u64 at = (__u64)pages + begin + i;
		bool is_absent = kernel_absent_page && at >= kernel_absent_page &&
				 at < kernel_absent_page + STACK_PAGE;

		assert_int_equal(copy[i], is_absent ? 0 : pages[begin + i]);
	}
	return found;
}

static void a_page_that_is_not_there_is_zeros(void **state)
{
	const size_t begin = STACK_PAGE - 100;

	(void)state;
	assert_int_equal(copied(begin, TREE_STACK_BYTES), TREE_STACK_BYTES);
	kernel_absent_page = (__u64)pages + 2 * STACK_PAGE;
	assert_int_equal(copied(begin, 4 * STACK_PAGE), 4 * STACK_PAGE);
	assert_int_equal(copied(begin, 100 + STACK_PAGE), 100 + STACK_PAGE);
	/* The first page, and the last of those in use: nothing stands behind it. */
	kernel_absent_page = (__u64)pages;
	assert_int_equal(copied(begin, 4 * STACK_PAGE), 4 * STACK_PAGE);
	kernel_absent_page = (__u64)pages + STACK_PAGE;
	assert_int_equal(copied(begin, 100 + STACK_PAGE), 100);
	kernel_absent_page = (__u64)pages;
	assert_int_equal(copied(begin, 100), 0);
	assert_int_equal(copied(begin, TREE_STACK_BYTES + 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_in_use_ends_where_the_stack_begins, setup),
		cmocka_unit_test_setup(a_page_that_is_not_there_is_zeros, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
