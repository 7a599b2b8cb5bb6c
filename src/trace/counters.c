/* SPDX-License-Identifier: MIT */
#include "trace/counters.h"

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void raise(uint64_t *value, uint64_t later)
{
	if (later > *value)
		*value = later;
}

/* The part of the CPU time that was user time; all of it when the tick saw nothing else. */
static uint64_t user_part(const struct usage *usage, uint64_t cpu)
{
	uint64_t user = usage->values[USAGE_USER], kernel = usage->values[USAGE_SYSTEM];

	if (!kernel)
		return cpu;
	return (uint64_t)((double)cpu * ((double)user / ((double)user + (double)kernel)));
}

/* Neither part falls, whatever the samples say now. */
static void divide_cpu(struct usage *since, const struct usage *now, uint64_t cpu)
{
	uint64_t user = user_part(now, cpu), kernel = since->values[USAGE_SYSTEM];

	if (user + kernel > cpu)
		user = growth(kernel, cpu);
	raise(&user, since->values[USAGE_USER]);
	usage_set(since, USAGE_USER, user);
	usage_set(since, USAGE_SYSTEM, growth(user, cpu));
}

void counters_raise(struct thread_counters *since, const struct thread_counters *before,
		    const struct thread_counters *now)
{
	for (int id = 0; id < USAGE_COUNT; id++) {
		if (!usage_has(&now->usage, id) || id == USAGE_USER || id == USAGE_SYSTEM)
			continue;
		raise(&since->usage.values[id],
		      growth(before->usage.values[id], now->usage.values[id]));
		since->usage.present |= 1U << id;
	}
	if (usage_has(&now->usage, USAGE_USER) && usage_has(&now->usage, USAGE_CPU))
		divide_cpu(&since->usage, &now->usage, since->usage.values[USAGE_CPU]);
	if (!now->has_run_queue)
		return;
	since->has_run_queue = true;
	raise(&since->run_queue_ns, growth(before->run_queue_ns, now->run_queue_ns));
	raise(&since->run_queue_count, growth(before->run_queue_count, now->run_queue_count));
	/* The longest may lie before: it counts only where nothing does. */
	if (!before->run_queue_count)
		raise(&since->run_queue_longest, now->run_queue_longest);
}
