/* SPDX-License-Identifier: MIT */
/* Small files that claim much: they are refused in time and in little memory. */
#include "snapshot_payload.h"

#include <sys/resource.h>

#include "sanitized.h"
#include "patience.h"
#include "store/compression.h"

/* A file whose payload unfolds to a gigabyte of zeros. */
static struct bytes make_zero_bomb(void)
{
	size_t size = (size_t)1 << 20;
	uint8_t *zeros = calloc(1, size);
	ZSTD_CCtx *compressor = ZSTD_createCCtx();
	struct bytes file = { 0 };

	bytes_reserve(&file, HEADER_SIZE + size);
	file.size = HEADER_SIZE;
	for (int i = 0; i <= 1024; i++) {
		ZSTD_inBuffer input = { zeros, i < 1024 ? size : 0, 0 };
		ZSTD_outBuffer output = { file.data, file.capacity, file.size };

		ZSTD_compressStream2(compressor, &output, &input,
				     i < 1024 ? ZSTD_e_continue : ZSTD_e_end);
		file.size = output.pos;
	}
	container_seal(&file, 0);
	ZSTD_freeCCtx(compressor);
	free(zeros);
	return file;
}

/* A file whose frame says that it holds terabytes. */
static struct bytes make_size_bomb(void)
{
	static const uint8_t frame[] = {
		0x28, 0xb5, 0x2f, 0xfd, /* magic */
		0xe0,			/* single segment, content size of 8 bytes */
		0,    0,    0,	  0,	0, 1, 0, 0, 1, 0, 0,
	};
	struct bytes file = { 0 };

	bytes_reserve(&file, HEADER_SIZE);
	file.size = HEADER_SIZE;
	bytes_put(&file, frame, sizeof(frame));
	container_seal(&file, 0);
	return file;
}

/* A file around a payload, which is freed. */
static struct bytes wrap_and_free(struct bytes *payload)
{
	struct bytes file = wrap(payload);

	bytes_free(payload);
	return file;
}

/* A small file that announces 2^40 of something. */
static struct bytes make_count_bomb(const char *name, enum block_type type)
{
	struct bytes payload = { 0 }, body = { 0 };

	bytes_put_varint(&body, (uint64_t)1 << 40);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 1);
	put_block(&payload, name, type, &body);
	bytes_free(&body);
	return wrap_and_free(&payload);
}

/* As many rows as may be, of a few bytes. */
static void put_many_rows(struct bytes *payload)
{
	struct bytes body = { 0 };

	put_rows(payload, "processes", 1);
	bytes_put_varint(&body, 200000);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 1);
	put_block(payload, "tasks", BLOCK_ROWS, &body);
	bytes_free(&body);
}

/* Every metric, each of a few bytes. */
static void put_every_column(struct bytes *payload)
{
	for (int id = 0; id < METRIC_STORED; id++)
		put_column(payload, metrics[id].name, metric_unit_name(metrics[id].unit),
			   metric_kind_name(metrics[id].kind),
			   metric_scope_name(metrics[id].scope));
}

static struct bytes make_cell_bomb(void)
{
	struct bytes payload = { 0 };

	put_many_rows(&payload);
	put_every_column(&payload);
	return wrap_and_free(&payload);
}

/* Columns that hold nothing yet, and then the rows that make them grow. */
static struct bytes make_late_rows_bomb(void)
{
	struct bytes payload = { 0 };

	put_every_column(&payload);
	put_many_rows(&payload);
	return wrap_and_free(&payload);
}

/* Rows of cgroups, as many as may be claimed. */
static struct bytes make_sheet_bomb(void)
{
	struct bytes payload = { 0 }, body = { 0 };

	put_one_of_each(&payload);
	bytes_put_varint(&body, 4000000);
	bytes_put(&body, BYTES("\0\0\0"));
	put_block(&payload, "cgroups", BLOCK_SHEET, &body);
	bytes_free(&body);
	return wrap_and_free(&payload);
}

struct bomb {
	struct bytes file;
	int code; /* that it is refused with */
};

/* The child's verdict: refused, in time and in little memory. */
static int survive(const void *argument)
{
	const struct bomb *bomb = argument;
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	int status;

	alarm(HANG_SECONDS);
#ifndef ADDRESS_SPACE_IS_RESERVED
	{
		struct rlimit limit = { 96 << 20, 96 << 20 };

		setrlimit(RLIMIT_AS, &limit);
	}
#endif
	status = snapshot_decode("the snapshot", bomb->file.data, bomb->file.size, &snapshot,
				 &error);
	return status == bomb->code ? 0 : 1;
}

/* What padding makes of an empty file holds the bytes and cells, and one byte less does not. */
static void assert_smallest(uint64_t decompressed, uint64_t cells)
{
	uint64_t size;

	assert_int_equal(container_padding(0, decompressed, cells, &size), 0);
	assert_true(size_limit(&container_bytes, size) >= decompressed);
	assert_true(size_limit(&container_cells, size) >= cells);
	assert_true(size == 0 || size_limit(&container_bytes, size - 1) < decompressed ||
		    size_limit(&container_cells, size - 1) < cells);
}

static void padding_is_as_small_as_the_content_allows(void **state)
{
	static const uint64_t amounts[] = { 0,
					    1,
					    1 << 20,
					    (1 << 20) + 1,
					    8 << 20,
					    (8 << 20) + 1,
					    (8 << 20) + 64,
					    (8 << 20) + 65,
					    1 << 28,
					    1 << 29 };
	uint64_t size = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
		for (size_t k = 0; k < ARRAY_SIZE(amounts); k++)
			assert_smallest(amounts[i], amounts[k]);
	assert_smallest((uint64_t)1 << 30, 0);
	assert_int_equal(container_padding(0, ((uint64_t)1 << 30) + 1, 0, &size), -EFBIG);
	assert_int_equal(container_padding(0, 0, ((uint64_t)1 << 29) + 1, &size), -EFBIG);
	assert_int_equal(container_padding(FILE_SIZE_LIMIT + 1, 0, 0, &size), -EFBIG);
	assert_int_equal(size, 7);
	assert_int_equal(container_padding(FILE_SIZE_LIMIT, 0, 0, &size), 0);
	assert_int_equal(size, 0);
	assert_int_equal(container_padding(10, (8 << 20) + 64 * 15, 0, &size), 0);
	assert_int_equal(size, 5);
	assert_true(size_limit(&container_bytes, UINT64_MAX) == 1 << 30);
	assert_true(size_limit(&container_cells, UINT64_MAX) == 1 << 29);
}

static void a_small_file_that_claims_much_costs_little(void **state)
{
	struct bomb bombs[] = {
		{ make_zero_bomb(), -EFBIG },
		{ make_size_bomb(), -EBADMSG },
		{ make_count_bomb("strings", BLOCK_STRINGS), -EFBIG },
		{ make_count_bomb("processes", BLOCK_ROWS), -EFBIG },
		{ make_count_bomb("tasks", BLOCK_ROWS), -EFBIG },
		{ make_sheet_bomb(), -EFBIG },
		{ make_cell_bomb(), -EFBIG },
		{ make_late_rows_bomb(), -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
		assert_true(bombs[i].file.size < 100000);
		assert_int_equal(in_child(survive, &bombs[i]), 0);
		bytes_free(&bombs[i].file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding_is_as_small_as_the_content_allows),
		cmocka_unit_test(a_small_file_that_claims_much_costs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
