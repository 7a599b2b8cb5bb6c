/* SPDX-License-Identifier: MIT */
/*
 * Decodes the bytes of a file into a snapshot.
 *
 * The file may be hostile.  So no number from it is used before it was checked,
 * and memory is allocated only within what a file of that size may cost
 * (container.h).  What does not fit ends the reading with an error.
 */
#include "store/tscope/snapshot_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/tscope/decoder.h"
#include "store/tscope/layout.h"

#define FIRST_BUFFER ((size_t)256 * 1024)

/* A block without a name here may have any name, and may occur once under each. */
static const struct block_reader {
	enum block_type type;
	const char *name;
	int (*decode)(struct decoder *decoder, const char *name, struct reader *body);
} block_readers[] = {
	{ BLOCK_VALUES, BLOCK_HOST, decode_facts },
	{ BLOCK_VALUES, BLOCK_TALLY, decode_tally },
	{ BLOCK_STRINGS, BLOCK_TEXTS, decode_strings },
	{ BLOCK_ROWS, BLOCK_PROCESSES, decode_processes },
	{ BLOCK_ROWS, BLOCK_TASKS, decode_tasks },
	{ BLOCK_FIELD, NULL, decode_field },
	{ BLOCK_COLUMN, NULL, decode_column },
	{ BLOCK_REASONS, BLOCK_ABSENT, decode_reasons },
	{ BLOCK_SOURCES, BLOCK_CAPTURE, decode_sources },
	{ BLOCK_SHEET, NULL, decode_sheet },
};

static int read_block(struct decoder *decoder, size_t index, const char *name, struct reader *body)
{
	const struct block_reader *block = &block_readers[index];
	int status;

	if (block->name && decoder->seen_blocks & 1u << index)
		return damaged(decoder, "a block is there twice");
	decoder->seen_blocks |= 1u << index;
	status = block->decode(decoder, name, body);
	if (status == 0 && (body->bad || reader_left(body)))
		return damaged(decoder, "a block is not what it should be");
	return status;
}

static int decode_block(struct decoder *decoder, struct reader *payload)
{
	char name[NAME_SIZE];
	struct reader body;
	uint8_t type;

	reader_name(payload, name);
	type = reader_u8(payload);
	body = reader_part(payload, reader_varint(payload));
	if (payload->bad)
		return damaged(decoder, "a block is cut short");
	for (size_t i = 0; i < ARRAY_SIZE(block_readers); i++)
		if (type == block_readers[i].type &&
		    (!block_readers[i].name || strcmp(name, block_readers[i].name) == 0))
			return read_block(decoder, i, name, &body);
	return 0;
}

static bool has_rows(const struct decoder *decoder)
{
	uint32_t seen = 0;

	for (size_t i = 0; i < ARRAY_SIZE(block_readers); i++)
		if (block_readers[i].type == BLOCK_ROWS)
			seen |= 1u << i;
	return (decoder->seen_blocks & seen) == seen;
}

static int decode_payload(struct decoder *decoder, struct reader payload)
{
	int status = 0;

	while (reader_left(&payload) && status == 0)
		status = decode_block(decoder, &payload);
	if (status < 0)
		return status;
	if (!has_rows(decoder))
		return damaged(decoder, "it has no rows");
	if (!rows_are_finished(decoder->snapshot))
		return damaged(decoder, "rows are out of order");
	return snapshot_finish(decoder->snapshot);
}

/* Doubles the buffer up to the limit; -EFBIG when it has reached the limit. */
static int grow(struct bytes *bytes, size_t limit)
{
	size_t capacity = bytes->capacity ? 2 * bytes->capacity : FIRST_BUFFER;
	void *moved;

	if (bytes->capacity == limit)
		return -EFBIG;
	if (capacity > limit)
		capacity = limit;
	moved = realloc(bytes->data, capacity);
	if (!moved)
		return -ENOMEM;
	bytes->data = moved;
	bytes->capacity = capacity;
	return 0;
}

static void free_decompressor(ZSTD_DCtx **decompressor)
{
	ZSTD_freeDCtx(*decompressor);
}

/* The size in the frame's header is not trusted: the output is counted. */
static int decompress(const void *bytes, size_t size, size_t limit, struct bytes *ret)
{
	CLEANUP(free_decompressor) ZSTD_DCtx *decompressor = ZSTD_createDCtx();
	ZSTD_inBuffer input = { .src = bytes, .size = size };
	size_t left = 1;

	if (!decompressor || ZSTD_isError(ZSTD_DCtx_setParameter(decompressor, ZSTD_d_windowLogMax,
								 WINDOW_LOG_LIMIT)))
		return -ENOMEM;
	while (left) {
		ZSTD_outBuffer output;
		int status = ret->size == ret->capacity ? grow(ret, limit) : 0;

		if (status < 0)
			return status;
		output = (ZSTD_outBuffer){ ret->data, ret->capacity, ret->size };
		left = ZSTD_decompressStream(decompressor, &output, &input);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM :
											 -EBADMSG;
		if (left && input.pos == input.size && output.pos == ret->size)
			return -EBADMSG;
		ret->size = output.pos;
	}
	return input.pos == input.size ? 0 : -EBADMSG;
}

static int decode(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  const struct container *container)
{
	CLEANUP(bytes_free) struct bytes payload = { 0 };
	int status;

	if (container_check(bytes, size) < 0)
		return damaged(decoder, "its checksum differs");
	decoder->cells_left = container_cell_limit(size);
	status = decompress(bytes + HEADER_SIZE, container->payload_size,
			    container_byte_limit(size), &payload);
	if (status == -EBADMSG)
		return damaged(decoder, "it cannot be decompressed");
	if (status < 0)
		return status;
	return decode_payload(decoder, (struct reader){ .next = payload.data,
							.end = payload.data + payload.size });
}

int snapshot_decode_named(const char *name, const void *bytes, size_t size, struct snapshot **ret,
			  struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct decoder decoder = { 0 };
	struct container container;
	int status = container_open(bytes, size, size, name, &container, error);

	if (status < 0)
		return status;
	status = snapshot_new(&snapshot);
	decoder.snapshot = snapshot;
	if (status == 0)
		status = decode(&decoder, bytes, size, &container);
	if (status == -EBADMSG)
		return error_set(error, status, "%s is damaged: %s; copy it again or capture again",
				 name, decoder.problem);
	if (status == -EFBIG)
		return error_set(error, status,
				 "%s is damaged: it claims more than %zu bytes can hold", name,
				 size);
	if (status < 0)
		return error_set(error, status, "cannot read %s: not enough memory", name);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

int snapshot_decode(const void *bytes, size_t size, struct snapshot **ret, struct error *error)
{
	return snapshot_decode_named("the snapshot", bytes, size, ret, error);
}
