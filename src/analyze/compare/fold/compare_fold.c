/* SPDX-License-Identifier: MIT */
#include "analyze/compare/fold/compare_fold.h"

#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/comparison.h"
#include "analyze/match/exited.h"
#include "base/collection/array.h"
#include "metric/fold.h"
#include "model/counter.h"
#include "model/snapshot/snapshot.h"

bool compare_is_number(const struct metric *metric)
{
	return metric->fold != FOLD_RANGE && metric->fold != FOLD_MODE &&
	       metric->fold != FOLD_CPUSET;
}

bool compare_is_whole(const struct metric *metric)
{
	return formula_is_whole(&metric->formula);
}

bool compare_is_ratio(const struct metric *metric)
{
	return metric->kind == KIND_DERIVED && !compare_is_whole(metric);
}

bool compare_is_signed(const struct metric *metric)
{
	return metric->formula.kind == FORMULA_DIFFERENCE;
}

bool compare_adds_up(const struct metric *metric)
{
	return metric->fold == FOLD_SUM || compare_is_whole(metric);
}

double cell_real(const struct cell *cell, const struct metric *metric)
{
	if (compare_is_ratio(metric))
		return cell->real;
	return compare_is_signed(metric) ? (double)(int64_t)cell->number : (double)cell->number;
}

/* Readings of a cgroup that do not include the cgroups below it. */
static const char *const local_prefixes[] = { "memory.events.local " };

static const uint32_t *above_of(const struct member_rows *rows, const struct metric *metric)
{
	for (size_t i = 0; rows->above && i < ARRAY_SIZE(local_prefixes); i++)
		if (strncmp(metric->name, local_prefixes[i], strlen(local_prefixes[i])) == 0)
			return NULL;
	return rows->above;
}

/* Whether another row of the same group already includes this row's value. */
static bool is_contained(const uint32_t *above, const struct column *column, size_t row)
{
	for (uint32_t at = above[row]; at != NO_ROW; at = above[at])
		if (column->states[at] == CELL_NUMBER)
			return true;
	return false;
}

/* Whether a value replaces the cell's.  A minimum of 0 means that the task had no event. */
static bool beats(const struct cell *cell, const struct metric *metric, uint64_t value)
{
	if (metric->fold == FOLD_MAX)
		return value > cell->number;
	if (metric->kind == KIND_LOW && (value == 0 || cell->number == 0))
		return cell->number == 0;
	return cell->measured == 0 || value < cell->number;
}

static inline void fold_column(struct cell *cells, const struct member_rows *rows,
			       const struct column *column, const uint32_t *above, bool is_sum)
{
	for (size_t i = 0; i < rows->member_count; i++) {
		uint32_t row = rows->members[i].row;
		struct cell *cell = &cells[rows->members[i].group];

		if (column->states[row] != CELL_NUMBER)
			continue;
		if (!above || !is_contained(above, column, row)) {
			if (is_sum)
				counter_add(&cell->number, column->values[row]);
			else if (beats(cell, column->metric, column->values[row]))
				cell->number = column->values[row];
		}
		cell->measured++;
		cell->known = true;
	}
}

void cells_fold(struct cell *cells, size_t groups, const struct compare_run *run,
		const struct metric *metric)
{
	const struct column *column = compare_column(run, metric);
	const struct member_rows *rows = &run->rows[metric->scope];

	memset(cells, 0, groups * sizeof(*cells));
	if (!column || !column->values)
		return;
	/* Twice, so that the compiler makes a loop for each. */
	if (metric->fold == FOLD_SUM)
		fold_column(cells, rows, column, above_of(rows, metric), true);
	else
		fold_column(cells, rows, column, above_of(rows, metric), false);
}

void cells_climb(struct cell *cells, const struct compare_layout *layout,
		 const struct metric *metric)
{
	for (size_t group = layout->group_count; layout->parents && group-- > 1;) {
		struct cell *above = &cells[layout->parents[group]];
		const struct cell *cell = &cells[group];

		if (!cell->known)
			continue;
		if (metric->fold == FOLD_SUM)
			counter_add(&above->number, cell->number);
		else if (beats(above, metric, cell->number))
			above->number = cell->number;
		above->measured += cell->measured;
		above->known = true;
	}
}

void moves_climb(struct move *moves, uint32_t *unknown, const struct compare_layout *layout)
{
	for (size_t group = layout->group_count; layout->parents && group-- > 1;) {
		struct move *above = &moves[layout->parents[group]];
		const struct move *move = &moves[group];

		counter_add(&above->gained, move->gained);
		counter_add(&above->lost, move->lost);
		counter_add(&above->ended, move->ended);
		above->known += move->known;
		above->resets += move->resets;
		unknown[layout->parents[group]] += unknown[group];
	}
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

void cells_formula(struct cell *cells, size_t groups, const struct metric *metric, uint32_t spared,
		   struct cell *const *inputs)
{
	for (size_t i = 0; i < groups; i++)
		formula_of_group(&cells[i], &metric->formula, spared, inputs, i);
}

/* Whether the value is computed from others that were read at slightly different times. */
static bool may_waver(const struct metric *metric)
{
	return metric_source(metric, PLACE_DECODED) || metric_source(metric, PLACE_GROUP_STAT) ||
	       metric_source(metric, PLACE_GROUP_IO);
}

static inline void move_cell(struct move *move, uint64_t before, uint64_t after, bool wavers)
{
	if (after >= before) {
		counter_add(&move->gained, after - before);
	} else if (wavers) {
		counter_add(&move->lost, before - after);
	} else {
		move->resets++;
		return;
	}
	move->known++;
}

/*
 * The total before plus what it inherited without work in between; a total that
 * fell is unchanged.
 */
static uint64_t with_inherited(uint64_t before, uint64_t inherited, uint64_t after)
{
	uint64_t raised = before;

	counter_add(&raised, inherited);
	if (after < before)
		return before;
	return raised < after ? raised : after;
}

/* Adds rows that stayed and rows that were born.  `inherited` is for totals, else NULL. */
static void move_members(struct move *moves, const struct compare_layout *layout,
			 const struct metric *metric, const struct exited_sums *inherited)
{
	const struct compare_run *after = &layout->runs[1];
	const struct member_rows *rows = &after->rows[metric->scope];
	const struct column *a = compare_column(&layout->runs[0], metric);
	const struct column *b = compare_column(after, metric);
	const uint32_t *above = above_of(rows, metric);
	bool wavers = may_waver(metric);

	for (size_t i = 0; b && b->values && i < rows->member_count; i++) {
		uint32_t row = rows->members[i].row;
		uint32_t old = layout->before_of[metric->scope][row];
		uint64_t before = 0;

		if (b->states[row] != CELL_NUMBER || old == JOIN_MISSED ||
		    (above && is_contained(above, b, row)))
			continue;
		if (join_is_row(old)) {
			if (!a || !a->values || a->states[old] != CELL_NUMBER ||
			    (inherited && inherited->missing[old]))
				continue;
			before = a->values[old];
			if (inherited)
				before = with_inherited(before, inherited->sums[old],
							b->values[row]);
		}
		move_cell(&moves[rows->members[i].group], before, b->values[row], wavers);
	}
}

/* Nobody reports what a cgroup did before it was removed. */
static void count_removed(uint32_t *unknown, const struct compare_layout *layout,
			  const struct metric *metric)
{
	const struct member_rows *rows = &layout->runs[0].rows[metric->scope];
	const struct column *column = compare_column(&layout->runs[0], metric);
	const uint32_t *above = above_of(rows, metric);

	for (size_t i = 0; column && column->values && i < layout->removed_count; i++) {
		uint32_t row = layout->removed[i];

		if (column->states[row] == CELL_NUMBER &&
		    !(above && is_contained(above, column, row)))
			unknown[rows->group_of[row]]++;
	}
}

/*
 * Counts threads whose last work is not known, in the groups that they had.  A
 * thread that came and went in between counts as at least one in its process's
 * group, where groups are not of threads.
 */
static void count_untold(uint32_t *unknown, const struct compare_layout *layout, uint32_t process)
{
	const struct join *join = &layout->join;
	uint32_t group = layout->exited_group[process], old = join->before_of_process[process];
	uint32_t ended = join_is_row(old) ? join->ended_in_process[old] : 0;
	const uint32_t *group_of_task = layout->runs[0].rows[METRIC_OF_THREAD].group_of;
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

/* Adds the work of threads that ended, as their processes report it; NULL: all of it is unknown. */
static void move_exited(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
			enum metric_id id, struct exited_sums *sums)
{
	const struct join *join = &layout->join;

	if (sums)
		exited_sums_fold(sums, join, id);
	for (uint32_t row = 0; row < join->after->process_count; row++) {
		uint32_t group = layout->exited_group[row];
		struct exited exited = { 0 };

		if (group == NO_GROUP)
			continue;
		if (sums)
			exited = exited_of(sums, join, id, row);
		if (!exited.known) {
			count_untold(unknown, layout, row);
			continue;
		}
		counter_add(&moves[group].gained, exited.work);
		counter_add(&moves[group].ended, exited.work);
		moves[group].known += group >= layout->first_exited || exited.work;
	}
}

void moves_fold(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		const struct metric *metric, struct exited_sums *sums)
{
	bool inherits = sums && !metric_is_reading(metric) &&
			exited_sums_fold_total(sums, &layout->join, metric_number(metric));

	memset(moves, 0, layout->group_count * sizeof(*moves));
	memset(unknown, 0, layout->group_count * sizeof(*unknown));
	move_members(moves, layout, metric, inherits ? sums : NULL);
	if (metric->scope == METRIC_OF_THREAD)
		move_exited(moves, unknown, layout, metric_number(metric), sums);
	else
		count_removed(unknown, layout, metric);
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
