/* SPDX-License-Identifier: MIT */
/* Streams that pack what is written to them: what comes out is what zlib and base64 make of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/base64.h"
#include "export/packed_stream.h"

#define LONG_SIZE ((size_t)300000)

typedef FILE *stream_maker(FILE *out);

/* What a stream makes of some bytes, written in two parts; the caller frees it. */
static char *pack(stream_maker *make, const void *bytes, size_t size, size_t *ret_size)
{
	char *packed = NULL;
	FILE *out = open_memstream(&packed, ret_size), *stream = make(out);

	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, size / 3, stream), size / 3);
	fflush(stream);
	fwrite((const char *)bytes + size / 3, 1, size - size / 3, stream);
	assert_int_equal(fclose(stream), 0);
	fclose(out);
	return packed;
}

static void test_base64(void **state)
{
	static const char *const cases[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "fooba", "Zm9vYmE=" },
						{ "foobar", "Zm9vYmFy" },
						{ "\xff\xef\xfe", "/+/+" } };

	void *bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size;
		char *packed = pack(base64_stream, cases[i][0], strlen(cases[i][0]), &size);

		assert_string_equal(packed, cases[i][1]);
		assert_int_equal(base64_decode(packed, strlen(packed), &bytes, &size), 0);
		assert_int_equal(size, strlen(cases[i][0]));
		assert_memory_equal(bytes, cases[i][0], size);
		free(bytes);
		free(packed);
	}
	assert_int_equal(base64_decode("Zg*=", 4, &bytes, &(size_t){ 0 }), -EBADMSG);
	assert_int_equal(base64_decode("Zm9vY", 5, &bytes, &(size_t){ 0 }), -EBADMSG);
}

static void check_gzip(const unsigned char *bytes, size_t size)
{
	z_stream stream = { 0 };
	size_t packed_size;
	unsigned char *unpacked = calloc(1, size + 1);
	char *packed = pack(gzip_stream, bytes, size, &packed_size);

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)packed;
	stream.avail_in = (uInt)packed_size;
	stream.next_out = unpacked;
	stream.avail_out = (uInt)size + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, size);
	assert_memory_equal(unpacked, bytes, size);
	inflateEnd(&stream);
	free(unpacked);
	free(packed);
}

/* Bytes that cannot be made smaller fill the block many times. */
static void test_gzip(void **state)
{
	unsigned char *bytes = malloc(LONG_SIZE);

	(void)state;
	srandom(1);
	for (size_t i = 0; i < LONG_SIZE; i++)
		bytes[i] = (unsigned char)random();
	check_gzip(bytes, 0);
	check_gzip(bytes, 1);
	check_gzip(bytes, LONG_SIZE);
	memset(bytes, 'a', LONG_SIZE);
	check_gzip(bytes, LONG_SIZE);
	free(bytes);
}

static void test_full_device(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *letters, *packed;
	unsigned char byte = 0;

	(void)state;
	setvbuf(full, NULL, _IONBF, 0);
	letters = base64_stream(full);
	packed = gzip_stream(letters);
	for (size_t i = 0; i < LONG_SIZE; i++)
		putc(byte += (unsigned char)(i * i), packed);
	assert_int_not_equal(fclose(packed) | fclose(letters), 0);
	fclose(full);
}

static void test_no_stream(void **state)
{
	(void)state;
	assert_null(gzip_stream(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_no_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
