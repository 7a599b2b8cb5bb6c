/* SPDX-License-Identifier: MIT */
#include "trace/proc/state_sampler.h"

#include "base/clock.h"
#include "trace/proc/members.h"

#define INTERVAL_NS (10 * NS_PER_MS)
/* With more threads than it can afford, fewer samples of more threads each cost less. */
#define STRETCH_MOST 5
/* What being woken costs, beside reading. */
#define WAKE_NS 50000
/* One part in this many of a CPU; what was not used is saved for at most this long. */
#define BUDGET 100
#define SAVED_NS (100 * NS_PER_MS)
/* What a thread is assumed to cost before the first was read. */
#define FIRST_COST_NS 20000
/* Each has three files open; others are opened for each sample. */
#define OPEN_MOST 96

/* The next thread in turn, NULL when there is none. */
static struct member_thread *next_thread(struct members *members)
{
	struct state_sampler *sampler = &members->states;

	for (size_t tried = 0; tried <= members->list.count; tried++) {
		struct member *member;

		if (sampler->member >= members->list.count)
			sampler->member = 0;
		if (!members->list.count)
			return NULL;
		member = members->list.data[sampler->member];
		if (sampler->thread < member->threads.count)
			return member->threads.data[sampler->thread++];
		sampler->member++;
		sampler->thread = 0;
	}
	return NULL;
}

static void keep_or_close(struct state_sampler *sampler, struct thread_files *files, bool was_open)
{
	if (!files->is_open)
		sampler->open -= was_open;
	else if (!was_open && sampler->open < OPEN_MOST)
		sampler->open++;
	else if (!was_open)
		thread_files_close(files);
}

static void sample_thread(struct members *members, struct member_thread *thread)
{
	struct state_sampler *sampler = &members->states;
	bool was_open = thread->files.is_open;
	int reason;
	enum thread_found found = thread_state_read(members, thread, &reason);

	if (found == THREAD_GONE)
		thread_files_close(&thread->files);
	keep_or_close(sampler, &thread->files, was_open);
	if (found == THREAD_GONE)
		return;
	sampler->taken.all_samples++;
	if (found == THREAD_RUNNING) {
		sampled_waits_note_running(&thread->waits);
		return;
	}
	sampled_waits_note(&thread->waits, (enum wait_reason)reason);
	sampler->taken.samples++;
}

static void note_cost(struct state_sampler *sampler, uint64_t used_ns, size_t count)
{
	uint64_t each = used_ns / count;

	sampler->allowance_ns -= used_ns < sampler->allowance_ns ? used_ns : sampler->allowance_ns;
	sampler->cost_ns = (sampler->cost_ns * 7 + each) / 8 + 1;
}

static size_t affordable(const struct members *members)
{
	const struct state_sampler *sampler = &members->states;
	uint64_t count = sampler->allowance_ns / sampler->cost_ns;

	return count < members->threads.count ? (size_t)count : members->threads.count;
}

/* Returns how many times as long the next interval is to be. */
static uint64_t take(struct members *members)
{
	uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t count = affordable(members), taken = 0;
	struct member_thread *thread;

	for (; taken < count && (thread = next_thread(members)); taken++)
		sample_thread(members, thread);
	if (taken)
		note_cost(&members->states, clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns, taken);
	if (count * STRETCH_MOST <= members->threads.count)
		return STRETCH_MOST;
	return (members->threads.count + count - 1) / count;
}

/* Three quarters to five quarters of the interval. */
static uint64_t next_interval(struct state_sampler *sampler, uint64_t stretch)
{
	uint64_t interval = INTERVAL_NS * (stretch ? stretch : 1);

	sampler->random = sampler->random * 1664525 + 1013904223;
	return interval * 3 / 4 + (sampler->random >> 8) % (interval / 2);
}

uint64_t state_sampler_take(struct members *members, uint64_t now_ns)
{
	struct state_sampler *sampler = &members->states;
	uint64_t passed_ns = sampler->last_ns ? now_ns - sampler->last_ns : INTERVAL_NS;

	if (members->since_start)
		return UINT64_MAX;
	if (!sampler->cost_ns)
		sampler->cost_ns = FIRST_COST_NS;
	sampler->last_ns = now_ns;
	sampler->covered_ns += passed_ns * members->threads.count;
	sampler->allowance_ns += passed_ns / BUDGET;
	if (sampler->allowance_ns > SAVED_NS / BUDGET)
		sampler->allowance_ns = SAVED_NS / BUDGET;
	sampler->allowance_ns -= sampler->allowance_ns < WAKE_NS ? sampler->allowance_ns : WAKE_NS;
	return now_ns + next_interval(sampler, take(members));
}

struct wait_sampling state_sampler_taken(const struct members *members)
{
	const struct state_sampler *sampler = &members->states;
	struct wait_sampling taken = sampler->taken;

	if (taken.all_samples)
		taken.interval_ns = sampler->covered_ns / taken.all_samples;
	return taken;
}
