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
	enum formula_kind kind = metrics[id].formula.kind;

	return kind == FORMULA_DIFFERENCE || kind == FORMULA_SUM_AND_LARGER;
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

/* The cell's number with one more value.  A low of 0 is a task without an event. */
static inline uint64_t fold_value(const struct cell *cell, enum metric_fold fold, bool skips_zero,
				  uint64_t value)
{
	switch (fold) {
	case FOLD_SUM:
		return add(cell->number, value);
	case FOLD_MAX:
		return value > cell->number ? value : cell->number;
	case FOLD_MIN:
		if (skips_zero && value == 0)
			return cell->number;
		if (skips_zero && cell->number == 0)
			return value;
		return cell->measured == 0 || value < cell->number ? value : cell->number;
	default:
		return cell->number;
	}
}

void cells_fold(struct cell *cells, size_t groups, const struct compare_run *run, enum metric_id id)
{
	const struct column *column = &run->snapshot->columns[id];
	bool skips_zero = metrics[id].kind == KIND_LOW;
	enum metric_fold fold = metrics[id].fold;
	size_t rows = snapshot_rows(run->snapshot, id);
	const uint32_t *group_of =
		metrics[id].scope == SCOPE_THREAD ? run->group_of_task : run->group_of_process;

	memset(cells, 0, groups * sizeof(*cells));
	for (size_t row = 0; column->values && row < rows; row++) {
		struct cell *cell = &cells[group_of[row]];

		if (!column->present[row])
			continue;
		cell->number = fold_value(cell, fold, skips_zero, column->values[row]);
		cell->measured++;
	}
	for (size_t i = 0; i < groups; i++) {
		cells[i].known = cells[i].measured > 0;
		cells[i].real = (double)cells[i].number;
	}
}

static void formula_of_group(struct cell *cell, enum metric_id id, struct cell *const *inputs,
			     size_t group)
{
	const struct metric *metric = &metrics[id];
	struct fold folds[FORMULA_INPUTS], result;

	*cell = (struct cell){ .measured = inputs[0][group].measured };
	for (unsigned i = 0; i < metric->formula.count; i++) {
		const struct cell *input = &inputs[i][group];

		if (input->measured < cell->measured)
			cell->measured = input->measured;
		if (!input->known)
			return;
		folds[i].shape = SHAPE_NUMBER;
		folds[i].number = input->number;
		folds[i].measured = folds[i].population = input->measured;
	}
	fold_formula(&result, metric, folds);
	cell->known = result.shape == SHAPE_REAL;
	cell->number = result.number;
	cell->real = result.real;
}

void cells_formula(struct cell *cells, size_t groups, enum metric_id id, struct cell *const *inputs)
{
	for (size_t i = 0; i < groups; i++)
		formula_of_group(&cells[i], id, inputs, i);
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

/* Members that stayed and that were born. */
static void move_members(struct move *moves, const struct compare_layout *layout, enum metric_id id)
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

		if (!b->present[row])
			continue;
		if (old == JOIN_BORN)
			move_cell(&moves[group_of[row]], 0, b->values[row], wavers);
		else if (old != JOIN_MISSED && a->values && a->present[old])
			move_cell(&moves[group_of[row]], a->values[old], b->values[row], wavers);
	}
}

static void show_totals(const struct exited *exited, struct cell *before, struct cell *after)
{
	if (exited->has_before) {
		before->number = add(before->number, exited->before);
		before->real = (double)before->number;
		before->measured++;
		before->known = true;
	}
	after->number = add(after->number, exited->after);
	after->real = (double)after->number;
	after->measured++;
	after->known = true;
}

/* Threads that ended, by what their processes tell. */
static void move_exited(struct move *moves, const struct compare_layout *layout, enum metric_id id,
			struct exited_sums *sums, struct cell *before, struct cell *after)
{
	const struct join *join = &layout->join;

	exited_sums_fold(sums, join, id);
	for (uint32_t row = 0; row < join->after->process_count; row++) {
		uint32_t group = layout->exited_group[row], old = join->before_of_process[row];
		bool own_group = group >= layout->first_exited;
		struct exited exited;

		if (group == NO_GROUP)
			continue;
		exited = exited_of(sums, join, id, row);
		if (exited.known) {
			moves[group].gained = add(moves[group].gained, exited.work);
			moves[group].known += own_group || exited.work;
		}
		if (exited.known && own_group && before)
			show_totals(&exited, &before[group], &after[group]);
		else if (!exited.known && !own_group && join_is_row(old))
			moves[group].unknown += join->ended_in_process[old];
	}
}

void moves_fold(struct move *moves, const struct compare_layout *layout, enum metric_id id,
		struct exited_sums *sums, struct cell *before, struct cell *after)
{
	memset(moves, 0, layout->group_count * sizeof(*moves));
	move_members(moves, layout, id);
	if (metrics[id].scope == SCOPE_THREAD)
		move_exited(moves, layout, id, sums, before, after);
}

void cells_of_moves(struct cell *cells, const struct move *moves, size_t groups)
{
	for (size_t i = 0; i < groups; i++) {
		const struct move *move = &moves[i];

		cells[i].number = move->gained > move->lost ? move->gained - move->lost : 0;
		cells[i].real = (double)cells[i].number;
		cells[i].measured = move->known;
		cells[i].known = move->known > 0;
	}
}
