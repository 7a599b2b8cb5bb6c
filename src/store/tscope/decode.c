/* SPDX-License-Identifier: MIT */
/*
 * Decodes the bytes of a file into a snapshot.
 *
 * The file may be hostile.  So no number from it is used before it was checked,
 * and memory is allocated only within what a file of that size may cost
 * (container.h).  What does not fit ends the reading with an error.
 */
#include "store/snapshot_file.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/compression.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/tscope/decoder.h"
#include "store/tscope/layout.h"
#include "store/tscope/payload.h"

#define STEP ((size_t)256 * 1024)

bool decoder_check(struct decoder *decoder, int status)
{
	if (decoder->status == 0)
		decoder->status = status;
	return decoder->status == 0;
}

bool decoder_damaged(struct decoder *decoder, const char *problem)
{
	if (!decoder->problem)
		decoder->problem = problem;
	return decoder_check(decoder, -EBADMSG);
}

bool decoder_mark(struct decoder *decoder, uint32_t *seen, size_t index)
{
	if (*seen & 1u << index)
		return decoder_damaged(decoder, "a block is there twice");
	*seen |= 1u << index;
	return true;
}

bool decoder_spend(struct decoder *decoder, uint64_t count, uint64_t each)
{
	if (count > decoder->cells_left / each)
		return decoder_check(decoder, -EFBIG);
	decoder->cells_left -= count * each;
	return decoder->status == 0;
}

static const struct block *find_block(uint8_t type, const char *name)
{
	for (size_t i = 0; i < block_count; i++)
		if (type == blocks[i].type &&
		    (!blocks[i].name || strcmp(name, blocks[i].name) == 0))
			return &blocks[i];
	return NULL;
}

static void decode_block(struct decoder *decoder, struct reader *payload)
{
	const struct block *block;
	char name[NAME_SIZE];
	struct reader body;
	uint8_t type;

	reader_name(payload, name);
	type = reader_u8(payload);
	body = reader_part(payload, reader_varint(payload));
	if (payload->bad) {
		decoder_damaged(decoder, "a block is cut short");
		return;
	}
	block = find_block(type, name);
	if (!block || (block->name &&
		       !decoder_mark(decoder, &decoder->seen_blocks, (size_t)(block - blocks))))
		return;
	block->decode(decoder, name, &body);
	if (body.bad || reader_left(&body))
		decoder_damaged(decoder, "a block is not what it should be");
}

static void decode_payload(struct decoder *decoder, struct reader payload)
{
	const uint32_t scopes = 1u << METRIC_OF_PROCESS | 1u << METRIC_OF_THREAD;

	while (reader_left(&payload) && decoder->status == 0)
		decode_block(decoder, &payload);
	if (decoder->status < 0)
		return;
	if (decoder->seen_scopes != scopes)
		decoder_damaged(decoder, "it has no rows");
	else if (!snapshot_is_finished(decoder->snapshot))
		decoder_damaged(decoder, "rows are out of order");
	else
		decoder_check(decoder, snapshot_finish(decoder->snapshot));
}

/* Unpacks the only frame that there may be. */
static int decompress(const void *bytes, size_t size, size_t limit, struct bytes *ret)
{
	CLEANUP(decompressor_close) struct decompressor decompressor = { 0 };
	int status = decompressor_open(&decompressor, bytes, size, WINDOW_LOG_LIMIT);
	size_t length = 1;

	while (status == 0 && length) {
		uint8_t *room = bytes_reserve(ret, STEP);

		if (!room)
			return -ENOMEM;
		status = decompressor_get(&decompressor, room, STEP, &length);
		ret->size += length;
		if (ret->size > limit)
			return -EFBIG;
	}
	return status == 0 && decompressor.frames != 1 ? -EBADMSG : status;
}

static int unseal(const uint8_t *bytes, size_t size, const struct container *container,
		  struct bytes *ret, const char **ret_problem)
{
	int status = container_check(bytes, size);

	*ret_problem = "its checksum differs";
	if (status < 0)
		return status;
	*ret_problem = "it cannot be decompressed";
	return decompress(bytes + HEADER_SIZE, container->payload_size,
			  size_limit(&container_bytes, size), ret);
}

static int cannot_decode(const char *name, int status, const char *problem, size_t size,
			 struct error *error)
{
	if (status == -EBADMSG)
		return error_set(error, status, "%s is damaged: %s; copy it again or capture again",
				 name, problem);
	if (status == -EFBIG)
		return error_set(error, status,
				 "%s is damaged: it claims more than %zu bytes can hold", name,
				 size);
	return error_set(error, status, "cannot read %s: not enough memory", name);
}

int payload_unseal(const char *name, const void *bytes, size_t size, struct bytes *ret,
		   struct error *error)
{
	struct container container;
	const char *problem;
	int status = container_open(bytes, size, size, name, &container, error);

	if (status < 0)
		return status;
	bytes_clear(ret);
	status = unseal(bytes, size, &container, ret, &problem);
	return status < 0 ? cannot_decode(name, status, problem, size, error) : 0;
}

int payload_decode(const char *name, const struct bytes *payload, size_t size,
		   struct snapshot **ret, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct decoder decoder = { .cells_left = size_limit(&container_cells, size) };
	int status = snapshot_new(&snapshot);

	decoder.snapshot = snapshot;
	if (decoder_check(&decoder, status))
		decode_payload(&decoder, (struct reader){ .next = payload->data,
							  .end = payload->data + payload->size });
	if (decoder.status < 0)
		return cannot_decode(name, decoder.status, decoder.problem, size, error);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

int snapshot_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		    struct error *error)
{
	CLEANUP(bytes_free) struct bytes payload = { 0 };
	int status = payload_unseal(name, bytes, size, &payload, error);

	return status < 0 ? status : payload_decode(name, &payload, size, ret, error);
}
