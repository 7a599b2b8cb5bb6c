/* SPDX-License-Identifier: MIT */
/* Objects of a ctprof file whose members become readings: memory, cgroups, pressure, summaries. */
#include <errno.h>
#include <string.h>

#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"

/* The row that readings are stored in. */
struct target {
	struct ctprof_reader *reader;
	struct sheet *sheet;
	uint32_t row;
};

static int open_target(struct ctprof_reader *reader, enum sheet_id id, struct target *ret)
{
	struct sheet *sheet = &reader->snapshot->sheets[id];

	*ret = (struct target){ .reader = reader, .sheet = sheet };
	return sheet->row_count ? 0 : sheet_add_row(sheet, 0, &ret->row);
}

static int checked(const struct target *target, int status)
{
	if (status == -E2BIG)
		return ctprof_bad(target->reader, "it has too many names, or one that is too long");
	return status < 0 ? status : ctprof_check_cost(target->reader);
}

static int set(const struct target *target, const char *name, enum cell_state state, uint64_t value)
{
	return checked(target, sheet_set(target->sheet, target->row, name, state, value));
}

static int set_text(const struct target *target, const char *name, const char *text)
{
	uint32_t number;
	int status = ctprof_intern(target->reader, text, &number);

	return status < 0 ? status : set(target, name, CELL_TEXT, number);
}

static int set_absent(const struct target *target, const char *name, const char *reason)
{
	return checked(target, sheet_set_absent(target->sheet, name, reason));
}

/* Makes the name of a reading from a prefix and a key of the file. */
static int make_name(const struct target *target, const char *prefix, const char *key,
		     char name[SHEET_NAME_SIZE])
{
	size_t begin = strlen(prefix), length = strlen(key);

	if (length == 0 || begin + length >= SHEET_NAME_SIZE)
		return checked(target, -E2BIG);
	memcpy(name, prefix, begin);
	memcpy(name + begin, key, length + 1);
	return 0;
}

/* Reads every member of an object of numbers; each is taken as it is. */
static int read_numbers(const struct target *target, const char *prefix, const json_t *object,
			uint64_t factor)
{
	char name[SHEET_NAME_SIZE];
	const json_t *value;
	const char *key;
	int status = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		uint64_t number = 0;

		status = make_name(target, prefix, key, name);
		if (status == 0)
			status = ctprof_number(target->reader, value, "a member of it", &number);
		if (__builtin_mul_overflow(number, factor, &number))
			number = UINT64_MAX;
		if (status == 0)
			status = set(target, name, CELL_NUMBER, number);
		if (status < 0)
			break;
	}
	return status;
}

static int read_texts(const struct target *target, const char *prefix, const json_t *object)
{
	char name[SHEET_NAME_SIZE];
	const json_t *value;
	const char *key;
	int status = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		status = make_name(target, prefix, key, name);
		if (status == 0 && !json_is_string(value))
			status = ctprof_bad(target->reader, "a member of it is no text");
		if (status == 0)
			status = set_text(target, name, json_string_value(value));
		if (status < 0)
			break;
	}
	return status;
}

/* Whether a 0 was measured.  For sched_ext it was when its state could be read as well. */
static bool proves_zero(const json_t *object, const struct ctprof_cell *cell)
{
	if (cell->object == CTPROF_OBJECT_SCHED_EXT)
		return json_string_length(json_object_get(object, "state")) > 0;
	return cell->form != CTPROF_CELL_COLLAPSED;
}

static int read_number(const struct target *target, const json_t *object,
		       const struct ctprof_cell *cell)
{
	uint64_t value = 0;
	bool given;
	int status = ctprof_get_u64(target->reader, object, cell->key, &given, &value);

	if (status < 0)
		return status;
	if (!given)
		return set_absent(target, cell->name,
				  cell->form == CTPROF_CELL_LIMIT ? CTPROF_UNLIMITED :
								    CTPROF_MISSING);
	if (value == 0 && !proves_zero(object, cell))
		return set_absent(target, cell->name, CTPROF_ZERO);
	if (value == UINT64_MAX && cell->form == CTPROF_CELL_FLOOR)
		return set(target, cell->name, CELL_UNLIMITED, 0);
	return set(target, cell->name, CELL_NUMBER, value);
}

/* The default period is a measured value only if there is a quota. */
static int read_period(const struct target *target, const json_t *object,
		       const struct ctprof_cell *cell)
{
	const json_t *quota = json_object_get(object, "max_quota_us");
	uint64_t period = 0;
	bool given;
	int status = ctprof_get_u64(target->reader, object, cell->key, &given, &period);

	if (status < 0)
		return status;
	if (!given || (period == CTPROF_PERIOD_US && !json_is_integer(quota)))
		return set_absent(target, cell->name, given ? CTPROF_DEFAULT : CTPROF_MISSING);
	return set(target, cell->name, CELL_NUMBER, period);
}

static int read_nice(const struct target *target, const json_t *object,
		     const struct ctprof_cell *cell)
{
	int32_t nice = 0;
	bool given;
	int status = ctprof_get_i32(target->reader, object, cell->key, &given, &nice);

	if (status < 0)
		return status;
	return given ? set(target, cell->name, CELL_NUMBER, (uint64_t)(int64_t)nice) :
		       set_absent(target, cell->name, CTPROF_MISSING);
}

static int read_word(const struct target *target, const json_t *object,
		     const struct ctprof_cell *cell)
{
	const char *text = NULL;
	int status = ctprof_get_text(target->reader, object, cell->key, &text);

	if (status < 0 || !text || (!*text && cell->form == CTPROF_CELL_WORD))
		return status;
	return set_text(target, cell->name, text);
}

static int read_truth(const struct target *target, const json_t *object,
		      const struct ctprof_cell *cell)
{
	bool given, truth = false;
	int status = ctprof_get_bool(target->reader, object, cell->key, &given, &truth);

	return status < 0 || !given ? status : set(target, cell->name, CELL_NUMBER, truth);
}

static int read_map(const struct target *target, const json_t *object,
		    const struct ctprof_cell *cell)
{
	const json_t *map = NULL;
	int status = ctprof_get_object(target->reader, object, cell->key, &map);

	if (status < 0 || !map)
		return status;
	return cell->form == CTPROF_CELL_NUMBERS ? read_numbers(target, cell->name, map, 1) :
						   read_texts(target, cell->name, map);
}

static int read_cell(const struct target *target, const json_t *object,
		     const struct ctprof_cell *cell)
{
	switch (cell->form) {
	case CTPROF_CELL_NICE:
		return read_nice(target, object, cell);
	case CTPROF_CELL_PERIOD:
		return read_period(target, object, cell);
	case CTPROF_CELL_WORD:
	case CTPROF_CELL_TEXT:
		return read_word(target, object, cell);
	case CTPROF_CELL_TRUTH:
		return read_truth(target, object, cell);
	case CTPROF_CELL_NUMBERS:
	case CTPROF_CELL_TEXTS:
		return read_map(target, object, cell);
	default:
		return read_number(target, object, cell);
	}
}

static int read_cells(const struct target *target, const json_t *object, enum ctprof_object id)
{
	int status = 0;

	for (size_t i = 0; i < ctprof_cell_count && status == 0; i++)
		if (ctprof_cells[i].object == id)
			status = read_cell(target, object, &ctprof_cells[i]);
	return status;
}

/* Stores at its total why a line of zeros is absent; no kernel has "some" for interrupts. */
static int set_unproven(const struct target *target, bool of_host, int resource, int line)
{
	char name[SHEET_NAME_SIZE];

	if (strcmp(ctprof_resources[resource], "irq") == 0 &&
	    strcmp(ctprof_lines[line], "some") == 0)
		return 0;
	ctprof_pressure_name(name, of_host, resource, line, CTPROF_PRESSURES - 1);
	return set_absent(target, name, CTPROF_ZERO);
}

/* A line that is all zeros may have been missing. */
static int read_line(const struct target *target, const json_t *object, int resource, int line)
{
	bool of_host = target->sheet == &target->reader->snapshot->sheets[SHEET_HOST];
	uint64_t values[CTPROF_PRESSURES] = { 0 };
	bool told = false, given;
	int status = 0;

	for (int key = 0; key < CTPROF_PRESSURES && status == 0; key++) {
		status = ctprof_get_u64(target->reader, object, ctprof_pressures[key].key, &given,
					&values[key]);
		told |= values[key] > 0;
	}
	if (status == 0 && !told)
		return set_unproven(target, of_host, resource, line);
	for (int key = 0; key < CTPROF_PRESSURES && status == 0; key++) {
		char name[SHEET_NAME_SIZE];

		ctprof_pressure_name(name, of_host, resource, line, key);
		status = set(target, name, CELL_NUMBER, values[key]);
	}
	return status;
}

static int read_resource(const struct target *target, const json_t *object, int resource)
{
	const json_t *member = NULL;
	int status = 0;

	for (int line = 0; line < CTPROF_LINES && status == 0; line++) {
		status = ctprof_get_object(target->reader, object, ctprof_lines[line], &member);
		if (status == 0 && member)
			status = read_line(target, member, resource, line);
	}
	return status;
}

static int read_pressure(const struct target *target, const json_t *object)
{
	const json_t *member = NULL;
	int status = 0;

	for (int resource = 0; resource < CTPROF_RESOURCES && status == 0; resource++) {
		status = ctprof_get_object(target->reader, object, ctprof_resources[resource],
					   &member);
		if (status == 0 && member)
			status = read_resource(target, member, resource);
	}
	return status;
}

/* Reads the object under a key, if it is there, by the table. */
static int read_part(const struct target *target, const json_t *object, const char *key,
		     enum ctprof_object id)
{
	const json_t *part = NULL;
	int status = ctprof_get_object(target->reader, object, key, &part);

	return status < 0 || !part ? status : read_cells(target, part, id);
}

int ctprof_read_cgroup(struct ctprof_reader *reader, const char *path, const json_t *value)
{
	struct target target = { .reader = reader,
				 .sheet = &reader->snapshot->sheets[SHEET_CGROUPS] };
	const json_t *object = NULL, *pressure = NULL;
	uint32_t key = 0;
	int status = ctprof_need_object(reader, value, &object);

	if (status == 0)
		status = ctprof_intern(reader, path, &key);
	if (status == 0)
		status = sheet_add_row(target.sheet, key, &target.row);
	if (status == 0)
		status = read_part(&target, object, "cpu", CTPROF_OBJECT_CPU);
	if (status == 0)
		status = read_part(&target, object, "memory", CTPROF_OBJECT_MEMORY);
	if (status == 0)
		status = read_part(&target, object, "pids", CTPROF_OBJECT_PIDS);
	if (status == 0)
		status = ctprof_get_object(reader, object, "psi", &pressure);
	if (status == 0 && pressure)
		status = read_pressure(&target, pressure);
	return status < 0 ? status : ctprof_check_cost(reader);
}

/* Rows of processes will be sorted later: until then their tgid is the key. */
int ctprof_read_smaps(struct ctprof_reader *reader, int32_t tgid, const json_t *value)
{
	struct target target = { .reader = reader,
				 .sheet = &reader->snapshot->sheets[SHEET_PROCESSES] };
	int status = sheet_add_row(target.sheet, (uint32_t)tgid, &target.row);

	return status < 0 ? status : read_numbers(&target, CTPROF_SMAPS_PREFIX, value, 1024);
}

int ctprof_read_object(struct ctprof_reader *reader, const json_t *value, enum sheet_id sheet,
		       enum ctprof_object id)
{
	const json_t *object = NULL;
	struct target target;
	int status = ctprof_need_object(reader, value, &object);

	if (status == 0 && object)
		status = open_target(reader, sheet, &target);
	return status < 0 || !object ? status : read_cells(&target, object, id);
}

int ctprof_read_numbers(struct ctprof_reader *reader, enum sheet_id sheet, const char *prefix,
			const json_t *object)
{
	struct target target;
	int status = open_target(reader, sheet, &target);

	return status < 0 ? status : read_numbers(&target, prefix, object, 1);
}

int ctprof_read_pressure(struct ctprof_reader *reader, const json_t *value)
{
	const json_t *object = NULL;
	struct target target;
	int status = ctprof_need_object(reader, value, &object);

	if (status == 0 && object)
		status = open_target(reader, SHEET_HOST, &target);
	return status < 0 || !object ? status : read_pressure(&target, object);
}
