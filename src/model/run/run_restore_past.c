/* SPDX-License-Identifier: MIT */
/* Restores the past of a run, its events and samples, from its snapshot. */
#include <errno.h>

#include "base/collection/array.h"
#include "model/run/run_records.h"
#include "model/run/run_sheets.h"

static int restore_event(const struct snapshot *snapshot, uint32_t row, struct run *run)
{
	struct past_event event = { .event = "" };

	if (record_read(snapshot, &event_record, row, &run->arena, &event) < 0)
		return -ENOMEM;
	return array_append(&run->past.events, event);
}

/* A level that is 0 has no cell: it counts as not measured. */
static int restore_sample(const struct snapshot *snapshot, uint32_t row, struct run *run)
{
	struct run_sample sample = { 0 };

	if (record_read(snapshot, &sample_record, row, NULL, &sample) < 0)
		return -ENOMEM;
	sample.has_rss = sample.rss_bytes != 0;
	sample.has_fds = sample.open_fds != 0;
	return array_append(&run->past.samples, sample);
}

static void restore_amount(const struct snapshot *snapshot, enum amount_id id, struct run *run)
{
	const struct column *column =
		sheet_find(&snapshot->sheets[SHEET_SAMPLES], metrics[amount_metrics[id]].name);
	uint64_t value;

	for (uint32_t row = 0; column && row < run->past.samples.count; row++)
		if (column_get(column, row, &value) == CELL_NUMBER)
			amounts_set(&run->past.samples.data[row].amounts, id, value);
}

int run_restore_past(const struct snapshot *snapshot, struct run *run)
{
	uint32_t events = snapshot->sheets[SHEET_EVENTS].row_count;
	uint32_t samples = snapshot->sheets[SHEET_SAMPLES].row_count;
	int status = 0;

	for (uint32_t row = 0; row < events && row < PAST_EVENTS && status == 0; row++)
		status = restore_event(snapshot, row, run);
	for (uint32_t row = 0; row < samples && row < PAST_SAMPLES && status == 0; row++)
		status = restore_sample(snapshot, row, run);
	for (int id = 0; id < AMOUNT_COUNT; id++)
		restore_amount(snapshot, (enum amount_id)id, run);
	return status;
}
