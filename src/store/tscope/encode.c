/* SPDX-License-Identifier: MIT */
/*
 * Encodes a snapshot as the bytes of its file, or as its payload alone.  Memory besides the
 * snapshot is one column, the compressor's window and the compressed file.
 */
#include "store/snapshot_file.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "store/tscope/container.h"
#include "store/tscope/encoder.h"
#include "store/tscope/payload.h"
#include "store/tscope/series.h"

CLEANUP_POINTER(dictionary_free, struct dictionary)

static void put_piece(struct encoder *encoder, const struct bytes *piece)
{
	if (encoder->payload)
		bytes_put(encoder->payload, piece->data, piece->size);
	else
		compressor_put(&encoder->compressor, piece->data, piece->size);
}

void encoder_finish_block(struct encoder *encoder, const char *name, enum block_type type)
{
	uint8_t buffer[NAME_SIZE + 2 * VARINT_SIZE];
	struct bytes head = { .data = buffer, .capacity = sizeof(buffer) };

	if (!encoder->is_finding_strings) {
		bytes_put_string(&head, name);
		bytes_put_u8(&head, (uint8_t)type);
		bytes_put_varint(&head, encoder->body.size);
		put_piece(encoder, &head);
		put_piece(encoder, &encoder->body);
	}
	encoder->body.size = 0;
}

void encoder_put_series(struct encoder *encoder, size_t count)
{
	if (!encoder->is_finding_strings)
		series_write(&encoder->body, encoder->numbers, count);
}

static size_t most_rows(const struct snapshot *snapshot)
{
	size_t most = snapshot->task_count;

	if (most < snapshot->process_count)
		most = snapshot->process_count;
	for (int id = 0; id < SHEET_COUNT; id++)
		if (most < snapshot->sheets[id].row_count)
			most = snapshot->sheets[id].row_count;
	return most;
}

static void encoder_open(struct encoder *encoder)
{
	const struct snapshot *snapshot = encoder->snapshot;

	encoder->numbers = malloc(most_rows(snapshot) * sizeof(*encoder->numbers) + 1);
	encoder->string_id =
		calloc(dictionary_count(snapshot->strings), sizeof(*encoder->string_id));
	if (!encoder->numbers || !encoder->string_id || !encoder->texts)
		encoder->compressor.file.failed = true;
}

static void encoder_close(struct encoder *encoder)
{
	compressor_close(&encoder->compressor);
	bytes_free(&encoder->body);
	free(encoder->numbers);
	free(encoder->string_id);
}

static void encode_blocks(struct encoder *encoder)
{
	bool *failed = &encoder->compressor.file.failed;

	for (size_t i = 0; i < block_count && !*failed; i++) {
		blocks[i].encode(encoder);
		if (blocks[i].name)
			encoder_finish_block(encoder, blocks[i].name, blocks[i].type);
		*failed |= encoder->body.failed;
	}
}

/* Ends the frame and puts header and checksum around it. */
static int seal(struct compressor *compressor, uint64_t cells)
{
	struct bytes *file = &compressor->file;
	uint64_t padding;
	int status;

	if (!file->failed)
		compressor_finish(compressor);
	if (file->failed)
		return -ENOMEM;
	status = container_padding(file->size + CHECKSUM_SIZE, compressor->taken, cells, &padding);
	if (status < 0)
		return status;
	container_seal(file, padding);
	return file->failed ? -ENOMEM : 0;
}

static void begin_file(struct compressor *compressor)
{
	bool failed = compressor->file.failed;

	compressor_open(compressor, false);
	compressor->file.failed |= failed;
	bytes_reserve(&compressor->file, HEADER_SIZE);
	compressor->file.size = HEADER_SIZE;
}

static int cannot_encode(int status, struct error *error)
{
	if (status == -EFBIG)
		return error_set(error, status,
				 "the snapshot is too large for a file: limit the capture");
	return error_set(error, status, "not enough memory");
}

int snapshot_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		    struct error *error)
{
	CLEANUP(dictionary_free_pointer) struct dictionary *texts = dictionary_new();
	CLEANUP(encoder_close) struct encoder encoder = { .snapshot = snapshot, .texts = texts };
	int status;

	if (!snapshot_is_finished(snapshot))
		return error_set(error, -EINVAL, "the snapshot's rows are not in order");
	encoder_open(&encoder);
	begin_file(&encoder.compressor);
	encode_blocks(&encoder);
	status = seal(&encoder.compressor, encoder.cells);
	if (status < 0)
		return cannot_encode(status, error);
	*ret_size = encoder.compressor.file.size;
	*ret_bytes = TAKE_PTR(encoder.compressor.file.data);
	return 0;
}

int payload_encode(const struct snapshot *snapshot, struct dictionary *texts, struct bytes *ret,
		   uint64_t *ret_cells)
{
	CLEANUP(encoder_close)
	struct encoder encoder = { .snapshot = snapshot, .texts = texts, .payload = ret };

	if (!snapshot_is_finished(snapshot))
		return -EINVAL;
	bytes_clear(ret);
	encoder_open(&encoder);
	encode_blocks(&encoder);
	*ret_cells = encoder.cells;
	return encoder.compressor.file.failed || ret->failed ? -ENOMEM : 0;
}

int payload_seal(const struct bytes *payload, uint64_t cells, struct bytes *ret)
{
	struct compressor compressor = { 0 };
	int status;

	begin_file(&compressor);
	compressor_put(&compressor, payload->data, payload->size);
	status = seal(&compressor, cells);
	if (status == 0) {
		*ret = compressor.file;
		compressor.file = (struct bytes){ 0 };
	}
	compressor_close(&compressor);
	return status;
}
