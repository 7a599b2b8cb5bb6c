/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/arena.h"

static void an_arena_that_is_all_zeros_can_be_cleared_and_used(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	arena_clear(&arena);
	assert_non_null(arena_alloc(&arena, 0));
	assert_non_null(arena_alloc(&arena, 1));
	arena_clear(&arena);
	assert_non_null(arena_alloc(&arena, 1));
	arena_clear(&arena);
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	struct arena arena = { 0 };
	unsigned char *pieces[500];

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		size_t size = i * 7 % 900 + 1;

		pieces[i] = arena_alloc(&arena, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % sizeof(uint64_t), 0);
		for (size_t at = 0; at < size; at++)
			assert_int_equal(pieces[i][at], 0);
		memset(pieces[i], (int)i, size);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t at = 0; at < i * 7 % 900 + 1; at++)
			assert_int_equal(pieces[i][at], (unsigned char)i);
	arena_clear(&arena);
}

static void a_piece_may_be_larger_than_a_block(void **state)
{
	struct arena arena = { 0 };
	char *large = arena_alloc(&arena, 1 << 20);

	(void)state;
	assert_non_null(large);
	memset(large, 1, 1 << 20);
	assert_non_null(arena_alloc(&arena, 16));
	assert_int_equal(large[(1 << 20) - 1], 1);
	arena_clear(&arena);
}

static void a_size_that_cannot_be_had_is_null(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_null(arena_alloc(&arena, SIZE_MAX / 2 + 1));
	assert_non_null(arena_alloc(&arena, 8));
	arena_clear(&arena);
}

static void a_copy_ends_with_a_nul(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_string_equal(arena_copy(&arena, "worker-17", 6), "worker");
	assert_string_equal(arena_copy(&arena, "", 0), "");
	assert_string_equal(arena_copy(&arena, "12345678", 8), "12345678");
	arena_clear(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arena_that_is_all_zeros_can_be_cleared_and_used),
		cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(a_piece_may_be_larger_than_a_block),
		cmocka_unit_test(a_size_that_cannot_be_had_is_null),
		cmocka_unit_test(a_copy_ends_with_a_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
