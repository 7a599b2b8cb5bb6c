/* SPDX-License-Identifier: MIT */
#include "store/history/frame.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "store/change/change.h"
#include "store/compression.h"
#include "store/tscope/container.h"
#include "store/tscope/payload.h"

#define FRAME_VERSION 1
#define COMPRESSION_LEVEL 6
/* A reader applies at most so many frames, and a damaged one costs no more. */
#define CHAIN_LENGTH 120
/* What the compressor has at hand: the texts of the key frame, then the last changes. */
#define WINDOW_SIZE ((size_t)128 * 1024)
/* Texts are kept for the whole chain; when it has so many new ones, a new chain forgets the old. */
#define NEW_TEXTS_LIMIT 8192

/*
 * A frame of changes:
 *
 *	version		one byte
 *	size		of the changes, a varint
 *	result		checksum of the payload that they make, 8 bytes, little-endian
 *	changes		one zstd frame; its prefix is the window: the beginning of the chain's first
 *			payload and the changes since, of all this the last WINDOW_SIZE bytes
 *	checksum	of all that, seeded with the checksum of the payload before, 8 bytes
 */

struct frame_writer {
	struct dictionary *texts;
	struct bytes payload, next_payload;
	struct bytes changes, window;
	uint64_t checksum;  /* of the payload */
	uint64_t key_size;  /* 0: the next frame is a key frame */
	uint32_t key_texts; /* how many texts it had */
	unsigned length;    /* of the chain */
	ZSTD_CCtx *context;
};

struct frame_writer *frame_writer_new(void)
{
	struct frame_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->context = ZSTD_createCCtx();
	if (!writer->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel,
						COMPRESSION_LEVEL))) {
		frame_writer_free(writer);
		return NULL;
	}
	return writer;
}

void frame_writer_free(struct frame_writer *writer)
{
	if (!writer)
		return;
	dictionary_free(writer->texts);
	bytes_free(&writer->payload);
	bytes_free(&writer->next_payload);
	bytes_free(&writer->changes);
	bytes_free(&writer->window);
	ZSTD_freeCCtx(writer->context);
	free(writer);
}

void frame_writer_restart(struct frame_writer *writer)
{
	writer->key_size = 0;
}

static void swap(struct bytes *a, struct bytes *b)
{
	struct bytes held = *a;

	*a = *b;
	*b = held;
}

/* Begins the window of a chain: texts come early in a payload. */
static void window_begin(struct bytes *window, const struct bytes *payload)
{
	bytes_clear(window);
	bytes_put(window, payload->data, payload->size < WINDOW_SIZE ? payload->size : WINDOW_SIZE);
}

static void window_add(struct bytes *window, const struct bytes *changes)
{
	size_t excess;

	bytes_put(window, changes->data, changes->size);
	if (window->size <= WINDOW_SIZE)
		return;
	excess = window->size - WINDOW_SIZE;
	memmove(window->data, window->data + excess, WINDOW_SIZE);
	window->size = WINDOW_SIZE;
}

static int encode_payload(struct frame_writer *writer, const struct snapshot *snapshot,
			  uint64_t *ret_cells)
{
	return payload_encode(snapshot, writer->texts, &writer->next_payload, ret_cells);
}

static int write_key(struct frame_writer *writer, const struct snapshot *snapshot,
		     struct bytes *ret)
{
	struct bytes file = { 0 };
	uint64_t cells;
	int status;

	dictionary_free(writer->texts);
	writer->texts = dictionary_new();
	if (!writer->texts)
		return -ENOMEM;
	status = encode_payload(writer, snapshot, &cells);
	if (status == 0)
		status = payload_seal(&writer->next_payload, cells, &file);
	if (status < 0)
		return status;
	bytes_free(ret);
	*ret = file;
	writer->key_size = file.size;
	writer->key_texts = dictionary_count(writer->texts);
	writer->length = 1;
	window_begin(&writer->window, &writer->next_payload);
	return writer->window.failed ? -ENOMEM : 0;
}

static uint64_t checksum_of(const struct bytes *bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes->data, bytes->size, seed);
}

static void put_checksum(struct bytes *bytes, uint64_t checksum)
{
	uint64_t stored = htole64(checksum);

	bytes_put(bytes, &stored, sizeof(stored));
}

static int compress_changes(struct frame_writer *writer, struct bytes *ret)
{
	size_t bound = ZSTD_compressBound(writer->changes.size), size;
	uint8_t *room = bytes_reserve(ret, bound);

	if (!room || ZSTD_isError(ZSTD_CCtx_refPrefix(writer->context, writer->window.data,
						      writer->window.size)))
		return -ENOMEM;
	size = ZSTD_compress2(writer->context, room, bound, writer->changes.data,
			      writer->changes.size);
	if (ZSTD_isError(size))
		return -ENOMEM;
	ret->size += size;
	return 0;
}

static int write_change(struct frame_writer *writer, struct bytes *ret)
{
	int status = change_find(&writer->payload, &writer->next_payload, &writer->changes);

	if (status == 0 && writer->changes.size > size_limit(&container_bytes, writer->key_size))
		status = -EBADMSG;
	if (status < 0)
		return status;
	bytes_clear(ret);
	bytes_put_u8(ret, FRAME_VERSION);
	bytes_put_varint(ret, writer->changes.size);
	put_checksum(ret, checksum_of(&writer->next_payload, 0));
	status = compress_changes(writer, ret);
	if (status < 0)
		return status;
	put_checksum(ret, checksum_of(ret, writer->checksum));
	window_add(&writer->window, &writer->changes);
	writer->length++;
	return ret->failed || writer->window.failed ? -ENOMEM : 0;
}

/* Whether a reader may spend so much: its limits come from the size of the key frame. */
static bool fits_chain(const struct frame_writer *writer, uint64_t cells)
{
	return writer->next_payload.size <= size_limit(&container_bytes, writer->key_size) &&
	       cells <= size_limit(&container_cells, writer->key_size) &&
	       dictionary_count(writer->texts) - writer->key_texts < NEW_TEXTS_LIMIT;
}

static int write_frame(struct frame_writer *writer, const struct snapshot *snapshot,
		       struct bytes *ret, bool *ret_is_key)
{
	uint64_t cells;
	int status = 0;

	*ret_is_key = !writer->key_size || writer->length >= CHAIN_LENGTH;
	if (!*ret_is_key) {
		status = encode_payload(writer, snapshot, &cells);
		*ret_is_key = status == 0 && !fits_chain(writer, cells);
	}
	if (status == 0 && !*ret_is_key) {
		status = write_change(writer, ret);
		*ret_is_key = status == -EBADMSG || (status == 0 && ret->size > writer->key_size);
	}
	if (*ret_is_key)
		status = write_key(writer, snapshot, ret);
	return status;
}

int frame_write(struct frame_writer *writer, const struct snapshot *snapshot, struct bytes *ret,
		bool *ret_is_key, struct error *error)
{
	int status = write_frame(writer, snapshot, ret, ret_is_key);

	if (status == 0) {
		swap(&writer->payload, &writer->next_payload);
		writer->checksum = checksum_of(&writer->payload, 0);
		return 0;
	}
	frame_writer_restart(writer);
	if (status == -EFBIG)
		return error_set(error, status,
				 "the snapshot is too large for a recording: limit its scope");
	if (status == -EINVAL)
		return error_set(error, status, "the snapshot's rows are not in order");
	return error_set(error, status, "not enough memory");
}

struct frame_reader {
	struct bytes payload, next_payload;
	struct bytes changes, window;
	uint64_t checksum;
	size_t key_size; /* 0: no key frame was read */
	ZSTD_DCtx *context;
};

struct frame_reader *frame_reader_new(void)
{
	struct frame_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->context = ZSTD_createDCtx();
	if (!reader->context) {
		free(reader);
		return NULL;
	}
	return reader;
}

void frame_reader_free(struct frame_reader *reader)
{
	if (!reader)
		return;
	bytes_free(&reader->payload);
	bytes_free(&reader->next_payload);
	bytes_free(&reader->changes);
	bytes_free(&reader->window);
	ZSTD_freeDCtx(reader->context);
	free(reader);
}

int frame_read_key(struct frame_reader *reader, const char *name, const void *bytes, size_t size,
		   struct error *error)
{
	int status = payload_unseal(name, bytes, size, &reader->payload, error);

	reader->key_size = status == 0 ? size : 0;
	if (status < 0)
		return status;
	reader->checksum = checksum_of(&reader->payload, 0);
	window_begin(&reader->window, &reader->payload);
	return reader->window.failed ? error_set(error, -ENOMEM, "not enough memory") : 0;
}

static int decompress_changes(struct frame_reader *reader, struct reader frame, uint64_t size)
{
	size_t got;

	bytes_clear(&reader->changes);
	if (size > size_limit(&container_bytes, reader->key_size + reader_left(&frame)))
		return -EFBIG;
	if (!bytes_reserve(&reader->changes, size + 1) ||
	    ZSTD_isError(
		    ZSTD_DCtx_refPrefix(reader->context, reader->window.data, reader->window.size)))
		return -ENOMEM;
	got = ZSTD_decompressDCtx(reader->context, reader->changes.data, size, frame.next,
				  reader_left(&frame));
	if (got != size)
		return -EBADMSG;
	reader->changes.size = size;
	return 0;
}

static uint64_t read_checksum(struct reader *frame)
{
	struct reader part = reader_part(frame, sizeof(uint64_t));
	uint64_t stored = 0;

	if (!part.bad)
		memcpy(&stored, part.next, sizeof(stored));
	return le64toh(stored);
}

static int open_frame(struct frame_reader *reader, const uint8_t *bytes, size_t size,
		      uint64_t *ret_result, const char **ret_problem)
{
	struct reader frame = { .next = bytes, .end = bytes + size }, end;
	uint64_t changes_size;

	*ret_problem = "it is cut short";
	if (size < 2 * CHECKSUM_SIZE + 2)
		return -EBADMSG;
	frame.end -= CHECKSUM_SIZE;
	end = (struct reader){ .next = frame.end, .end = bytes + size };
	*ret_problem = "its checksum differs, or the frame before it is not the one it had";
	if (read_checksum(&end) !=
	    XXH3_64bits_withSeed(bytes, size - CHECKSUM_SIZE, reader->checksum))
		return -EBADMSG;
	*ret_problem = "a newer taskscope wrote it";
	if (reader_u8(&frame) != FRAME_VERSION)
		return -EBADMSG;
	*ret_problem = "it cannot be decompressed";
	changes_size = reader_varint(&frame);
	*ret_result = read_checksum(&frame);
	return frame.bad ? -EBADMSG : decompress_changes(reader, frame, changes_size);
}

static int apply(struct frame_reader *reader, const uint8_t *bytes, size_t size,
		 const char **ret_problem)
{
	struct change_limits limits = {
		.bytes = size_limit(&container_bytes, reader->key_size),
		.cells = 2 * size_limit(&container_cells, reader->key_size),
	};
	uint64_t result;
	int status = open_frame(reader, bytes, size, &result, ret_problem);

	if (status < 0)
		return status;
	*ret_problem = "its changes do not fit the frame before";
	status = change_apply(&reader->payload, reader->changes.data, reader->changes.size, &limits,
			      &reader->next_payload);
	if (status == 0 && checksum_of(&reader->next_payload, 0) != result)
		status = -EBADMSG;
	if (status < 0)
		return status;
	reader->checksum = result;
	swap(&reader->payload, &reader->next_payload);
	window_add(&reader->window, &reader->changes);
	return reader->window.failed ? -ENOMEM : 0;
}

int frame_read_change(struct frame_reader *reader, const char *name, const void *bytes, size_t size,
		      struct error *error)
{
	const char *problem = "the frames before it are damaged";
	int status = reader->key_size ? apply(reader, bytes, size, &problem) : -EBADMSG;

	if (status == 0)
		return 0;
	reader->key_size = 0;
	if (status == -EFBIG)
		return error_set(error, -EBADMSG,
				 "%s is damaged: it claims more than %zu bytes can hold", name,
				 size);
	if (status == -EBADMSG)
		return error_set(error, status, "%s is damaged: %s", name, problem);
	return error_set(error, status, "cannot read %s: not enough memory", name);
}

int frame_reader_snapshot(struct frame_reader *reader, const char *name, struct snapshot **ret,
			  struct error *error)
{
	if (!reader->key_size)
		return error_set(error, -EBADMSG, "%s is damaged: the frames before it are damaged",
				 name);
	return payload_decode(name, &reader->payload, reader->key_size, ret, error);
}
