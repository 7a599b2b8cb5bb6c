/* SPDX-License-Identifier: MIT */
/* The change of a folded metric in each group: B less A. */
#include <math.h>

#include "analyze/compare/compare_work.h"

struct difference difference_of_whole(uint64_t before, uint64_t after, bool is_signed)
{
	bool is_negative = is_signed ? (int64_t)after < (int64_t)before : after < before;
	struct difference delta = { .known = true, .is_negative = is_negative };

	delta.magnitude = is_negative ? before - after : after - before;
	delta.real = is_negative ? -(double)delta.magnitude : (double)delta.magnitude;
	return delta;
}

static struct difference difference_of_real(double before, double after)
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
	return difference_of_whole(before->number, after->number, compare_is_signed(work->metric));
}

/* The change of a formula's value over the interval. */
static struct difference difference_of_interval(const struct compare_work *work, size_t group)
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
static struct difference difference_of_sides(const struct compare_work *work, size_t group)
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

struct difference compare_work_difference(const struct compare_work *work, size_t group)
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

void compare_work_find_changes(struct compare_work *work)
{
	if (work->has_moves && !work->is_reset) {
		find_moves(work);
		return;
	}
	for (size_t group = 0; group < work->layout->group_count; group++) {
		struct difference difference = { 0 };

		if (!work->is_reset)
			difference = compare_work_difference(work, group);
		work->changes[group] = difference.known ? difference.real : NAN;
		work->total += work->is_ratio ? work->amounts[group] : fabs(difference.real);
	}
}
