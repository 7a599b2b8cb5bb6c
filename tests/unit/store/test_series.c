/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "store/tscope/bytes.h"
#include "store/tscope/series.h"

#define NUMBERS 256

/* Numbers of every length in bits, large and small in turns. */
static void fill(uint64_t numbers[static NUMBERS])
{
	for (unsigned i = 0; i < NUMBERS; i++)
		numbers[i] = i % 3 == 0 ? i : (UINT64_MAX >> i % 64) - i % 2;
}

/* A copy that ends where its memory ends, so that a sanitizer sees each byte read beyond it. */
static struct reader reader_of(const struct bytes *bytes, size_t size, uint8_t **ret_copy)
{
	*ret_copy = malloc(size + !size);
	assert_non_null(*ret_copy);
	memcpy(*ret_copy, bytes->data, size);
	return (struct reader){ .next = *ret_copy, .end = *ret_copy + size };
}

static void numbers_of_every_length_are_read_as_they_were_written(void **state)
{
	uint64_t numbers[NUMBERS], read[NUMBERS];

	(void)state;
	fill(numbers);
	for (size_t count = 0; count <= NUMBERS; count++) {
		struct bytes bytes = { 0 };
		struct reader reader;
		uint8_t *copy;

		series_write(&bytes, numbers, count);
		reader = reader_of(&bytes, bytes.size, &copy);
		series_read(&reader, read, count);
		assert_false(reader.bad);
		assert_int_equal(reader_left(&reader), 0);
		assert_memory_equal(read, numbers, count * sizeof(*read));
		free(copy);
		bytes_free(&bytes);
	}
}

static void a_series_that_is_cut_off_is_bad(void **state)
{
	uint64_t numbers[NUMBERS], read[NUMBERS];
	struct bytes bytes = { 0 };

	(void)state;
	fill(numbers);
	series_write(&bytes, numbers, NUMBERS);
	for (size_t size = 0; size < bytes.size; size++) {
		uint8_t *copy;
		struct reader reader = reader_of(&bytes, size, &copy);

		series_read(&reader, read, NUMBERS);
		assert_true(reader.bad);
		free(copy);
	}
	bytes_free(&bytes);
}

/* Ten bytes hold 70 bits: what does not fit in 64 is refused, not cut. */
static void a_number_beyond_64_bits_is_bad(void **state)
{
	static const uint8_t largest[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	};
	static const uint8_t larger[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	uint64_t number;

	(void)state;
	assert_ptr_equal(varint_read(largest, largest + sizeof(largest), &number),
			 largest + sizeof(largest));
	assert_true(number == UINT64_MAX);
	assert_null(varint_read(larger, larger + sizeof(larger), &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length_are_read_as_they_were_written),
		cmocka_unit_test(a_series_that_is_cut_off_is_bad),
		cmocka_unit_test(a_number_beyond_64_bits_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
