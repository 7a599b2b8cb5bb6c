/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rows/compare_metrics.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/rank/compare_rank.h"
#include "analyze/compare/rows/compare_rows.h"
#include "analyze/sheet/sheet_layout.h"
#include "analyze/threshold/mann_whitney.h"
#include "model/snapshot/snapshot.h"

enum compare_section compare_section_of(enum metric_id id)
{
	if (metric_is_derived(id))
		return COMPARE_DERIVED;
	switch (metrics[id].section) {
	case SECTION_DELAYS:
		return COMPARE_DELAYS;
	case SECTION_HEAP:
		return COMPARE_HEAP;
	default:
		return COMPARE_PRIMARY;
	}
}

static enum row_state state_of(const struct compare_work *work, size_t group)
{
	bool before = work->sides[0][group].known, after = work->sides[1][group].known;

	if (work->has_moves && work->moves[group].resets && !work->moves[group].known)
		return ROW_RESET;
	if (group >= work->layout->first_exited)
		return work->changes[group] == 0 ? ROW_SAME : ROW_CHANGED;
	if (!compare_work_has(work, 0, group))
		return after ? ROW_NEW : ROW_ABSENT;
	if (!compare_work_has(work, 1, group))
		return before ? ROW_GONE : ROW_ABSENT;
	if (!before || !after)
		return ROW_ABSENT;
	if (work->is_reset)
		return ROW_RESET;
	if (!isnan(work->changes[group]))
		return work->changes[group] == 0 ? ROW_SAME : ROW_CHANGED;
	/* Without an event in between, a ratio stays what it was. */
	return work->has_interval ? ROW_SAME : ROW_ABSENT;
}

/* Whether a row in this state would have no change to show.  An unknown value counts as 0. */
static bool is_quiet(const struct compare_work *work, size_t group, enum row_state state)
{
	const struct cell *before = &work->sides[0][group], *after = &work->sides[1][group];

	switch (state) {
	case ROW_SAME:
		return true;
	case ROW_NEW:
		return after->number == 0;
	case ROW_GONE:
		return before->number == 0;
	case ROW_ABSENT:
		return !before->known && !after->known;
	default:
		return false;
	}
}

/* Exited threads have a row only if they changed; readings, only if a side has a value. */
static bool has_row(const struct compare_work *work, size_t group)
{
	if (metric_is_reading(work->metric))
		return work->sides[0][group].known || work->sides[1][group].known;
	if (group >= work->layout->first_exited)
		return !isnan(work->changes[group]);
	return compare_work_population(work, 0, group) || compare_work_population(work, 1, group);
}

/* What a group moved: CPU time also by the children that it waited for and that ended. */
static double part_of(const struct row_maker *maker, size_t group)
{
	const struct compare_work *work = &maker->work;
	double part = work->is_ratio ? work->amounts[group] : fabs(work->changes[group]);

	if (!maker->sheet && work->metric == &metrics[METRIC_run_time_ns])
		part += (double)compare_group(maker->layout, maker->comparison, group)->children_ns;
	return part;
}

/*
 * All that moved in the resource that the metric is about; of a ratio, its first input is.  Groups
 * that contain others share what those do.
 */
static double whole_of(const struct row_maker *maker)
{
	const struct compare_work *work = &maker->work;
	double *whole = maker->sheet ? NULL :
				       &maker->comparison->wholes[metric_number(work->metric)];
	double moved;

	if (maker->layout->parents)
		return *whole;
	moved = rank_whole(maker->scale,
			   work->is_ratio ? &metrics[work->metric->formula.inputs[0]] :
					    work->metric,
			   work->total);
	if (whole)
		*whole = moved;
	return moved;
}

static double share_of(const struct row_maker *maker, size_t group)
{
	double part = part_of(maker, group);

	return maker->whole > 0 && part > 0 ? fmin(part / maker->whole, 1) : 0;
}

/* taskscope itself is no news. */
static bool is_own(const struct row_maker *maker, size_t group)
{
	const struct compared_group *of = compare_group(maker->layout, maker->comparison, group);

	return of->own_tasks && of->own_tasks >= of->tasks_before + of->tasks_after;
}

static double score_of(const struct row_maker *maker, size_t group)
{
	const struct compare_work *work = &maker->work;
	double change = work->changes[group];
	double before = compare_work_real(work, &work->sides[0][group]);

	if (isnan(change) || change == 0 || (!maker->sheet && is_own(maker, group)))
		return 0;
	if (work->is_ratio)
		return rank_ratio(maker->scale, work->metric, before, before + change,
				  work->amounts[group], share_of(maker, group));
	return rank_amount(maker->scale, work->metric, part_of(maker, group),
			   share_of(maker, group));
}

/* Why a side has no value.  A ratio may have none although its inputs were measured. */
static const char *reason_of(const struct row_maker *maker, size_t group)
{
	const struct compare_work *work = &maker->work;
	bool after_is_known = work->sides[1][group].known;
	const struct cell *lacks = &work->sides[!after_is_known][group];

	if (maker->sheet)
		return lacks->known ? "it was not measured before" :
				      sheet_layout_reason(maker->sheet, work->metric,
							  !after_is_known, maker->source);
	if (work->is_ratio && !lacks->known && lacks->measured)
		return "nothing to divide by";
	return compare_layout_reason(work->layout, work->metric, after_is_known);
}

/* Fills in the rest: section, group, metric, state, significance and score are already set. */
static int fill_row(const struct row_maker *maker, size_t group, struct comparison_row *row)
{
	if (maker->is_setting) {
		if (compare_settings_fill(maker, row) < 0)
			return -ENOMEM;
	} else {
		row->share = share_of(maker, group);
		compare_work_fill(&maker->work, maker->comparison, group, row);
	}
	if (row->state == ROW_ABSENT)
		row->reason = reason_of(maker, group);
	return 0;
}

/* Tests whether the change could be chance, given several runs; if so, the row is not important. */
static int judge_row(struct row_maker *maker, size_t group, struct comparison_row *row)
{
	const struct compare_work *work = &maker->work;
	size_t before, after;

	if (!maker->test || maker->is_setting)
		return 0;
	before = compare_work_gather(work, 0, group);
	after = compare_work_gather(work, 1, group);
	if (mann_whitney_judge(maker->test, work->values[0], before, work->values[1], after,
			       &row->significance) < 0)
		return -ENOMEM;
	if (row->significance.tested && row->significance.is_noise)
		row->score = 0;
	return 0;
}

/* Gives the comparison's number of a group of the layout.  0 or -ENOMEM. */
static int number_group(struct row_maker *maker, uint32_t group, uint32_t *ret)
{
	if (maker->sheet)
		return sheet_layout_group(maker->sheet, group, maker->comparison, ret);
	*ret = maker->layout->numbers ? maker->layout->numbers[group] : group;
	return 0;
}

static int make_row(struct row_maker *maker, uint32_t group)
{
	const struct metric *metric = maker->work.metric;
	enum row_state state = state_of(&maker->work, group);
	struct comparison_row row;

	if (is_quiet(&maker->work, group, state) &&
	    !row_keeper_takes(maker->keeper, maker->section, false))
		return 0;
	/* Rows are large and most are not kept: fill in first only what decides that. */
	row.section = maker->section;
	row.metric = metric;
	row.score = rank_bound(metric, share_of(maker, group));
	if (number_group(maker, group, &row.group) < 0)
		return -ENOMEM;
	/* Rows within noise are counted as noise, not as beyond the limit. */
	if (!maker->test && !maker->is_setting && !row_keeper_wants(maker->keeper, &row))
		return 0;
	row = (struct comparison_row){
		.section = maker->section, .group = row.group, .metric = metric, .state = state
	};
	row.score =
		maker->is_setting ? compare_settings_score(maker, &row) : score_of(maker, group);
	if (judge_row(maker, group, &row) < 0)
		return -ENOMEM;
	if (row.significance.is_noise && !row_keeper_takes(maker->keeper, maker->section, true))
		return 0;
	if (!row_keeper_wants(maker->keeper, &row))
		return 0;
	return fill_row(maker, group, &row) < 0 ? -ENOMEM : row_keeper_add(maker->keeper, &row);
}

/* The smallest part in the metric's whole change that a row needs to be kept. */
static double least_part(const struct row_maker *maker)
{
	const struct metric *metric = maker->work.metric;
	double weight = rank_bound(metric, 1);
	double floor_ = row_keeper_floor(maker->keeper, maker->section);

	/* Some metrics score just because they changed. */
	return weight > 0 && rank_bound(metric, 0) == 0 ? maker->whole * floor_ / weight : 0;
}

/* No snapshot measured the metric: its rows are only counted, and nothing is folded. */
static void skip_unmeasured(struct row_maker *maker, const struct metric *metric)
{
	const uint32_t *before = maker->layout->population[0][metric->scope];
	const uint32_t *after = maker->layout->population[1][metric->scope];
	uint64_t rows = 0;

	for (size_t group = 0; !maker->sheet && group < maker->layout->first_exited; group++)
		rows += before[group] || after[group];
	row_keeper_skip(maker->keeper, maker->section, rows, 0);
}

/*
 * On a large host most groups are on both sides and did not change, or too
 * little to matter.  They are only counted and get no row.
 */
static int make_numbers(struct row_maker *maker, const struct metric *metric)
{
	struct compare_work *work = &maker->work;
	const uint32_t *before = maker->layout->population[0][metric->scope];
	const uint32_t *after = maker->layout->population[1][metric->scope];
	bool is_task = !maker->sheet;
	int status = compare_work_fold(work, metric);
	uint64_t still = 0, dull = 0;
	double least;

	maker->whole = whole_of(maker);
	least = maker->test ? 0 : least_part(maker);
	for (uint32_t group = 0; group < maker->layout->group_count && status == 0; group++) {
		/* Said directly for tasks, since this loop is the longest. */
		bool on_both = is_task ? before[group] && after[group] :
					 compare_work_has(work, 0, group) &&
						 compare_work_has(work, 1, group);

		if (on_both && work->changes[group] == 0 && work->sides[0][group].known &&
		    work->sides[1][group].known && !maker->keeper->unchanged)
			still++;
		else if (on_both && work->changes[group] != 0 && part_of(maker, group) < least &&
			 !isnan(work->changes[group]))
			dull++;
		else if (has_row(work, group))
			status = make_row(maker, group);
	}
	row_keeper_skip(maker->keeper, maker->section, still, dull);
	return status;
}

static int make_settings(struct row_maker *maker, const struct metric *metric)
{
	int status = compare_settings_begin(maker, metric);
	uint64_t still = 0;

	for (uint32_t group = 0; group < maker->layout->first_exited && status == 0; group++) {
		if (!maker->keeper->unchanged && compare_settings_are_same(maker, group)) {
			still++;
			continue;
		}
		compare_settings_fold(maker, group);
		if (has_row(&maker->work, group))
			status = make_row(maker, group);
	}
	row_keeper_skip(maker->keeper, maker->section, still, 0);
	return status;
}

/* Records the size of groups that only one side has. */
static void size_groups(struct row_maker *maker, enum metric_id id)
{
	for (size_t i = 0; i < maker->layout->first_exited; i++) {
		struct compared_group *group = compare_group(maker->layout, maker->comparison, i);
		const struct cell *cell = &maker->work.sides[group->tasks_after > 0][i];
		bool is_time = id == METRIC_run_time_ns;

		if ((group->tasks_before || group->missed) && group->tasks_after)
			continue;
		*(is_time ? &group->has_run_time : &group->has_rss) = cell->known;
		*(is_time ? &group->run_time_ns : &group->rss_bytes) =
			maker->work.is_rate ? (uint64_t)cell->real : cell->number;
	}
}

/* What children did that ended in between; their parents' totals have it. */
static int measure_children(struct row_maker *maker, double *total)
{
	static const enum metric_id ids[] = { METRIC_child_utime_ns, METRIC_child_stime_ns };

	for (size_t i = 0; i < ARRAY_SIZE(ids) && maker->layout->is_interval; i++) {
		if (compare_work_fold_changes(&maker->work, &metrics[ids[i]]) < 0)
			return -ENOMEM;
		for (size_t group = 0; group < maker->layout->group_count; group++)
			if (maker->work.changes[group] > 0)
				compare_group(maker->layout, maker->comparison, group)
					->children_ns += (uint64_t)maker->work.changes[group];
		*total += maker->work.total;
	}
	return 0;
}

/* Measures what moved in each resource, which shares are of, and the groups that one side has. */
int compare_measure(const struct compare_layout *layout, struct rank_scale *scale,
		    struct comparison *comparison)
{
	struct row_maker maker = { .scale = scale, .comparison = comparison };
	int status = row_maker_init(&maker, layout);

	for (int i = RESOURCE_NONE + 1; i < RESOURCE_COUNT && status == 0; i++) {
		enum metric_id id = resource_metrics[i];
		bool is_size = id == METRIC_run_time_ns || id == METRIC_rss_bytes;

		status = is_size ? compare_work_fold(&maker.work, &metrics[id]) :
				   compare_work_fold_changes(&maker.work, &metrics[id]);
		scale->moved[i] = maker.work.total;
		if (status == 0 && is_size)
			size_groups(&maker, id);
	}
	if (status == 0)
		status = measure_children(&maker, &scale->moved[RESOURCE_CPU]);
	row_maker_clear(&maker);
	return status;
}

int row_maker_make(struct row_maker *maker, const struct metric *metric,
		   enum compare_section section)
{
	maker->section = section;
	row_keeper_skip(maker->keeper, section, maker->layout->left_out[metric->scope], 0);
	if (metric->kind != KIND_DERIVED && !maker->keeper->unchanged &&
	    compare_is_unmeasured(maker->layout, metric)) {
		skip_unmeasured(maker, metric);
		return 0;
	}
	maker->is_setting = !compare_is_number(metric);
	return maker->is_setting ? make_settings(maker, metric) : make_numbers(maker, metric);
}

int row_maker_init(struct row_maker *maker, const struct compare_layout *layout)
{
	int status = compare_work_init(&maker->work, layout);

	maker->layout = layout;
	return status < 0 || layout->run_count <= SIDES ? status : mann_whitney_new(&maker->test);
}

void row_maker_clear(struct row_maker *maker)
{
	mann_whitney_free(maker->test);
	compare_work_clear(&maker->work);
}

/* Whether the row of another metric stands for this one. */
static bool is_part(const struct compare_layout *layout, enum metric_id id)
{
	enum part_kind most = layout->is_interval ? PART_OF_CHILDREN :
			      layout->is_rates	  ? PART_OF_EXITED :
						    PART_PLAIN;
	enum metric_id whole = rank_whole_of(id, most);

	return whole != METRIC_COUNT && !compare_is_unmeasured(layout, &metrics[whole]);
}

int compare_metrics(const struct compare_layout *layout, const struct compare_options *options,
		    const struct rank_scale *scale, struct row_keeper *keeper,
		    struct comparison *comparison)
{
	struct row_maker maker = { .scale = scale, .keeper = keeper, .comparison = comparison };
	int status = row_maker_init(&maker, layout);

	for (size_t i = 0; i < options->metrics.count && status == 0; i++) {
		enum metric_id id = options->metrics.ids[i];
		enum compare_section section = compare_section_of(id);

		if (options->sections & 1u << section &&
		    !(options->fold_parts && is_part(layout, id)))
			status = row_maker_make(&maker, &metrics[id], section);
	}
	row_maker_clear(&maker);
	return status;
}
