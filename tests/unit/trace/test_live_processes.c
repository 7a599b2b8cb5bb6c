/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/proc/live_processes.h"

static void add(struct live_processes *live, int32_t pid, uint64_t start_ns)
{
	const struct task_key key = { pid, pid, start_ns };

	assert_int_equal(live_processes_add(live, &key), 0);
}

static void expect(const struct live_processes *live, const int32_t *pids, size_t count)
{
	assert_int_equal(live->items.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(live->items.data[i].key.pid, pids[i]);
}

static void they_are_sorted_by_number(void **state)
{
	struct live_processes live = { 0 };

	(void)state;
	for (int32_t i = 0; i < 50; i++)
		add(&live, 1 + i * 37 % 50, 1);
	assert_int_equal(live.items.count, 50);
	for (int32_t i = 0; i < 50; i++)
		assert_int_equal(live.items.data[i].key.pid, i + 1);
	live_processes_clear(&live);
	assert_int_equal(live.items.count, 0);
}

static void another_with_the_same_number_takes_its_place(void **state)
{
	struct live_processes live = { 0 };

	(void)state;
	add(&live, 7, 100);
	live_processes_mark(&live, 7);
	assert_true(live.items.data[0].is_sampled);
	add(&live, 7, 200);
	expect(&live, (const int32_t[]){ 7 }, 1);
	assert_int_equal(live.items.data[0].key.start_ns, 200);
	assert_false(live.items.data[0].is_sampled);
	assert_int_equal(live_processes_know(&live, 7), 0);
	assert_int_equal(live.items.data[0].key.start_ns, 200);
	live_processes_clear(&live);
}

static void one_that_is_only_known_has_no_start(void **state)
{
	struct live_processes live = { 0 };

	(void)state;
	add(&live, 7, 100);
	assert_int_equal(live_processes_know(&live, 5), 0);
	expect(&live, (const int32_t[]){ 5, 7 }, 2);
	assert_int_equal(live.items.data[0].key.tid, 5);
	assert_int_equal(live.items.data[0].key.start_ns, 0);
	live_processes_clear(&live);
}

static void one_is_removed_and_strangers_change_nothing(void **state)
{
	struct live_processes live = { 0 };

	(void)state;
	live_processes_remove(&live, 1);
	for (int32_t pid = 2; pid <= 8; pid += 2)
		add(&live, pid, 1);
	live_processes_remove(&live, 5);
	live_processes_remove(&live, 9);
	live_processes_mark(&live, 3);
	live_processes_mark(&live, 9);
	live_processes_remove(&live, 4);
	live_processes_mark(&live, 6);
	expect(&live, (const int32_t[]){ 2, 6, 8 }, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(live.items.data[i].is_sampled, live.items.data[i].key.pid == 6);
	live_processes_remove(&live, 8);
	live_processes_remove(&live, 2);
	expect(&live, (const int32_t[]){ 6 }, 1);
	live_processes_clear(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_sorted_by_number),
		cmocka_unit_test(another_with_the_same_number_takes_its_place),
		cmocka_unit_test(one_that_is_only_known_has_no_start),
		cmocka_unit_test(one_is_removed_and_strangers_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
