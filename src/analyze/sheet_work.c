/* SPDX-License-Identifier: MIT */
#include "analyze/sheet_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/mann_whitney.h"
#include "base/array.h"

/* Readings of cgroups that do not contain those of the cgroups below. */
static const char *const local_prefixes[] = { "memory.events.local " };

static bool is_local(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(local_prefixes); i++)
		if (strncmp(name, local_prefixes[i], strlen(local_prefixes[i])) == 0)
			return true;
	return false;
}

/* Whether a row of the same key has this row's value in its own. */
static bool is_contained(const struct sheet_work *work, const struct sheet_run *run,
			 const struct sheet_column *column, uint32_t row)
{
	uint64_t value = 0;

	if (work->is_local || reading_rule(work->reading) == RULE_RANGE)
		return false;
	for (uint32_t above = run->above[row]; above != NO_ROW; above = run->above[above])
		if (sheet_get(column, above, &value) != CELL_ABSENT)
			return true;
	return false;
}

static void fold_run(struct sheet_work *work, const struct sheet_run *run,
		     struct reading_fold *folds)
{
	const struct sheet_column *column = sheet_find(run->sheet, work->name);

	memset(folds, 0, work->layout.key_count * sizeof(*folds));
	for (size_t key = 0; key < work->layout.key_count; key++)
		folds[key].population = run->population[key];
	for (uint32_t row = 0; column && row < run->sheet->row_count; row++) {
		struct reading_fold *fold = &folds[run->key_of_row[row]];
		uint64_t value = 0;
		enum cell_state state = sheet_get(column, row, &value);
		const char *text = "";

		if (state == CELL_ABSENT)
			continue;
		fold->measured++;
		if (is_contained(work, run, column, row))
			continue;
		if (state == CELL_TEXT)
			text = snapshot_text(run->snapshot, (uint32_t)value);
		reading_fold_add(fold, work->reading, state, value, text);
	}
}

/* What one cgroup of B did since A; one that A does not have is new, unless A was limited. */
static void move_row(const struct sheet_run *before, const struct sheet_column *column,
		     uint32_t partner, uint64_t after, struct sheet_move *move)
{
	uint64_t value = 0;

	if (partner == NO_ROW && (before->is_unread || before->is_filtered)) {
		move->unknown++;
		return;
	}
	if (partner != NO_ROW && sheet_get(column, partner, &value) != CELL_NUMBER) {
		move->unknown++;
		return;
	}
	if (after < value) {
		move->resets++;
		return;
	}
	move->known++;
	if (__builtin_add_overflow(move->gained, after - value, &move->gained))
		move->gained = UINT64_MAX;
}

static void count_removed(struct sheet_work *work, const struct sheet_run *before,
			  const struct sheet_column *column)
{
	for (uint32_t row = 0; column && row < before->sheet->row_count; row++) {
		uint64_t value = 0;

		if (before->partner[row] == NO_ROW &&
		    sheet_get(column, row, &value) == CELL_NUMBER &&
		    !is_contained(work, before, column, row))
			work->moves[before->key_of_row[row]].removed++;
	}
}

static void fold_moves(struct sheet_work *work)
{
	const struct sheet_run *before = &work->layout.runs[0], *after = &work->layout.runs[1];
	const struct sheet_column *was = sheet_find(before->sheet, work->name);
	const struct sheet_column *is = sheet_find(after->sheet, work->name);

	memset(work->moves, 0, work->layout.key_count * sizeof(*work->moves));
	for (uint32_t row = 0; is && row < after->sheet->row_count; row++) {
		uint64_t value = 0;

		if (sheet_get(is, row, &value) == CELL_NUMBER &&
		    !is_contained(work, after, is, row))
			move_row(before, was, after->partner[row], value,
				 &work->moves[after->key_of_row[row]]);
	}
	count_removed(work, before, was);
}

static const struct reading_fold *fold_of(const struct sheet_work *work, size_t run, uint32_t key)
{
	return &work->folds[run * work->layout.key_count + key];
}

size_t sheet_work_gather(struct sheet_work *work, int side, uint32_t key)
{
	size_t count = 0;

	for (size_t run = sheet_work_first(work, side); run < sheet_work_end(work, side); run++) {
		struct compared_value value = { 0 };

		if (fold_of(work, run, key)->texts || fold_of(work, run, key)->unlimited)
			continue;
		reading_fold_value(fold_of(work, run, key), work->reading, NULL, &value);
		if (value.shape != VALUE_NUMBER)
			continue;
		work->numbers[count] = value.number;
		work->values[side][count++] =
			value.is_signed ? (double)(int64_t)value.number : (double)value.number;
	}
	return count;
}

int sheet_work_value(struct sheet_work *work, int side, uint32_t key, struct reading_fold *ret_fold,
		     struct compared_value *ret)
{
	struct compared_value value;
	size_t count;

	memset(ret_fold, 0, sizeof(*ret_fold));
	for (size_t run = sheet_work_first(work, side); run < sheet_work_end(work, side); run++)
		reading_fold_merge(ret_fold, work->reading, fold_of(work, run, key));
	if (reading_fold_value(ret_fold, work->reading, &work->comparison->arena, &value) < 0)
		return -ENOMEM;
	count = work->test ? sheet_work_gather(work, side, key) : 0;
	if (count && value.shape == VALUE_NUMBER)
		value.number = value.is_signed ?
				       (uint64_t)median_signed((int64_t *)work->numbers, count) :
				       median_whole(work->numbers, count);
	*ret = value;
	return 0;
}

/* Whether a side was limited in a way that the other was not: what it lacks it may have had. */
static bool is_limited(const struct sheet_work *work, int side)
{
	const struct sheet_run *of = &work->layout.runs[sheet_work_first(work, side)];
	const struct sheet_run *other = &work->layout.runs[sheet_work_first(work, !side)];

	if (!of->is_filtered)
		return false;
	return !other->is_filtered || strcmp(of->snapshot->facts[FACT_filter].text,
					     other->snapshot->facts[FACT_filter].text) != 0;
}

bool sheet_work_has(const struct sheet_work *work, int side, uint32_t key)
{
	for (size_t run = sheet_work_first(work, side); run < sheet_work_end(work, side); run++)
		if (work->layout.runs[run].is_unread || work->layout.runs[run].has_key[key])
			return true;
	return is_limited(work, side);
}

void sheet_work_fold(struct sheet_work *work, const char *name)
{
	struct sheet_layout *layout = &work->layout;

	work->name = name;
	work->reading = reading_find(name);
	work->is_local = is_local(name);
	work->has_moves = work->comparison->mode == COMPARE_INTERVAL &&
			  work->reading->kind == READING_COUNTER &&
			  layout->sheet != SHEET_PROCESSES;
	for (size_t run = 0; run < layout->run_count; run++)
		fold_run(work, &layout->runs[run], &work->folds[run * layout->key_count]);
	if (work->has_moves)
		fold_moves(work);
}

bool sheet_work_measured(const struct sheet_work *work, uint32_t key)
{
	for (size_t run = 0; run < work->layout.run_count; run++)
		if (fold_of(work, run, key)->measured)
			return true;
	return false;
}

int sheet_work_init(struct sheet_work *work, enum sheet_id sheet, const struct compare_side *before,
		    const struct compare_side *after)
{
	struct sheet_layout *layout = &work->layout;
	int status =
		sheet_layout_init(layout, sheet, before, after, work->options, work->comparison);

	if (status < 0)
		return status;
	work->folds = calloc(layout->run_count * layout->key_count + 1, sizeof(*work->folds));
	work->moves = calloc(layout->key_count + 1, sizeof(*work->moves));
	work->numbers = calloc(layout->run_count + 1, sizeof(*work->numbers));
	for (int side = 0; side < 2; side++)
		work->values[side] = calloc(layout->run_count + 1, sizeof(*work->values[side]));
	if (!work->folds || !work->moves || !work->numbers || !work->values[0] || !work->values[1])
		return -ENOMEM;
	return layout->run_count > 2 ? mann_whitney_new(&work->test) : 0;
}

void sheet_work_clear(struct sheet_work *work)
{
	sheet_layout_clear(&work->layout);
	mann_whitney_free(work->test);
	free(work->folds);
	free(work->moves);
	free(work->numbers);
	for (int side = 0; side < 2; side++)
		free(work->values[side]);
}
