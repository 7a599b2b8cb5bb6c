/* SPDX-License-Identifier: MIT */
#include "store/tscope/decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/dictionary.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

int spend_cells(struct decoder *decoder, uint64_t count, uint64_t each)
{
	if (count > decoder->cells_left / each)
		return -EFBIG;
	decoder->cells_left -= count * each;
	return 0;
}

/*
 * Rows that came after their columns would make all columns grow, although the
 * file paid only for the rows.
 */
static int blocks_out_of_order(struct decoder *decoder)
{
	return damaged(decoder, "its blocks are out of order");
}

static bool has_rows_of(const struct decoder *decoder, enum metric_scope scope)
{
	return decoder->seen_scopes & 1u << scope;
}

static void skip(struct reader *body)
{
	body->next = body->end;
}

int decode_strings(struct decoder *decoder, const char *block, struct reader *body)
{
	uint64_t count = reader_varint(body);
	int status = decoder->seen_scopes ? blocks_out_of_order(decoder) :
					    spend_cells(decoder, count, CELLS_PER_STRING);

	(void)block;
	for (uint64_t i = 0; i < count && status == 0; i++) {
		size_t length;
		const char *string = reader_string(body, &length);
		uint32_t id;

		if (body->bad)
			return 0;
		status = snapshot_intern(decoder->snapshot, string, length, &id);
		if (status == 0 && id != i + 1)
			return damaged(decoder, "a text is there twice");
	}
	return status;
}

static int add_process(struct snapshot *snapshot, int32_t tgid)
{
	uint32_t row;

	return snapshot_add_process(snapshot, tgid, &row);
}

static int add_task(struct snapshot *snapshot, int32_t tid)
{
	struct task task = { .tid = tid };
	uint32_t row;

	return snapshot_add_task(snapshot, &task, &row);
}

static int add_rows(struct decoder *decoder, struct reader *body, uint64_t rows,
		    int (*add)(struct snapshot *snapshot, int32_t id))
{
	CLEANUP(free_pointer) uint64_t *ids = malloc(rows * sizeof(*ids) + 1);
	int status = 0;

	if (!ids)
		return -ENOMEM;
	series_read(body, ids, rows);
	for (uint64_t i = 0; i < rows && !body->bad && status == 0; i++) {
		if ((uint64_t)(int64_t)(int32_t)ids[i] != ids[i])
			return damaged(decoder, "an id is out of range");
		status = add(decoder->snapshot, (int32_t)ids[i]);
	}
	return status == -EBADMSG ? damaged(decoder, "rows are out of order") : status;
}

int decode_processes(struct decoder *decoder, const char *name, struct reader *body)
{
	uint64_t rows = reader_varint(body);
	int status = spend_cells(decoder, rows, CELLS_PER_PROCESS);

	(void)name;
	decoder->seen_scopes |= 1u << METRIC_OF_PROCESS;
	return status < 0 ? status : add_rows(decoder, body, rows, add_process);
}

int decode_tasks(struct decoder *decoder, const char *name, struct reader *body)
{
	uint64_t rows = reader_varint(body);
	int status = spend_cells(decoder, rows, CELLS_PER_TASK);

	(void)name;
	decoder->seen_scopes |= 1u << METRIC_OF_THREAD;
	return status < 0 ? status : add_rows(decoder, body, rows, add_task);
}

static int fill_field(struct decoder *decoder, const struct field *field, struct reader *body)
{
	size_t rows = scope_rows(decoder->snapshot, field->scope);
	CLEANUP(free_pointer) uint64_t *numbers = malloc(rows * sizeof(*numbers) + 1);

	if (!numbers)
		return -ENOMEM;
	series_read(body, numbers, rows);
	for (size_t row = 0; row < rows && !body->bad; row++)
		if (!field_set(decoder->snapshot, field, row, numbers[row]))
			return damaged(decoder, "a row refers to what is not there");
	return 0;
}

int decode_field(struct decoder *decoder, const char *name, struct reader *body)
{
	for (size_t i = 0; i < field_count; i++) {
		if (strcmp(fields[i].name, name) != 0)
			continue;
		if (decoder->seen_fields & 1u << i)
			return damaged(decoder, "a block is there twice");
		if (!has_rows_of(decoder, fields[i].scope))
			return blocks_out_of_order(decoder);
		decoder->seen_fields |= 1u << i;
		return fill_field(decoder, &fields[i], body);
	}
	skip(body);
	return 0;
}

/* Reads which rows have a cell, and returns how many. */
static size_t read_presence(struct reader *body, uint8_t *states, size_t rows)
{
	uint8_t how = reader_u8(body);
	struct reader bits;
	size_t count = 0;

	if (how == PRESENCE_ALL) {
		memset(states, CELL_NUMBER, rows);
		return rows;
	}
	bits = reader_part(body, (rows + 7) / 8);
	if (how != PRESENCE_BITS || bits.bad || (rows % 8 && bits.end[-1] >> rows % 8)) {
		body->bad = true;
		return 0;
	}
	for (size_t row = 0; row < rows; row++) {
		states[row] = bits.next[row / 8] >> row % 8 & 1 ? CELL_NUMBER : CELL_ABSENT;
		count += states[row] == CELL_NUMBER;
	}
	return count;
}

/*
 * Moves the first `count` values to the rows that have one; from the end, so
 * that none is overwritten.
 */
static void spread_values(struct column *column, size_t rows, size_t count)
{
	if (count == rows)
		return;
	for (size_t row = rows; row-- > 0;)
		column->values[row] = column->states[row] ? column->values[--count] : 0;
}

static bool strings_exist(const struct snapshot *snapshot, const uint64_t *numbers, size_t count)
{
	uint64_t strings = dictionary_count(snapshot->strings);

	for (size_t i = 0; i < count; i++)
		if (numbers[i] >= strings)
			return false;
	return true;
}

static int fill_column(struct decoder *decoder, enum metric_id id, struct reader *body)
{
	struct snapshot *snapshot = decoder->snapshot;
	struct column *column = &snapshot->columns[id];
	size_t rows = snapshot_rows(snapshot, id);
	int status = column->values ? damaged(decoder, "a metric is there twice") :
				      spend_cells(decoder, rows, 1);
	size_t count;

	if (!has_rows_of(decoder, metrics[id].scope))
		return blocks_out_of_order(decoder);
	if (status == 0)
		status = snapshot_need_column(snapshot, id);
	if (status < 0)
		return status;
	count = read_presence(body, column->states, rows);
	series_read(body, column->values, count);
	if (body->bad)
		return 0;
	if (metrics[id].kind == KIND_CPUSET && !strings_exist(snapshot, column->values, count))
		return damaged(decoder, "a CPU set is not there");
	spread_values(column, rows, count);
	return 0;
}

/* If the file's writer gave the metric another meaning, its values would mislead: it is absent. */
int decode_column(struct decoder *decoder, const char *name, struct reader *body)
{
	char unit[NAME_SIZE], kind[NAME_SIZE], scope[NAME_SIZE];
	char reason[4 * NAME_SIZE];
	int id = metric_find(name);

	if (id < 0 || metric_is_derived((enum metric_id)id)) {
		skip(body);
		return 0;
	}
	reader_name(body, unit);
	reader_name(body, kind);
	reader_name(body, scope);
	if (body->bad || (strcmp(unit, metric_unit_name(metrics[id].unit)) == 0 &&
			  strcmp(kind, metric_kind_name(metrics[id].kind)) == 0 &&
			  strcmp(scope, metric_scope_name(metrics[id].scope)) == 0))
		return body->bad ? 0 : fill_column(decoder, (enum metric_id)id, body);
	snprintf(reason, sizeof(reason),
		 "stored as %s in %s by %s, which this version does not read", kind, unit, scope);
	snapshot_set_absent(decoder->snapshot, (enum metric_id)id, reason);
	skip(body);
	return 0;
}
