/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/bpf/counters.h"

static struct amounts counters_of(uint64_t cpu, uint64_t user, uint64_t kernel)
{
	struct amounts counters = { 0 };

	amounts_set(&counters, AMOUNT_run_time_ns, cpu);
	amounts_set(&counters, AMOUNT_utime_ns, user);
	amounts_set(&counters, AMOUNT_stime_ns, kernel);
	return counters;
}

static void expect(const struct amounts *since, uint64_t cpu, uint64_t user, uint64_t kernel)
{
	assert_int_equal(amounts_get(since, AMOUNT_run_time_ns), cpu);
	assert_int_equal(amounts_get(since, AMOUNT_utime_ns), user);
	assert_int_equal(amounts_get(since, AMOUNT_stime_ns), kernel);
}

static void what_grew_since_it_is_watched_counts(void **state)
{
	struct amounts before = counters_of(100, 0, 0), now = counters_of(500, 30, 10);
	struct amounts since = { 0 };

	(void)state;
	amounts_set(&before, AMOUNT_read_bytes, 7);
	amounts_set(&now, AMOUNT_read_bytes, 10);
	counters_raise(&since, &before, &now);
	expect(&since, 400, 300, 100);
	assert_int_equal(amounts_get(&since, AMOUNT_read_bytes), 3);
	assert_true(amounts_has(&since, AMOUNT_read_bytes));
	assert_false(amounts_has(&since, AMOUNT_write_bytes));
	assert_false(amounts_has(&since, AMOUNT_wait_time_ns));
}

static void nothing_falls(void **state)
{
	struct amounts before = counters_of(0, 0, 0), since = { 0 };
	struct amounts now = counters_of(400, 10, 10);

	(void)state;
	counters_raise(&since, &before, &now);
	expect(&since, 400, 200, 200);
	now = counters_of(300, 1, 9); /* less, and now mostly of the kernel */
	counters_raise(&since, &before, &now);
	expect(&since, 400, 200, 200);
	now = counters_of(500, 99, 1); /* mostly of the user: the kernel keeps what it had */
	counters_raise(&since, &before, &now);
	expect(&since, 500, 300, 200);
}

static void time_that_no_tick_saw_is_of_the_user(void **state)
{
	struct amounts before = { 0 }, since = { 0 }, now = counters_of(50, 0, 0);

	(void)state;
	counters_raise(&since, &before, &now);
	expect(&since, 50, 50, 0);
}

static void without_samples_time_is_not_divided(void **state)
{
	struct amounts before = { 0 }, since = { 0 }, now = { 0 };

	(void)state;
	amounts_set(&now, AMOUNT_run_time_ns, 50);
	counters_raise(&since, &before, &now);
	assert_false(amounts_has(&since, AMOUNT_utime_ns));
	assert_false(amounts_has(&since, AMOUNT_stime_ns));
}

static void the_run_queue_counts_from_the_first_look_on(void **state)
{
	struct amounts since = { 0 }, before = { 0 }, now = { 0 };

	(void)state;
	amounts_set(&now, AMOUNT_wait_time_ns, 90);
	amounts_set(&now, AMOUNT_wait_count, 9);
	amounts_set(&now, AMOUNT_wait_max, 40);
	counters_raise(&since, &before, &now);
	assert_int_equal(amounts_get(&since, AMOUNT_wait_time_ns), 90);
	assert_int_equal(amounts_get(&since, AMOUNT_wait_count), 9);
	assert_int_equal(amounts_get(&since, AMOUNT_wait_max), 40);

	since = (struct amounts){ 0 };
	amounts_set(&before, AMOUNT_wait_time_ns, 30);
	amounts_set(&before, AMOUNT_wait_count, 4);
	counters_raise(&since, &before, &now);
	assert_int_equal(amounts_get(&since, AMOUNT_wait_time_ns), 60);
	assert_int_equal(amounts_get(&since, AMOUNT_wait_count), 5);
	assert_false(amounts_has(&since, AMOUNT_wait_max)); /* it may lie before */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew_since_it_is_watched_counts),
		cmocka_unit_test(nothing_falls),
		cmocka_unit_test(time_that_no_tick_saw_is_of_the_user),
		cmocka_unit_test(without_samples_time_is_not_divided),
		cmocka_unit_test(the_run_queue_counts_from_the_first_look_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
