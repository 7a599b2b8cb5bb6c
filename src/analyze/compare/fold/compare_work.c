/* SPDX-License-Identifier: MIT */
#include "analyze/compare/fold/compare_work.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/verdict/losses.h"
#include "analyze/threshold/mann_whitney.h"
#include "model/snapshot/snapshot.h"

static bool has_runs(const struct compare_work *work)
{
	return work->layout->run_count > SIDES;
}

static int init_runs(struct compare_work *work)
{
	struct arena *arena = &work->arena;
	size_t runs = work->layout->run_count, groups = work->layout->group_count;
	int status = arena_array(arena, work->runs, runs);

	for (size_t i = 0; i < runs && status == 0; i++)
		status = arena_array(arena, work->runs[i], groups);
	if (status == 0)
		status = arena_array(arena, work->numbers, runs);
	for (int side = 0; side < SIDES && has_runs(work) && status == 0; side++)
		if (arena_array(arena, work->medians[side], groups) < 0 ||
		    arena_array(arena, work->values[side], runs) < 0)
			status = -ENOMEM;
	return status;
}

static int init_interval(struct compare_work *work)
{
	struct arena *arena = &work->arena;
	size_t groups = work->layout->group_count;

	if (arena_array(arena, work->interval, groups) < 0 ||
	    arena_array(arena, work->moves, groups) < 0 ||
	    arena_array(arena, work->unknown, groups) < 0)
		return -ENOMEM;
	return work->layout->join.after ?
		       exited_sums_init(&work->sums, arena, &work->layout->join) :
		       0;
}

int compare_work_init(struct compare_work *work, const struct compare_layout *layout)
{
	*work = (struct compare_work){ .layout = layout };
	if (arena_array(&work->arena, work->changes, layout->group_count) < 0 ||
	    arena_array(&work->arena, work->amounts, layout->group_count) < 0 ||
	    init_runs(work) < 0)
		return -ENOMEM;
	return layout->is_interval ? init_interval(work) : 0;
}

void compare_work_clear(struct compare_work *work)
{
	arena_clear(&work->arena);
}

/* Makes room for the inputs of a formula. */
static int need_inputs(struct compare_work *work, unsigned count)
{
	size_t groups = work->layout->group_count;
	int status = 0;

	for (unsigned i = 0; i < count && status == 0; i++) {
		if (!work->inputs[i])
			status = arena_array(&work->arena, work->inputs[i], groups);
		if (status == 0 && !work->done[i] && work->layout->is_interval)
			status = arena_array(&work->arena, work->done[i], groups);
	}
	return status;
}

/* Inputs are counters. */
static void raise_amounts(struct compare_work *work, const struct cell *cells)
{
	for (size_t group = 0; group < work->layout->group_count; group++)
		if (cells[group].known && (double)cells[group].number > work->amounts[group])
			work->amounts[group] = (double)cells[group].number;
}

/* Inputs that some snapshot's kernel does not count: all snapshots then do without them. */
static uint32_t spared_inputs(const struct compare_work *work, const struct formula *formula)
{
	uint32_t spared = 0;

	for (size_t run = 0; run < work->layout->run_count; run++)
		for (unsigned i = 0; i < formula->count; i++)
			if (input_is_spared(work->layout->runs[run].snapshot, formula, i))
				spared |= 1u << i;
	return spared;
}

/* Whether exited threads have all inputs of the formula too. */
static bool is_told_by_exited(const struct formula *formula)
{
	for (unsigned i = 0; i < formula->count; i++)
		if (exited_total_of(formula->inputs[i]) < 0)
			return false;
	return true;
}

/* Folds the cells of a run, and what groups contain. */
static void fold_cells(const struct compare_work *work, struct cell *cells, size_t run,
		       const struct metric *metric)
{
	const struct compare_layout *layout = work->layout;

	cells_fold(cells, layout->group_count, &layout->runs[run], metric);
	cells_climb(cells, layout, metric);
}

static void fold_moves(struct compare_work *work, const struct metric *metric,
		       struct exited_sums *sums)
{
	moves_fold(work->moves, work->unknown, work->layout, metric, sums);
	moves_climb(work->moves, work->unknown, work->layout);
}

/*
 * A ratio covers only tasks that have all its inputs; else its parts would be
 * of different tasks.
 */
static void fold_formula_of_moves(struct compare_work *work, uint32_t spared)
{
	const struct formula *formula = &work->metric->formula;
	size_t groups = work->layout->group_count;
	bool with_exited = is_told_by_exited(formula);

	for (unsigned i = 0; i < formula->count; i++) {
		fold_moves(work, &metrics[formula->inputs[i]], with_exited ? &work->sums : NULL);
		cells_of_moves(work->done[i], work->moves, groups);
	}
	cells_formula(work->interval, groups, work->metric, spared, work->done);
	raise_amounts(work, work->done[0]);
}

/* Amounts of an interval become what was done in a second of it. */
static void make_rates(struct compare_work *work, size_t run)
{
	double seconds = work->layout->runs[run].seconds;

	for (size_t group = 0; group < work->layout->group_count; group++) {
		struct cell *cell = &work->runs[run][group];

		cell->real = cell->known ? cell_real(cell, work->metric) / seconds : 0;
	}
}

static int fold_derived(struct compare_work *work)
{
	const struct formula *formula = &work->metric->formula;
	size_t groups = work->layout->group_count;
	uint32_t spared = spared_inputs(work, formula);

	if (need_inputs(work, formula->count) < 0)
		return -ENOMEM;
	memset(work->amounts, 0, groups * sizeof(*work->amounts));
	if (work->layout->is_interval)
		fold_formula_of_moves(work, spared);
	for (size_t run = 0; run < work->layout->run_count; run++) {
		for (unsigned i = 0; i < formula->count; i++)
			fold_cells(work, work->inputs[i], run, &metrics[formula->inputs[i]]);
		cells_formula(work->runs[run], groups, work->metric, spared, work->inputs);
		if (!work->layout->is_interval)
			raise_amounts(work, work->inputs[0]);
		if (work->is_rate)
			make_rates(work, run);
	}
	work->has_interval = work->layout->is_interval;
	return 0;
}

/* The change of a counter in an interval is known without the sides. */
static void fold_stored(struct compare_work *work, bool changes_only)
{
	const struct compare_layout *layout = work->layout;

	work->has_moves =
		layout->before_of[work->metric->scope] && work->metric->kind == KIND_COUNTER;
	for (size_t run = 0; run < layout->run_count && !(work->has_moves && changes_only); run++) {
		fold_cells(work, work->runs[run], run, work->metric);
		if (work->is_rate)
			make_rates(work, run);
	}
	if (work->has_moves)
		fold_moves(work, work->metric, &work->sums);
}

size_t compare_work_gather(const struct compare_work *work, int side, size_t group)
{
	size_t count = 0;

	for (size_t run = compare_first(work->layout, side); run < compare_end(work->layout, side);
	     run++) {
		const struct cell *cell = &work->runs[run][group];

		if (!cell->known)
			continue;
		work->numbers[count] = cell->number;
		work->values[side][count++] = compare_work_real(work, cell);
	}
	return count;
}

static void fold_runs(struct compare_work *work, int side)
{
	bool is_signed = compare_is_signed(work->metric);

	for (size_t group = 0; group < work->layout->group_count; group++) {
		struct cell *cell = &work->medians[side][group];
		size_t count = compare_work_gather(work, side, group);

		*cell = (struct cell){ .known = count > 0 };
		if (count && work->is_real)
			cell->real = median_real(work->values[side], count);
		else if (count)
			cell->number = median_whole(work->numbers, count, is_signed);
		for (size_t run = compare_first(work->layout, side);
		     run < compare_end(work->layout, side); run++)
			cell->measured += work->runs[run][group].measured;
	}
}

/* Whether the BPF scheduler was reloaded in between: its own counters then restarted. */
static bool is_reloaded(const struct compare_layout *layout, const struct metric *metric)
{
	static const char loads[] = "sched_ext enable_seq";
	const struct compare_run *before = &layout->runs[0], *after = &layout->runs[1];
	const struct fact *boot = &before->snapshot->facts[FACT_boot_id];
	const struct fact *other = &after->snapshot->facts[FACT_boot_id];
	uint64_t was = 0, is = 0;

	return strcmp(metric->name, "sched_ext nr_rejected") == 0 && layout->run_count == SIDES &&
	       (layout->is_interval ||
		(boot->present && other->present && strcmp(boot->text, other->text) == 0)) &&
	       column_get(sheet_find(before->sheet, loads), 0, &was) == CELL_NUMBER &&
	       column_get(sheet_find(after->sheet, loads), 0, &is) == CELL_NUMBER && was != is;
}

void compare_work_begin(struct compare_work *work, const struct metric *metric)
{
	work->metric = metric;
	work->is_ratio = compare_is_ratio(metric);
	work->is_rate = work->layout->is_rates &&
			(metric->kind == KIND_COUNTER || compare_is_whole(metric));
	work->is_real = work->is_ratio || work->is_rate;
	work->is_reset = metric_is_reading(metric) && is_reloaded(work->layout, metric);
	work->has_moves = work->has_interval = false;
	work->total = 0;
}

static int fold(struct compare_work *work, const struct metric *metric, bool changes_only)
{
	int status = 0;

	compare_work_begin(work, metric);
	if (metric->kind == KIND_DERIVED)
		status = fold_derived(work);
	else
		fold_stored(work, changes_only);
	if (status < 0)
		return status;
	for (int side = 0; side < SIDES; side++) {
		work->sides[side] = work->runs[side];
		if (!has_runs(work))
			continue;
		fold_runs(work, side);
		work->sides[side] = work->medians[side];
	}
	compare_work_find_changes(work);
	return 0;
}

int compare_work_fold(struct compare_work *work, const struct metric *metric)
{
	return fold(work, metric, false);
}

int compare_work_fold_changes(struct compare_work *work, const struct metric *metric)
{
	return fold(work, metric, true);
}
