/* SPDX-License-Identifier: MIT */
/* Labels that are made at run time: the first 64 have numbers, the others do not. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib_support.h"

enum { MADE = SCOPE_MADE_LABELS, MORE = 10, THREADS = 4, ROUNDS = 3 };

static void name(char *text, size_t size, size_t i)
{
	snprintf(text, size, "made %zu", i);
}

static uint32_t use(size_t i)
{
	char text[32];
	struct taskscope_scope scope;
	uint32_t label;

	name(text, sizeof(text), i);
	scope = (taskscope_enter)(text);
	memset(text, 'x', sizeof(text));
	label = own_block()->frames[0].label;
	assert_int_equal(own_block()->path[0], label & SCOPE_TEXT ? 0 : label);
	taskscope_leave(scope);
	return label;
}

static void *use_all(void *argument)
{
	for (size_t i = 0; i < ROUNDS * MADE; i++)
		use((i * 7 + (size_t)(uintptr_t)argument) % MADE);
	return argument;
}

/* What a reader finds about a label. */
static uint64_t label_count(uint32_t label)
{
	uint64_t sum = area_retired()[label].count;

	for (uint32_t i = 0; i < area.header->thread_count; i++)
		for (size_t k = 0; k < SCOPE_STATISTICS - 1; k++)
			if (area_thread(i)->statistics[k].label == label)
				sum += area_thread(i)->statistics[k].count;
	return sum;
}

static void the_same_text_has_one_number_on_all_threads(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	library_start(TASKSCOPE_STATISTICS);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_all, (void *)i), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(area.header->label_count, MADE + 1);
	for (size_t i = 0; i < MADE; i++) {
		uint32_t label = use(i);

		assert_in_range(label, 1, MADE);
		assert_int_equal(label_count(label), THREADS * ROUNDS + 1);
	}
	assert_int_equal(area.header->ended_unnumbered, 0);
}

static void further_texts_have_none_and_are_counted(void **state)
{
	struct scope_thread *block = own_block();
	uint64_t before = block->statistics[SCOPE_STATISTICS - 1].count;

	(void)state;
	for (size_t i = MADE; i < MADE + MORE; i++)
		assert_true(use(i) & SCOPE_TEXT);
	assert_int_equal(block->unnumbered, MORE);
	assert_int_equal(block->statistics[SCOPE_STATISTICS - 1].count, before + MORE);
	assert_int_equal(block->texts_used, 0);
	assert_int_equal(area.header->label_count, MADE + 1);
}

static void a_call_site_with_the_same_text_has_the_same_number(void **state)
{
	struct taskscope_site site = { "made 5", 0 };

	(void)state;
	taskscope_leave(taskscope_enter_site(&site));
	assert_int_equal(site.number, use(5));
}

static void a_long_text_is_cut_before_it_is_compared(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	taskscope_leave((taskscope_enter)(text));
	assert_int_equal(own_block()->texts_used, 0);
	assert_int_equal(own_block()->unnumbered, MORE + 1);
}

static void check_child(void)
{
	uint32_t label = use(3);

	if (label & SCOPE_TEXT || strcmp(area_labels()[label].text, "made 3") != 0)
		_exit(1);
	if (!(use(MADE + 1) & SCOPE_TEXT) || own_block()->unnumbered != 1)
		_exit(2);
	_exit(0);
}

static void a_forked_child_goes_on_with_the_same_numbers(void **state)
{
	int status = 0;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		check_child();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void readers_learn_where_blocks_are(void **state)
{
	char *pointer;
	struct scope_thread **found;

	(void)state;
	assert_true(area.header->address == (uint64_t)(uintptr_t)area.header);
	pointer = (char *)&self.block - self_offset();
	found = (struct scope_thread **)(pointer + area.header->self_offset);
	assert_ptr_equal(*found, own_block());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_has_one_number_on_all_threads),
		cmocka_unit_test(further_texts_have_none_and_are_counted),
		cmocka_unit_test(a_call_site_with_the_same_text_has_the_same_number),
		cmocka_unit_test(a_long_text_is_cut_before_it_is_compared),
		cmocka_unit_test(a_forked_child_goes_on_with_the_same_numbers),
		cmocka_unit_test(readers_learn_where_blocks_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
