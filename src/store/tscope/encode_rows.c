/* SPDX-License-Identifier: MIT */
/* Writes what a snapshot is made of: texts, rows, their members and metrics. */
#include <string.h>

#include "base/collection/dictionary.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/cells.h"
#include "store/tscope/encoder.h"

static void use_string(struct encoder *encoder, uint64_t id)
{
	const char *text = snapshot_text(encoder->snapshot, (uint32_t)id);

	if (!encoder->string_id[id] &&
	    dictionary_add(encoder->texts, text, strlen(text), &encoder->string_id[id]) < 0)
		encoder->compressor.file.failed = true;
}

uint64_t encoder_string(struct encoder *encoder, uint64_t id)
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
	count = dictionary_count(encoder->texts) - 1;
	encoder->cells = count * CELLS_PER_STRING;
	bytes_put_varint(&encoder->body, count);
	for (uint32_t i = 1; i <= count; i++)
		bytes_put_string(&encoder->body, dictionary_text(encoder->texts, i));
}

static void put_field(struct encoder *encoder, const struct field *field)
{
	size_t rows = scope_rows(encoder->snapshot, field->scope);

	if (encoder->is_finding_strings && field->type != FIELD_STRING)
		return;
	for (size_t row = 0; row < rows; row++) {
		uint64_t value = field_get(encoder->snapshot, field, row);

		encoder->numbers[row] =
			field->type == FIELD_STRING ? encoder_string(encoder, value) : value;
	}
	encoder_put_series(encoder, rows);
}

void encode_rows(struct encoder *encoder)
{
	for (size_t i = 0; i < row_table_count; i++) {
		const struct row_table *table = &row_tables[i];
		size_t rows = scope_rows(encoder->snapshot, table->id.scope);

		encoder->cells += rows * table->cells_per_row;
		bytes_put_varint(&encoder->body, rows);
		put_field(encoder, &table->id);
		encoder_finish_block(encoder, table->id.name, BLOCK_ROWS);
	}
}

void encode_fields(struct encoder *encoder)
{
	for (size_t i = 0; i < field_count; i++) {
		put_field(encoder, &fields[i]);
		encoder_finish_block(encoder, fields[i].name, BLOCK_FIELD);
	}
}

size_t encoder_gather(struct encoder *encoder, const struct column *column, size_t rows)
{
	bool has_cpusets = column->metric->kind == KIND_CPUSET;
	size_t count = 0;

	for (size_t row = 0; row < rows; row++) {
		uint64_t value = column->values[row];

		if (column->states[row] == CELL_TEXT || (has_cpusets && column->states[row]))
			encoder->numbers[count++] = encoder_string(encoder, value);
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
	count = encoder_gather(encoder, column, rows);
	if (count == 0)
		return;
	encoder->cells += rows;
	bytes_put_string(&encoder->body, metric_unit_name(column->metric->unit));
	bytes_put_string(&encoder->body, metric_kind_name(column->metric->kind));
	bytes_put_string(&encoder->body, metric_scope_name(column->metric->scope));
	presence_write(&encoder->body, column->states, rows, count);
	encoder_put_series(encoder, count);
	encoder_finish_block(encoder, column->metric->name, BLOCK_COLUMN);
}

void encode_columns(struct encoder *encoder)
{
	for (int id = 0; id < METRIC_STORED; id++)
		encode_column(encoder, (enum metric_id)id);
}
