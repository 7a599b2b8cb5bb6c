/* SPDX-License-Identifier: MIT */
/* Objects of a ctprof file whose members become readings: memory, cgroups, pressure, summaries. */
#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"

/* The row that readings are stored in. */
struct target {
	struct ctprof_reader *reader;
	enum sheet_id id;
	struct sheet *sheet;
	uint32_t row;
};

static struct target add_target(struct ctprof_reader *reader, enum sheet_id id, uint32_t key)
{
	struct target target = { reader, id, &reader->snapshot->sheets[id], 0 };

	ctprof_check(reader, sheet_add_row(target.sheet, key, &target.row));
	return target;
}

/* The only row of a sheet. */
static struct target only_target(struct ctprof_reader *reader, enum sheet_id id)
{
	if (reader->snapshot->sheets[id].row_count)
		return (struct target){ reader, id, &reader->snapshot->sheets[id], 0 };
	return add_target(reader, id, 0);
}

static void check(const struct target *target, int status)
{
	if (status == -E2BIG)
		ctprof_bad(&target->reader->failure,
			   "it has too many names, or one that is too long");
	else if (ctprof_check(target->reader, status))
		ctprof_check_cost(target->reader);
}

static void set(const struct target *target, const char *name, enum cell_state state,
		uint64_t value)
{
	if (ctprof_is_good(target->reader))
		check(target, sheet_set(target->sheet, target->row, name, state, value));
}

static void set_text(const struct target *target, const char *name, const char *text)
{
	uint32_t number;

	if (ctprof_intern(target->reader, text, &number))
		set(target, name, CELL_TEXT, number);
}

static void set_absent(const struct target *target, const char *name, const char *reason)
{
	if (ctprof_is_good(target->reader))
		check(target, sheet_set_absent(target->sheet, name, reason));
}

static void set_number(const struct target *target, const char *name, const json_t *value,
		       uint64_t factor)
{
	uint64_t number;

	if (!ctprof_number(target->reader, value, "a member of it", &number))
		return;
	if (__builtin_mul_overflow(number, factor, &number))
		number = UINT64_MAX;
	set(target, name, CELL_NUMBER, number);
}

/*
 * Reads every member of an object; each is taken as it is.  A reading's name is
 * the prefix and the key.  Numbers are multiplied by `factor`; 0: they are texts.
 */
static void read_map(const struct target *target, const char *prefix, const json_t *object,
		     uint64_t factor)
{
	size_t begin = strlen(prefix);
	char name[SHEET_NAME_SIZE];
	const json_t *value;
	const char *key;

	json_object_foreach((json_t *)object, key, value)
	{
		size_t length = strlen(key);

		if (length == 0 || begin + length >= SHEET_NAME_SIZE)
			check(target, -E2BIG);
		else if (factor == 0 && !json_is_string(value))
			ctprof_bad(&target->reader->failure, "a member of it is no text");
		if (!ctprof_is_good(target->reader))
			return;
		memcpy(name, prefix, begin);
		memcpy(name + begin, key, length + 1);
		if (factor)
			set_number(target, name, value, factor);
		else
			set_text(target, name, json_string_value(value));
	}
}

/* Whether a 0 was measured.  For sched_ext it was when its state could be read as well. */
static bool proves_zero(const json_t *object, const struct ctprof_cell *cell)
{
	if (cell->object == CTPROF_OBJECT_SCHED_EXT)
		return json_string_length(json_object_get(object, "state")) > 0;
	return cell->form != CTPROF_CELL_COLLAPSED;
}

/* Why a number of the file proves nothing; NULL when it was measured. */
static const char *why_absent(const json_t *object, const struct ctprof_cell *cell, uint64_t value)
{
	if (value == 0 && cell->form != CTPROF_CELL_PERIOD && !proves_zero(object, cell))
		return CTPROF_ZERO;
	/* The default period is a measured value only if there is a quota. */
	if (value == CTPROF_PERIOD_US && cell->form == CTPROF_CELL_PERIOD &&
	    !json_is_integer(json_object_get(object, "max_quota_us")))
		return CTPROF_DEFAULT;
	return NULL;
}

static void read_number(const struct target *target, const json_t *object,
			const struct ctprof_cell *cell)
{
	const char *reason = cell->form == CTPROF_CELL_LIMIT ? CTPROF_UNLIMITED : CTPROF_MISSING;
	uint64_t value;

	if (ctprof_get_u64(target->reader, object, cell->key, &value))
		reason = why_absent(object, cell, value);
	if (reason)
		set_absent(target, cell->name, reason);
	else if (value == UINT64_MAX && cell->form == CTPROF_CELL_FLOOR)
		set(target, cell->name, CELL_UNLIMITED, 0);
	else
		set(target, cell->name, CELL_NUMBER, value);
}

static void read_nice(const struct target *target, const json_t *object,
		      const struct ctprof_cell *cell)
{
	int32_t nice;

	if (ctprof_get_i32(target->reader, object, cell->key, &nice))
		set(target, cell->name, CELL_NUMBER, (uint64_t)(int64_t)nice);
	else
		set_absent(target, cell->name, CTPROF_MISSING);
}

static void read_cell(const struct target *target, const json_t *object,
		      const struct ctprof_cell *cell)
{
	const char *text;
	bool truth;

	switch (cell->form) {
	case CTPROF_CELL_NICE:
		read_nice(target, object, cell);
		break;
	case CTPROF_CELL_WORD:
	case CTPROF_CELL_TEXT:
		text = ctprof_get_text(target->reader, object, cell->key);
		if (text && (*text || cell->form == CTPROF_CELL_TEXT))
			set_text(target, cell->name, text);
		break;
	case CTPROF_CELL_TRUTH:
		if (ctprof_get_bool(target->reader, object, cell->key, &truth))
			set(target, cell->name, CELL_NUMBER, truth);
		break;
	case CTPROF_CELL_NUMBERS:
	case CTPROF_CELL_TEXTS:
		read_map(target, cell->name, ctprof_get_object(target->reader, object, cell->key),
			 cell->form == CTPROF_CELL_NUMBERS);
		break;
	default:
		read_number(target, object, cell);
	}
}

static void read_cells(const struct target *target, const json_t *object, enum ctprof_object id)
{
	for (size_t i = 0; i < ctprof_cell_count && object; i++)
		if (ctprof_cells[i].object == id)
			read_cell(target, object, &ctprof_cells[i]);
}

/* Stores at its total why a line of zeros is absent; no kernel has "some" for interrupts. */
static void set_unproven(const struct target *target, int resource, int line)
{
	char name[SHEET_NAME_SIZE];

	if (strcmp(ctprof_resources[resource], "irq") == 0 &&
	    strcmp(ctprof_lines[line], "some") == 0)
		return;
	ctprof_pressure_name(name, target->id, resource, line, CTPROF_PRESSURES - 1);
	set_absent(target, name, CTPROF_ZERO);
}

/* A line that is all zeros may have been missing. */
static void read_line(const struct target *target, const json_t *object, int resource, int line)
{
	uint64_t values[CTPROF_PRESSURES] = { 0 };
	char name[SHEET_NAME_SIZE];
	bool differs = false;

	for (int key = 0; key < CTPROF_PRESSURES; key++) {
		ctprof_get_u64(target->reader, object, ctprof_pressures[key].key, &values[key]);
		differs |= values[key] > 0;
	}
	if (!differs)
		set_unproven(target, resource, line);
	for (int key = 0; key < CTPROF_PRESSURES && differs; key++) {
		ctprof_pressure_name(name, target->id, resource, line, key);
		set(target, name, CELL_NUMBER, values[key]);
	}
}

static void read_pressure(const struct target *target, const json_t *object)
{
	for (int resource = 0; resource < CTPROF_RESOURCES; resource++) {
		const json_t *member =
			ctprof_get_object(target->reader, object, ctprof_resources[resource]);

		for (int line = 0; line < CTPROF_LINES; line++) {
			const json_t *numbers =
				ctprof_get_object(target->reader, member, ctprof_lines[line]);

			if (numbers)
				read_line(target, numbers, resource, line);
		}
	}
}

void ctprof_read_cgroup(struct ctprof_reader *reader, const char *path, const json_t *value)
{
	static const enum ctprof_object parts[] = { CTPROF_OBJECT_CPU, CTPROF_OBJECT_MEMORY,
						    CTPROF_OBJECT_PIDS };
	const json_t *object = ctprof_need_object(reader, value);
	struct target target;
	uint32_t key = 0;

	if (!ctprof_intern(reader, path, &key))
		return;
	target = add_target(reader, SHEET_CGROUPS, key);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		read_cells(&target, ctprof_get_object(reader, object, ctprof_objects[parts[i]].key),
			   parts[i]);
	read_pressure(&target, ctprof_get_object(reader, object, "psi"));
	ctprof_check_cost(reader);
}

/* Rows of processes will be sorted later: until then their tgid is the key. */
void ctprof_read_smaps(struct ctprof_reader *reader, int32_t tgid, const json_t *value)
{
	struct target target = add_target(reader, SHEET_PROCESSES, (uint32_t)tgid);

	read_map(&target, CTPROF_SMAPS_PREFIX, value, 1024);
}

void ctprof_read_object(struct ctprof_reader *reader, const json_t *value, enum ctprof_object id)
{
	const json_t *object = ctprof_need_object(reader, value);
	struct target target;

	if (!object)
		return;
	target = only_target(reader, ctprof_objects[id].sheet);
	read_cells(&target, object, id);
}

void ctprof_read_failures(struct ctprof_reader *reader, const json_t *object)
{
	struct target target;

	if (!object)
		return;
	target = only_target(reader, SHEET_CAPTURE);
	read_map(&target, CTPROF_FAILURES_PREFIX, object, 1);
}

void ctprof_read_pressure(struct ctprof_reader *reader, const json_t *value)
{
	const json_t *object = ctprof_need_object(reader, value);
	struct target target;

	if (!object)
		return;
	target = only_target(reader, SHEET_HOST);
	read_pressure(&target, object);
}
