/* SPDX-License-Identifier: MIT */
#include "model/run/run_states.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"

#define NO_ROW UINT32_MAX

/* A sheet of a snapshot. */
struct place {
	struct snapshot *snapshot;
	enum sheet_id id;
};

static struct sheet *sheet_at(struct place place)
{
	return &place.snapshot->sheets[place.id];
}

/* What a row is about: the path of a cgroup, or "" for the only row of the host. */
static const char *row_name(struct place place, uint32_t row)
{
	return snapshot_text(place.snapshot, sheet_at(place)->keys[row]);
}

static uint32_t find_row(struct place place, const char *name)
{
	for (uint32_t row = 0; place.snapshot && row < sheet_at(place)->row_count; row++)
		if (strcmp(row_name(place, row), name) == 0)
			return row;
	return NO_ROW;
}

/* The row of that name, added when it is new. */
static int get_row(struct place place, const char *name, uint32_t *ret)
{
	uint32_t key = 0;

	*ret = find_row(place, name);
	if (*ret != NO_ROW)
		return 0;
	if (name[0] && snapshot_intern(place.snapshot, name, strlen(name), &key) < 0)
		return -ENOMEM;
	return sheet_add_row(sheet_at(place), key, ret);
}

/* What a counter grew by; false when it was not there before, or began again. */
static bool grown_since(struct place since, uint32_t row, const struct metric *metric,
			uint64_t *value)
{
	uint64_t before;

	if (metric->kind != KIND_COUNTER)
		return true;
	if (row == NO_ROW ||
	    column_get(sheet_find(sheet_at(since), metric->name), row, &before) != CELL_NUMBER ||
	    before > *value)
		return false;
	*value -= before;
	return true;
}

static int copy_notes(struct sheet *sheet, const struct column *column)
{
	int status = 0;

	if (column->absent)
		status = sheet_set_absent(sheet, column->metric->name, column->absent);
	if (column->origin && status == 0)
		status = sheet_set_origin(sheet, column->metric->name, column->origin);
	return status;
}

/* Copies a row; with `since`, counters count from there. */
static int copy_row(struct place to, struct place from, uint32_t row, struct place since)
{
	const struct sheet *source = sheet_at(from);
	const char *name = row_name(from, row);
	uint32_t before = find_row(since, name), copy;
	int status = get_row(to, name, &copy);

	for (size_t i = 0; i < source->columns.count && status == 0; i++) {
		const struct metric *metric = source->columns.data[i].metric;
		uint64_t value;
		enum cell_state state = column_get(&source->columns.data[i], row, &value);
		uint32_t text;

		if (state == CELL_ABSENT)
			continue;
		if (state == CELL_TEXT) {
			const char *word = snapshot_text(from.snapshot, (uint32_t)value);

			if (snapshot_intern(to.snapshot, word, strlen(word), &text) < 0)
				return -ENOMEM;
			value = text;
		}
		if (state == CELL_NUMBER && since.snapshot &&
		    !grown_since(since, before, metric, &value))
			status = sheet_set_absent(sheet_at(to), metric->name,
						  "it was not there when the run began");
		else
			status = sheet_set(sheet_at(to), copy, metric->name, state, value);
	}
	return status;
}

static int copy_sheet(struct place to, struct place from, struct place since)
{
	const struct sheet *source = sheet_at(from);
	int status = 0;

	for (uint32_t row = 0; row < source->row_count && status == 0; row++)
		status = copy_row(to, from, row, since);
	for (size_t i = 0; i < source->columns.count && status == 0; i++)
		status = copy_notes(sheet_at(to), &source->columns.data[i]);
	return status;
}

/* For reading as well: the sheets of a const snapshot are never changed. */
static struct place place_of(const struct snapshot *snapshot, enum sheet_id id)
{
	return (struct place){ (struct snapshot *)snapshot, id };
}

int run_keep_states(struct run *run, const struct snapshot *host, const struct snapshot *cgroups,
		    const struct snapshot *end)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *states = NULL;
	const struct place none = { 0 };

	if (snapshot_new(&states) < 0 ||
	    copy_sheet(place_of(states, SHEET_HOST_BEGIN), place_of(host, SHEET_HOST), none) < 0 ||
	    copy_sheet(place_of(states, SHEET_CGROUPS_BEGIN), place_of(cgroups, SHEET_CGROUPS),
		       none) < 0 ||
	    copy_sheet(place_of(states, SHEET_HOST), place_of(end, SHEET_HOST),
		       place_of(host, SHEET_HOST)) < 0 ||
	    copy_sheet(place_of(states, SHEET_CGROUPS), place_of(end, SHEET_CGROUPS),
		       place_of(cgroups, SHEET_CGROUPS)) < 0)
		return -ENOMEM;
	snapshot_free(run->states);
	run->states = TAKE_PTR(states);
	return 0;
}

int run_add_states(struct snapshot *snapshot, const struct run *run)
{
	static const enum sheet_id kept[] = { SHEET_HOST, SHEET_CGROUPS, SHEET_HOST_BEGIN,
					      SHEET_CGROUPS_BEGIN };
	const struct place none = { 0 };
	int status = 0;

	for (size_t i = 0; run->states && i < ARRAY_SIZE(kept) && status == 0; i++)
		status = copy_sheet(place_of(snapshot, kept[i]), place_of(run->states, kept[i]),
				    none);
	return status;
}
