/* SPDX-License-Identifier: MIT */
/* The change of a folded metric in each group: B less A; and the row that shows it. */
#include <math.h>

#include "analyze/compare/fold/compare_work.h"

struct difference difference_of_whole(uint64_t before, uint64_t after, bool is_signed)
{
	bool is_negative = is_signed ? (int64_t)after < (int64_t)before : after < before;
	struct difference delta = { .known = true, .is_negative = is_negative };

	delta.magnitude = is_negative ? before - after : after - before;
	delta.real = is_negative ? -(double)delta.magnitude : (double)delta.magnitude;
	return delta;
}

static inline struct difference difference_of_real(double before, double after)
{
	return (struct difference){ .known = true,
				    .is_real = true,
				    .is_negative = after < before,
				    .real = after - before };
}

static inline struct difference difference_of_cells(const struct compare_work *work,
						    const struct cell *before,
						    const struct cell *after)
{
	if (work->is_real)
		return difference_of_real(before->real, after->real);
	return difference_of_whole(before->number, after->number, compare_is_signed(work->metric));
}

/* The change of a formula's value over the interval. */
static inline struct difference difference_of_interval(const struct compare_work *work,
						       size_t group)
{
	static const struct cell nothing;
	const struct cell *before = work->is_ratio ? &work->sides[0][group] : &nothing;

	if (!work->interval[group].known || (work->is_ratio && !before->known))
		return (struct difference){ 0 };
	return difference_of_cells(work, before, &work->interval[group]);
}

/*
 * Where a metric adds up, a side without the group counts as 0.  Where neither
 * side has the group, as for processes among exited threads, nothing is known.
 */
static inline struct difference difference_of_sides(const struct compare_work *work, size_t group)
{
	static const struct cell nothing;
	const struct cell *cells[SIDES];

	if (!work->sides[0][group].known && !work->sides[1][group].known)
		return (struct difference){ 0 };
	for (int side = 0; side < SIDES; side++) {
		cells[side] = &work->sides[side][group];
		if (!compare_work_has(work, side, group) && compare_adds_up(work->metric))
			cells[side] = &nothing;
		else if (!cells[side]->known)
			return (struct difference){ 0 };
	}
	return difference_of_cells(work, cells[0], cells[1]);
}

/* The exact change of a group. */
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

/* A fast path: most metrics are counters, and most of their groups need only this. */
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

/* The change of a group as a number; NAN when it is not known. */
static double change_of_group(const struct compare_work *work, size_t group)
{
	struct difference difference = difference_of_group(work, group);

	return difference.known ? difference.real : NAN;
}

/* Most groups are on both sides and were measured there. */
static void find_changes(struct compare_work *work)
{
	bool is_of_sides = !work->has_interval && !work->has_moves;

	for (size_t group = 0; group < work->layout->group_count; group++) {
		const struct cell *before = &work->sides[0][group], *after = &work->sides[1][group];
		double change = is_of_sides && before->known && after->known ?
					difference_of_cells(work, before, after).real :
					change_of_group(work, group);

		work->changes[group] = change;
		if (work->is_ratio)
			work->total += work->amounts[group];
		else if (!isnan(change))
			work->total += fabs(change);
	}
}

void compare_work_find_changes(struct compare_work *work)
{
	if (work->is_reset)
		for (size_t group = 0; group < work->layout->group_count; group++)
			work->changes[group] = NAN;
	else if (work->has_moves)
		find_moves(work);
	else
		find_changes(work);
}

static void set_value(const struct compare_work *work, const struct cell *cell, uint32_t population,
		      struct compared_value *ret)
{
	ret->measured = cell->measured;
	ret->population = population;
	if (!cell->known)
		return;
	ret->shape = work->is_real ? VALUE_REAL : VALUE_NUMBER;
	ret->is_signed = compare_is_signed(work->metric);
	if (work->is_real)
		ret->real = cell->real;
	else
		ret->number = cell->number;
}

bool compare_work_life_rate(const struct compare_work *work, int side, size_t group, double *ret)
{
	const struct compare_layout *layout = work->layout;
	double amount = 0, lives = 0;

	for (size_t run = compare_first(layout, side); run < compare_end(layout, side); run++) {
		const double *of = layout->runs[run].rows[work->metric->scope].lives;

		if (!of)
			return false;
		if (!work->runs[run][group].known)
			continue;
		amount += compare_work_real(work, &work->runs[run][group]);
		lives += of[group];
	}
	*ret = lives > 0 ? amount / lives : 0;
	return lives > 0;
}

static void set_rates(const struct compare_work *work, const struct comparison *comparison,
		      size_t group, struct comparison_row *row)
{
	if (work->is_rate ||
	    (work->metric->kind != KIND_COUNTER && !compare_is_whole(work->metric)))
		return;
	if (comparison->mode == COMPARE_INTERVAL) {
		row->has_rate = row->delta.known && comparison->elapsed_ns > 0;
		if (row->has_rate)
			row->per_second = row->delta.real / ((double)comparison->elapsed_ns / 1e9);
		return;
	}
	row->has_rate_before = row->before.shape != VALUE_ABSENT &&
			       compare_work_life_rate(work, 0, group, &row->rate_before);
	row->has_rate_after = row->after.shape != VALUE_ABSENT &&
			      compare_work_life_rate(work, 1, group, &row->rate_after);
	row->has_rate = row->has_rate_before || row->has_rate_after;
}

/*
 * The two lives of a group that was restarted in between: by their rates, ratios
 * as they are.  False when something is not known.
 */
static bool fill_lives(const struct compare_work *work, size_t group, struct comparison_row *row)
{
	struct compared_value *values[SIDES] = { &row->before, &row->after };
	double rates[SIDES];

	for (int side = 0; side < SIDES; side++) {
		const struct cell *cell = &work->sides[side][group];

		if (!cell->known)
			return false;
		if (work->is_ratio)
			rates[side] = cell->real;
		else if (!compare_work_life_rate(work, side, group, &rates[side]))
			return false;
	}
	for (int side = 0; side < SIDES; side++)
		*values[side] = (struct compared_value){
			.shape = VALUE_REAL,
			.real = rates[side],
			.measured = work->sides[side][group].measured,
			.population = compare_work_population(work, side, group),
		};
	row->values = work->is_ratio ? VALUES_AMOUNT : VALUES_PER_TASK_SECOND;
	row->delta = difference_of_real(rates[0], rates[1]);
	if (!work->is_ratio && !isnan(work->changes[group]))
		row->interval = (struct compared_value){
			.shape = VALUE_NUMBER, .number = (uint64_t)fmax(work->changes[group], 0)
		};
	row->state = ROW_CHANGED;
	return true;
}

static bool is_restarted(const struct compare_work *work, const struct comparison *comparison,
			 const struct comparison_row *row)
{
	return (work->has_moves || work->has_interval) && !metric_is_reading(work->metric) &&
	       comparison->groups.data[row->group].restart != RESTART_NONE;
}

void compare_work_fill(const struct compare_work *work, const struct comparison *comparison,
		       size_t group, struct comparison_row *row)
{
	uint32_t ended = 0;

	if (is_restarted(work, comparison, row) && fill_lives(work, group, row))
		return;
	row->values = work->is_rate ? VALUES_PER_SECOND : VALUES_AMOUNT;
	if (work->has_moves && group < work->layout->first_exited)
		row->by_ended = work->moves[group].ended;
	if ((work->has_moves || work->has_interval) && group < work->layout->first_exited)
		ended = work->unknown[group];
	if (row->state != ROW_RESET)
		row->delta = difference_of_group(work, group);
	set_value(work, &work->sides[0][group], compare_work_population(work, 0, group),
		  &row->before);
	set_value(work, &work->sides[1][group],
		  compare_work_population(work, 1, group) + (work->has_moves ? ended : 0),
		  &row->after);
	if (work->has_interval)
		set_value(work, &work->interval[group],
			  compare_work_population(work, 1, group) + ended, &row->interval);
	if (work->has_moves && work->moves[group].resets && row->state != ROW_RESET) {
		uint32_t resets = work->moves[group].resets;

		row->after.measured -= resets < row->after.measured ? resets : row->after.measured;
	}
	set_rates(work, comparison, group, row);
}
