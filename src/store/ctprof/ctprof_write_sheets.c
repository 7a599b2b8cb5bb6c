/* SPDX-License-Identifier: MIT */
/* Writes what a .ctprof.zst file says about cgroups, the host and the capture. */
#include "store/ctprof/ctprof_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/dictionary.h"
#include "model/snapshot/snapshot.h"
#include "store/ctprof/ctprof_table.h"

/* A sheet with its columns already looked up, once for all rows. */
struct source_sheet {
	const struct sheet *sheet;
	const struct column
		*cells[CTPROF_CELLS_MAX]; /* as ctprof_cells, NULL where there is none */
	const struct column *pressures[CTPROF_RESOURCES][CTPROF_LINES][CTPROF_PRESSURES];
};

static void find_columns(const struct snapshot *snapshot, enum sheet_id id,
			 struct source_sheet *ret)
{
	char name[SHEET_NAME_SIZE];

	*ret = (struct source_sheet){ .sheet = &snapshot->sheets[id] };
	for (size_t i = 0; i < ctprof_cell_count; i++)
		ret->cells[i] = sheet_find(ret->sheet, ctprof_cells[i].name);
	for (int resource = 0; resource < CTPROF_RESOURCES; resource++)
		for (int line = 0; line < CTPROF_LINES; line++)
			for (int key = 0; key < CTPROF_PRESSURES; key++) {
				ctprof_pressure_name(name, id == SHEET_HOST, resource, line, key);
				ret->pressures[resource][line][key] = sheet_find(ret->sheet, name);
			}
}

static void write_numbers(struct ctprof_writer *writer, const struct ctprof_cell *cell,
			  const struct sheet *sheet, uint32_t row)
{
	size_t prefix = strlen(cell->name);
	uint64_t value;

	ctprof_output_begin(&writer->output, cell->key, '{');
	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (strncmp(column->metric->name, cell->name, prefix) == 0 &&
		    column_get(column, row, &value) == CELL_NUMBER)
			ctprof_output_u64(&writer->output, column->metric->name + prefix, value);
	}
	ctprof_output_end(&writer->output, '}');
}

/* Writes no member when there is no text. */
static void write_texts(struct ctprof_writer *writer, const struct ctprof_cell *cell,
			const struct sheet *sheet, uint32_t row)
{
	size_t prefix = strlen(cell->name), count = 0;
	uint64_t value;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (strncmp(column->metric->name, cell->name, prefix) != 0 ||
		    column_get(column, row, &value) != CELL_TEXT)
			continue;
		if (count++ == 0)
			ctprof_output_begin(&writer->output, cell->key, '{');
		ctprof_output_text(&writer->output, column->metric->name + prefix,
				   snapshot_text(writer->snapshot, (uint32_t)value));
	}
	if (count)
		ctprof_output_end(&writer->output, '}');
}

/* Writes a number or null. */
static void write_option(struct ctprof_output *output, const char *key, enum cell_state state,
			 uint64_t value)
{
	if (state == CELL_NUMBER)
		ctprof_output_u64(output, key, value);
	else
		ctprof_output_null(output, key);
}

static void write_cell(struct ctprof_writer *writer, const struct ctprof_cell *cell,
		       enum cell_state state, uint64_t value)
{
	struct ctprof_output *output = &writer->output;
	const char *text =
		state == CELL_TEXT ? snapshot_text(writer->snapshot, (uint32_t)value) : NULL;

	switch (cell->form) {
	case CTPROF_CELL_OPTION:
	case CTPROF_CELL_LIMIT:
		write_option(output, cell->key, state, value);
		break;
	case CTPROF_CELL_FLOOR:
		if (state == CELL_UNLIMITED)
			ctprof_output_u64(output, cell->key, UINT64_MAX);
		else
			write_option(output, cell->key, state, value);
		break;
	case CTPROF_CELL_NICE:
		if (state == CELL_NUMBER)
			ctprof_output_i64(output, cell->key, (int64_t)value);
		else
			ctprof_output_null(output, cell->key);
		break;
	case CTPROF_CELL_WORD:
		ctprof_output_text(output, cell->key, text ? text : "");
		break;
	case CTPROF_CELL_TEXT:
		if (text)
			ctprof_output_text(output, cell->key, text);
		else
			ctprof_output_null(output, cell->key);
		break;
	case CTPROF_CELL_TRUTH:
		ctprof_output_bool(output, cell->key, state == CELL_NUMBER && value);
		break;
	case CTPROF_CELL_PERIOD:
		ctprof_output_u64(output, cell->key,
				  state == CELL_NUMBER ? value : CTPROF_PERIOD_US);
		break;
	default:
		ctprof_output_u64(output, cell->key, state == CELL_NUMBER ? value : 0);
	}
}

/* Writes the members of an object. */
static void write_cells(struct ctprof_writer *writer, const struct source_sheet *source,
			enum ctprof_object object, uint32_t row)
{
	for (size_t i = 0; i < ctprof_cell_count; i++) {
		const struct ctprof_cell *cell = &ctprof_cells[i];
		uint64_t value = 0;
		enum cell_state state = column_get(source->cells[i], row, &value);

		if (cell->object != object)
			continue;
		if (cell->form == CTPROF_CELL_NUMBERS)
			write_numbers(writer, cell, source->sheet, row);
		else if (cell->form == CTPROF_CELL_TEXTS)
			write_texts(writer, cell, source->sheet, row);
		else
			write_cell(writer, cell, state, value);
	}
}

static void write_object(struct ctprof_writer *writer, const char *key,
			 const struct source_sheet *source, enum ctprof_object object, uint32_t row)
{
	ctprof_output_begin(&writer->output, key, '{');
	write_cells(writer, source, object, row);
	ctprof_output_end(&writer->output, '}');
}

/* Writes an object, or null when none of its readings is there. */
static void write_option_object(struct ctprof_writer *writer, const char *key, enum sheet_id id,
				enum ctprof_object object)
{
	struct source_sheet source;
	uint64_t value;

	find_columns(writer->snapshot, id, &source);
	for (size_t i = 0; i < ctprof_cell_count; i++)
		if (ctprof_cells[i].object == object && source.sheet->row_count &&
		    column_get(source.cells[i], 0, &value) != CELL_ABSENT) {
			write_object(writer, key, &source, object, 0);
			return;
		}
	ctprof_output_null(&writer->output, key);
}

static void write_pressure(struct ctprof_writer *writer, const struct source_sheet *source,
			   uint32_t row)
{
	struct ctprof_output *output = &writer->output;

	ctprof_output_begin(output, "psi", '{');
	for (int resource = 0; resource < CTPROF_RESOURCES; resource++) {
		ctprof_output_begin(output, ctprof_resources[resource], '{');
		for (int line = 0; line < CTPROF_LINES; line++) {
			ctprof_output_begin(output, ctprof_lines[line], '{');
			for (int key = 0; key < CTPROF_PRESSURES; key++) {
				uint64_t value = 0;

				if (source->sheet->row_count)
					column_get(source->pressures[resource][line][key], row,
						   &value);
				ctprof_output_u64(output, ctprof_pressures[key].key, value);
			}
			ctprof_output_end(output, '}');
		}
		ctprof_output_end(output, '}');
	}
	ctprof_output_end(output, '}');
}

static void write_cgroup(struct ctprof_writer *writer, const struct source_sheet *source,
			 uint32_t row)
{
	const char *path = snapshot_text(writer->snapshot, source->sheet->keys[row]);

	ctprof_output_begin(&writer->output, path, '{');
	write_object(writer, "cpu", source, CTPROF_OBJECT_CPU, row);
	write_object(writer, "memory", source, CTPROF_OBJECT_MEMORY, row);
	write_object(writer, "pids", source, CTPROF_OBJECT_PIDS, row);
	write_pressure(writer, source, row);
	ctprof_output_end(&writer->output, '}');
}

/* The format has no place for cgroups that hold no task themselves. */
int ctprof_write_cgroups(struct ctprof_writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	CLEANUP(free_pointer) uint8_t *used = calloc(dictionary_count(snapshot->strings) + 1, 1);
	struct source_sheet source;

	if (!used)
		return -ENOMEM;
	for (size_t row = 0; row < snapshot->task_count; row++)
		used[snapshot->tasks[row].cgroup] = 1;
	find_columns(snapshot, SHEET_CGROUPS, &source);
	ctprof_output_begin(&writer->output, "cgroup_stats", '{');
	for (uint32_t row = 0; row < source.sheet->row_count; row++)
		if (used[source.sheet->keys[row]])
			write_cgroup(writer, &source, row);
	ctprof_output_end(&writer->output, '}');
	return 0;
}

void ctprof_write_pressure(struct ctprof_writer *writer)
{
	struct source_sheet source;

	find_columns(writer->snapshot, SHEET_HOST, &source);
	write_pressure(writer, &source, 0);
}

void ctprof_write_sched_ext(struct ctprof_writer *writer)
{
	write_option_object(writer, "sched_ext", SHEET_HOST, CTPROF_OBJECT_SCHED_EXT);
}

void ctprof_write_probe(struct ctprof_writer *writer)
{
	write_option_object(writer, "probe_summary", SHEET_CAPTURE, CTPROF_OBJECT_PROBE);
}

void ctprof_write_taskstats(struct ctprof_writer *writer)
{
	write_option_object(writer, "taskstats_summary", SHEET_CAPTURE, CTPROF_OBJECT_TASKSTATS);
}

static void write_word(struct ctprof_output *output, const char *key, const char *word)
{
	char copy[64] = "";

	for (size_t i = 0; word[i] && i < sizeof(copy) - 1; i++)
		copy[i] = (char)(word[i] == '-' ? '_' : word[i]);
	ctprof_output_text(output, key, copy);
}

static void write_fact(struct ctprof_writer *writer, const struct ctprof_fact *row)
{
	const struct fact *fact = &writer->snapshot->facts[row->fact];
	struct ctprof_output *output = &writer->output;

	switch (row->form) {
	case CTPROF_FACT_TEXT:
		ctprof_output_text(output, row->key, fact->text);
		break;
	case CTPROF_FACT_NUMBER:
		ctprof_output_u64(output, row->key, fact->number);
		break;
	case CTPROF_FACT_KIB:
		ctprof_output_u64(output, row->key, fact->number / 1024);
		break;
	case CTPROF_FACT_CPU_COUNT:
		ctprof_output_u64(output, row->key, cpulist_count(fact->text));
		break;
	case CTPROF_FACT_WORD:
		write_word(output, row->key, fact->text);
		break;
	}
}

/* A snapshot from a ctprof file knows only the number of CPUs. */
static void write_cpu_count(struct ctprof_writer *writer, const struct source_sheet *source)
{
	uint64_t count;

	if (source->sheet->row_count && !writer->snapshot->facts[FACT_online_cpus].present &&
	    column_get(sheet_find(source->sheet, CTPROF_CPU_COUNT), 0, &count) == CELL_NUMBER)
		ctprof_output_u64(&writer->output, "online_cpus", count);
}

void ctprof_write_host(struct ctprof_writer *writer)
{
	struct source_sheet source;

	find_columns(writer->snapshot, SHEET_HOST, &source);
	ctprof_output_begin(&writer->output, "host", '{');
	for (size_t i = 0; i < ctprof_fact_count; i++)
		if (writer->snapshot->facts[ctprof_facts[i].fact].present)
			write_fact(writer, &ctprof_facts[i]);
	write_cpu_count(writer, &source);
	if (source.sheet->row_count)
		write_cells(writer, &source, CTPROF_OBJECT_HOST, 0);
	ctprof_output_end(&writer->output, '}');
}
