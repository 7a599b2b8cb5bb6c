/* SPDX-License-Identifier: MIT */
/*
 * Encodes a snapshot as the bytes of its file.
 *
 * Each block is built in one buffer that is reused, then goes through the
 * compressor.  So memory besides the snapshot is one column, the compressor's
 * window and the compressed file.  A failure (there is only one: memory ran out)
 * is remembered in that file.
 *
 * Texts come before the blocks that refer to them.  So the writers of those
 * run twice: first to find out which texts are needed, then to write.
 */
#include "store/snapshot_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "store/compression.h"
#include "store/tscope/container.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

struct encoder {
	const struct snapshot *snapshot;
	struct compressor compressor; /* its file has room for the header, then the payload */
	struct bytes body;	      /* of the block that is being built */
	uint64_t *numbers;	      /* as many as the largest table has rows */
	uint32_t *string_id; /* number in the file by number in the dictionary, 0: not used */
	struct {
		ARRAY_OF(uint32_t) ids; /* of the dictionary, in the file's order */
	} used;
	bool is_finding_strings; /* nothing is written */
	uint64_t cells;		 /* what reading the file will cost besides its bytes */
};

/* Sends the body under a name, and empties it. */
static void finish_block(struct encoder *encoder, const char *name, enum block_type type)
{
	uint8_t buffer[NAME_SIZE + 2 * VARINT_SIZE];
	struct bytes head = { .data = buffer, .capacity = sizeof(buffer) };

	if (!encoder->is_finding_strings) {
		bytes_put_string(&head, name);
		bytes_put_u8(&head, (uint8_t)type);
		bytes_put_varint(&head, encoder->body.size);
		compressor_put(&encoder->compressor, head.data, head.size);
		compressor_put(&encoder->compressor, encoder->body.data, encoder->body.size);
	}
	encoder->body.size = 0;
}

/* Adds the first `count` numbers to the body. */
static void put_series(struct encoder *encoder, size_t count)
{
	if (!encoder->is_finding_strings)
		series_write(&encoder->body, encoder->numbers, count);
}

static void put_number(struct bytes *body, const char *name, uint64_t number)
{
	bytes_put_string(body, name);
	bytes_put_u8(body, VALUE_NUMBER);
	bytes_put_varint(body, number);
}

void encode_facts(struct encoder *encoder)
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
}

void encode_tally(struct encoder *encoder)
{
	for (size_t i = 0; i < tally_member_count; i++) {
		uint64_t number;

		memcpy(&number, (const char *)&encoder->snapshot->tally + tally_members[i].offset,
		       sizeof(number));
		put_number(&encoder->body, tally_members[i].name, number);
	}
}

static void use_string(struct encoder *encoder, uint64_t id)
{
	if (id == 0 || encoder->string_id[id])
		return;
	if (array_append(&encoder->used.ids, (uint32_t)id) < 0)
		encoder->compressor.file.failed = true;
	encoder->string_id[id] = (uint32_t)encoder->used.ids.count;
}

/*
 * The number in the file of a text; for a number without a text, that of the
 * empty one.
 */
static uint64_t file_string(struct encoder *encoder, uint64_t id)
{
	if (id >= dictionary_count(encoder->snapshot->strings))
		return 0;
	if (encoder->is_finding_strings)
		use_string(encoder, id);
	return encoder->string_id[id];
}

/*
 * Writes the texts that rows refer to; others, of what was dropped from the
 * snapshot, are not written.
 */
void encode_strings(struct encoder *encoder)
{
	size_t count;

	encoder->is_finding_strings = true;
	encode_fields(encoder);
	encode_columns(encoder);
	encode_sheets(encoder);
	encoder->is_finding_strings = false;
	count = encoder->used.ids.count;
	encoder->cells = count * CELLS_PER_STRING;
	bytes_put_varint(&encoder->body, count);
	for (size_t i = 0; i < count; i++)
		bytes_put_string(&encoder->body,
				 snapshot_text(encoder->snapshot, encoder->used.ids.data[i]));
}

static void put_field(struct encoder *encoder, const struct field *field)
{
	size_t rows = scope_rows(encoder->snapshot, field->scope);

	if (encoder->is_finding_strings && field->type != FIELD_STRING)
		return;
	for (size_t row = 0; row < rows; row++) {
		uint64_t value = field_get(encoder->snapshot, field, row);

		encoder->numbers[row] =
			field->type == FIELD_STRING ? file_string(encoder, value) : value;
	}
	put_series(encoder, rows);
}

void encode_rows(struct encoder *encoder)
{
	for (size_t i = 0; i < row_table_count; i++) {
		const struct row_table *table = &row_tables[i];
		size_t rows = scope_rows(encoder->snapshot, table->id.scope);

		encoder->cells += rows * table->cells_per_row;
		bytes_put_varint(&encoder->body, rows);
		put_field(encoder, &table->id);
		finish_block(encoder, table->id.name, BLOCK_ROWS);
	}
}

void encode_fields(struct encoder *encoder)
{
	for (size_t i = 0; i < field_count; i++) {
		put_field(encoder, &fields[i]);
		finish_block(encoder, fields[i].name, BLOCK_FIELD);
	}
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
static size_t gather_values(struct encoder *encoder, const struct column *column, size_t rows)
{
	bool has_cpusets = column->metric->kind == KIND_CPUSET;
	size_t count = 0;

	for (size_t row = 0; row < rows; row++) {
		uint64_t value = column->values[row];

		if (column->states[row] == CELL_TEXT || (has_cpusets && column->states[row]))
			encoder->numbers[count++] = file_string(encoder, value);
		else if (column->states[row] == CELL_NUMBER)
			encoder->numbers[count++] = value;
	}
	return count;
}

static void encode_column(struct encoder *encoder, enum metric_id id)
{
	const struct column *column = &encoder->snapshot->columns[id];
	size_t rows = snapshot_rows(encoder->snapshot, id);
	size_t count;

	if (!column->values || (encoder->is_finding_strings && column->metric->kind != KIND_CPUSET))
		return;
	count = gather_values(encoder, column, rows);
	if (count == 0)
		return;
	encoder->cells += rows;
	bytes_put_string(&encoder->body, metric_unit_name(column->metric->unit));
	bytes_put_string(&encoder->body, metric_kind_name(column->metric->kind));
	bytes_put_string(&encoder->body, metric_scope_name(column->metric->scope));
	if (count == rows)
		bytes_put_u8(&encoder->body, PRESENCE_ALL);
	else
		put_presence(&encoder->body, column->states, rows);
	put_series(encoder, count);
	finish_block(encoder, column->metric->name, BLOCK_COLUMN);
}

void encode_columns(struct encoder *encoder)
{
	for (int id = 0; id < METRIC_STORED; id++)
		encode_column(encoder, (enum metric_id)id);
}

void encode_reasons(struct encoder *encoder)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		if (!encoder->snapshot->columns[id].absent)
			continue;
		bytes_put_string(&encoder->body, metrics[id].name);
		bytes_put_string(&encoder->body, encoder->snapshot->columns[id].absent);
	}
}

void encode_sources(struct encoder *encoder)
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
}

static void put_keys(struct encoder *encoder, const struct sheet *sheet, enum sheet_id id)
{
	bool has_string_keys = sheet_keys[id] == FIELD_STRING;

	for (size_t row = 0; row < sheet->row_count; row++)
		encoder->numbers[row] =
			has_string_keys ? file_string(encoder, sheet->keys[row]) : sheet->keys[row];
	put_series(encoder, sheet->row_count);
}

static void put_cells(struct encoder *encoder, const struct sheet *sheet,
		      const struct column *column)
{
	bytes_put_string(&encoder->body, metric_unit_name(column->metric->unit));
	bytes_put_string(&encoder->body, metric_kind_name(column->metric->kind));
	for (size_t row = 0; row < sheet->row_count; row++)
		encoder->numbers[row] = column->states[row];
	put_series(encoder, sheet->row_count);
	put_series(encoder, gather_values(encoder, column, sheet->row_count));
	encoder->cells += sheet->row_count;
}

static void put_column(struct encoder *encoder, const struct sheet *sheet,
		       const struct column *column)
{
	struct bytes *body = &encoder->body;
	bool has_cells = column_measured(column, sheet->row_count) > 0;

	encoder->cells += CELLS_PER_READING;
	bytes_put_string(body, column->metric->name);
	bytes_put_u8(body, (uint8_t)((column->origin ? COLUMN_HAS_ORIGIN : 0) |
				     (column->absent ? COLUMN_HAS_REASON : 0) |
				     (has_cells ? COLUMN_HAS_CELLS : 0)));
	if (column->origin)
		bytes_put_string(body, column->origin);
	if (column->absent)
		bytes_put_string(body, column->absent);
	if (has_cells)
		put_cells(encoder, sheet, column);
}

void encode_sheets(struct encoder *encoder)
{
	for (int id = 0; id < SHEET_COUNT; id++) {
		const struct sheet *sheet = &encoder->snapshot->sheets[id];

		if (!sheet->row_count && !sheet->columns.count)
			continue;
		encoder->cells += sheet->row_count * CELLS_PER_SHEET_ROW;
		bytes_put_varint(&encoder->body, sheet->row_count);
		put_keys(encoder, sheet, (enum sheet_id)id);
		bytes_put_varint(&encoder->body, sheet->columns.count);
		for (size_t i = 0; i < sheet->columns.count; i++)
			put_column(encoder, sheet, &sheet->columns.data[i]);
		finish_block(encoder, sheet_name((enum sheet_id)id), BLOCK_SHEET);
	}
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
	struct bytes *file = &encoder->compressor.file;

	compressor_open(&encoder->compressor, false);
	encoder->numbers = malloc(most_rows(snapshot) * sizeof(*encoder->numbers) + 1);
	encoder->string_id =
		calloc(dictionary_count(snapshot->strings), sizeof(*encoder->string_id));
	if (!encoder->numbers || !encoder->string_id || !bytes_reserve(file, HEADER_SIZE))
		file->failed = true;
	file->size = HEADER_SIZE;
}

static void encoder_close(struct encoder *encoder)
{
	compressor_close(&encoder->compressor);
	bytes_free(&encoder->body);
	free(encoder->numbers);
	free(encoder->string_id);
	array_free(&encoder->used.ids);
}

static int encode(struct encoder *encoder)
{
	struct bytes *file = &encoder->compressor.file;
	uint64_t padding;
	int status;

	for (size_t i = 0; i < block_count && !file->failed; i++) {
		blocks[i].encode(encoder);
		if (blocks[i].name)
			finish_block(encoder, blocks[i].name, blocks[i].type);
		file->failed |= encoder->body.failed;
	}
	if (!file->failed)
		compressor_finish(&encoder->compressor);
	if (file->failed)
		return -ENOMEM;
	status = container_padding(file->size + CHECKSUM_SIZE, encoder->compressor.taken,
				   encoder->cells, &padding);
	if (status < 0)
		return status;
	container_seal(file, padding);
	return file->failed ? -ENOMEM : 0;
}

int snapshot_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		    struct error *error)
{
	CLEANUP(encoder_close) struct encoder encoder = { .snapshot = snapshot };
	int status;

	if (!snapshot_is_finished(snapshot))
		return error_set(error, -EINVAL, "the snapshot's rows are not in order");
	encoder_open(&encoder);
	status = encode(&encoder);
	if (status == -EFBIG)
		return error_set(error, status,
				 "the snapshot is too large for a file: limit the capture");
	if (status < 0)
		return error_set(error, status, "not enough memory");
	*ret_size = encoder.compressor.file.size;
	*ret_bytes = TAKE_PTR(encoder.compressor.file.data);
	return 0;
}
