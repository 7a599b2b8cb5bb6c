/* SPDX-License-Identifier: MIT */
#include "lib/scope/statistics.h"

#include <stdbool.h>

#include "lib/attributes.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"

enum {
	OWN = SCOPE_STATISTICS -
	      1, /* places with a label; the next one is for labels without number */
	RETIRED_OTHER = SCOPE_RETIRED - 1,
	GUESSES = 64,
};

/* Where a label's place was found last.  Checked at each use, and searched for if wrong. */
static __thread uint8_t guesses[GUESSES];

/* Every label has a place here: no total falls when a thread ends. */
static struct scope_statistic *common_place(uint32_t label)
{
	struct scope_statistic *retired = area_retired();

	if (label == 0 || label >= SCOPE_LABELS)
		return &retired[RETIRED_OTHER];
	STORE(retired[label].label, label);
	return &retired[label];
}

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

/* Returns NULL for a label that has no place in the block. */
static struct scope_statistic *own_place(struct scope_thread *thread, uint32_t label)
{
	uint8_t *guess = &guesses[label % GUESSES];

	if (label == 0 || (label & SCOPE_TEXT))
		return &thread->statistics[OWN];
	if (thread->statistics[*guess].label != label)
		*guess = (uint8_t)place_find(thread, label);
	return *guess == OWN ? NULL : &thread->statistics[*guess];
}

struct scope_statistic *statistics_place(struct scope_thread *thread, uint32_t label)
{
	uint32_t count = LOAD(thread->statistic_count);

	if (label == 0 || (label & SCOPE_TEXT))
		return &thread->statistics[OWN];
	for (uint32_t i = 0; i < count && i < OWN; i++)
		if (LOAD(thread->statistics[i].label) == label)
			return &thread->statistics[i];
	return common_place(label);
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
	own_place(thread, label);
}

static void maximum_raise(uint64_t *place, uint64_t value)
{
	uint64_t now = LOAD(*place);

	while (now < value && !__atomic_compare_exchange_n(place, &now, value, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static void bucket_raise(uint32_t *place, uint32_t more)
{
	uint32_t now = LOAD(*place);

	while (more && !__atomic_compare_exchange_n(place, &now, bucket_sum(now, more), false,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

/* Threads add to a common place at the same time. */
static void common_add(struct scope_statistic *sum, uint64_t count, uint64_t ticks,
		       uint64_t self_ticks, uint64_t longest_ticks)
{
	__atomic_add_fetch(&sum->count, count, __ATOMIC_RELEASE);
	__atomic_add_fetch(&sum->total_ticks, ticks, __ATOMIC_RELEASE);
	__atomic_add_fetch(&sum->self_ticks, self_ticks, __ATOMIC_RELEASE);
	maximum_raise(&sum->longest_ticks, longest_ticks);
}

static APART void close_common(uint32_t label, uint64_t ticks, uint64_t self_ticks)
{
	struct scope_statistic *sum = common_place(label);

	common_add(sum, 1, ticks, self_ticks, ticks);
	bucket_raise(&sum->buckets[bucket(ticks)], 1);
}

void statistics_close(struct scope_thread *thread, uint32_t label, uint64_t ticks,
		      uint64_t self_ticks)
{
	struct scope_statistic *statistic = own_place(thread, label);
	uint32_t i = bucket(ticks);

	if (UNLIKELY(!statistic)) {
		close_common(label, ticks, self_ticks);
		return;
	}
	STORE(statistic->count, statistic->count + 1);
	STORE(statistic->total_ticks, statistic->total_ticks + ticks);
	STORE(statistic->self_ticks, statistic->self_ticks + self_ticks);
	if (ticks > statistic->longest_ticks)
		STORE(statistic->longest_ticks, ticks);
	STORE(statistic->buckets[i], bucket_sum(statistic->buckets[i], 1));
}

static void statistic_add(struct scope_statistic *sum, const struct scope_statistic *one)
{
	common_add(sum, one->count, one->total_ticks, one->self_ticks, one->longest_ticks);
	STORE(sum->cpu_ns, sum->cpu_ns + LOAD(one->cpu_ns));
	STORE(sum->cpu_samples, sum->cpu_samples + LOAD(one->cpu_samples));
	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		bucket_raise(&sum->buckets[i], one->buckets[i]);
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
		statistic_add(common_place(statistic->label), statistic);
		words_clear(statistic, sizeof(*statistic));
	}
	STORE(thread->statistic_count, 0);
}
