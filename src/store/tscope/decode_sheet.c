/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/reading.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/decoder.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

/* The block that is being read. */
struct sheet_reader {
	struct decoder *decoder;
	struct reader *body;
	struct sheet *sheet;
	uint64_t *numbers; /* one for each row */
	uint64_t *states;
};

static bool is_good(const struct sheet_reader *reader)
{
	return reader->decoder->status == 0 && !reader->body->bad;
}

static void read_rows(struct sheet_reader *reader, enum sheet_id id, uint64_t rows)
{
	struct decoder *decoder = reader->decoder;
	uint32_t row;

	if ((id == SHEET_HOST || id == SHEET_CAPTURE || id == SHEET_RUN) && rows > 1)
		decoder_damaged(decoder, "it has two hosts");
	series_read(reader->body, reader->numbers, rows);
	for (uint64_t i = 0; i < rows && is_good(reader); i++) {
		if (!field_fits(decoder->snapshot, sheet_keys[id], reader->numbers[i]))
			decoder_damaged(decoder, "a row refers to what is not there");
		decoder_check(decoder,
			      sheet_add_row(reader->sheet, (uint32_t)reader->numbers[i], &row));
	}
}

static void read_note(struct sheet_reader *reader, const char *name,
		      int (*set)(struct sheet *sheet, const char *name, const char *text))
{
	CLEANUP(free_pointer) char *text = NULL;
	size_t length;
	const char *string = reader_string(reader->body, &length);

	if (!is_good(reader))
		return;
	text = strndup(string, length);
	decoder_check(reader->decoder, text ? set(reader->sheet, name, text) : -ENOMEM);
}

static bool has_value(uint64_t state)
{
	return state == CELL_NUMBER || state == CELL_TEXT;
}

/* Reads the cells of the file and refuses impossible ones. */
static void read_cells(struct sheet_reader *reader)
{
	size_t rows = reader->sheet->row_count, count = 0;

	series_read(reader->body, reader->states, rows);
	for (size_t row = 0; row < rows && is_good(reader); row++) {
		if (reader->states[row] >= CELL_STATE_COUNT)
			decoder_damaged(reader->decoder, "a reading is in no known state");
		count += has_value(reader->states[row]);
	}
	if (is_good(reader))
		series_read(reader->body, reader->numbers, count);
}

static void set_cells(struct sheet_reader *reader, const char *name)
{
	struct decoder *decoder = reader->decoder;
	const uint64_t *next = reader->numbers;

	for (uint32_t row = 0; row < reader->sheet->row_count && decoder->status == 0; row++) {
		uint64_t state = reader->states[row];
		uint64_t value = has_value(state) ? *next++ : 0;

		if (state == CELL_TEXT && !field_fits(decoder->snapshot, FIELD_STRING, value))
			decoder_damaged(decoder, "a text is not there");
		decoder_check(decoder,
			      sheet_set(reader->sheet, row, name, (enum cell_state)state, value));
	}
}

/* If the file's writer gave the reading another meaning, its values would mislead: it is absent. */
static void decode_cells(struct sheet_reader *reader, const char *name)
{
	const struct metric *reading = reading_find(name);
	char unit[NAME_SIZE], kind[NAME_SIZE], reason[3 * NAME_SIZE];

	decoder_spend(reader->decoder, reader->sheet->row_count, 1);
	reader_name(reader->body, unit);
	reader_name(reader->body, kind);
	if (is_good(reader))
		read_cells(reader);
	if (!is_good(reader))
		return;
	if (strcmp(unit, metric_unit_name(reading->unit)) == 0 &&
	    strcmp(kind, metric_kind_name(reading->kind)) == 0) {
		set_cells(reader, name);
		return;
	}
	snprintf(reason, sizeof(reason), "stored as %s in %s, which this version does not read",
		 kind, unit);
	decoder_check(reader->decoder, sheet_set_absent(reader->sheet, name, reason));
}

static void decode_reading(struct sheet_reader *reader)
{
	size_t known = reader->sheet->columns.count;
	char name[SHEET_NAME_SIZE];
	uint8_t flags;

	decoder_spend(reader->decoder, 1, CELLS_PER_READING);
	reader_text(reader->body, name, sizeof(name));
	flags = reader_u8(reader->body);
	if (is_good(reader) && flags & COLUMN_HAS_ORIGIN)
		read_note(reader, name, sheet_set_origin);
	if (is_good(reader) && flags & COLUMN_HAS_REASON)
		read_note(reader, name, sheet_set_absent);
	if (is_good(reader) && flags & COLUMN_HAS_CELLS)
		decode_cells(reader, name);
	if (is_good(reader) && reader->sheet->columns.count == known)
		decoder_damaged(reader->decoder, "a reading is there twice, or says nothing");
}

static void decode_readings(struct sheet_reader *reader, enum sheet_id id, uint64_t rows)
{
	uint64_t count;

	read_rows(reader, id, rows);
	count = reader_varint(reader->body);
	for (uint64_t i = 0; i < count && is_good(reader); i++)
		decode_reading(reader);
	if (is_good(reader))
		decoder_check(reader->decoder, sheet_finish(reader->sheet));
	if (reader->decoder->status == -E2BIG) {
		reader->decoder->status = 0;
		decoder_damaged(reader->decoder, "it has too many readings");
	}
}

static int find_sheet(const char *name)
{
	for (int id = 0; id < SHEET_COUNT; id++)
		if (strcmp(sheet_name((enum sheet_id)id), name) == 0)
			return id;
	return -1;
}

void decode_sheet(struct decoder *decoder, const char *name, struct reader *body)
{
	CLEANUP(free_pointer) uint64_t *numbers = NULL;
	int id = find_sheet(name);
	uint64_t rows;

	if (id < 0) {
		body->next = body->end;
		return;
	}
	decoder_mark(decoder, &decoder->seen_sheets, (size_t)id);
	if (!decoder->seen_scopes)
		decoder_damaged(decoder, "its blocks are out of order");
	rows = reader_varint(body);
	if (body->bad || !decoder_spend(decoder, rows, CELLS_PER_SHEET_ROW))
		return;
	numbers = calloc(2 * rows + 1, sizeof(*numbers));
	if (decoder_check(decoder, numbers ? 0 : -ENOMEM))
		decode_readings(&(struct sheet_reader){ decoder, body,
							&decoder->snapshot->sheets[id], numbers,
							numbers + rows },
				(enum sheet_id)id, rows);
}
