/* SPDX-License-Identifier: MIT */
#include "lib/scope/statistics.h"

#include <stdbool.h>

#include "lib/scope/area.h"
#include "lib/scope/block.h"

enum {
	OWN = SCOPE_STATISTICS - 1, /* places with a label; the next one is for all others */
	RETIRED_OTHER = SCOPE_RETIRED - 1,
	GUESSES = 64,
};

/* Where a label's place was found last.  Checked at each use, and searched for if wrong. */
static __thread uint8_t guesses[GUESSES];

static uint32_t place_take(struct scope_thread *thread, uint32_t label)
{
	uint32_t count = thread->statistic_count;

	if (count >= OWN)
		return OWN;
	STORE(thread->statistics[count].label, label);
	STORE(thread->statistic_count, count + 1);
	return count;
}

static uint32_t place_find(struct scope_thread *thread, uint32_t label)
{
	for (uint32_t i = 0; i < thread->statistic_count; i++) {
		if (thread->statistics[i].label == label)
			return i;
	}
	return place_take(thread, label);
}

static struct scope_statistic *place(struct scope_thread *thread, uint32_t label)
{
	uint8_t *guess = &guesses[label % GUESSES];

	if (label == 0 || (label & SCOPE_TEXT))
		return &thread->statistics[OWN];
	if (thread->statistics[*guess].label != label)
		*guess = (uint8_t)place_find(thread, label);
	return &thread->statistics[*guess];
}

static uint32_t bucket(uint64_t ticks)
{
	uint32_t power = 63u - (uint32_t)__builtin_clzll(ticks | 1);

	return power < SCOPE_BUCKETS ? power : SCOPE_BUCKETS - 1;
}

/* A full bucket stays full. */
static uint32_t bucket_sum(uint32_t left, uint32_t right)
{
	uint32_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT32_MAX : sum;
}

void statistics_open(struct scope_thread *thread, uint32_t label)
{
	place(thread, label);
}

void statistics_close(struct scope_thread *thread, uint32_t label, uint64_t ticks)
{
	struct scope_statistic *statistic = place(thread, label);
	uint32_t i = bucket(ticks);

	STORE(statistic->count, statistic->count + 1);
	STORE(statistic->total_ticks, statistic->total_ticks + ticks);
	if (ticks > statistic->longest_ticks)
		STORE(statistic->longest_ticks, ticks);
	STORE(statistic->buckets[i], bucket_sum(statistic->buckets[i], 1));
}

/* Every label has a place here, so that no total falls when a thread ends. */
static struct scope_statistic *retired_place(uint32_t label)
{
	struct scope_statistic *retired = area_retired();

	if (label == 0 || label >= SCOPE_LABELS)
		return &retired[RETIRED_OTHER];
	STORE(retired[label].label, label);
	return &retired[label];
}

static void statistic_add(struct scope_statistic *sum, const struct scope_statistic *one)
{
	STORE(sum->count, sum->count + one->count);
	STORE(sum->total_ticks, sum->total_ticks + one->total_ticks);
	if (one->longest_ticks > sum->longest_ticks)
		STORE(sum->longest_ticks, one->longest_ticks);
	STORE(sum->cpu_ns, sum->cpu_ns + LOAD(one->cpu_ns));
	STORE(sum->cpu_samples, sum->cpu_samples + LOAD(one->cpu_samples));
	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		STORE(sum->buckets[i], bucket_sum(sum->buckets[i], one->buckets[i]));
}

static bool is_used(const struct scope_statistic *statistic)
{
	return statistic->label || statistic->count || LOAD(statistic->cpu_samples);
}

void statistics_retire(struct scope_thread *thread)
{
	for (uint32_t i = 0; i < SCOPE_STATISTICS; i++) {
		struct scope_statistic *statistic = &thread->statistics[i];

		if (!is_used(statistic))
			continue;
		statistic_add(retired_place(statistic->label), statistic);
		words_clear(statistic, sizeof(*statistic));
	}
	STORE(thread->statistic_count, 0);
}
