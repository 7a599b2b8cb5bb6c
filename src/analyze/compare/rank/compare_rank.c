/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rank/compare_rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "metric/fold.h"
#include "model/snapshot/snapshot.h"

/* A smaller change is noise: every host has it without a cause. */
static const double noise_floors[RESOURCE_COUNT] = {
	[RESOURCE_CPU] = 1e6,	   [RESOURCE_WAIT] = 1e6,  [RESOURCE_IO] = 65536,
	[RESOURCE_MEMORY] = 65536, [RESOURCE_FAULTS] = 10, [RESOURCE_SWITCHES] = 10,
	[RESOURCE_TASKS] = 0.5,
};

/* The most that one second of one CPU can hold; memory and tasks do not depend on time. */
static const double per_cpu_second[RESOURCE_COUNT] = {
	[RESOURCE_CPU] = 1e9,	 [RESOURCE_WAIT] = 1e9,	    [RESOURCE_IO] = 1e9,
	[RESOURCE_FAULTS] = 1e5, [RESOURCE_SWITCHES] = 1e5,
};

const enum metric_id resource_metrics[RESOURCE_COUNT] = {
	[RESOURCE_NONE] = METRIC_COUNT,
	[RESOURCE_CPU] = METRIC_run_time_ns,
	[RESOURCE_WAIT] = METRIC_wait_time_ns,
	[RESOURCE_IO] = METRIC_rchar,
	[RESOURCE_MEMORY] = METRIC_rss_bytes,
	[RESOURCE_FAULTS] = METRIC_minflt,
	[RESOURCE_SWITCHES] = METRIC_voluntary_csw,
	[RESOURCE_TASKS] = METRIC_thread_count,
};

struct rank_rule {
	enum resource resource;
	double weight;
};

/*
 * One metric represents each resource.  Metrics that repeat it, are a part of
 * it or are less exact weigh less.
 */
static const struct rank_rule rules[METRIC_COUNT] = {
	[METRIC_run_time_ns] = { RESOURCE_CPU, 1 },
	[METRIC_utime_ns] = { RESOURCE_CPU, 0.5 },
	[METRIC_stime_ns] = { RESOURCE_CPU, 0.5 },
	[METRIC_child_utime_ns] = { RESOURCE_CPU, 0.6 },
	[METRIC_child_stime_ns] = { RESOURCE_CPU, 0.6 },
	[METRIC_dead_run_time_ns] = { RESOURCE_CPU, 0.2 },
	[METRIC_dead_utime_ns] = { RESOURCE_CPU, 0.1 },
	[METRIC_dead_stime_ns] = { RESOURCE_CPU, 0.1 },
	[METRIC_core_forceidle_sum] = { RESOURCE_CPU, 0.5 },

	[METRIC_wait_time_ns] = { RESOURCE_WAIT, 0.9 },
	[METRIC_blkio_delay_total_ns] = { RESOURCE_WAIT, 0.8 },
	[METRIC_swapin_delay_total_ns] = { RESOURCE_WAIT, 0.8 },
	[METRIC_freepages_delay_total_ns] = { RESOURCE_WAIT, 0.8 },
	[METRIC_thrashing_delay_total_ns] = { RESOURCE_WAIT, 0.8 },
	[METRIC_compact_delay_total_ns] = { RESOURCE_WAIT, 0.8 },
	[METRIC_wpcopy_delay_total_ns] = { RESOURCE_WAIT, 0.6 },
	[METRIC_irq_delay_total_ns] = { RESOURCE_WAIT, 0.6 },
	[METRIC_cpu_delay_total_ns] = { RESOURCE_WAIT, 0.5 },
	[METRIC_total_offcpu_delay_ns] = { RESOURCE_WAIT, 0.7 },
	[METRIC_block_sum] = { RESOURCE_WAIT, 0.6 },
	[METRIC_iowait_sum] = { RESOURCE_WAIT, 0.6 },
	[METRIC_wait_sum] = { RESOURCE_WAIT, 0.4 },
	/* A thread that chooses to sleep loses nothing. */
	[METRIC_voluntary_sleep_ns] = { RESOURCE_WAIT, 0.02 },
	[METRIC_sleep_max] = { RESOURCE_WAIT, 0.01 },

	[METRIC_read_bytes] = { RESOURCE_IO, 0.9 },
	[METRIC_write_bytes] = { RESOURCE_IO, 0.9 },
	[METRIC_net_rx_bytes] = { RESOURCE_IO, 0.8 },
	[METRIC_net_tx_bytes] = { RESOURCE_IO, 0.8 },
	[METRIC_rchar] = { RESOURCE_IO, 0.5 },
	[METRIC_wchar] = { RESOURCE_IO, 0.5 },
	[METRIC_cancelled_write_bytes] = { RESOURCE_IO, 0.3 },

	[METRIC_rss_bytes] = { RESOURCE_MEMORY, 0.9 },
	[METRIC_pss_bytes] = { RESOURCE_MEMORY, 1 },
	[METRIC_uss_bytes] = { RESOURCE_MEMORY, 0.8 },
	[METRIC_swap_bytes] = { RESOURCE_MEMORY, 0.9 },
	[METRIC_swap_pss_bytes] = { RESOURCE_MEMORY, 0.8 },
	[METRIC_vm_bytes] = { RESOURCE_MEMORY, 0.1 },
	[METRIC_hiwater_rss_bytes] = { RESOURCE_MEMORY, 0.5 },
	[METRIC_hiwater_vm_bytes] = { RESOURCE_MEMORY, 0.05 },
	[METRIC_live_heap_estimate] = { RESOURCE_MEMORY, 0.8 },
	[METRIC_allocated_bytes] = { RESOURCE_MEMORY, 0.3 },
	[METRIC_deallocated_bytes] = { RESOURCE_MEMORY, 0.3 },

	[METRIC_majflt] = { RESOURCE_FAULTS, 0.9 },
	[METRIC_minflt] = { RESOURCE_FAULTS, 0.6 },

	[METRIC_voluntary_csw] = { RESOURCE_SWITCHES, 0.4 },
	[METRIC_nonvoluntary_csw] = { RESOURCE_SWITCHES, 0.5 },
	[METRIC_nr_migrations] = { RESOURCE_SWITCHES, 0.4 },
	[METRIC_nr_wakeups] = { RESOURCE_SWITCHES, 0.3 },

	[METRIC_thread_count] = { RESOURCE_TASKS, 0.5 },
	[METRIC_nr_threads] = { RESOURCE_TASKS, 0.3 },
	[METRIC_open_fds] = { RESOURCE_TASKS, 0.4 },

	/* Settings, by how many tasks have them. */
	[METRIC_policy] = { RESOURCE_NONE, 0.5 },
	[METRIC_nice] = { RESOURCE_NONE, 0.4 },
	[METRIC_rt_priority] = { RESOURCE_NONE, 0.4 },
	[METRIC_cpu_affinity] = { RESOURCE_NONE, 0.4 },
	[METRIC_ext_enabled] = { RESOURCE_NONE, 0.5 },
	[METRIC_uid] = { RESOURCE_NONE, 0.2 },
};

/* They grow because time passes: that is no change. */
static const enum metric_id ages[] = { METRIC_scope_age_ns, METRIC_scope_stall_ns, METRIC_begin_ns,
				       METRIC_end_ns };

static bool is_age(enum metric_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++)
		if (ages[i] == id)
			return true;
	return false;
}

/* For metrics without a rule. */
static struct rank_rule usual_rule(enum metric_unit unit, bool is_peak, bool is_total)
{
	double weight = is_peak ? 0.2 : 0.3;

	switch (unit) {
	case UNIT_NS:
	case UNIT_US:
		return (struct rank_rule){ RESOURCE_WAIT, weight };
	case UNIT_BYTES:
		return (struct rank_rule){ is_total ? RESOURCE_IO : RESOURCE_MEMORY, weight };
	case UNIT_COUNT:
		return (struct rank_rule){ is_total ? RESOURCE_SWITCHES : RESOURCE_TASKS,
					   weight / 2 };
	default:
		return (struct rank_rule){ RESOURCE_NONE, 0 };
	}
}

/* The rule for readings, by their unit. */
static struct rank_rule rule_of_reading(const struct metric *reading)
{
	bool is_total = reading->kind == KIND_COUNTER;

	if (strncmp(reading->name, "cpu.stat ", 9) == 0 && reading->unit == UNIT_US)
		return (struct rank_rule){ RESOURCE_CPU, 0.7 };
	/* Averages say again, and later, what the totals say. */
	if (reading->section == SECTION_PRESSURE)
		return (struct rank_rule){ is_total ? RESOURCE_WAIT : RESOURCE_NONE,
					   is_total ? 0.7 : 0 };
	if (strncmp(reading->name, "memory.events", 13) == 0)
		return (struct rank_rule){ RESOURCE_FAULTS, 0.7 };
	if (strcmp(reading->name, "memory.current") == 0)
		return (struct rank_rule){ RESOURCE_MEMORY, 0.7 };
	if (reading->kind == KIND_LIMIT || reading->kind == KIND_SETTING ||
	    reading->kind == KIND_TEXT)
		return (struct rank_rule){ RESOURCE_NONE, 0.3 };
	return usual_rule(reading->unit, reading->kind == KIND_PEAK, is_total);
}

static struct rank_rule rule_of(const struct metric *metric)
{
	if (metric_is_reading(metric))
		return rule_of_reading(metric);
	if (rules[metric_number(metric)].weight > 0)
		return rules[metric_number(metric)];
	if (metric->kind == KIND_LOW || is_age(metric_number(metric)))
		return (struct rank_rule){ RESOURCE_NONE, 0 };
	return usual_rule(metric->unit, metric->kind == KIND_PEAK, metric->kind == KIND_COUNTER);
}

void rank_scale_init(struct rank_scale *scale, const struct snapshot *snapshot, uint64_t elapsed_ns)
{
	const struct fact *facts_ = snapshot->facts;
	uint64_t life = facts_[FACT_boottime_ns].present ? facts_[FACT_boottime_ns].number : 0;
	double seconds = (double)(elapsed_ns ? elapsed_ns : life) / 1e9;
	double cpus = 1;

	if (facts_[FACT_online_cpus].present && cpulist_count(facts_[FACT_online_cpus].text))
		cpus = cpulist_count(facts_[FACT_online_cpus].text);
	*scale = (struct rank_scale){ 0 };
	for (int i = 0; i < RESOURCE_COUNT; i++)
		scale->capacity[i] = per_cpu_second[i] * cpus * (seconds > 0 ? seconds : 3600);
	scale->capacity[RESOURCE_TASKS] = (double)snapshot->task_count;
	scale->capacity[RESOURCE_MEMORY] = facts_[FACT_total_memory_bytes].present ?
						   (double)facts_[FACT_total_memory_bytes].number :
						   (double)((uint64_t)16 << 30);
}

double rank_whole(const struct rank_scale *scale, const struct metric *metric, double total)
{
	double moved = scale->moved[rule_of(metric).resource];

	if (metric->unit == UNIT_US)
		moved /= 1e3;
	return moved > total ? moved : total;
}

/* From 0 at the noise floor to 1 at the host's whole amount. */
static double magnitude_of(const struct rank_scale *scale, enum resource resource, double amount)
{
	double floor_ = noise_floors[resource], capacity = scale->capacity[resource];

	if (floor_ <= 0 || amount < floor_)
		return 0;
	if (capacity <= floor_ || amount >= capacity)
		return 1;
	return log1p(amount / floor_) / log1p(capacity / floor_);
}

/* A metric without a resource scores just by having changed. */
static double score_changed(const struct rank_rule *rule)
{
	return rule->weight / 2;
}

double rank_amount(const struct rank_scale *scale, const struct metric *metric, double amount,
		   double share)
{
	struct rank_rule rule = rule_of(metric);

	if (rule.resource == RESOURCE_NONE)
		return score_changed(&rule);
	return rule.weight * share *
	       magnitude_of(scale, rule.resource, amount * (metric->unit == UNIT_US ? 1e3 : 1));
}

double rank_bound(const struct metric *metric, double share)
{
	bool is_ratio = metric->formula.count && !formula_is_whole(&metric->formula);
	struct rank_rule rule = rule_of(is_ratio ? &metrics[metric->formula.inputs[0]] : metric);

	return rule.resource == RESOURCE_NONE ? score_changed(&rule) : rule.weight * share;
}

double rank_ratio(const struct rank_scale *scale, const struct metric *metric, double before,
		  double now, double amount, double share)
{
	double larger = fabs(before) > fabs(now) ? fabs(before) : fabs(now);
	double relative = larger > 0 ? fabs(now - before) / larger : 0;

	if (relative > 1)
		relative = 1;
	return relative * rank_amount(scale, &metrics[metric->formula.inputs[0]], amount, share) /
	       2;
}

double rank_setting(const struct metric *metric, double share_of_tasks)
{
	struct rank_rule rule = rule_of(metric);

	if (metric_is_reading(metric))
		return score_changed(&rule);
	return rule.resource == RESOURCE_NONE ? rule.weight * share_of_tasks : 0;
}

/* Readings are in the order they were found, before all metrics. */
static int place_of(const struct metric *metric)
{
	return metric_is_reading(metric) ? 0 : (int)metric_number(metric) + 1;
}

int rank_tie(const struct comparison *comparison, const struct comparison_row *a,
	     const struct comparison_row *b)
{
	int order;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	if (a->group != b->group) {
		order = strcmp(comparison->groups.data[a->group].key,
			       comparison->groups.data[b->group].key);
		if (order)
			return order;
		return a->group < b->group ? -1 : 1;
	}
	return place_of(a->metric) - place_of(b->metric);
}

/* The sort key of a row, kept apart because rows are large and may be millions. */
struct place {
	double score;
	uint64_t tie;
	uint32_t of_group, row;
};

/* Like rank_tie(), with the group's place in the order of all keys. */
static uint64_t tie_of(const struct comparison_row *row, uint32_t key_place)
{
	return (uint64_t)row->section << 56 | (uint64_t)key_place << 16 |
	       (uint64_t)place_of(row->metric);
}

static int compare_places(const void *first, const void *second)
{
	const struct place *a = first, *b = second;

	if (a->of_group != b->of_group)
		return a->of_group < b->of_group ? -1 : 1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->tie != b->tie)
		return a->tie < b->tie ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_keys(const void *first, const void *second, void *context)
{
	const struct comparison *comparison = context;
	uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
	int order = strcmp(comparison->groups.data[a].key, comparison->groups.data[b].key);

	return order ? order : (a > b) - (a < b);
}

/* By group that has rows, its place in the order of the keys.  NULL without memory. */
static uint32_t *order_keys(struct comparison *comparison)
{
	size_t groups = comparison->groups.count, count = 0;
	CLEANUP(free_pointer) uint32_t *sorted = malloc(groups * sizeof(*sorted) + 1);
	uint32_t *places = calloc(groups + 1, sizeof(*places));

	if (!sorted || !places) {
		free(places);
		return NULL;
	}
	for (size_t i = 0; i < comparison->rows.count; i++) {
		uint32_t group = comparison->rows.data[i].group;

		if (!places[group])
			sorted[count++] = group;
		places[group] = 1;
	}
	qsort_r(sorted, count, sizeof(*sorted), compare_keys, comparison);
	for (uint32_t i = 0; i < count; i++)
		places[sorted[i]] = i;
	return places;
}

/* Puts row order[i] into place i, each row moved once. */
static void place_rows(struct comparison_row *rows, uint32_t *order, uint32_t count)
{
	for (uint32_t start = 0; start < count; start++) {
		struct comparison_row first = rows[start];
		uint32_t to = start;

		while (order[to] != start) {
			uint32_t from = order[to];

			rows[to] = rows[from];
			order[to] = to;
			to = from;
		}
		rows[to] = first;
		order[to] = to;
	}
}

int rank_rows(struct comparison *comparison, const uint32_t *places, size_t place_count)
{
	uint32_t count = (uint32_t)comparison->rows.count;
	CLEANUP(free_pointer) struct place *sorted = malloc(count * sizeof(*sorted) + 1);
	CLEANUP(free_pointer) uint32_t *order = malloc(count * sizeof(*order) + 1);
	CLEANUP(free_pointer) uint32_t *key_places = order_keys(comparison);

	if (!sorted || !order || !key_places)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		sorted[i] = (struct place){ row->score, tie_of(row, key_places[row->group]),
					    rank_place(places, place_count, row->group), i };
	}
	qsort(sorted, count, sizeof(*sorted), compare_places);
	for (uint32_t i = 0; i < count; i++)
		order[i] = sorted[i].row;
	place_rows(comparison->rows.data, order, count);
	return 0;
}
