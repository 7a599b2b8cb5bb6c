/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_json.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/value.h"

/* Names have at most four words; a fifth would stay in the fourth. */
#define WORDS_MAX 4

struct words {
	char text[WORDS_MAX][SHEET_NAME_SIZE];
	unsigned count;
};

static void split(const char *name, struct words *ret)
{
	ret->count = 0;
	while (*name && ret->count < WORDS_MAX) {
		size_t length = ret->count + 1 < WORDS_MAX ? strcspn(name, " ") : strlen(name);

		if (length >= SHEET_NAME_SIZE)
			length = SHEET_NAME_SIZE - 1;
		memcpy(ret->text[ret->count], name, length);
		ret->text[ret->count++][length] = '\0';
		name += length;
		name += *name == ' ';
	}
}

/* How many of the open objects also contain this name. */
static unsigned common_objects(const struct words *open, const struct words *next)
{
	unsigned depth = 0;

	while (depth + 1 < open->count && depth + 1 < next->count &&
	       strcmp(open->text[depth], next->text[depth]) == 0)
		depth++;
	return depth;
}

static void close_objects(struct json *json, const struct words *open, unsigned depth)
{
	for (unsigned i = depth; i + 1 < open->count; i++)
		json_end_object(json);
}

static bool is_wanted(const struct column *column, uint32_t sections)
{
	return sections >> column->metric->section & 1;
}

void sheet_json_row(struct json *json, const struct snapshot *snapshot, const struct sheet *sheet,
		    uint32_t row, uint32_t sections)
{
	struct words open = { .count = 0 };
	uint64_t value;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];
		struct words next;
		unsigned depth;

		if (column_get(column, row, &value) == CELL_ABSENT || !is_wanted(column, sections))
			continue;
		split(column->metric->name, &next);
		depth = common_objects(&open, &next);
		close_objects(json, &open, depth);
		for (; depth + 1 < next.count; depth++) {
			json_key(json, next.text[depth]);
			json_begin_object(json);
		}
		json_key(json, next.text[depth]);
		cell_json(json, snapshot, column, row);
		open = next;
	}
	close_objects(json, &open, 0);
}

static const char *column_absent(const struct column *column)
{
	return column->absent;
}

static const char *column_origin(const struct column *column)
{
	return column->origin;
}

static void write_notes(struct json *json, const char *key, const struct sheet *sheet,
			uint32_t sections, const char *(*note)(const struct column *column))
{
	json_key(json, key);
	json_begin_object(json);
	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (note(column) && is_wanted(column, sections))
			json_member_string(json, column->metric->name, note(column));
	}
	json_end_object(json);
}

void sheet_json_cgroups(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];

	json_key(json, "cgroups");
	json_begin_array(json);
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		json_begin_object(json);
		json_member_string(json, "path", snapshot_text(snapshot, sheet->keys[row]));
		sheet_json_row(json, snapshot, sheet, row, sections);
		json_end_object(json);
	}
	json_end_array(json);
	write_notes(json, "cgroup_origins", sheet, sections, column_origin);
	sheet_json_cgroup_absent(json, snapshot, sections);
}

void sheet_json_cgroup_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	write_notes(json, "cgroup_absent", &snapshot->sheets[SHEET_CGROUPS], sections,
		    column_absent);
}

void sheet_json_processes(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];

	json_key(json, "processes");
	json_begin_array(json);
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		const struct process *process = &snapshot->processes[sheet->keys[row]];

		json_begin_object(json);
		json_key(json, "tgid");
		json_i64(json, process->tgid);
		json_member_string(json, "pcomm", snapshot_text(snapshot, process->pcomm));
		json_member_u64(json, "start_time_ns", process->start_time_ns);
		sheet_json_row(json, snapshot, sheet, row, sections);
		json_end_object(json);
	}
	json_end_array(json);
}

void sheet_json_host_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	write_notes(json, "host_absent", &snapshot->sheets[SHEET_HOST], sections, column_absent);
}
