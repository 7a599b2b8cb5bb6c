/* SPDX-License-Identifier: MIT */
#include "analyze/compare_fold.h"

#include <string.h>

#include "analyze/compare_layout.h"
#include "analyze/exited.h"
#include "metric/fold.h"
#include "model/snapshot.h"

bool compare_is_number(enum metric_id id)
{
	switch (metrics[id].fold) {
	case FOLD_SUM:
	case FOLD_MAX:
	case FOLD_MIN:
	case FOLD_FORMULA:
		return true;
	case FOLD_RANGE:
	case FOLD_MODE:
	case FOLD_CPUSET:
		break;
	}
	return false;
}

bool compare_is_whole(enum metric_id id)
{
	return formula_is_whole(&metrics[id].formula);
}

bool compare_is_ratio(enum metric_id id)
{
	return metric_is_derived(id) && !compare_is_whole(id);
}

bool compare_is_signed(enum metric_id id)
{
	return metrics[id].formula.kind == FORMULA_DIFFERENCE;
}

bool compare_adds_up(enum metric_id id)
{
	return metrics[id].fold == FOLD_SUM || compare_is_whole(id);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

double cell_real(const struct cell *cell, enum metric_id id)
{
	if (compare_is_ratio(id))
		return cell->real;
	return compare_is_signed(id) ? (double)(int64_t)cell->number : (double)cell->number;
}

static void sum_column(struct cell *cells, const uint32_t *group_of, const struct column *column,
		       size_t rows)
{
	for (size_t row = 0; row < rows; row++) {
		struct cell *cell = &cells[group_of[row]];

		if (!column->present[row])
			continue;
		cell->number = add(cell->number, column->values[row]);
		cell->measured++;
		cell->known = true;
	}
}

/* Whether a value takes the place of the cell's.  A low of 0 is a task without an event. */
static bool beats(const struct cell *cell, const struct metric *metric, uint64_t value)
{
	if (metric->fold == FOLD_MAX)
		return value > cell->number;
	if (metric->kind == KIND_LOW && (value == 0 || cell->number == 0))
		return cell->number == 0;
	return cell->measured == 0 || value < cell->number;
}

static void pick_column(struct cell *cells, const uint32_t *group_of, const struct column *column,
			size_t rows, const struct metric *metric)
{
	for (size_t row = 0; row < rows; row++) {
		struct cell *cell = &cells[group_of[row]];

		if (!column->present[row])
			continue;
		if (beats(cell, metric, column->values[row]))
			cell->number = column->values[row];
		cell->measured++;
		cell->known = true;
	}
}

void cells_fold(struct cell *cells, size_t groups, const struct compare_run *run, enum metric_id id)
{
	const struct column *column = &run->snapshot->columns[id];
	size_t rows = snapshot_rows(run->snapshot, id);
	const uint32_t *group_of =
		metrics[id].scope == SCOPE_THREAD ? run->group_of_task : run->group_of_process;

	memset(cells, 0, groups * sizeof(*cells));
	if (!column->values)
		return;
	if (metrics[id].fold == FOLD_SUM)
		sum_column(cells, group_of, column, rows);
	else
		pick_column(cells, group_of, column, rows, &metrics[id]);
}

static void formula_of_group(struct cell *cell, const struct formula *formula, uint32_t spared,
			     struct cell *const *inputs, size_t group)
{
	uint64_t numbers[FORMULA_INPUTS] = { 0 }, number;
	double real;

	*cell = (struct cell){ .measured = inputs[0][group].measured };
	for (unsigned i = 0; i < formula->count; i++) {
		const struct cell *input = &inputs[i][group];

		if (spared & 1u << i)
			continue;
		if (input->measured < cell->measured)
			cell->measured = input->measured;
		if (!input->known)
			return;
		numbers[i] = input->number;
	}
	cell->known = formula_evaluate(formula, numbers, &number, &real);
	if (!cell->known)
		return;
	if (formula_is_whole(formula))
		cell->number = number;
	else
		cell->real = real;
}

void cells_formula(struct cell *cells, size_t groups, enum metric_id id, uint32_t spared,
		   struct cell *const *inputs)
{
	for (size_t i = 0; i < groups; i++)
		formula_of_group(&cells[i], &metrics[id].formula, spared, inputs, i);
}

/* Whether the value is worked out from others read at slightly different times. */
static bool may_waver(enum metric_id id)
{
	const struct metric *metric = &metrics[id];

	return metric_source(metric, PLACE_DECODED) || metric_source(metric, PLACE_GROUP_STAT) ||
	       metric_source(metric, PLACE_GROUP_IO);
}

static inline void move_cell(struct move *move, uint64_t before, uint64_t after, bool wavers)
{
	if (after >= before) {
		move->gained = add(move->gained, after - before);
	} else if (wavers) {
		move->lost = add(move->lost, before - after);
	} else {
		move->resets++;
		return;
	}
	move->known++;
}

/* What a total had and got without work in between; a total that fell is left alone. */
static uint64_t with_inherited(uint64_t before, uint64_t inherited, uint64_t after)
{
	uint64_t raised = add(before, inherited);

	if (after < before)
		return before;
	return raised < after ? raised : after;
}

/* Members that stayed and that were born.  Of totals: what they inherited, else NULL. */
static void move_members(struct move *moves, const struct compare_layout *layout, enum metric_id id,
			 const struct exited_sums *inherited)
{
	const struct compare_run *after = &layout->runs[1];
	bool is_thread = metrics[id].scope == SCOPE_THREAD;
	const struct column *a = &layout->runs[0].snapshot->columns[id];
	const struct column *b = &after->snapshot->columns[id];
	const uint32_t *before_of =
		is_thread ? layout->join.before_of_task : layout->join.before_of_process;
	const uint32_t *group_of = is_thread ? after->group_of_task : after->group_of_process;
	size_t rows = snapshot_rows(after->snapshot, id);
	bool wavers = may_waver(id);

	for (size_t row = 0; b->values && row < rows; row++) {
		uint32_t old = before_of[row];
		uint64_t before = 0;

		if (!b->present[row] || old == JOIN_MISSED)
			continue;
		if (join_is_row(old)) {
			if (!a->values || !a->present[old] ||
			    (inherited && inherited->missing[old]))
				continue;
			before = a->values[old];
			if (inherited)
				before = with_inherited(before, inherited->sums[old],
							b->values[row]);
		}
		move_cell(&moves[group_of[row]], before, b->values[row], wavers);
	}
}

/*
 * Threads that ended without telling, in the groups that they had.  A thread that
 * came and went in between is one of its process's group at least, where groups
 * are not of threads.
 */
static void count_untold(uint32_t *unknown, const struct compare_layout *layout, uint32_t process)
{
	const struct join *join = &layout->join;
	uint32_t group = layout->exited_group[process], old = join->before_of_process[process];
	uint32_t ended = join_is_row(old) ? join->ended_in_process[old] : 0;
	const uint32_t *group_of_task = layout->runs[0].group_of_task;
	size_t first;

	if (group < layout->first_exited) {
		unknown[group] += ended ? ended : exited_passed(join, process);
		return;
	}
	if (!ended)
		return;
	first = join_first_ended(join, old);
	for (uint32_t i = 0; i < ended; i++)
		unknown[group_of_task[join->ended_tasks[first + i]]]++;
}

/* Threads that ended, by what their processes tell. */
static void move_exited(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
			enum metric_id id, struct exited_sums *sums)
{
	const struct join *join = &layout->join;

	exited_sums_fold(sums, join, id);
	for (uint32_t row = 0; row < join->after->process_count; row++) {
		uint32_t group = layout->exited_group[row];
		bool own_group = group >= layout->first_exited;
		struct exited exited;

		if (group == NO_GROUP)
			continue;
		exited = exited_of(sums, join, id, row);
		if (exited.known) {
			moves[group].gained = add(moves[group].gained, exited.work);
			moves[group].known += own_group || exited.work;
		}
		if (!exited.known)
			count_untold(unknown, layout, row);
	}
}

void moves_fold_living(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		       enum metric_id id)
{
	memset(moves, 0, layout->group_count * sizeof(*moves));
	memset(unknown, 0, layout->group_count * sizeof(*unknown));
	move_members(moves, layout, id, NULL);
	for (uint32_t row = 0; row < layout->join.after->process_count; row++)
		if (metrics[id].scope == SCOPE_THREAD && layout->exited_group[row] != NO_GROUP)
			count_untold(unknown, layout, row);
}

void moves_fold(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		enum metric_id id, struct exited_sums *sums)
{
	bool inherits;

	memset(moves, 0, layout->group_count * sizeof(*moves));
	memset(unknown, 0, layout->group_count * sizeof(*unknown));
	inherits = exited_sums_fold_total(sums, &layout->join, id);
	move_members(moves, layout, id, inherits ? sums : NULL);
	if (metrics[id].scope == SCOPE_THREAD)
		move_exited(moves, unknown, layout, id, sums);
}

void cells_of_moves(struct cell *cells, const struct move *moves, size_t groups)
{
	for (size_t i = 0; i < groups; i++) {
		const struct move *move = &moves[i];

		cells[i].number = move->gained > move->lost ? move->gained - move->lost : 0;
		cells[i].measured = move->known;
		cells[i].known = move->known > 0;
	}
}
