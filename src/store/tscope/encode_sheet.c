/* SPDX-License-Identifier: MIT */
/* Writes readings. */
#include "model/snapshot/snapshot.h"
#include "store/tscope/encoder.h"

static void put_keys(struct encoder *encoder, const struct sheet *sheet, enum sheet_id id)
{
	bool has_string_keys = sheet_keys[id] == FIELD_STRING;

	for (size_t row = 0; row < sheet->row_count; row++)
		encoder->numbers[row] = has_string_keys ?
						encoder_string(encoder, sheet->keys[row]) :
						sheet->keys[row];
	encoder_put_series(encoder, sheet->row_count);
}

static void put_cells(struct encoder *encoder, const struct sheet *sheet,
		      const struct column *column)
{
	bytes_put_string(&encoder->body, metric_unit_name(column->metric->unit));
	bytes_put_string(&encoder->body, metric_kind_name(column->metric->kind));
	for (size_t row = 0; row < sheet->row_count; row++)
		encoder->numbers[row] = column->states[row];
	encoder_put_series(encoder, sheet->row_count);
	encoder_put_series(encoder, encoder_gather(encoder, column, sheet->row_count));
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
		encoder_finish_block(encoder, sheet_name((enum sheet_id)id), BLOCK_SHEET);
	}
}
