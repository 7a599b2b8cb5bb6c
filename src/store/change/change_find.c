/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"
#include "store/change/change_parts.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

static const struct part *find(const struct parts *parts, uint8_t type, const char *name)
{
	return parts_find(parts, 0, type, name, strlen(name));
}

/* The numbers of a block of rows, or of a field, in `cells`.  -EBADMSG when it is not there. */
static int read_numbers(const struct parts *parts, uint8_t type, const char *name, size_t *rows,
			struct cells *cells)
{
	const struct part *part = find(parts, type, name);
	struct reader body;

	if (!part)
		return -EBADMSG;
	body = part->body;
	if (type == BLOCK_ROWS)
		*rows = reader_varint(&body);
	return body.bad || *rows > UINT32_MAX / 2 ? -EBADMSG : field_read(body, *rows, cells);
}

/* All rows of a scope: ids, start times and, for tasks, the rows of their processes. */
struct identities {
	struct cells ids, starts, processes;
	size_t rows;
};

static void identities_clear(struct identities *identities)
{
	cells_clear(&identities->ids);
	cells_clear(&identities->starts);
	cells_clear(&identities->processes);
}

static int read_identities(const struct parts *parts, enum metric_scope scope,
			   struct identities *ret)
{
	bool is_task = scope == METRIC_OF_THREAD;
	int status = read_numbers(parts, BLOCK_ROWS, is_task ? "tasks" : "processes", &ret->rows,
				  &ret->ids);

	if (status == 0)
		status = read_numbers(parts, BLOCK_FIELD,
				      is_task ? "task.start_time_ns" : "process.start_time_ns",
				      &ret->rows, &ret->starts);
	if (status == 0 && is_task)
		status = read_numbers(parts, BLOCK_FIELD, "task.process", &ret->rows,
				      &ret->processes);
	return status;
}

/*
 * Numbers processes of both sides in one order: those of the base that are gone get even numbers
 * between the odd ones of those that stay.  So tasks of one side stay sorted among the other's.
 */
static uint64_t *place_processes(const struct row_map *map)
{
	uint64_t *places = malloc(map->base_rows * sizeof(*places) + 1);
	uint64_t next = 0;

	for (size_t row = 0; places && row < map->base_rows; row++) {
		bool stays = map->now[row] != ROW_NONE;

		places[row] = stays ? 2 * (uint64_t)map->now[row] + 1 : 2 * next;
		if (stays)
			next = (uint64_t)map->now[row] + 1;
	}
	return places;
}

static void set_keys(struct row_key *keys, const struct identities *identities,
		     enum metric_scope scope, const struct row_map *processes,
		     const uint64_t *places)
{
	for (size_t row = 0; row < identities->rows; row++) {
		uint64_t id = identities->ids.values[row], process;

		keys[row] = (struct row_key){ id, identities->starts.values[row] };
		if (scope == METRIC_OF_PROCESS)
			continue;
		process = identities->processes.values[row];
		if (!places)
			process = 2 * process + 1;
		else
			process = process < processes->base_rows ? places[process] : UINT32_MAX;
		keys[row].first = process << 32 | (uint32_t)id;
	}
}

static int join_identities(struct change *change, enum metric_scope scope,
			   const struct identities *was, const struct identities *is)
{
	CLEANUP(free_pointer)
	struct row_key *keys = malloc((was->rows + is->rows) * sizeof(*keys) + 1);
	CLEANUP(free_pointer) uint64_t *places = place_processes(&change->processes);

	if (!keys || !places)
		return -ENOMEM;
	set_keys(keys, was, scope, &change->processes, places);
	set_keys(keys + was->rows, is, scope, &change->processes, NULL);
	return row_map_join(scope == METRIC_OF_THREAD ? &change->tasks : &change->processes, keys,
			    was->rows, keys + was->rows, is->rows);
}

static int join_scope(struct change *change, enum metric_scope scope)
{
	CLEANUP(identities_clear) struct identities was = { 0 }, is = { 0 };
	int status = read_identities(&change->base, scope, &was);

	if (status == 0)
		status = read_identities(&change->now, scope, &is);
	return status < 0 ? status : join_identities(change, scope, &was, &is);
}

static int find_rows_change(struct change *change, const struct part *now)
{
	bool is_task = now == find(&change->now, BLOCK_ROWS, "tasks");
	uint8_t scope = is_task ? METRIC_OF_THREAD : METRIC_OF_PROCESS;
	const struct row_map *map = change_map(change, scope);
	struct reader body = now->body;
	uint64_t rows = reader_varint(&body);
	int status;

	if (!map || (!is_task && now != find(&change->now, BLOCK_ROWS, "processes")))
		return -EBADMSG;
	status = field_read(body, rows, &change->cells);
	if (status < 0)
		return status;
	bytes_put_u8(change->out, CHANGE_ROWS);
	bytes_put_u8(change->out, scope);
	row_map_write(map, change->cells.values, change->out);
	return 0;
}

/* Compares the cells that were read with what they would be if nothing had changed. */
static int compare_cells(struct change *change, const struct row_map *map)
{
	int status = cells_predict(&change->predicted, &change->base_cells, map);

	change_list_empty(&change->list);
	if (status == 0)
		status = change_list_compare(&change->list, 0, &change->predicted, &change->cells,
					     map->rows);
	return status;
}

static const struct field *find_field(const struct part *part)
{
	for (size_t i = 0; i < field_count; i++)
		if (strlen(fields[i].name) == part->name_length &&
		    memcmp(fields[i].name, part->name, part->name_length) == 0)
			return &fields[i];
	return NULL;
}

static int find_field_change(struct change *change, const struct part *base, const struct part *now)
{
	const struct field *field = find_field(now);
	const struct row_map *map = field ? change_map(change, (uint8_t)field->scope) : NULL;
	uint8_t target = TARGET_NONE;
	int status;

	if (!map)
		return -EBADMSG;
	status = field_read(base->body, map->base_rows, &change->base_cells);
	if (status == 0)
		status = field_read(now->body, map->rows, &change->cells);
	if (field->type == FIELD_PROCESS)
		target = TARGET_PROCESS;
	for (size_t row = 0; status == 0 && target && row < map->base_rows; row++)
		change->base_cells.values[row] =
			change_translate(change, target, change->base_cells.values[row]);
	if (status == 0)
		status = compare_cells(change, map);
	if (status < 0)
		return status;
	bytes_put_u8(change->out, CHANGE_FIELD);
	bytes_put_u8(change->out, (uint8_t)field->scope);
	bytes_put_u8(change->out, target);
	change_list_write(&change->list, change->out);
	return 0;
}

static int find_column_change(struct change *change, const struct part *base,
			      const struct part *now)
{
	char name[NAME_SIZE] = "";
	struct reader base_head, head;
	const struct row_map *map;
	int id, status;

	if (now->name_length < sizeof(name))
		memcpy(name, now->name, now->name_length);
	id = metric_find(name);
	map = id < 0 ? NULL : change_map(change, (uint8_t)metrics[id].scope);
	if (!map)
		return -EBADMSG;
	status = column_read(base->body, map->base_rows, &base_head, &change->base_cells);
	if (status == 0)
		status = column_read(now->body, map->rows, &head, &change->cells);
	if (status == 0 && (reader_left(&head) != reader_left(&base_head) ||
			    memcmp(head.next, base_head.next, reader_left(&head)) != 0))
		return -EBADMSG;
	if (status == 0)
		status = compare_cells(change, map);
	if (status < 0)
		return status;
	bytes_put_u8(change->out, CHANGE_COLUMN);
	bytes_put_u8(change->out, (uint8_t)metrics[id].scope);
	change_list_write(&change->list, change->out);
	return 0;
}

/* Texts are only ever added, as long as both payloads have their numbers from one dictionary. */
static int find_texts_change(struct change *change, const struct part *base, const struct part *now)
{
	struct reader was = base->body, is = now->body;
	uint64_t count = reader_varint(&was), more = reader_varint(&is);

	if (was.bad || is.bad || more < count || reader_left(&is) < reader_left(&was) ||
	    memcmp(is.next, was.next, reader_left(&was)) != 0)
		return -EBADMSG;
	bytes_put_u8(change->out, CHANGE_TEXTS);
	bytes_put_varint(change->out, more - count);
	bytes_put_varint(change->out, reader_left(&is) - reader_left(&was));
	bytes_put(change->out, is.next + reader_left(&was), reader_left(&is) - reader_left(&was));
	return 0;
}

static int find_block_change(struct change *change, const struct part *base, const struct part *now)
{
	switch (now->type) {
	case BLOCK_ROWS:
		return find_rows_change(change, now);
	case BLOCK_FIELD:
		return find_field_change(change, base, now);
	case BLOCK_COLUMN:
		return find_column_change(change, base, now);
	case BLOCK_SHEET:
		return find_sheet_change(change, base, now);
	case BLOCK_STRINGS:
		return find_texts_change(change, base, now);
	case BLOCK_VALUES:
	case BLOCK_SOURCES:
	case BLOCK_REASONS:
		return find_entries_change(change, base, now);
	default:
		return -EBADMSG;
	}
}

static int write_change(struct change *change, const struct part *base, const struct part *now)
{
	size_t before = change->out->size, size = reader_left(&now->body);
	int status;

	/* The rows are always told: what refers to them needs to know which ones stay. */
	if (now->type != BLOCK_ROWS && size == reader_left(&base->body) &&
	    memcmp(now->body.next, base->body.next, size) == 0) {
		bytes_put_u8(change->out, CHANGE_SAME);
		return 0;
	}
	status = find_block_change(change, base, now);
	if (status != -EBADMSG)
		return status;
	change->out->size = before;
	bytes_put_u8(change->out, CHANGE_WHOLE);
	bytes_put_varint(change->out, size);
	bytes_put(change->out, now->body.next, size);
	return 0;
}

/* Each block: how many blocks of the base are skipped, plus one; or 0 and the whole block. */
static int write_changes(struct change *change)
{
	size_t next = 0;
	int status = 0;

	for (size_t i = 0; i < change->now.list.count && status == 0; i++) {
		const struct part *now = &change->now.list.data[i];
		const struct part *base =
			parts_find(&change->base, next, now->type, now->name, now->name_length);
		size_t place = base ? (size_t)(base - change->base.list.data) : 0;

		bytes_put_varint(change->out, base ? place - next + 1 : 0);
		if (base) {
			status = write_change(change, base, now);
			next = place + 1;
			continue;
		}
		bytes_put_varint(change->out, (uint64_t)(now->body.end - now->begin));
		bytes_put(change->out, now->begin, (size_t)(now->body.end - now->begin));
	}
	return status;
}

int change_find(const struct bytes *base, const struct bytes *now, struct bytes *ret)
{
	CLEANUP(change_clear) struct change change = { .out = ret };
	int status = parts_read(base, &change.base);

	bytes_clear(ret);
	if (status == 0)
		status = parts_read(now, &change.now);
	if (status == 0)
		status = join_scope(&change, METRIC_OF_PROCESS);
	if (status == 0)
		status = join_scope(&change, METRIC_OF_THREAD);
	if (status == 0)
		status = write_changes(&change);
	return status == 0 && ret->failed ? -ENOMEM : status;
}
