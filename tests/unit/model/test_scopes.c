/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/scope/scopes.h"

#define SECOND UINT64_C(1000000000)

/* Adds a thread with scopes of these ages. */
static struct scope_task *add_task(struct scopes *scopes, int32_t tid, size_t count,
				   const uint64_t *ages)
{
	struct scope_task task = { .tid = tid, .first = scopes->list.count, .count = count };

	for (size_t i = 0; i < count; i++) {
		struct scope scope = { .age_ns = ages[i] };

		assert_int_equal(array_append(&scopes->list, scope), 0);
	}
	assert_int_equal(array_append(&scopes->tasks, task), 0);
	return &scopes->tasks.data[scopes->tasks.count - 1];
}

static void the_oldest_is_by_its_innermost_scope(void **state)
{
	struct scopes scopes = { 0 };

	(void)state;
	assert_null(scopes_oldest(&scopes));
	add_task(&scopes, 1, 2, (uint64_t[]){ 100 * SECOND, SECOND });
	add_task(&scopes, 2, 1, (uint64_t[]){ 5 * SECOND });
	add_task(&scopes, 3, 0, NULL);
	assert_int_equal(scopes_oldest(&scopes)->tid, 2);
	assert_int_equal(scopes_innermost(&scopes, &scopes.tasks.data[0])->age_ns, SECOND);
	assert_null(scopes_innermost(&scopes, &scopes.tasks.data[2]));
	scopes_free(&scopes);
}

static void the_idle_count_only_among_themselves(void **state)
{
	struct scopes scopes = { 0 };

	(void)state;
	add_task(&scopes, 1, 1, (uint64_t[]){ 9 * SECOND })->is_idle = true;
	add_task(&scopes, 2, 1, (uint64_t[]){ 5 * SECOND });
	add_task(&scopes, 3, 1, (uint64_t[]){ 20 * SECOND })->is_idle = true;
	assert_int_equal(scopes_oldest(&scopes)->tid, 2);
	scopes.tasks.data[1].is_idle = true;
	assert_int_equal(scopes_oldest(&scopes)->tid, 3);
	scopes_free(&scopes);
}

static void progress_is_of_the_innermost_that_has_it(void **state)
{
	struct scopes scopes = { 0 };
	struct scope_task *task =
		add_task(&scopes, 1, 3, (uint64_t[]){ 3 * SECOND, 2 * SECOND, SECOND });

	(void)state;
	assert_null(scopes_progress(&scopes, task));
	scopes.list.data[0].has_progress = scopes.list.data[1].has_progress = true;
	assert_ptr_equal(scopes_progress(&scopes, task), &scopes.list.data[1]);
	scopes_free(&scopes);
}

static void what_is_left_follows_from_the_rate(void **state)
{
	struct scope scope = {
		.has_progress = true,
		.age_ns = 10 * SECOND,
		.count = 25,
		.total = 100,
	};
	uint64_t left_ns = 0;
	double rate = 0;

	(void)state;
	assert_true(scope_rate(&scope, &rate));
	assert_float_equal(rate, 2.5, 1e-9);
	assert_true(scope_time_left(&scope, &left_ns));
	assert_int_equal(left_ns, 30 * SECOND);
	scope.count = 200; /* more than was thought */
	assert_true(scope_time_left(&scope, &left_ns));
	assert_int_equal(left_ns, 0);
}

static void what_is_not_known_has_no_rate(void **state)
{
	const struct scope known = { .has_progress = true, .age_ns = 1, .count = 1, .total = 2 };
	struct scope scopes[] = { known, known, known };
	uint64_t left_ns;
	double rate;

	(void)state;
	scopes[0].has_progress = false;
	scopes[1].age_ns = 0;
	scopes[2].count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		assert_false(scope_rate(&scopes[i], &rate));
		assert_false(scope_time_left(&scopes[i], &left_ns));
	}
	scopes[2] = known;
	scopes[2].total = 0;
	assert_true(scope_rate(&scopes[2], &rate));
	assert_false(scope_time_left(&scopes[2], &left_ns));
}

static void a_time_that_does_not_fit_is_not_known(void **state)
{
	const struct scope scope = {
		.has_progress = true,
		.age_ns = UINT64_MAX,
		.count = 1,
		.total = UINT64_MAX,
	};
	uint64_t left_ns;

	(void)state;
	assert_false(scope_time_left(&scope, &left_ns));
}

static void a_quantile_is_in_the_right_bucket(void **state)
{
	uint64_t buckets[SCOPE_BUCKETS] = { 0 };

	(void)state;
	assert_int_equal(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 0.5), 0);
	buckets[10] = 90;
	buckets[20] = 10;
	assert_in_range(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 0.5), 1 << 10, 1 << 11);
	assert_in_range(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 0.9), 1 << 10, 1 << 11);
	assert_in_range(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 0.91), 1 << 20, 1 << 21);
	assert_in_range(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 0.99), 1 << 20, 1 << 21);
	assert_in_range(scope_buckets_quantile(buckets, SCOPE_BUCKETS, 1), 1 << 20, 1 << 21);
}

static void the_first_and_last_buckets_are_buckets(void **state)
{
	uint64_t buckets[64] = { [0] = 5 };

	(void)state;
	assert_in_range(scope_buckets_quantile(buckets, 64, 0.5), 0, 2);
	memset(buckets, 0xff, sizeof(buckets));
	assert_true(scope_buckets_quantile(buckets, 64, 1) > 0);
}

static void clearing_keeps_the_memory(void **state)
{
	struct scopes scopes = { 0 };
	struct scope_task *before = add_task(&scopes, 1, 0, NULL);

	(void)state;
	scopes.pid = 5;
	scopes_clear(&scopes);
	assert_int_equal(scopes.pid, 0);
	assert_int_equal(scopes.tasks.count, 0);
	assert_ptr_equal(scopes.tasks.data, before);
	scopes_free(&scopes);
	assert_null(scopes.tasks.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_is_by_its_innermost_scope),
		cmocka_unit_test(the_idle_count_only_among_themselves),
		cmocka_unit_test(progress_is_of_the_innermost_that_has_it),
		cmocka_unit_test(what_is_left_follows_from_the_rate),
		cmocka_unit_test(what_is_not_known_has_no_rate),
		cmocka_unit_test(a_time_that_does_not_fit_is_not_known),
		cmocka_unit_test(a_quantile_is_in_the_right_bucket),
		cmocka_unit_test(the_first_and_last_buckets_are_buckets),
		cmocka_unit_test(clearing_keeps_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
