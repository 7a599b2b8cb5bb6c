/* SPDX-License-Identifier: MIT */
#include "store/tscope/decoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/cells.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

static bool blocks_out_of_order(struct decoder *decoder)
{
	return decoder_damaged(decoder, "its blocks are out of order");
}

/*
 * Rows that came after their columns would make all columns grow, although the
 * file paid only for the rows.
 */
static bool has_rows_of(struct decoder *decoder, enum metric_scope scope)
{
	return decoder->seen_scopes & 1u << scope || blocks_out_of_order(decoder);
}

static void skip(struct reader *body)
{
	body->next = body->end;
}

void decode_strings(struct decoder *decoder, const char *block, struct reader *body)
{
	uint64_t count = reader_varint(body);

	(void)block;
	if (decoder->seen_scopes)
		blocks_out_of_order(decoder);
	decoder_spend(decoder, count, CELLS_PER_STRING);
	for (uint64_t i = 0; i < count && decoder->status == 0; i++) {
		size_t length;
		const char *string = reader_string(body, &length);
		uint32_t id;

		if (body->bad)
			return;
		if (decoder_check(decoder,
				  snapshot_intern(decoder->snapshot, string, length, &id)) &&
		    id != i + 1)
			decoder_damaged(decoder, "a text is there twice");
	}
}

static int add_row(struct snapshot *snapshot, enum metric_scope scope, int32_t id)
{
	struct task task = { .tid = id };
	uint32_t row;

	return scope == METRIC_OF_PROCESS ? snapshot_add_process(snapshot, id, &row) :
					    snapshot_add_task(snapshot, &task, &row);
}

static void add_rows(struct decoder *decoder, struct reader *body, const struct row_table *table)
{
	CLEANUP(free_pointer) uint64_t *ids = NULL;
	uint64_t rows = reader_varint(body);

	if (!decoder_spend(decoder, rows, table->cells_per_row))
		return;
	ids = malloc(rows * sizeof(*ids) + 1);
	if (!decoder_check(decoder, ids ? 0 : -ENOMEM))
		return;
	series_read(body, ids, rows);
	for (uint64_t i = 0; i < rows && !body->bad && decoder->status == 0; i++) {
		if (!field_fits(decoder->snapshot, FIELD_ID, ids[i]))
			decoder_damaged(decoder, "an id is out of range");
		else
			decoder_check(decoder,
				      add_row(decoder->snapshot, table->id.scope, (int32_t)ids[i]));
	}
}

void decode_rows(struct decoder *decoder, const char *name, struct reader *body)
{
	for (size_t i = 0; i < row_table_count; i++) {
		if (strcmp(row_tables[i].id.name, name) != 0)
			continue;
		if (decoder_mark(decoder, &decoder->seen_scopes, row_tables[i].id.scope))
			add_rows(decoder, body, &row_tables[i]);
		return;
	}
	skip(body);
}

static void fill_field(struct decoder *decoder, const struct field *field, struct reader *body)
{
	size_t rows = scope_rows(decoder->snapshot, field->scope);
	CLEANUP(free_pointer) uint64_t *numbers = malloc(rows * sizeof(*numbers) + 1);

	if (!decoder_check(decoder, numbers ? 0 : -ENOMEM))
		return;
	series_read(body, numbers, rows);
	for (size_t row = 0; row < rows && !body->bad && decoder->status == 0; row++)
		if (!field_set(decoder->snapshot, field, row, numbers[row]))
			decoder_damaged(decoder, "a row refers to what is not there");
}

void decode_field(struct decoder *decoder, const char *name, struct reader *body)
{
	for (size_t i = 0; i < field_count; i++) {
		if (strcmp(fields[i].name, name) != 0)
			continue;
		if (decoder_mark(decoder, &decoder->seen_fields, i) &&
		    has_rows_of(decoder, fields[i].scope))
			fill_field(decoder, &fields[i], body);
		return;
	}
	skip(body);
}

static bool strings_exist(const struct snapshot *snapshot, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!field_fits(snapshot, FIELD_STRING, numbers[i]))
			return false;
	return true;
}

static void fill_column(struct decoder *decoder, enum metric_id id, struct reader *body)
{
	struct snapshot *snapshot = decoder->snapshot;
	struct column *column = &snapshot->columns[id];
	size_t rows = snapshot_rows(snapshot, id);
	size_t count;

	if (!has_rows_of(decoder, metrics[id].scope))
		return;
	if (column->values)
		decoder_damaged(decoder, "a metric is there twice");
	if (!decoder_spend(decoder, rows, 1) ||
	    !decoder_check(decoder, snapshot_need_column(snapshot, id)))
		return;
	count = presence_read(body, column->states, rows);
	series_read(body, column->values, count);
	if (body->bad)
		return;
	if (metrics[id].kind == KIND_CPUSET && !strings_exist(snapshot, column->values, count))
		decoder_damaged(decoder, "a CPU set is not there");
	values_spread(column->values, column->states, rows, count);
}

/* If the file's writer gave the metric another meaning, its values would mislead: it is absent. */
void decode_column(struct decoder *decoder, const char *name, struct reader *body)
{
	char unit[NAME_SIZE], kind[NAME_SIZE], scope[NAME_SIZE];
	char reason[4 * NAME_SIZE];
	int id = metric_find(name);

	if (id < 0 || metric_is_derived((enum metric_id)id)) {
		skip(body);
		return;
	}
	reader_name(body, unit);
	reader_name(body, kind);
	reader_name(body, scope);
	if (body->bad)
		return;
	if (strcmp(unit, metric_unit_name(metrics[id].unit)) == 0 &&
	    strcmp(kind, metric_kind_name(metrics[id].kind)) == 0 &&
	    strcmp(scope, metric_scope_name(metrics[id].scope)) == 0) {
		fill_column(decoder, (enum metric_id)id, body);
		return;
	}
	snprintf(reason, sizeof(reason),
		 "stored as %s in %s by %s, which this version does not read", kind, unit, scope);
	decoder_check(decoder, snapshot_set_absent(decoder->snapshot, (enum metric_id)id, reason));
	skip(body);
}
