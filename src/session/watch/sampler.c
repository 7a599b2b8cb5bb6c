/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "session/watch/sampler.h"

#define FAST_NS NS_PER_SECOND	 /* no slowing down in this first time */
#define LONGEST_NS NS_PER_SECOND /* in the first minute */
#define LONGEST_LATE_NS (5 * NS_PER_SECOND)
#define LATE_NS (60 * NS_PER_SECOND)

void sampler_begin(struct sampler *sampler, uint64_t shortest_ns, uint64_t now_ns)
{
	if (shortest_ns == 0)
		shortest_ns = SAMPLER_SHORTEST_NS;
	*sampler = (struct sampler){
		.shortest_ns = shortest_ns,
		.begin_ns = now_ns,
		.interval_ns = shortest_ns,
		.next_ns = now_ns + shortest_ns,
	};
}

static uint64_t longest(const struct sampler *sampler, uint64_t age_ns)
{
	uint64_t most = age_ns < LATE_NS ? LONGEST_NS : LONGEST_LATE_NS;

	return sampler->shortest_ns > most ? sampler->shortest_ns : most;
}

static uint64_t grown(const struct sampler *sampler, uint64_t age_ns, bool changed)
{
	uint64_t most = longest(sampler, age_ns);
	uint64_t interval = sampler->interval_ns + sampler->interval_ns / 2;

	if (changed || age_ns < FAST_NS)
		return sampler->shortest_ns;
	return interval > most ? most : interval;
}

/* A single expensive sample on a busy host must not delay the next one by minutes. */
static void note_cost(struct sampler *sampler, uint64_t cost_ns)
{
	if (sampler->cost_ns == 0)
		sampler->cost_ns = cost_ns;
	else if (cost_ns > sampler->cost_ns)
		sampler->cost_ns += (cost_ns - sampler->cost_ns) / 4;
	else
		sampler->cost_ns -= (sampler->cost_ns - cost_ns) / 4;
}

void sampler_taken(struct sampler *sampler, uint64_t now_ns, uint64_t cost_ns, bool changed)
{
	uint64_t age_ns = now_ns > sampler->begin_ns ? now_ns - sampler->begin_ns : 0;
	uint64_t late;

	note_cost(sampler, cost_ns);
	sampler->interval_ns = grown(sampler, age_ns, changed);
	if (sampler->interval_ns < sampler->cost_ns * SAMPLER_BUDGET)
		sampler->interval_ns = sampler->cost_ns * SAMPLER_BUDGET;
	sampler->next_ns += sampler->interval_ns;
	if (sampler->next_ns > now_ns)
		return;
	late = (now_ns - sampler->next_ns) / sampler->interval_ns + 1;
	sampler->missed += late;
	sampler->next_ns += late * sampler->interval_ns;
}
