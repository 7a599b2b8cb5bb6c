/* SPDX-License-Identifier: MIT */
#include "analyze/sheet_row.h"

#include <errno.h>
#include <string.h>

#include "analyze/compare_work.h"
#include "analyze/mann_whitney.h"
#include "analyze/sheet_work.h"

static const char *source_reason(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->source_count; i++)
		if (strcmp(snapshot->sources[i].name, name) == 0)
			return snapshot->sources[i].reason;
	return NULL;
}

/* Why a side does not tell. */
static const char *reason_of(const struct sheet_work *work, int side, const char *source)
{
	const char *reason = NULL;

	for (size_t run = sheet_work_first(work, side); !reason && run < sheet_work_end(work, side);
	     run++) {
		const struct sheet_run *of = &work->layout.runs[run];
		const struct sheet_column *column = sheet_find(of->sheet, work->name);

		reason = column ? column->absent : NULL;
		if (!reason)
			reason = source_reason(of->snapshot, source);
		if (!reason && of->is_filtered)
			reason = "the capture was limited to other tasks";
	}
	return reason;
}

/* Whether the BPF scheduler was loaded again in between: its own counters began again. */
static bool is_reloaded(const struct sheet_work *work)
{
	static const char name[] = "sched_ext enable_seq";
	const struct sheet_run *before = &work->layout.runs[0], *after = &work->layout.runs[1];
	uint64_t was = 0, is = 0;

	return strcmp(work->name, "sched_ext nr_rejected") == 0 &&
	       sheet_get(sheet_find(before->sheet, name), 0, &was) == CELL_NUMBER &&
	       sheet_get(sheet_find(after->sheet, name), 0, &is) == CELL_NUMBER && was != is;
}

static bool is_same_boot(const struct sheet_work *work)
{
	const struct fact *before = &work->layout.runs[0].snapshot->facts[FACT_boot_id];
	const struct fact *after = &work->layout.runs[1].snapshot->facts[FACT_boot_id];

	return !work->test && before->present && after->present &&
	       strcmp(before->text, after->text) == 0;
}

/* A group that only one side has: what is added up counts from or to nothing. */
static void set_one_sided(const struct sheet_work *work, const struct sheet_move *move,
			  struct comparison_row *row)
{
	bool is_new = row->before.shape == VALUE_ABSENT;
	const struct compared_value *value = is_new ? &row->after : &row->before;

	row->state = is_new ? ROW_NEW : ROW_GONE;
	if (value->shape != VALUE_NUMBER || reading_rule(work->reading) != RULE_SUM)
		return;
	if (work->has_moves) {
		/* What a cgroup did before it was removed nobody tells. */
		if (move->known)
			row->delta = difference_of_whole(0, move->gained, false);
		return;
	}
	row->delta = difference_of_whole(is_new ? 0 : value->number, is_new ? value->number : 0,
					 value->is_signed);
}

/* A counter of an interval that both sides have. */
static void set_moved(const struct sheet_work *work, const struct sheet_move *move,
		      struct comparison_row *row)
{
	if (is_reloaded(work) || (!move->known && move->resets)) {
		row->state = ROW_RESET;
		return;
	}
	if (!move->known) {
		row->state = ROW_ABSENT;
		row->reason = "it was not measured before";
		return;
	}
	row->delta = difference_of_whole(0, move->gained, false);
	row->state = move->gained ? ROW_CHANGED : ROW_SAME;
	row->after.measured -=
		move->resets < row->after.measured ? move->resets : row->after.measured;
	row->after.population += move->removed;
}

static void set_changed(const struct sheet_work *work, const struct reading_fold *folds,
			struct comparison_row *row)
{
	bool is_same = reading_folds_same(&folds[0], &folds[1], work->reading);

	if (is_same_boot(work) && is_reloaded(work)) {
		row->state = ROW_RESET;
		return;
	}
	if (row->before.shape == VALUE_NUMBER && row->after.shape == VALUE_NUMBER) {
		row->delta = difference_of_whole(row->before.number, row->after.number,
						 row->after.is_signed);
		is_same = row->before.number == row->after.number;
	}
	row->state = is_same ? ROW_SAME : ROW_CHANGED;
}

static void set_state(const struct sheet_work *work, uint32_t key, const struct reading_fold *folds,
		      const char *source, struct comparison_row *row)
{
	bool no_before = row->before.shape == VALUE_ABSENT;
	bool no_after = row->after.shape == VALUE_ABSENT;
	int side = no_after;

	if (!no_before && !no_after) {
		if (work->has_moves)
			set_moved(work, &work->moves[key], row);
		else
			set_changed(work, folds, row);
	} else if (sheet_work_has(work, side, key)) {
		row->state = ROW_ABSENT;
		row->reason = reason_of(work, side, source);
	} else {
		set_one_sided(work, &work->moves[key], row);
	}
}

/* Time that the host's counters ran in all runs of a side, in seconds; 0 when it is not known. */
static double life_of(const struct sheet_work *work, int side)
{
	double life = 0;

	for (size_t run = sheet_work_first(work, side); run < sheet_work_end(work, side); run++) {
		const struct fact *fact = &work->layout.runs[run].snapshot->facts[FACT_boottime_ns];

		if (!fact->present)
			return 0;
		life += (double)fact->number / 1e9;
	}
	return life / (double)(sheet_work_end(work, side) - sheet_work_first(work, side));
}

/* Counters have a rate: over the interval, or of the host over its life; cgroups hide their age. */
static void set_rates(const struct sheet_work *work, struct comparison_row *row)
{
	double before, after;

	if (work->reading->kind != READING_COUNTER)
		return;
	if (work->comparison->mode == COMPARE_INTERVAL) {
		row->has_rate = row->delta.known && work->comparison->elapsed_ns > 0;
		if (row->has_rate)
			row->per_second =
				row->delta.real / ((double)work->comparison->elapsed_ns / 1e9);
		return;
	}
	before = life_of(work, 0);
	after = life_of(work, 1);
	if (work->layout.sheet != SHEET_HOST || before <= 0 || after <= 0)
		return;
	row->has_rate_before = row->before.shape == VALUE_NUMBER;
	row->has_rate_after = row->after.shape == VALUE_NUMBER;
	row->has_rate = row->delta.known && (row->has_rate_before || row->has_rate_after);
	if (row->has_rate_before)
		row->rate_before = (double)row->before.number / before;
	if (row->has_rate_after)
		row->rate_after = (double)row->after.number / after;
}

static int judge(struct sheet_work *work, uint32_t key, struct comparison_row *row)
{
	size_t before, after;

	if (!work->test || !row->delta.known)
		return 0;
	before = sheet_work_gather(work, 0, key);
	after = sheet_work_gather(work, 1, key);
	return mann_whitney_judge(work->test, work->values[0], before, work->values[1], after,
				  &row->significance);
}

int sheet_row_fill(struct sheet_work *work, uint32_t key, const char *source,
		   struct comparison_row *row)
{
	struct reading_fold folds[2];

	row->metric = -1;
	row->name = work->name;
	row->reading = work->reading;
	if (sheet_work_value(work, 0, key, &folds[0], &row->before) < 0 ||
	    sheet_work_value(work, 1, key, &folds[1], &row->after) < 0)
		return -ENOMEM;
	set_state(work, key, folds, source, row);
	set_rates(work, row);
	return judge(work, key, row);
}
