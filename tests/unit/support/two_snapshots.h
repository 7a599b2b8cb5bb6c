/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots of one boot, ten seconds apart.  A thread's start time is its tid
 * in ticks of 10 ms, so tids below FIRST_BORN are older than the first snapshot.
 */
#ifndef TWO_SNAPSHOTS_H
#define TWO_SNAPSHOTS_H

#include "analyze/compare/comparison.h"
#include "base/error.h"
#include "hand_snapshot.h"

#define FIRST_BORN 10000
#define BEFORE_NS ((uint64_t)100 * 1000000000)
#define AFTER_NS ((uint64_t)110 * 1000000000)

struct pair {
	struct snapshot *before, *after;
};

static inline struct snapshot *pair_snapshot(const char *boot_id, uint64_t boottime_ns)
{
	struct snapshot *snapshot = hand_new();

	snapshot_set_fact_text(snapshot, FACT_boot_id, boot_id);
	snapshot_set_fact_text(snapshot, FACT_kernel_release, "6.12.0");
	snapshot_set_fact_text(snapshot, FACT_online_cpus, "0-3");
	snapshot_set_fact_number(snapshot, FACT_clock_ticks, 100);
	snapshot_set_fact_number(snapshot, FACT_total_memory_bytes, (uint64_t)8 << 30);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, boottime_ns);
	return snapshot;
}

static inline struct pair pair_new(void)
{
	return (struct pair){ pair_snapshot("one", BEFORE_NS), pair_snapshot("one", AFTER_NS) };
}

static inline void pair_free(struct pair *pair)
{
	snapshot_free(pair->before);
	snapshot_free(pair->after);
}

static inline void pair_finish(struct pair *pair)
{
	assert_int_equal(snapshot_finish(pair->before), 0);
	assert_int_equal(snapshot_finish(pair->after), 0);
}

static inline struct compare_options pair_options(enum compare_mode mode, enum group_axis axis)
{
	struct compare_options options = {
		.mode = mode, .axis = axis, .sections = UINT32_MAX, .unchanged = true
	};

	selection_all(&options.metrics);
	return options;
}

static inline struct comparison *compare_snapshots(const struct snapshot *before,
						   const struct snapshot *after,
						   const struct compare_options *options)
{
	struct compare_side first = { &before, 1 }, second = { &after, 1 };
	struct comparison *comparison = NULL;
	struct error error = { 0 };

	if (comparison_new(&first, &second, options, &comparison, &error) < 0)
		fail_msg("%s", error.message);
	return comparison;
}

static inline struct comparison *pair_compare(struct pair *pair, enum compare_mode mode,
					      enum group_axis axis)
{
	struct compare_options options = pair_options(mode, axis);

	pair_finish(pair);
	return compare_snapshots(pair->before, pair->after, &options);
}

static inline const struct comparison_row *find_row(const struct comparison *comparison,
						    const char *key, enum metric_id id)
{
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (row->metric == &metrics[id] &&
		    strcmp(comparison->groups.data[row->group].key, key) == 0)
			return row;
	}
	return NULL;
}

static inline const struct comparison_row *get_row(const struct comparison *comparison,
						   const char *key, enum metric_id id)
{
	const struct comparison_row *row = find_row(comparison, key, id);

	if (!row)
		fail_msg("there is no row of %s in '%s'", metrics[id].name, key);
	return row;
}

static inline void assert_delta(const struct comparison *comparison, const char *key,
				enum metric_id id, int64_t expected)
{
	const struct difference *delta = &get_row(comparison, key, id)->delta;

	assert_true(delta->known);
	assert_int_equal(delta->is_negative ? -(int64_t)delta->magnitude :
					      (int64_t)delta->magnitude,
			 expected);
}

/* Of all groups together; the deltas of restarted ones are rates, so what they did counts. */
static inline int64_t sum_of_deltas(const struct comparison *comparison, enum metric_id id)
{
	int64_t sum = 0;

	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];
		const struct difference *delta = &row->delta;

		if (row->metric == &metrics[id] && row->values == VALUES_PER_TASK_SECOND)
			sum += (int64_t)row->interval.number;
		else if (row->metric == &metrics[id] && delta->known)
			sum += delta->is_negative ? -(int64_t)delta->magnitude :
						    (int64_t)delta->magnitude;
	}
	return sum;
}

static inline bool has_note(const struct comparison *comparison, const char *part)
{
	for (size_t i = 0; i < comparison->notes.count; i++)
		if (strstr(comparison->notes.data[i], part))
			return true;
	return false;
}

#endif
