/* SPDX-License-Identifier: MIT */
/* Writes what a .ctprof.zst file says about cgroups, the host and the capture. */
#include "store/ctprof/ctprof_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/cpulist.h"

/* A sheet without rows has no cells. */
static enum cell_state get_cell(const struct sheet *sheet, const char *name, uint32_t row,
				uint64_t *ret)
{
	return row < sheet->row_count ? column_get(sheet_find(sheet, name), row, ret) : CELL_ABSENT;
}

void ctprof_write_cells_of(struct ctprof_writer *writer, const struct sheet *sheet, uint32_t row,
			   const char *prefix, enum cell_state state, uint64_t unit)
{
	size_t length = strlen(prefix);
	uint64_t value = 0;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (strncmp(column->metric->name, prefix, length) != 0 ||
		    column_get(column, row, &value) != state)
			continue;
		json_key(&writer->json, column->metric->name + length);
		if (state == CELL_TEXT)
			json_string(&writer->json,
				    snapshot_text(writer->snapshot, (uint32_t)value));
		else
			json_u64(&writer->json, value / unit);
	}
}

static bool has_text(const struct sheet *sheet, uint32_t row, const char *prefix)
{
	uint64_t value;

	for (size_t i = 0; i < sheet->columns.count; i++)
		if (strncmp(sheet->columns.data[i].metric->name, prefix, strlen(prefix)) == 0 &&
		    column_get(&sheet->columns.data[i], row, &value) == CELL_TEXT)
			return true;
	return false;
}

/* Writes no member when there is no text. */
static void write_map(struct ctprof_writer *writer, const struct ctprof_cell *cell,
		      const struct sheet *sheet, uint32_t row)
{
	bool of_texts = cell->form == CTPROF_CELL_TEXTS;

	if (of_texts && !has_text(sheet, row, cell->name))
		return;
	json_member_object(&writer->json, cell->key);
	ctprof_write_cells_of(writer, sheet, row, cell->name, of_texts ? CELL_TEXT : CELL_NUMBER,
			      1);
	json_end_object(&writer->json);
}

static void write_cell(struct ctprof_writer *writer, const struct ctprof_cell *cell,
		       const struct sheet *sheet, uint32_t row)
{
	struct json *json = &writer->json;
	uint64_t value = 0;
	enum cell_state state = get_cell(sheet, cell->name, row, &value);
	bool is_number = state == CELL_NUMBER;
	const char *text =
		state == CELL_TEXT ? snapshot_text(writer->snapshot, (uint32_t)value) : NULL;

	switch (cell->form) {
	case CTPROF_CELL_OPTION:
	case CTPROF_CELL_LIMIT:
		json_member_known(json, cell->key, is_number, value);
		break;
	case CTPROF_CELL_FLOOR:
		json_member_known(json, cell->key, state != CELL_ABSENT && !text,
				  is_number ? value : UINT64_MAX);
		break;
	case CTPROF_CELL_NICE:
		json_key(json, cell->key);
		if (is_number)
			json_i64(json, (int64_t)value);
		else
			json_null(json);
		break;
	case CTPROF_CELL_WORD:
		json_member_string(json, cell->key, text ? text : "");
		break;
	case CTPROF_CELL_TEXT:
		json_member_text(json, cell->key, text);
		break;
	case CTPROF_CELL_TRUTH:
		json_member_bool(json, cell->key, is_number && value);
		break;
	case CTPROF_CELL_PERIOD:
		json_member_u64(json, cell->key, is_number ? value : CTPROF_PERIOD_US);
		break;
	default:
		json_member_u64(json, cell->key, is_number ? value : 0);
	}
}

/* Writes the members of an object. */
static void write_cells(struct ctprof_writer *writer, enum ctprof_object object,
			const struct sheet *sheet, uint32_t row)
{
	for (size_t i = 0; i < ctprof_cell_count; i++) {
		const struct ctprof_cell *cell = &ctprof_cells[i];

		if (cell->object != object)
			continue;
		if (cell->form == CTPROF_CELL_NUMBERS || cell->form == CTPROF_CELL_TEXTS)
			write_map(writer, cell, sheet, row);
		else
			write_cell(writer, cell, sheet, row);
	}
}

static void write_object(struct ctprof_writer *writer, enum ctprof_object object, uint32_t row)
{
	json_member_object(&writer->json, ctprof_objects[object].key);
	write_cells(writer, object, &writer->snapshot->sheets[ctprof_objects[object].sheet], row);
	json_end_object(&writer->json);
}

void ctprof_write_object(struct ctprof_writer *writer, enum ctprof_object object)
{
	const struct sheet *sheet = &writer->snapshot->sheets[ctprof_objects[object].sheet];
	uint64_t value;

	for (size_t i = 0; i < ctprof_cell_count; i++)
		if (ctprof_cells[i].object == object &&
		    get_cell(sheet, ctprof_cells[i].name, 0, &value) != CELL_ABSENT) {
			write_object(writer, object, 0);
			return;
		}
	json_member_text(&writer->json, ctprof_objects[object].key, NULL);
}

static void write_pressure_line(struct ctprof_writer *writer, enum sheet_id id, uint32_t row,
				int resource, int line)
{
	struct json *json = &writer->json;
	char name[SHEET_NAME_SIZE];

	json_member_object(json, ctprof_lines[line]);
	for (int key = 0; key < CTPROF_PRESSURES; key++) {
		uint64_t value = 0;

		ctprof_pressure_name(name, id, resource, line, key);
		get_cell(&writer->snapshot->sheets[id], name, row, &value);
		json_member_u64(json, ctprof_pressures[key].key, value);
	}
	json_end_object(json);
}

void ctprof_write_pressure(struct ctprof_writer *writer, enum sheet_id id, uint32_t row)
{
	struct json *json = &writer->json;

	json_member_object(json, "psi");
	for (int resource = 0; resource < CTPROF_RESOURCES; resource++) {
		json_member_object(json, ctprof_resources[resource]);
		for (int line = 0; line < CTPROF_LINES; line++)
			write_pressure_line(writer, id, row, resource, line);
		json_end_object(json);
	}
	json_end_object(json);
}

/* The format has no place for cgroups that hold no task themselves. */
void ctprof_write_cgroups(struct ctprof_writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	CLEANUP(free_pointer) uint8_t *used = calloc(dictionary_count(snapshot->strings) + 1, 1);

	if (!used) {
		writer->compressor.file.failed = true;
		return;
	}
	for (size_t row = 0; row < snapshot->task_count; row++)
		used[snapshot->tasks[row].cgroup] = 1;
	json_member_object(&writer->json, "cgroup_stats");
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		if (!used[sheet->keys[row]])
			continue;
		json_member_object(&writer->json, snapshot_text(snapshot, sheet->keys[row]));
		write_object(writer, CTPROF_OBJECT_CPU, row);
		write_object(writer, CTPROF_OBJECT_MEMORY, row);
		write_object(writer, CTPROF_OBJECT_PIDS, row);
		ctprof_write_pressure(writer, SHEET_CGROUPS, row);
		json_end_object(&writer->json);
	}
	json_end_object(&writer->json);
}

static void write_word(struct json *json, const char *key, const char *word)
{
	char copy[64] = "";

	for (size_t i = 0; word[i] && i < sizeof(copy) - 1; i++)
		copy[i] = (char)(word[i] == '-' ? '_' : word[i]);
	json_member_string(json, key, copy);
}

static void write_fact(struct json *json, const struct ctprof_fact *row, const struct fact *fact)
{
	switch (row->form) {
	case CTPROF_FACT_TEXT:
		json_member_string(json, row->key, fact->text);
		break;
	case CTPROF_FACT_NUMBER:
		json_member_u64(json, row->key, fact->number);
		break;
	case CTPROF_FACT_KIB:
		json_member_u64(json, row->key, fact->number / 1024);
		break;
	case CTPROF_FACT_CPU_COUNT:
		json_member_u64(json, row->key, cpulist_count(fact->text));
		break;
	case CTPROF_FACT_WORD:
		write_word(json, row->key, fact->text);
		break;
	}
}

void ctprof_write_host(struct ctprof_writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];
	struct json *json = &writer->json;
	uint64_t count;

	json_member_object(json, "host");
	for (size_t i = 0; i < ctprof_fact_count; i++)
		if (snapshot->facts[ctprof_facts[i].fact].present)
			write_fact(json, &ctprof_facts[i], &snapshot->facts[ctprof_facts[i].fact]);
	/* A snapshot from a ctprof file knows only the number of CPUs. */
	if (!snapshot->facts[FACT_online_cpus].present &&
	    get_cell(sheet, CTPROF_CPU_COUNT, 0, &count) == CELL_NUMBER)
		json_member_u64(json, "online_cpus", count);
	if (sheet->row_count)
		write_cells(writer, CTPROF_OBJECT_HOST, sheet, 0);
	json_end_object(json);
}
