/* SPDX-License-Identifier: MIT */
/*
 * Files that no encoder wrote: blocks put together by hand under a right checksum, and what the
 * decoder makes of them.
 */
#ifndef SNAPSHOT_PAYLOAD_H
#define SNAPSHOT_PAYLOAD_H

#include <zstd.h>

#include "base/collection/array.h"
#include "sample_snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

/* A literal that may hold zeros, and its size. */
#define BYTES(literal) (literal), sizeof(literal) - 1

static inline void put_block(struct bytes *payload, const char *name, uint8_t type,
			     const struct bytes *body)
{
	bytes_put_string(payload, name);
	bytes_put_u8(payload, type);
	bytes_put_varint(payload, body->size);
	bytes_put(payload, body->data, body->size);
}

/* A block by its bytes. */
static inline void put_bytes(struct bytes *payload, const char *name, uint8_t type,
			     const char *bytes, size_t size)
{
	struct bytes body = { .data = (uint8_t *)bytes, .size = size };

	put_block(payload, name, type, &body);
}

/* A block of rows with ids from 1. */
static inline void put_rows(struct bytes *payload, const char *name, uint64_t rows)
{
	struct bytes body = { 0 };

	bytes_put_varint(&body, rows);
	bytes_put_u8(&body, SERIES_PLAIN);
	for (uint64_t id = 1; id <= rows; id++)
		bytes_put_varint(&body, id);
	put_block(payload, name, BLOCK_ROWS, &body);
	bytes_free(&body);
}

static inline void put_one_of_each(struct bytes *payload)
{
	put_rows(payload, "processes", 1);
	put_rows(payload, "tasks", 1);
}

static inline void put_column(struct bytes *payload, const char *name, const char *unit,
			      const char *kind, const char *scope)
{
	struct bytes body = { 0 };

	bytes_put_string(&body, unit);
	bytes_put_string(&body, kind);
	bytes_put_string(&body, scope);
	bytes_put_u8(&body, PRESENCE_ALL);
	bytes_put_u8(&body, SERIES_SAME);
	bytes_put_varint(&body, 7);
	put_block(payload, name, BLOCK_COLUMN, &body);
	bytes_free(&body);
}

/* One row of the host with one reading: flags, states and values as given. */
static inline void put_reading(struct bytes *payload, const char *sheet, const char *name,
			       const char *cells, size_t size)
{
	struct bytes body = { 0 };

	put_one_of_each(payload);
	bytes_put(&body, BYTES("\1\0\0\1"));
	bytes_put_string(&body, name);
	bytes_put(&body, cells, size);
	put_block(payload, sheet, BLOCK_SHEET, &body);
	bytes_free(&body);
}

/* A file around a payload that is not the encoder's. */
static inline struct bytes wrap(const struct bytes *payload)
{
	size_t bound = ZSTD_compressBound(payload->size);
	struct bytes file = { 0 };

	assert_non_null(bytes_reserve(&file, HEADER_SIZE + bound));
	file.size = HEADER_SIZE;
	file.size += ZSTD_compress(file.data + HEADER_SIZE, bound, payload->data, payload->size, 3);
	container_seal(&file, 0);
	assert_false(file.failed);
	return file;
}

/* Decodes a made-up payload and frees it; the sentence, or NULL and a snapshot. */
static inline const char *decode_payload(struct bytes *payload, struct snapshot **ret)
{
	static struct error error;
	struct bytes file = wrap(payload);
	int status;

	error = (struct error){ 0 };
	status = snapshot_decode("the snapshot", file.data, file.size, ret, &error);
	bytes_free(&file);
	bytes_free(payload);
	return status < 0 ? error.message : NULL;
}

#endif
