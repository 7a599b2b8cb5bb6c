/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "collect/activity/activity_stacks.h"
#include "host/host.h"
#include "model/record/activity.h"
#include "tree.h"

static struct tree tree;
static struct host host;
static struct activity_stacks *stacks;

static int begin(void **state)
{
	(void)state;
	tree_make(&tree);
	host.proc = tree_open(&tree, ".");
	stacks = activity_stacks_new(&host);
	return stacks ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	activity_stacks_free(stacks);
	close_fd(&host.proc);
	tree_remove(&tree);
	return 0;
}

/* The name of the only function of a stack in a walk of its own. */
static const char *name_in_walk(uint64_t address)
{
	const struct kernel_stack *stack;
	struct error error = { 0 };

	activity_stacks_begin(stacks);
	stack = activity_stacks_add(stacks, &address, 1);
	assert_non_null(stack);
	assert_int_equal(activity_stacks_name(stacks, &error), 0);
	return stack->frames;
}

static void symbols_are_read_again_only_when_modules_are_others(void **state)
{
	(void)state;
	tree_text(&tree, "kallsyms", "1000 T first\n");
	tree_text(&tree, "modules", "ext4 10 1 - Live 0xc000\nloop 10 3 ext4, Live 0xd000 (E)\n");
	assert_string_equal(name_in_walk(0x1010), "first");
	tree_text(&tree, "kallsyms", "1000 T second\n");
	/* They are used by others now, and more. */
	tree_text(&tree, "modules",
		  "ext4 10 2 - Live 0xc000\nloop 10 4 ext4,nbd, Live 0xd000 (E)\n");
	assert_string_equal(name_in_walk(0x1020), "first");
	/* One went and came again, at another address. */
	tree_text(&tree, "modules", "ext4 10 2 - Live 0xc000\nloop 10 4 ext4, Live 0xe000 (E)\n");
	assert_string_equal(name_in_walk(0x1030), "second");
	assert_string_equal(name_in_walk(0x1010), "second");
	tree_text(&tree, "kallsyms", "1000 T third\n");
	tree_text(&tree, "modules", "ext4 10 2 - Live 0xc000\n");
	assert_string_equal(name_in_walk(0x1040), "third");
	tree_text(&tree, "kallsyms", "1000 T fourth\n");
	tree_text(&tree, "modules", "xfs 10 2 - Live 0xc000");
	assert_string_equal(name_in_walk(0x1050), "fourth");
}

static void a_walk_has_no_more_stacks_than_it_may(void **state)
{
	(void)state;
	activity_stacks_begin(stacks);
	for (uint64_t i = 1; i <= ACTIVITY_STACKS_PER_WALK; i++)
		assert_non_null(activity_stacks_add(stacks, &i, 1));
	assert_null(activity_stacks_add(stacks, &(uint64_t){ 0 }, 1));
	assert_non_null(activity_stacks_add(stacks, &(uint64_t){ 1 }, 1)); /* it has that one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(symbols_are_read_again_only_when_modules_are_others,
						begin, end),
		cmocka_unit_test_setup_teardown(a_walk_has_no_more_stacks_than_it_may, begin, end),
	};

	return cmocka_run_group_tests_name("activity_stacks", tests, NULL, NULL);
}
