/* SPDX-License-Identifier: MIT */
#include "analyze/digest/digest.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/digest/digest_parts.h"
#include "analyze/threshold/mann_whitney.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

/* A counter's rate that changed by less than this part of the larger one is steady. */
#define STEADY 0.1
/* A group with less than this share of all that moved is not named. */
#define SMALL_SHARE 0.05
/* Memory that is less than this part of the host's is little on a large host. */
#define SMALL_MEMORY 0.001

void digest_clear(struct digest *digest)
{
	arena_clear(&digest->arena);
	array_free(&digest->lines);
}

bool digest_is_own(const struct compared_group *group)
{
	return group->own_tasks && group->own_tasks >= group->tasks_before + group->tasks_after;
}

/* Room for the movers of one rule, the largest first. */
struct movers {
	struct mover best[4];
	size_t count, most;
	double total; /* of all, with those that are not kept, and taskscope */
};

static void keep_mover(struct movers *movers, const struct mover *mover)
{
	size_t at = movers->count;

	movers->total += fabs(mover->moved);
	while (at > 0 && fabs(movers->best[at - 1].moved) < fabs(mover->moved))
		at--;
	if (at >= movers->most)
		return;
	if (movers->count < movers->most)
		movers->count++;
	memmove(&movers->best[at + 1], &movers->best[at],
		(movers->count - at - 1) * sizeof(*movers->best));
	movers->best[at] = *mover;
}

/* What a group does in a second of the host's time: the rate of its tasks' lives, for all of them. */
static double pace_of(const struct digester *digester, int side, size_t group)
{
	const struct compared_group *of = compare_group(digester->layout, digester->base, group);
	double rate;

	if (!compare_work_life_rate(&digester->work, side, group, &rate))
		return 0;
	return rate * (side ? of->tasks_after : of->tasks_before);
}

/* The value of a side, 0 for a group that it does not have; false when it was not measured. */
static bool value_of(const struct digester *digester, int side, size_t group, double *ret)
{
	const struct compare_work *work = &digester->work;
	const struct cell *cell = &work->sides[side][group];

	*ret = cell->known ? compare_work_real(work, cell) : 0;
	return cell->known || !compare_work_has(work, side, group);
}

/* Fills in what a counter of a group did.  False: nothing is known, or nothing moved. */
static bool move_counter(const struct digester *digester, size_t group, struct mover *mover)
{
	const struct compare_work *work = &digester->work;

	if (isnan(work->changes[group]))
		return false;
	mover->moved = work->changes[group];
	if (digester->form == DIGEST_DONE) {
		if (work->metric == &metrics[METRIC_run_time_ns])
			mover->children =
				(double)compare_group(digester->layout, digester->base, group)
					->children_ns;
		mover->moved += mover->children;
		return mover->moved > 0;
	}
	if (!value_of(digester, 0, group, &mover->before) ||
	    !value_of(digester, 1, group, &mover->after))
		return false;
	if (digester->form == DIGEST_LIVES) {
		mover->before = pace_of(digester, 0, group);
		mover->after = pace_of(digester, 1, group);
		mover->moved = mover->after - mover->before;
	}
	mover->has_before = true;
	return mover->moved != 0;
}

static bool move_level(const struct digester *digester, size_t group, struct mover *mover)
{
	mover->moved = digester->work.changes[group];
	mover->has_before = true;
	return !isnan(mover->moved) && mover->moved != 0 &&
	       value_of(digester, 0, group, &mover->before) &&
	       value_of(digester, 1, group, &mover->after);
}

/* Several runs a side may differ just by chance.  1, 0, or -ENOMEM. */
static int is_noise(const struct digester *digester, size_t group)
{
	const struct compare_work *work = &digester->work;
	struct significance found = { 0 };
	size_t before, after;

	if (!digester->test)
		return 0;
	before = compare_work_gather(work, 0, group);
	after = compare_work_gather(work, 1, group);
	if (mann_whitney_judge(digester->test, work->values[0], before, work->values[1], after,
			       &found) < 0)
		return -ENOMEM;
	return found.tested && found.is_noise;
}

typedef bool move_function(const struct digester *digester, size_t group, struct mover *mover);

/* Folds the rule's metric and finds the groups that moved it most. */
static int find_movers(struct digester *digester, const struct digest_rule *rule,
		       move_function *move, struct movers *ret)
{
	const struct comparison *base = digester->base;
	const struct metric *metric = &metrics[rule->metric];

	*ret = (struct movers){ .most = rule->most };
	if (compare_is_unmeasured(digester->layout, metric->formula.count ?
							    &metrics[metric->formula.inputs[0]] :
							    metric))
		return 0;
	/* What was done in between is all that is said of counters then. */
	if (compare_work_fold_changes(&digester->work, metric) < 0)
		return -ENOMEM;
	for (size_t group = 0; group < digester->layout->group_count; group++) {
		const struct compared_group *of = compare_group(digester->layout, base, group);
		struct mover mover = { .who = of->key,
				       .metric = metric,
				       .section = compare_section_of(rule->metric) };
		int noise;

		if (!move(digester, group, &mover))
			continue;
		if (digest_is_own(of)) {
			ret->total += fabs(mover.moved);
			continue;
		}
		noise = is_noise(digester, group);
		if (noise < 0)
			return noise;
		if (!noise)
			keep_mover(ret, &mover);
	}
	return 0;
}

/* Whether it is enough to speak of. */
static bool matters(const struct movers *movers, const struct mover *mover, double floor_)
{
	double larger = fmax(fabs(mover->before), fabs(mover->after));

	return fabs(mover->moved) >= floor_ && fabs(mover->moved) >= SMALL_SHARE * movers->total &&
	       (!mover->has_before || fabs(mover->moved) >= STEADY * larger);
}

static int say_movers(struct digester *digester, const struct digest_rule *rule,
		      struct movers *movers, double floor_,
		      int (*say)(struct digester *, const struct digest_rule *,
				 const struct mover *))
{
	int status = 0;

	for (size_t i = 0; i < movers->count && status == 0; i++) {
		movers->best[i].total = movers->total;
		if (matters(movers, &movers->best[i], floor_))
			status = say(digester, rule, &movers->best[i]);
	}
	return status;
}

int digest_counter(struct digester *digester, const struct digest_rule *rule)
{
	struct movers movers;
	int status = find_movers(digester, rule, move_counter, &movers);

	return status < 0 ? status :
			    say_movers(digester, rule, &movers, rule->floor * digester->seconds,
				       digest_say_work);
}

int digest_level(struct digester *digester, const struct digest_rule *rule)
{
	struct movers movers;
	double floor_ = rule->floor;
	int status;

	if (rule->capacity == CAPACITY_MEMORY)
		floor_ = fmax(floor_, SMALL_MEMORY * digester->memory);
	/* Between two intervals, sums of counters are rates. */
	if (digester->form == DIGEST_RATES && metrics[rule->metric].formula.count)
		return 0;
	status = find_movers(digester, rule, move_level, &movers);
	if (status < 0)
		return status;
	return say_movers(digester, rule, &movers, floor_, digest_say_level);
}

static enum digest_form form_of(const struct comparison *base, const struct snapshot *first)
{
	const struct fact *recording = &first->facts[FACT_recording];

	switch (base->mode) {
	case COMPARE_INTERVAL:
		return DIGEST_DONE;
	case COMPARE_INTERVALS:
		return DIGEST_RATES;
	default:
		return recording->present && strcmp(recording->text, "run") == 0 ? DIGEST_TOTALS :
										   DIGEST_LIVES;
	}
}

/* How long the amounts took: floors are for a second. */
static double seconds_of(const struct digester *digester, const struct snapshot *after)
{
	const struct fact *duration = &after->facts[FACT_duration_ns];

	if (digester->form == DIGEST_DONE)
		return (double)digester->base->elapsed_ns / 1e9;
	if (digester->form == DIGEST_TOTALS && duration->present && duration->number)
		return (double)duration->number / 1e9;
	return 1;
}

static int compare_readings(const struct compare_side *before, const struct compare_side *after,
			    const struct compare_options *options, const struct comparison *base,
			    struct comparison **ret, struct error *error)
{
	struct compare_options readings = *options;

	readings.metrics.count = 0;
	readings.sections = 1u << COMPARE_LIMITS | 1u << COMPARE_CGROUP |
			    1u << COMPARE_MEMORY_EVENTS | 1u << COMPARE_HOST_USAGE;
	readings.metrics_only = false;
	readings.limit = 0;
	readings.unchanged = false;
	readings.places = NULL;
	readings.place_count = 0;
	readings.like = base;
	return comparison_new(before, after, &readings, ret, error);
}

static int digester_init(struct digester *digester, const struct compare_side *after)
{
	const struct snapshot *last = after->snapshots[0];
	const struct fact *cpus = &last->facts[FACT_online_cpus];
	int status = compare_work_init(&digester->work, digester->layout);

	digester->form = form_of(digester->base, last);
	digester->seconds = seconds_of(digester, last);
	digester->cpus = cpus->present ? cpulist_count(cpus->text) : 0;
	digester->memory = (double)last->facts[FACT_total_memory_bytes].number;
	if (status == 0 && digester->layout->run_count > SIDES)
		status = mann_whitney_new(&digester->test);
	return status;
}

static int say_nothing(struct digester *digester)
{
	CLEANUP(text_free) struct text words = { 0 };

	text_append_string(&words, "nothing moved that matters");
	return digest_say(digester, (struct digest_line){ .resource = "none" }, "", &words);
}

static int apply_rules(struct digester *digester)
{
	struct digest *digest = digester->digest;
	int status = 0;

	for (const struct digest_rule *rule = digest_rules;
	     rule->resource && digest->lines.count < DIGEST_LINES && status == 0; rule++)
		status = rule->apply(digester, rule);
	if (status == 0 && digest->lines.count == 0)
		status = say_nothing(digester);
	return status;
}

int digest_make(struct digest *digest, const struct compare_side *before,
		const struct compare_side *after, const struct compare_options *options,
		const struct comparison *base, struct error *error)
{
	CLEANUP(comparison_free_pointer) struct comparison *readings = NULL;
	struct digester digester = { .digest = digest, .base = base, .layout = base->moving };
	int status = compare_readings(before, after, options, base, &readings, error);

	if (status < 0)
		return status;
	digester.readings = readings;
	status = digester_init(&digester, after);
	if (status == 0)
		status = apply_rules(&digester);
	mann_whitney_free(digester.test);
	compare_work_clear(&digester.work);
	return status < 0 ? error_set(error, status, "cannot make the digest: out of memory") : 0;
}
