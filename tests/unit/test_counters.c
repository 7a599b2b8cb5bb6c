/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/counters.h"

static struct thread_counters counters_of(uint64_t cpu, uint64_t user, uint64_t kernel)
{
	struct thread_counters counters = { 0 };

	usage_set(&counters.usage, USAGE_CPU, cpu);
	usage_set(&counters.usage, USAGE_USER, user);
	usage_set(&counters.usage, USAGE_SYSTEM, kernel);
	return counters;
}

static void expect(const struct thread_counters *since, uint64_t cpu, uint64_t user,
		   uint64_t kernel)
{
	assert_int_equal(since->usage.values[USAGE_CPU], cpu);
	assert_int_equal(since->usage.values[USAGE_USER], user);
	assert_int_equal(since->usage.values[USAGE_SYSTEM], kernel);
}

static void what_grew_since_it_is_watched_counts(void **state)
{
	struct thread_counters before = counters_of(100, 0, 0), now = counters_of(500, 30, 10);
	struct thread_counters since = { 0 };

	(void)state;
	usage_set(&before.usage, USAGE_READ_BYTES, 7);
	usage_set(&now.usage, USAGE_READ_BYTES, 10);
	counters_raise(&since, &before, &now);
	expect(&since, 400, 300, 100);
	assert_int_equal(since.usage.values[USAGE_READ_BYTES], 3);
	assert_true(usage_has(&since.usage, USAGE_READ_BYTES));
	assert_false(usage_has(&since.usage, USAGE_WRITE_BYTES));
	assert_false(since.has_run_queue);
}

static void nothing_falls(void **state)
{
	struct thread_counters before = counters_of(0, 0, 0), since = { 0 };
	struct thread_counters now = counters_of(400, 10, 10);

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
	struct thread_counters before = { 0 }, since = { 0 }, now = counters_of(50, 0, 0);

	(void)state;
	counters_raise(&since, &before, &now);
	expect(&since, 50, 50, 0);
}

static void without_samples_time_is_not_divided(void **state)
{
	struct thread_counters before = { 0 }, since = { 0 }, now = { 0 };

	(void)state;
	usage_set(&now.usage, USAGE_CPU, 50);
	counters_raise(&since, &before, &now);
	assert_false(usage_has(&since.usage, USAGE_USER));
	assert_false(usage_has(&since.usage, USAGE_SYSTEM));
}

static void the_run_queue_counts_from_the_first_look_on(void **state)
{
	struct thread_counters since = { 0 }, before = { 0 };
	struct thread_counters now = { .has_run_queue = true,
				       .run_queue_ns = 90,
				       .run_queue_count = 9,
				       .run_queue_longest = 40 };

	(void)state;
	counters_raise(&since, &before, &now);
	assert_true(since.has_run_queue);
	assert_int_equal(since.run_queue_ns, 90);
	assert_int_equal(since.run_queue_count, 9);
	assert_int_equal(since.run_queue_longest, 40);

	since = (struct thread_counters){ 0 };
	before.run_queue_ns = 30;
	before.run_queue_count = 4;
	counters_raise(&since, &before, &now);
	assert_int_equal(since.run_queue_ns, 60);
	assert_int_equal(since.run_queue_count, 5);
	assert_int_equal(since.run_queue_longest, 0); /* it may lie before */
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
