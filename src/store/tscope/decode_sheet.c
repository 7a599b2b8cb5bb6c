/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/dictionary.h"
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

static bool key_exists(const struct snapshot *snapshot, enum sheet_id id, uint64_t key)
{
	switch (id) {
	case SHEET_CGROUPS:
	case SHEET_SYSCALLS:
		return key < dictionary_count(snapshot->strings);
	case SHEET_PROCESSES:
	case SHEET_RUN_PROCESSES:
		return key < snapshot->process_count;
	case SHEET_RUN_THREADS:
		return key < snapshot->task_count;
	default:
		return key == 0;
	}
}

static int read_rows(struct sheet_reader *reader, enum sheet_id id, uint64_t rows)
{
	uint32_t row;

	if ((id == SHEET_HOST || id == SHEET_CAPTURE || id == SHEET_RUN) && rows > 1)
		return damaged(reader->decoder, "it has two hosts");
	series_read(reader->body, reader->numbers, rows);
	for (uint64_t i = 0; i < rows && !reader->body->bad; i++) {
		if (!key_exists(reader->decoder->snapshot, id, reader->numbers[i]))
			return damaged(reader->decoder, "a row refers to what is not there");
		if (sheet_add_row(reader->sheet, (uint32_t)reader->numbers[i], &row) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A string that must fit `text`. */
static void read_short(struct reader *body, char *text, size_t capacity)
{
	size_t length;
	const char *string = reader_string(body, &length);

	if (length >= capacity) {
		body->bad = true;
		length = 0;
	}
	memcpy(text, string, length);
	text[length] = '\0';
}

static int read_note(struct sheet_reader *reader, const char *name,
		     int (*set)(struct sheet *sheet, const char *name, const char *text))
{
	CLEANUP(free_pointer) char *text = NULL;
	size_t length;
	const char *string = reader_string(reader->body, &length);

	if (reader->body->bad)
		return 0;
	text = strndup(string, length);
	return text ? set(reader->sheet, name, text) : -ENOMEM;
}

static bool is_number(uint64_t state)
{
	return state == CELL_NUMBER || state == CELL_TEXT;
}

/* Reads the cells of the file and refuses impossible ones. */
static int read_cells(struct sheet_reader *reader)
{
	size_t rows = reader->sheet->row_count, count = 0;

	series_read(reader->body, reader->states, rows);
	for (size_t row = 0; row < rows && !reader->body->bad; row++) {
		if (reader->states[row] >= CELL_STATE_COUNT)
			return damaged(reader->decoder, "a reading is in no known state");
		count += is_number(reader->states[row]);
	}
	if (!reader->body->bad)
		series_read(reader->body, reader->numbers, count);
	return 0;
}

static int set_cells(struct sheet_reader *reader, const char *name)
{
	uint32_t strings = dictionary_count(reader->decoder->snapshot->strings);
	const uint64_t *next = reader->numbers;
	int status = 0;

	for (uint32_t row = 0; row < reader->sheet->row_count && status == 0; row++) {
		uint64_t state = reader->states[row];
		uint64_t value = is_number(state) ? *next++ : 0;

		if (state == CELL_TEXT && value >= strings)
			return damaged(reader->decoder, "a text is not there");
		status = sheet_set(reader->sheet, row, name, (enum cell_state)state, value);
	}
	return status;
}

/* If the file's writer gave the reading another meaning, its values would mislead: it is absent. */
static int decode_cells(struct sheet_reader *reader, const char *name)
{
	const struct metric *reading = reading_find(name);
	char unit[NAME_SIZE], kind[NAME_SIZE], reason[3 * NAME_SIZE];
	int status = spend_cells(reader->decoder, reader->sheet->row_count, 1);

	reader_name(reader->body, unit);
	reader_name(reader->body, kind);
	if (status == 0)
		status = read_cells(reader);
	if (status < 0 || reader->body->bad)
		return status;
	if (strcmp(unit, metric_unit_name(reading->unit)) == 0 &&
	    strcmp(kind, metric_kind_name(reading->kind)) == 0)
		return set_cells(reader, name);
	snprintf(reason, sizeof(reason), "stored as %s in %s, which this version does not read",
		 kind, unit);
	return sheet_set_absent(reader->sheet, name, reason);
}

static int decode_reading(struct sheet_reader *reader)
{
	size_t known = reader->sheet->columns.count;
	char name[SHEET_NAME_SIZE];
	uint8_t flags;
	int status = spend_cells(reader->decoder, 1, CELLS_PER_READING);

	read_short(reader->body, name, sizeof(name));
	flags = reader_u8(reader->body);
	if (status < 0 || reader->body->bad)
		return status;
	if (flags & COLUMN_HAS_ORIGIN)
		status = read_note(reader, name, sheet_set_origin);
	if (status == 0 && flags & COLUMN_HAS_REASON)
		status = read_note(reader, name, sheet_set_absent);
	if (status == 0 && flags & COLUMN_HAS_CELLS)
		status = decode_cells(reader, name);
	if (status == 0 && !reader->body->bad && reader->sheet->columns.count == known)
		return damaged(reader->decoder, "a reading is there twice, or says nothing");
	return status;
}

static int decode_readings(struct sheet_reader *reader, enum sheet_id id, uint64_t rows)
{
	uint64_t count;
	int status = read_rows(reader, id, rows);

	count = reader_varint(reader->body);
	for (uint64_t i = 0; i < count && status == 0 && !reader->body->bad; i++)
		status = decode_reading(reader);
	if (status == 0 && !reader->body->bad)
		status = sheet_finish(reader->sheet);
	return status == -E2BIG ? damaged(reader->decoder, "it has too many readings") : status;
}

static int find_sheet(const char *name)
{
	for (int id = 0; id < SHEET_COUNT; id++)
		if (strcmp(sheet_name((enum sheet_id)id), name) == 0)
			return id;
	return -1;
}

int decode_sheet(struct decoder *decoder, const char *name, struct reader *body)
{
	CLEANUP(free_pointer) uint64_t *numbers = NULL;
	int id = find_sheet(name);
	uint64_t rows;

	if (id < 0) {
		body->next = body->end;
		return 0;
	}
	if (decoder->seen_sheets & 1u << id)
		return damaged(decoder, "a block is there twice");
	if (!decoder->seen_scopes)
		return damaged(decoder, "its blocks are out of order");
	decoder->seen_sheets |= 1u << id;
	rows = reader_varint(body);
	if (body->bad || spend_cells(decoder, rows, CELLS_PER_SHEET_ROW) < 0)
		return body->bad ? 0 : -EFBIG;
	numbers = calloc(2 * rows + 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	return decode_readings(&(struct sheet_reader){ decoder, body,
						       &decoder->snapshot->sheets[id], numbers,
						       numbers + rows },
			       (enum sheet_id)id, rows);
}
