/* SPDX-License-Identifier: MIT */
/* The map from numbers of tasks: what is in it is found, whatever comes and goes beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>
#include <cmocka.h>

#include "base/collection/number_map.h"
#include "base/collection/secret.h"

/* Squares do not spread evenly: some must stand in for others. */
static void a_map_keeps_what_is_in_it_while_others_go(void **state)
{
	struct number_map map = { 0 };
	int values[3000];

	(void)state;
	for (int i = 0; i < 3000; i++)
		assert_int_equal(number_map_set(&map, i * i * 31, &values[i]), 0);
	for (int i = 0; i < 3000; i += 2)
		assert_ptr_equal(number_map_remove(&map, i * i * 31), &values[i]);
	for (int i = 0; i < 3000; i++)
		assert_ptr_equal(number_map_get(&map, i * i * 31), i % 2 ? &values[i] : NULL);
	assert_int_equal(map.count, 1500);
	number_map_clear(&map);
}

/* Numbers that begin their search at few places, put in and taken out in no order. */
static void a_map_finds_those_in_it_and_no_others(void **state)
{
	struct number_map map = { 0 };
	static int items[512];
	bool is_in[512] = { 0 };
	uint32_t random = 1;

	(void)state;
	assert_null(number_map_get(&map, 5));
	number_map_forget(&map, 5, items);
	for (int step = 0; step < 20000; step++) {
		int at = (int)((random = random * 1664525 + 1013904223) >> 23);
		int32_t id = at % 128 * 1024 + at / 128;

		if (is_in[at]) {
			number_map_forget(&map, id, &map);
			assert_ptr_equal(number_map_get(&map, id), &items[at]);
			number_map_forget(&map, id, &items[at]);
		} else {
			assert_int_equal(number_map_reserve(&map), 0);
			number_map_put(&map, id, &items[at]);
		}
		is_in[at] = !is_in[at];
		at = (int)(random >> 8 & 511);
		assert_ptr_equal(number_map_get(&map, at % 128 * 1024 + at / 128),
				 is_in[at] ? &items[at] : NULL);
	}
	number_map_clear(&map);
}

static void a_value_is_replaced_in_place(void **state)
{
	struct number_map map = { 0 };
	int first, second;

	(void)state;
	assert_null(number_map_remove(&map, 1));
	assert_int_equal(number_map_set(&map, 1, &first), 0);
	assert_int_equal(number_map_set(&map, 1, &second), 0);
	assert_int_equal(map.count, 1);
	number_map_forget(&map, 1, &first);
	assert_ptr_equal(number_map_get(&map, 1), &second);
	assert_ptr_equal(number_map_remove(&map, 1), &second);
	assert_int_equal(map.count, 0);
	number_map_clear(&map);
}

/* Numbers that would begin their search at the same places if these were known beforehand. */
static void numbers_cannot_be_chosen_so_that_they_meet(void **state)
{
	static int32_t numbers[100000];
	struct number_map map = { 0 };
	uint32_t number = 0;
	clock_t begin;

	(void)state;
	for (int i = 0; i < 100000; numbers[i++] = (int32_t)number)
		do
			number++;
		while (((number * 0x9e3779b97f4a7c15u >> 32) & 0x3ffff) >= 32);
	begin = clock();
	for (int i = 0; i < 100000; i++)
		assert_int_equal(number_map_set(&map, numbers[i], &map), 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1); /* 10 ms; it was 5 s */
	number_map_clear(&map);
}

/* Of each process another one, which nobody outside can know. */
static void the_secret_is_what_the_kernel_gave_this_process(void **state)
{
	uint64_t secret = process_secret();

	(void)state;
	assert_memory_equal(&secret, (const void *)getauxval(AT_RANDOM), sizeof(secret));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_keeps_what_is_in_it_while_others_go),
		cmocka_unit_test(a_map_finds_those_in_it_and_no_others),
		cmocka_unit_test(a_value_is_replaced_in_place),
		cmocka_unit_test(numbers_cannot_be_chosen_so_that_they_meet),
		cmocka_unit_test(the_secret_is_what_the_kernel_gave_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
