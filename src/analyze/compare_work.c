/* SPDX-License-Identifier: MIT */
#include "analyze/compare_work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare_layout.h"
#include "analyze/losses.h"
#include "analyze/mann_whitney.h"

void compare_work_clear(struct compare_work *work)
{
	for (int side = 0; side < SIDES; side++) {
		for (int scope = 0; scope < SCOPES; scope++)
			free(work->population[side][scope]);
		free(work->medians[side]);
		free(work->values[side]);
	}
	for (int scope = 0; scope < SCOPES; scope++)
		free(work->both[scope]);
	for (size_t i = 0; work->runs && i < work->layout->run_count; i++)
		free(work->runs[i]);
	free(work->runs);
	for (int i = 0; i < FORMULA_INPUTS; i++) {
		free(work->inputs[i]);
		free(work->done[i]);
	}
	free(work->interval);
	free(work->moves);
	free(work->changes);
	free(work->unknown);
	free(work->amounts);
	free(work->numbers);
	exited_sums_clear(&work->sums);
	memset(work, 0, sizeof(*work));
}

static bool has_runs(const struct compare_work *work)
{
	return work->layout->run_count > SIDES;
}

static int side_of(const struct compare_work *work, size_t run)
{
	return run >= work->layout->before_count;
}

/* A group's members: of all runs of a side, and those that A should have had. */
static int count_population(struct compare_work *work)
{
	const struct compare_layout *layout = work->layout;
	size_t groups = layout->group_count;

	for (int side = 0; side < SIDES; side++)
		for (int scope = 0; scope < SCOPES; scope++) {
			work->population[side][scope] = calloc(groups + 1, sizeof(uint32_t));
			if (!work->population[side][scope])
				return -ENOMEM;
		}
	for (size_t run = 0; run < layout->run_count; run++) {
		uint32_t **population = work->population[side_of(work, run)];

		for (size_t group = 0; group < groups; group++) {
			population[SCOPE_THREAD][group] += layout->runs[run].tasks[group];
			population[SCOPE_PROCESS][group] += layout->runs[run].processes[group];
		}
	}
	for (size_t group = 0; layout->is_interval && group < groups; group++) {
		work->population[0][SCOPE_THREAD][group] += layout->missed_tasks[group];
		work->population[0][SCOPE_PROCESS][group] += layout->missed_processes[group];
	}
	return 0;
}

static int find_both(struct compare_work *work)
{
	for (int scope = 0; scope < SCOPES; scope++) {
		work->both[scope] = calloc(work->layout->group_count + 1, sizeof(bool));
		if (!work->both[scope])
			return -ENOMEM;
		for (size_t group = 0; group < work->layout->group_count; group++)
			work->both[scope][group] = work->population[0][scope][group] &&
						   work->population[1][scope][group];
	}
	return 0;
}

static struct cell *new_cells(const struct compare_work *work)
{
	return calloc(work->layout->group_count + 1, sizeof(struct cell));
}

static int init_runs(struct compare_work *work)
{
	size_t runs = work->layout->run_count;

	work->runs = calloc(runs, sizeof(*work->runs));
	for (size_t i = 0; work->runs && i < runs; i++) {
		work->runs[i] = new_cells(work);
		if (!work->runs[i])
			return -ENOMEM;
	}
	work->numbers = calloc(runs, sizeof(*work->numbers));
	if (!work->runs || !work->numbers)
		return -ENOMEM;
	if (!has_runs(work))
		return 0;
	for (int side = 0; side < SIDES; side++) {
		work->medians[side] = new_cells(work);
		work->values[side] = calloc(runs, sizeof(double));
		if (!work->medians[side] || !work->values[side])
			return -ENOMEM;
	}
	return 0;
}

static int work_init(struct compare_work *work)
{
	size_t groups = work->layout->group_count + 1;

	work->changes = calloc(groups, sizeof(*work->changes));
	work->amounts = calloc(groups, sizeof(*work->amounts));
	if (!work->changes || !work->amounts || init_runs(work) < 0 || count_population(work) < 0 ||
	    find_both(work) < 0)
		return -ENOMEM;
	if (!work->layout->is_interval)
		return 0;
	work->interval = new_cells(work);
	work->moves = calloc(groups, sizeof(*work->moves));
	work->unknown = calloc(groups, sizeof(*work->unknown));
	if (!work->interval || !work->moves || !work->unknown)
		return -ENOMEM;
	return exited_sums_init(&work->sums, &work->layout->join);
}

/* Makes room for the inputs of a formula. */
static int need_inputs(struct compare_work *work, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!work->inputs[i])
			work->inputs[i] = new_cells(work);
		if (!work->done[i] && work->layout->is_interval)
			work->done[i] = new_cells(work);
		if (!work->inputs[i] || (!work->done[i] && work->layout->is_interval))
			return -ENOMEM;
	}
	return 0;
}

/* Inputs are counters. */
static void raise_amounts(struct compare_work *work, const struct cell *cells)
{
	for (size_t group = 0; group < work->layout->group_count; group++)
		if (cells[group].known && (double)cells[group].number > work->amounts[group])
			work->amounts[group] = (double)cells[group].number;
}

/* Inputs that a snapshot's kernel does not count: without them on one side, without them on all. */
static uint32_t spared_inputs(const struct compare_work *work, const struct formula *formula)
{
	uint32_t spared = 0;

	for (size_t run = 0; run < work->layout->run_count; run++)
		for (unsigned i = 0; i < formula->count; i++)
			if (input_is_spared(work->layout->runs[run].snapshot, formula, i))
				spared |= 1u << i;
	return spared;
}

/* Whether all that a formula is made of is known of exited threads, too. */
static bool is_told_by_exited(const struct formula *formula)
{
	for (unsigned i = 0; i < formula->count; i++)
		if (exited_total_of(formula->inputs[i]) < 0)
			return false;
	return true;
}

/* A ratio is of tasks that have all of its inputs, or it would be of different ones. */
static void fold_formula_of_moves(struct compare_work *work, uint32_t spared)
{
	const struct formula *formula = &metrics[work->id].formula;
	size_t groups = work->layout->group_count;
	bool with_exited = is_told_by_exited(formula);

	for (unsigned i = 0; i < formula->count; i++) {
		if (with_exited)
			moves_fold(work->moves, work->unknown, work->layout, formula->inputs[i],
				   &work->sums);
		else
			moves_fold_living(work->moves, work->unknown, work->layout,
					  formula->inputs[i]);
		cells_of_moves(work->done[i], work->moves, groups);
	}
	cells_formula(work->interval, groups, work->id, spared, work->done);
	raise_amounts(work, work->done[0]);
}

static int fold_derived(struct compare_work *work)
{
	const struct formula *formula = &metrics[work->id].formula;
	size_t groups = work->layout->group_count;
	uint32_t spared = spared_inputs(work, formula);

	if (need_inputs(work, formula->count) < 0)
		return -ENOMEM;
	memset(work->amounts, 0, groups * sizeof(*work->amounts));
	if (work->layout->is_interval)
		fold_formula_of_moves(work, spared);
	for (size_t run = 0; run < work->layout->run_count; run++) {
		for (unsigned i = 0; i < formula->count; i++)
			cells_fold(work->inputs[i], groups, &work->layout->runs[run],
				   formula->inputs[i]);
		cells_formula(work->runs[run], groups, work->id, spared, work->inputs);
		if (!work->layout->is_interval)
			raise_amounts(work, work->inputs[0]);
	}
	work->has_interval = work->layout->is_interval;
	return 0;
}

static void fold_stored(struct compare_work *work)
{
	const struct compare_layout *layout = work->layout;

	for (size_t run = 0; run < layout->run_count; run++)
		cells_fold(work->runs[run], layout->group_count, &layout->runs[run], work->id);
	work->has_moves = layout->is_interval && metrics[work->id].kind == KIND_COUNTER;
	if (work->has_moves)
		moves_fold(work->moves, work->unknown, layout, work->id, &work->sums);
}

size_t compare_work_gather(const struct compare_work *work, int side, size_t group)
{
	size_t count = 0;

	for (size_t run = 0; run < work->layout->run_count; run++) {
		const struct cell *cell = &work->runs[run][group];

		if (side_of(work, run) == side && cell->known)
			work->values[side][count++] = cell_real(cell, work->id);
	}
	return count;
}

/* The median of whole values, exact: of an even number of runs between the two in the middle. */
static uint64_t median_number(const struct compare_work *work, int side, size_t group)
{
	size_t count = 0;

	for (size_t run = 0; run < work->layout->run_count; run++) {
		const struct cell *cell = &work->runs[run][group];

		if (side_of(work, run) == side && cell->known)
			work->numbers[count++] = cell->number;
	}
	return compare_is_signed(work->id) ?
		       (uint64_t)median_signed((int64_t *)work->numbers, count) :
		       median_whole(work->numbers, count);
}

static void fold_runs(struct compare_work *work, int side)
{
	for (size_t group = 0; group < work->layout->group_count; group++) {
		struct cell *cell = &work->medians[side][group];
		size_t count = compare_work_gather(work, side, group);

		*cell = (struct cell){ .known = count > 0 };
		if (!count)
			continue;
		if (work->is_ratio)
			cell->real = median_real(work->values[side], count);
		else
			cell->number = median_number(work, side, group);
	}
	for (size_t run = 0; run < work->layout->run_count; run++)
		for (size_t group = 0; group < work->layout->group_count; group++)
			if (side_of(work, run) == side)
				work->medians[side][group].measured +=
					work->runs[run][group].measured;
}

struct difference difference_of_whole(uint64_t before, uint64_t after, bool is_signed)
{
	bool is_negative = is_signed ? (int64_t)after < (int64_t)before : after < before;
	struct difference delta = { .known = true, .is_negative = is_negative };

	delta.magnitude = is_negative ? before - after : after - before;
	delta.real = is_negative ? -(double)delta.magnitude : (double)delta.magnitude;
	return delta;
}

struct difference difference_of_real(double before, double after)
{
	return (struct difference){ .known = true,
				    .is_real = true,
				    .is_negative = after < before,
				    .real = after - before };
}

static struct difference difference_of_cells(const struct compare_work *work,
					     const struct cell *before, const struct cell *after)
{
	if (work->is_ratio)
		return difference_of_real(before->real, after->real);
	return difference_of_whole(before->number, after->number, compare_is_signed(work->id));
}

/* Of what a formula gives over the interval. */
static struct difference difference_of_interval(const struct compare_work *work, size_t group)
{
	static const struct cell nothing;
	const struct cell *before = work->is_ratio ? &work->sides[0][group] : &nothing;

	if (!work->interval[group].known || (work->is_ratio && !before->known))
		return (struct difference){ 0 };
	return difference_of_cells(work, before, &work->interval[group]);
}

/*
 * Where a side does not have the group, it has nothing of what adds up; nothing is
 * known where neither has it, as of processes among exited threads.
 */
static struct difference difference_of_sides(const struct compare_work *work, size_t group)
{
	static const struct cell nothing;
	const struct cell *cells[SIDES];

	if (!work->sides[0][group].known && !work->sides[1][group].known)
		return (struct difference){ 0 };
	for (int side = 0; side < SIDES; side++) {
		cells[side] = &work->sides[side][group];
		if (compare_work_population(work, side, group) == 0 && compare_adds_up(work->id))
			cells[side] = &nothing;
		else if (!cells[side]->known)
			return (struct difference){ 0 };
	}
	return difference_of_cells(work, cells[0], cells[1]);
}

static inline struct difference difference_of_group(const struct compare_work *work, size_t group)
{
	const struct move *move;

	if (work->has_interval)
		return difference_of_interval(work, group);
	if (!work->has_moves)
		return difference_of_sides(work, group);
	move = &work->moves[group];
	if (!move->known)
		return (struct difference){ 0 };
	return difference_of_whole(move->lost, move->gained, false);
}

struct difference compare_work_difference(const struct compare_work *work, size_t group)
{
	return difference_of_group(work, group);
}

/* Most metrics are counters, and most of their groups need no more than this. */
static void find_moves(struct compare_work *work)
{
	for (size_t group = 0; group < work->layout->group_count; group++) {
		const struct move *move = &work->moves[group];
		bool is_negative = move->lost > move->gained;
		uint64_t magnitude =
			is_negative ? move->lost - move->gained : move->gained - move->lost;

		work->changes[group] = NAN;
		if (!move->known)
			continue;
		work->changes[group] = is_negative ? -(double)magnitude : (double)magnitude;
		work->total += (double)magnitude;
	}
}

static void find_changes(struct compare_work *work)
{
	work->total = 0;
	if (work->has_moves) {
		find_moves(work);
		return;
	}
	for (size_t group = 0; group < work->layout->group_count; group++) {
		struct difference difference = difference_of_group(work, group);

		work->changes[group] = difference.known ? difference.real : NAN;
		work->total += work->is_ratio ? work->amounts[group] : fabs(difference.real);
	}
}

int compare_work_fold(struct compare_work *work, enum metric_id id)
{
	int status = 0;

	work->id = id;
	work->is_ratio = compare_is_ratio(id);
	work->has_moves = work->has_interval = false;
	if (metric_is_derived(id))
		status = fold_derived(work);
	else
		fold_stored(work);
	if (status < 0)
		return status;
	for (int side = 0; side < SIDES; side++) {
		work->sides[side] = work->runs[side];
		if (!has_runs(work))
			continue;
		fold_runs(work, side);
		work->sides[side] = work->medians[side];
	}
	find_changes(work);
	return 0;
}

int compare_work_init(struct compare_work *work, const struct compare_layout *layout)
{
	int status;

	memset(work, 0, sizeof(*work));
	work->layout = layout;
	status = work_init(work);
	if (status < 0)
		compare_work_clear(work);
	return status;
}
