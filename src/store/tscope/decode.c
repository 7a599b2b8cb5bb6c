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

static struct reader bytes_reader(const struct bytes *bytes)
{
	return (struct reader){ .next = bytes->data, .end = bytes->data + bytes->size };
}

/* Reads the next block, except what is in it. */
static struct reader read_block(struct reader *payload, char name[NAME_SIZE], uint8_t *ret_type)
{
	reader_name(payload, name);
	*ret_type = reader_u8(payload);
	return reader_part(payload, reader_varint(payload));
}

static bool has_block(struct reader payload)
{
	char name[NAME_SIZE];
	uint8_t type;

	if (!reader_left(&payload))
		return false;
	read_block(&payload, name, &type);
	return !payload.bad;
}

static void decode_block(struct decoder *decoder, struct reader *payload)
{
	const struct block *block;
	char name[NAME_SIZE];
	uint8_t type;
	struct reader body = read_block(payload, name, &type);

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

/* Decodes the rest of the blocks, and checks the whole. */
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

/* The only frame that there may be, while it is unpacked. */
struct unpacking {
	struct decompressor decompressor;
	struct bytes bytes;
	size_t taken; /* of them: they need not stay */
	uint64_t size, limit;
	bool has_ended;
	int status;
	const char *problem; /* why -EBADMSG */
};

static void unpacking_open(struct unpacking *unpacking, const uint8_t *bytes, size_t size,
			   const struct container *container)
{
	*unpacking = (struct unpacking){ .limit = size_limit(&container_bytes, size),
					 .status = container_check(bytes, size),
					 .problem = "its checksum differs" };
	if (unpacking->status < 0)
		return;
	unpacking->problem = "it cannot be decompressed";
	unpacking->status = decompressor_open(&unpacking->decompressor, bytes + HEADER_SIZE,
					      container->payload_size, WINDOW_LOG_LIMIT);
}

static void unpacking_close(struct unpacking *unpacking)
{
	decompressor_close(&unpacking->decompressor);
	bytes_free(&unpacking->bytes);
}

/* Adds some bytes after those that were not taken.  False at the end, or after a failure. */
static bool unpack_more(struct unpacking *unpacking)
{
	struct bytes *bytes = &unpacking->bytes;
	size_t length = 0;
	uint8_t *room;

	if (unpacking->status < 0 || unpacking->has_ended)
		return false;
	bytes->size -= unpacking->taken;
	if (unpacking->taken)
		memmove(bytes->data, bytes->data + unpacking->taken, bytes->size);
	unpacking->taken = 0;
	room = bytes_reserve(bytes, STEP);
	unpacking->status =
		room ? decompressor_get(&unpacking->decompressor, room, STEP, &length) : -ENOMEM;
	bytes->size += length;
	unpacking->size += length;
	unpacking->has_ended = length == 0;
	if (unpacking->size > unpacking->limit)
		unpacking->status = -EFBIG;
	else if (unpacking->status == 0 && length == 0 && unpacking->decompressor.frames != 1)
		unpacking->status = -EBADMSG;
	return unpacking->status == 0 && length;
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
	CLEANUP(unpacking_close) struct unpacking unpacking = { 0 };
	struct container container;
	int status = container_open(bytes, size, size, name, &container, error);

	if (status < 0)
		return status;
	unpacking_open(&unpacking, bytes, size, &container);
	while (unpack_more(&unpacking))
		;
	if (unpacking.status < 0)
		return cannot_decode(name, unpacking.status, unpacking.problem, size, error);
	bytes_free(ret);
	*ret = unpacking.bytes;
	unpacking.bytes = (struct bytes){ 0 };
	return 0;
}

int payload_decode(const char *name, const struct bytes *payload, size_t size,
		   struct snapshot **ret, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct decoder decoder = { .cells_left = size_limit(&container_cells, size) };
	int status = snapshot_new(&snapshot);

	decoder.snapshot = snapshot;
	if (decoder_check(&decoder, status))
		decode_payload(&decoder, bytes_reader(payload));
	if (decoder.status < 0)
		return cannot_decode(name, decoder.status, decoder.problem, size, error);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

/*
 * Decodes blocks as they are unpacked, so that the whole payload is never in memory.  A frame that
 * cannot be unpacked is worse than a block that is wrong, so it is unpacked to its end in any case.
 */
static void decode_while_unpacking(struct decoder *decoder, struct unpacking *unpacking)
{
	const struct bytes *bytes = &unpacking->bytes;

	while (unpack_more(unpacking)) {
		struct reader payload = bytes_reader(bytes);

		while (decoder->status == 0 && has_block(payload))
			decode_block(decoder, &payload);
		unpacking->taken =
			decoder->status < 0 ? bytes->size : (size_t)(payload.next - bytes->data);
	}
	if (unpacking->status == 0)
		decode_payload(decoder, bytes_reader(bytes));
}

int snapshot_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		    struct error *error)
{
	CLEANUP(unpacking_close) struct unpacking unpacking = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct decoder decoder = { .cells_left = size_limit(&container_cells, size) };
	struct container container;
	int status = container_open(bytes, size, size, name, &container, error);

	if (status < 0)
		return status;
	unpacking_open(&unpacking, bytes, size, &container);
	status = snapshot_new(&snapshot);
	decoder.snapshot = snapshot;
	if (decoder_check(&decoder, status))
		decode_while_unpacking(&decoder, &unpacking);
	if (unpacking.status < 0)
		return cannot_decode(name, unpacking.status, unpacking.problem, size, error);
	if (decoder.status < 0)
		return cannot_decode(name, decoder.status, decoder.problem, size, error);
	*ret = TAKE_PTR(snapshot);
	return 0;
}
