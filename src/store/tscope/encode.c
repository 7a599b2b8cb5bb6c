/* SPDX-License-Identifier: MIT */
/*
 * Encodes a snapshot as the bytes of its file.
 *
 * Each block is built in one buffer that is reused, then goes through the
 * compressor.  So memory besides the snapshot is one column, the compressor's
 * window and the compressed file.
 */
#include "store/tscope/snapshot_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/dictionary.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/tscope/encoder.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

#define COMPRESSION_LEVEL 3
#define OUTPUT_STEP ((size_t)128 * 1024)

static int compress(struct encoder *encoder, const void *bytes, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer input = { .src = bytes, .size = size };
	size_t left;

	encoder->decompressed += size;
	do {
		ZSTD_outBuffer output = { .size = OUTPUT_STEP };

		output.dst = bytes_reserve(&encoder->file, OUTPUT_STEP);
		if (!output.dst)
			return -ENOMEM;
		left = ZSTD_compressStream2(encoder->compressor, &output, &input, end);
		if (ZSTD_isError(left))
			return -ENOMEM;
		encoder->file.size += output.pos;
	} while (input.pos < input.size || (end == ZSTD_e_end && left));
	return 0;
}

int encoder_finish_block(struct encoder *encoder, const char *name, enum block_type type)
{
	uint8_t buffer[NAME_SIZE + 2 * VARINT_SIZE];
	struct bytes head = { .data = buffer, .capacity = sizeof(buffer) };
	size_t size = encoder->body.size;
	int status;

	if (encoder->body.failed)
		return -ENOMEM;
	bytes_put_string(&head, name);
	bytes_put_u8(&head, (uint8_t)type);
	bytes_put_varint(&head, size);
	encoder->body.size = 0;
	status = compress(encoder, head.data, head.size, ZSTD_e_continue);
	return status < 0 ? status : compress(encoder, encoder->body.data, size, ZSTD_e_continue);
}

static void put_number(struct bytes *body, const char *name, uint64_t number)
{
	bytes_put_string(body, name);
	bytes_put_u8(body, VALUE_NUMBER);
	bytes_put_varint(body, number);
}

static int encode_facts(struct encoder *encoder)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &encoder->snapshot->facts[id];

		if (!fact->present)
			continue;
		if (!facts[id].is_text) {
			put_number(&encoder->body, facts[id].name, fact->number);
			continue;
		}
		bytes_put_string(&encoder->body, facts[id].name);
		bytes_put_u8(&encoder->body, VALUE_TEXT);
		bytes_put_string(&encoder->body, fact->text);
	}
	return encoder_finish_block(encoder, BLOCK_HOST, BLOCK_VALUES);
}

static int encode_tally(struct encoder *encoder)
{
	for (size_t i = 0; i < tally_member_count; i++) {
		uint64_t number;

		memcpy(&number, (const char *)&encoder->snapshot->tally + tally_members[i].offset,
		       sizeof(number));
		put_number(&encoder->body, tally_members[i].name, number);
	}
	return encoder_finish_block(encoder, BLOCK_TALLY, BLOCK_VALUES);
}

int encoder_use_string(struct encoder *encoder, uint64_t id)
{
	if (id == 0 || id >= dictionary_count(encoder->snapshot->strings) || encoder->string_id[id])
		return 0;
	if (array_append(&encoder->used.ids, (uint32_t)id) < 0)
		return -ENOMEM;
	encoder->string_id[id] = (uint32_t)encoder->used.ids.count;
	return 0;
}

uint64_t encoder_string(const struct encoder *encoder, uint64_t id)
{
	return id < dictionary_count(encoder->snapshot->strings) ? encoder->string_id[id] : 0;
}

static int use_field_strings(struct encoder *encoder, const struct field *field)
{
	size_t rows = scope_rows(encoder->snapshot, field->scope);
	int status = 0;

	if (field->type != FIELD_STRING)
		return 0;
	for (size_t row = 0; row < rows && status == 0; row++)
		status = encoder_use_string(encoder, field_get(encoder->snapshot, field, row));
	return status;
}

static int use_column_strings(struct encoder *encoder, enum metric_id id)
{
	size_t rows = snapshot_rows(encoder->snapshot, id);
	uint64_t value;
	int status = 0;

	if (metrics[id].kind != KIND_CPUSET)
		return 0;
	for (uint32_t row = 0; row < rows && status == 0; row++)
		if (snapshot_get(encoder->snapshot, id, row, &value))
			status = encoder_use_string(encoder, value);
	return status;
}

/*
 * Finds the texts that rows refer to; others, of what was dropped from the
 * snapshot, are not written.
 */
static int find_used_strings(struct encoder *encoder)
{
	int status = 0;

	for (size_t i = 0; i < field_count && status == 0; i++)
		status = use_field_strings(encoder, &fields[i]);
	for (int id = 0; id < METRIC_STORED && status == 0; id++)
		status = use_column_strings(encoder, (enum metric_id)id);
	return status < 0 ? status : encode_use_sheet_strings(encoder);
}

static int encode_strings(struct encoder *encoder)
{
	size_t count;
	int status = find_used_strings(encoder);

	if (status < 0)
		return status;
	count = encoder->used.ids.count;
	encoder->cells += count * CELLS_PER_STRING;
	bytes_put_varint(&encoder->body, count);
	for (size_t i = 0; i < count; i++)
		bytes_put_string(&encoder->body,
				 snapshot_text(encoder->snapshot, encoder->used.ids.data[i]));
	return encoder_finish_block(encoder, BLOCK_TEXTS, BLOCK_STRINGS);
}

static void put_field(struct encoder *encoder, const struct field *field)
{
	size_t rows = scope_rows(encoder->snapshot, field->scope);

	for (size_t row = 0; row < rows; row++) {
		uint64_t value = field_get(encoder->snapshot, field, row);

		encoder->numbers[row] =
			field->type == FIELD_STRING ? encoder_string(encoder, value) : value;
	}
	series_write(&encoder->body, encoder->numbers, rows);
}

static int encode_rows(struct encoder *encoder, enum metric_scope scope, uint64_t cells_per_row)
{
	size_t rows = scope_rows(encoder->snapshot, scope);

	encoder->cells += rows * cells_per_row;
	bytes_put_varint(&encoder->body, rows);
	put_field(encoder, &id_fields[scope]);
	return encoder_finish_block(encoder, id_fields[scope].name, BLOCK_ROWS);
}

static int encode_identities(struct encoder *encoder)
{
	int status = encode_rows(encoder, METRIC_OF_PROCESS, CELLS_PER_PROCESS);

	if (status == 0)
		status = encode_rows(encoder, METRIC_OF_THREAD, CELLS_PER_TASK);
	for (size_t i = 0; i < field_count && status == 0; i++) {
		put_field(encoder, &fields[i]);
		status = encoder_finish_block(encoder, fields[i].name, BLOCK_FIELD);
	}
	return status;
}

static void put_presence(struct bytes *body, const uint8_t *states, size_t rows)
{
	size_t size = (rows + 7) / 8;
	uint8_t *bits;

	bytes_put_u8(body, PRESENCE_BITS);
	bits = bytes_reserve(body, size);
	if (!bits)
		return;
	memset(bits, 0, size);
	for (size_t row = 0; row < rows; row++)
		bits[row / 8] |= (uint8_t)((states[row] != CELL_ABSENT) << row % 8);
	body->size += size;
}

/* Collects the values that are there, one after the other, and returns how many. */
static size_t gather_values(struct encoder *encoder, enum metric_id id, size_t rows)
{
	const struct column *column = &encoder->snapshot->columns[id];
	bool is_string = metrics[id].kind == KIND_CPUSET;
	size_t count = 0;

	for (size_t row = 0; row < rows; row++)
		if (column->states[row])
			encoder->numbers[count++] =
				is_string ? encoder_string(encoder, column->values[row]) :
					    column->values[row];
	return count;
}

static int encode_column(struct encoder *encoder, enum metric_id id)
{
	const struct metric *metric = &metrics[id];
	const struct column *column = &encoder->snapshot->columns[id];
	size_t rows = snapshot_rows(encoder->snapshot, id);
	size_t count = column->values ? gather_values(encoder, id, rows) : 0;

	if (count == 0)
		return 0;
	encoder->cells += rows;
	bytes_put_string(&encoder->body, metric_unit_name(metric->unit));
	bytes_put_string(&encoder->body, metric_kind_name(metric->kind));
	bytes_put_string(&encoder->body, metric_scope_name(metric->scope));
	if (count == rows)
		bytes_put_u8(&encoder->body, PRESENCE_ALL);
	else
		put_presence(&encoder->body, column->states, rows);
	series_write(&encoder->body, encoder->numbers, count);
	return encoder_finish_block(encoder, metric->name, BLOCK_COLUMN);
}

static int encode_columns(struct encoder *encoder)
{
	int status = 0;

	for (int id = 0; id < METRIC_STORED && status == 0; id++)
		status = encode_column(encoder, (enum metric_id)id);
	return status;
}

static int encode_absent(struct encoder *encoder)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		if (!encoder->snapshot->columns[id].absent)
			continue;
		bytes_put_string(&encoder->body, metrics[id].name);
		bytes_put_string(&encoder->body, encoder->snapshot->columns[id].absent);
	}
	return encoder_finish_block(encoder, BLOCK_ABSENT, BLOCK_REASONS);
}

static int encode_sources(struct encoder *encoder)
{
	for (size_t i = 0; i < encoder->snapshot->source_count; i++) {
		const struct source_report *source = &encoder->snapshot->sources[i];

		bytes_put_string(&encoder->body, source->name);
		bytes_put_string(&encoder->body, source_state_name(source->state));
		bytes_put_u8(&encoder->body, source->reason != NULL);
		if (source->reason)
			bytes_put_string(&encoder->body, source->reason);
		bytes_put_varint(&encoder->body, source->read);
		bytes_put_varint(&encoder->body, source->failed);
	}
	return encoder_finish_block(encoder, BLOCK_CAPTURE, BLOCK_SOURCES);
}

/* In the order that a reader needs: strings before rows, rows before columns. */
static int (*const parts[])(struct encoder *encoder) = {
	encode_facts,  encode_strings, encode_identities, encode_columns,
	encode_absent, encode_sources, encode_tally,	  encode_sheets,
};

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

static int encoder_start(struct encoder *encoder, const struct snapshot *snapshot)
{
	size_t rows = most_rows(snapshot);

	*encoder = (struct encoder){ .snapshot = snapshot };
	encoder->compressor = ZSTD_createCCtx();
	encoder->numbers = malloc(rows * sizeof(*encoder->numbers) + 1);
	encoder->string_id =
		calloc(dictionary_count(snapshot->strings), sizeof(*encoder->string_id));
	if (!encoder->compressor || !encoder->numbers || !encoder->string_id ||
	    !bytes_reserve(&encoder->file, HEADER_SIZE) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(encoder->compressor, ZSTD_c_compressionLevel,
						COMPRESSION_LEVEL)))
		return -ENOMEM;
	encoder->file.size = HEADER_SIZE;
	return 0;
}

static void encoder_end(struct encoder *encoder)
{
	ZSTD_freeCCtx(encoder->compressor);
	bytes_free(&encoder->file);
	bytes_free(&encoder->body);
	free(encoder->numbers);
	free(encoder->string_id);
	array_free(&encoder->used.ids);
}

static int encode(struct encoder *encoder)
{
	uint64_t padding;
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && status == 0; i++)
		status = parts[i](encoder);
	if (status == 0)
		status = compress(encoder, NULL, 0, ZSTD_e_end);
	if (status == 0)
		status = container_padding(encoder->file.size + CHECKSUM_SIZE,
					   encoder->decompressed, encoder->cells, &padding);
	if (status < 0)
		return status;
	container_seal(&encoder->file, padding);
	return encoder->file.failed ? -ENOMEM : 0;
}

int snapshot_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		    struct error *error)
{
	struct encoder encoder;
	int status;

	if (!rows_are_finished(snapshot))
		return error_set(error, -EINVAL, "the snapshot's rows are not in order");
	status = encoder_start(&encoder, snapshot);
	if (status == 0)
		status = encode(&encoder);
	if (status == 0) {
		*ret_bytes = encoder.file.data;
		*ret_size = encoder.file.size;
		encoder.file = (struct bytes){ 0 };
	}
	encoder_end(&encoder);
	if (status == -EFBIG)
		error_set(error, status, "the snapshot is too large for a file: limit the capture");
	return status == -ENOMEM ? error_set(error, status, "not enough memory") : status;
}
