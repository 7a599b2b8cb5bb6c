/* SPDX-License-Identifier: MIT */
#include "analyze/compare_metrics.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare_layout.h"
#include "analyze/compare_rank.h"
#include "analyze/compare_rows.h"
#include "analyze/compare_settings.h"
#include "analyze/compare_work.h"
#include "analyze/mann_whitney.h"
#include "model/snapshot.h"

/* What makes rows of folded metrics. */
struct maker {
	const struct compare_layout *layout;
	const struct rank_scale *scale;
	struct row_keeper *keeper;
	struct comparison *comparison;
	struct compare_work work;
	struct compare_settings settings; /* made when a metric needs them */
	struct mann_whitney *test;
	enum compare_section section; /* of the metric in hand */
};

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
	if (compare_work_population(work, 0, group) == 0)
		return after ? ROW_NEW : ROW_ABSENT;
	if (compare_work_population(work, 1, group) == 0)
		return before ? ROW_GONE : ROW_ABSENT;
	if (!before || !after)
		return ROW_ABSENT;
	if (!isnan(work->changes[group]))
		return work->changes[group] == 0 ? ROW_SAME : ROW_CHANGED;
	/* No event in between leaves a ratio what it was. */
	return work->has_interval ? ROW_SAME : ROW_ABSENT;
}

/* As row_is_quiet(), before there is a row.  What is not known is 0. */
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

/* Groups of exited threads have just what their processes tell. */
static bool has_row(const struct compare_work *work, size_t group)
{
	if (group >= work->layout->first_exited)
		return !isnan(work->changes[group]);
	return compare_work_population(work, 0, group) || compare_work_population(work, 1, group);
}

/* Of the metric's total. */
static double part_of(const struct compare_work *work, size_t group)
{
	return work->is_ratio ? work->amounts[group] : fabs(work->changes[group]);
}

static double share_of(const struct compare_work *work, size_t group)
{
	double part = part_of(work, group);

	return work->total > 0 && part > 0 ? part / work->total : 0;
}

static double score_of(const struct maker *maker, size_t group)
{
	const struct compare_work *work = &maker->work;
	double change = work->changes[group];
	double before = cell_real(&work->sides[0][group], work->id);

	if (isnan(change) || change == 0)
		return 0;
	if (work->is_ratio)
		return rank_ratio(maker->scale, work->id, before, before + change,
				  work->amounts[group], share_of(work, group));
	return rank_amount(maker->scale, work->id, fabs(change), share_of(work, group));
}

static void set_value(const struct compare_work *work, const struct cell *cell, uint32_t population,
		      struct compared_value *ret)
{
	ret->measured = cell->measured;
	ret->population = population;
	if (!cell->known)
		return;
	ret->shape = work->is_ratio ? VALUE_REAL : VALUE_NUMBER;
	ret->is_signed = compare_is_signed(work->id);
	if (work->is_ratio)
		ret->real = cell->real;
	else
		ret->number = cell->number;
}

/* Over the lives of the group's members in all runs of a side; false when some are not known. */
static bool rate_of_lives(const struct compare_work *work, int side, size_t group, double *ret)
{
	const struct compare_layout *layout = work->layout;
	double amount = 0, lives = 0;

	for (size_t run = side ? layout->before_count : 0;
	     run < (side ? layout->run_count : layout->before_count); run++) {
		const struct compare_run *members = &layout->runs[run];
		const double *of = metrics[work->id].scope == SCOPE_THREAD ? members->task_lives :
									     members->process_lives;

		if (!of)
			return false;
		if (!work->runs[run][group].known)
			continue;
		amount += cell_real(&work->runs[run][group], work->id);
		lives += of[group];
	}
	*ret = lives > 0 ? amount / lives : 0;
	return lives > 0;
}

static void set_rates(const struct compare_work *work, const struct comparison *comparison,
		      struct comparison_row *row)
{
	if (metrics[work->id].kind != KIND_COUNTER && !compare_is_whole(work->id))
		return;
	if (comparison->mode == COMPARE_INTERVAL) {
		row->has_rate = row->delta.known && comparison->elapsed_ns > 0;
		if (row->has_rate)
			row->per_second = row->delta.real / ((double)comparison->elapsed_ns / 1e9);
		return;
	}
	row->has_rate_before = row->before.shape != VALUE_ABSENT &&
			       rate_of_lives(work, 0, row->group, &row->rate_before);
	row->has_rate_after = row->after.shape != VALUE_ABSENT &&
			      rate_of_lives(work, 1, row->group, &row->rate_after);
	row->has_rate = row->has_rate_before || row->has_rate_after;
}

/* Why a side has no value.  A ratio of what was measured may have none all the same. */
static const char *reason_of(const struct compare_work *work, size_t group)
{
	bool after_is_known = work->sides[1][group].known;
	const struct cell *lacks = &work->sides[!after_is_known][group];

	if (work->is_ratio && !lacks->known && lacks->measured)
		return "nothing to divide by";
	return compare_layout_reason(work->layout, work->id, after_is_known);
}

/* The row's section, group, metric, state, significance and score are set. */
static void fill_row(const struct maker *maker, struct comparison_row *row)
{
	const struct compare_work *work = &maker->work;
	uint32_t group = row->group, ended = 0;

	if ((work->has_moves || work->has_interval) && group < work->layout->first_exited)
		ended = work->unknown[group];
	row->name = metrics[work->id].name;
	row->delta = compare_work_difference(work, group);
	row->share = share_of(work, group);
	set_value(work, &work->sides[0][group], compare_work_population(work, 0, group),
		  &row->before);
	set_value(work, &work->sides[1][group],
		  compare_work_population(work, 1, group) + (work->has_moves ? ended : 0),
		  &row->after);
	if (work->has_interval)
		set_value(work, &work->interval[group],
			  compare_work_population(work, 1, group) + ended, &row->interval);
	if (work->has_moves && work->moves[group].resets) {
		uint32_t resets = work->moves[group].resets;

		row->after.measured -= resets < row->after.measured ? resets : row->after.measured;
	}
	set_rates(work, maker->comparison, row);
	if (row->state == ROW_ABSENT)
		row->reason = reason_of(work, group);
}

/* Whether several runs tell a change from chance; what is chance is not important. */
static int judge_row(struct maker *maker, struct comparison_row *row)
{
	const struct compare_work *work = &maker->work;
	size_t before, after;

	if (!maker->test)
		return 0;
	before = compare_work_gather(work, 0, row->group);
	after = compare_work_gather(work, 1, row->group);
	if (mann_whitney_judge(maker->test, work->values[0], before, work->values[1], after,
			       &row->significance) < 0)
		return -ENOMEM;
	if (row->significance.tested && row->significance.is_noise)
		row->score = 0;
	return 0;
}

static int make_row(struct maker *maker, uint32_t group)
{
	enum row_state state = state_of(&maker->work, group);
	struct comparison_row row;

	if (is_quiet(&maker->work, group, state) &&
	    !row_keeper_takes_unchanged(maker->keeper, maker->section))
		return 0;
	/* Rows are large and most are not wanted: only what decides is filled in at first. */
	row.section = maker->section;
	row.group = group;
	row.metric = (int)maker->work.id;
	row.score = rank_bound(maker->work.id, share_of(&maker->work, group));
	/* What is within noise is counted as that, not as beyond the limit. */
	if (!maker->test && !row_keeper_wants(maker->keeper, &row))
		return 0;
	row = (struct comparison_row){ .section = maker->section,
				       .group = group,
				       .metric = (int)maker->work.id,
				       .score = score_of(maker, group),
				       .state = state };
	if (judge_row(maker, &row) < 0)
		return -ENOMEM;
	if (row.significance.is_noise && !row_keeper_takes_noise(maker->keeper, maker->section))
		return 0;
	if (!row_keeper_wants(maker->keeper, &row))
		return 0;
	fill_row(maker, &row);
	return row_keeper_add(maker->keeper, &row);
}

/* The part in all change of the metric that a row must have to be wanted. */
static double least_part(const struct maker *maker)
{
	double weight = rank_bound(maker->work.id, 1);
	double floor_ = row_keeper_floor(maker->keeper, maker->section);

	return weight > 0 ? maker->work.total * floor_ / weight : 0;
}

/*
 * Most groups of a large host are on both sides, and still or moved by less than
 * matters.  Those are counted and need no row.
 */
static int make_numbers(struct maker *maker, enum metric_id id)
{
	struct compare_work *work = &maker->work;
	int status = compare_work_fold(work, id);
	double least = maker->test ? 0 : least_part(maker);
	uint64_t still = 0, dull = 0;

	for (uint32_t group = 0; group < maker->layout->group_count && status == 0; group++) {
		bool on_both = compare_work_is_on_both(work, group);

		if (on_both && work->changes[group] == 0 && work->sides[0][group].known &&
		    work->sides[1][group].known && !maker->keeper->unchanged)
			still++;
		else if (on_both && work->changes[group] != 0 && part_of(work, group) < least &&
			 !isnan(work->changes[group]))
			dull++;
		else if (has_row(work, group))
			status = make_row(maker, group);
	}
	row_keeper_skip(maker->keeper, maker->section, still, dull);
	return status;
}

/* How large groups are that one side does not have. */
static void size_groups(struct maker *maker, enum metric_id id)
{
	struct compared_group *groups = maker->comparison->groups.data;

	for (size_t i = 0; i < maker->layout->first_exited; i++) {
		const struct cell *cell = &maker->work.sides[groups[i].tasks_after > 0][i];
		bool is_time = id == METRIC_run_time_ns;

		if ((groups[i].tasks_before || groups[i].missed) && groups[i].tasks_after)
			continue;
		*(is_time ? &groups[i].has_run_time : &groups[i].has_rss) = cell->known;
		*(is_time ? &groups[i].run_time_ns : &groups[i].rss_bytes) = cell->number;
	}
}

static int measure_groups(struct maker *maker)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_rss_bytes };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (compare_work_fold(&maker->work, ids[i]) < 0)
			return -ENOMEM;
		size_groups(maker, ids[i]);
	}
	return 0;
}

static int make_settings(struct maker *maker, enum metric_id id)
{
	int status = 0;

	if (!maker->settings.lists)
		status = compare_settings_init(&maker->settings, maker->layout, maker->comparison);
	return status < 0 ?
		       status :
		       compare_settings_rows(&maker->settings, id, maker->section, maker->keeper);
}

static int make_all(struct maker *maker, const struct compare_options *options)
{
	int status = measure_groups(maker);

	for (size_t i = 0; i < options->metrics.count && status == 0; i++) {
		enum metric_id id = options->metrics.ids[i];

		maker->section = compare_section_of(id);
		if (!(options->sections & 1u << maker->section))
			continue;
		status = compare_is_number(id) ? make_numbers(maker, id) : make_settings(maker, id);
	}
	return status;
}

int compare_metrics(const struct compare_layout *layout, const struct compare_options *options,
		    const struct rank_scale *scale, struct row_keeper *keeper,
		    struct comparison *comparison)
{
	struct maker maker = {
		.layout = layout, .scale = scale, .keeper = keeper, .comparison = comparison
	};
	int status = compare_work_init(&maker.work, layout);

	if (status < 0)
		return status;
	if (layout->run_count > SIDES)
		status = mann_whitney_new(&maker.test);
	if (status == 0)
		status = make_all(&maker, options);
	mann_whitney_free(maker.test);
	compare_settings_clear(&maker.settings);
	compare_work_clear(&maker.work);
	return status;
}
