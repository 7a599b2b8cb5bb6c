/* SPDX-License-Identifier: MIT */
/* Copies of the stacks of scopes, of a block that the test writes by hand. */
#include <string.h>

#include "lib/heartbeat/stacks.h"
#include "lib_support.h"

static struct stacks stacks;

static int setup(void **state)
{
	(void)state;
	library_start(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

static const struct stack *copy(void)
{
	stacks_copy(&stacks);
	for (uint32_t i = 0; i < stacks.thread_count; i++)
		if (stacks.threads[i].tid == gettid())
			return &stacks.threads[i];
	return NULL;
}

static void a_copy_has_all_that_the_block_has(void **state)
{
	struct taskscope_progress outer = taskscope_begin("outer", 10);
	struct taskscope_scope inner = taskscope_enter("inner");
	struct scope_thread *block = own_block();
	const struct stack *thread;
	char word[THREAD_WORD_SIZE];

	(void)state;
	taskscope_thread("hand");
	block->hidden = 7;
	block->changed_ticks = 100;
	thread = copy();
	assert_non_null(thread);
	assert_int_equal(thread->depth, 2);
	assert_int_equal(thread->hidden, 7);
	assert_int_equal(thread->changed_ticks, 100);
	assert_false(thread->is_changing);
	assert_string_equal(stack_label(thread, &thread->frames[0]), "outer");
	assert_string_equal(stack_label(thread, &thread->frames[1]), "inner");
	assert_ptr_equal(stack_progress(thread), &thread->frames[0]);
	stack_name(thread, word);
	assert_string_equal(word, "hand");
	taskscope_leave(inner);
	taskscope_end(&outer);
	thread = copy();
	assert_null(stack_progress(thread));
	block->hidden = 0;
	block->name[0] = 0;
	stack_name(copy(), word); /* the kernel's */
	assert_true(word[0] && strcmp(word, "hand") != 0);
}

static void it_is_idle_until_something_changes(void **state)
{
	struct taskscope_scope scope = taskscope_enter("scope");
	struct scope_thread *block = own_block();

	(void)state;
	block->changed_ticks = 100;
	block->idle_ticks = 0;
	assert_false(copy()->is_idle);
	block->idle_ticks = 99;
	assert_false(copy()->is_idle);
	block->idle_ticks = 100;
	assert_true(copy()->is_idle);
	assert_int_equal(copy()->idle_ticks, 100);
	block->idle_ticks = 0;
	taskscope_leave(scope);
}

/* A writer that never finishes; what it writes may be anything. */
static void what_keeps_changing_or_makes_no_sense_is_bounded(void **state)
{
	struct taskscope_scope scope = taskscope_enter("scope");
	struct scope_thread *block = own_block();

	(void)state;
	block->sequence++;
	assert_true(copy()->is_changing);
	assert_int_equal(copy()->depth, 0);
	assert_false(copy()->is_idle);
	block->sequence++;
	assert_false(copy()->is_changing);
	block->depth = UINT32_MAX;
	assert_int_equal(copy()->depth, SCOPE_FRAMES);
	block->depth = 1;
	taskscope_leave(scope);
}

static void the_shortest_limit_of_all_counts(void **state)
{
	struct taskscope_scope outer = taskscope_enter("outer"), inner = taskscope_enter("inner");
	struct scope_thread *block = own_block();

	(void)state;
	copy();
	assert_int_equal(stacks.shortest_limit_ms, SCOPE_NO_LIMIT);
	taskscope_limit(outer, 500);
	copy();
	assert_int_equal(stacks.shortest_limit_ms, 500);
	taskscope_limit(inner, 700);
	copy();
	assert_int_equal(stacks.shortest_limit_ms, 500);
	taskscope_limit(inner, 300);
	copy();
	assert_int_equal(stacks.shortest_limit_ms, 300);
	block->sequence++; /* unknown now: what was known holds */
	copy();
	assert_int_equal(stacks.shortest_limit_ms, 300);
	block->sequence++;
	taskscope_leave(inner);
	taskscope_leave(outer);
	copy();
	assert_int_equal(stacks.shortest_limit_ms, SCOPE_NO_LIMIT);
}

static void ages_are_never_negative(void **state)
{
	struct stacks now = { .ticks = 1000, .ns_per_tick = 0.5 };

	(void)state;
	assert_int_equal(stacks_age_ns(&now, 0), 500);
	assert_int_equal(stacks_age_ns(&now, 998), 1);
	assert_int_equal(stacks_age_ns(&now, 1000), 0);
	assert_int_equal(stacks_age_ns(&now, 1001), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_copy_has_all_that_the_block_has),
		TEST(it_is_idle_until_something_changes),
		TEST(what_keeps_changing_or_makes_no_sense_is_bounded),
		TEST(the_shortest_limit_of_all_counts),
		cmocka_unit_test(ages_are_never_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
