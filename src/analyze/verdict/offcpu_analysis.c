/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

/*
 * A kind of wait with at least this share of all off-CPU time gets a sentence,
 * or names the whole.
 */
#define NOTABLE_PERCENT 25.0
#define DOMINANT_PERCENT 50.0

/* clang-format off */
const char *const offcpu_bottleneck_names[OFFCPU_BOTTLENECK_COUNT] = {
	[OFFCPU_IO_BLOCKED]      = "io_blocked",
	[OFFCPU_LOCK_CONTENTION] = "lock_contention",
	[OFFCPU_SLEEP]           = "sleep",
	[OFFCPU_MIXED]           = "mixed",
	[OFFCPU_UNKNOWN]         = "unknown",
};

#define BIT(reason) (1U << WAIT_##reason)

/* The kinds of off-CPU time; the first three are the possible types of the whole. */
static const struct offcpu_kind {
	enum offcpu_bottleneck bottleneck;
	unsigned reasons; /* none: waiting for a CPU */
	const char *sentence;
	const char *hint;
} kinds[] = {
	{ OFFCPU_IO_BLOCKED, BIT(DISK) | BIT(NETWORK) | BIT(PIPE),
	  "threads are blocked on disks, sockets or pipes for much of their off-CPU time",
	  "overlap input and output with work: read ahead, write behind, or several at once" },
	{ OFFCPU_LOCK_CONTENTION, BIT(LOCK),
	  "threads are blocked on locks for much of their off-CPU time",
	  "hold locks for less time, or split what they protect" },
	{ OFFCPU_SLEEP, BIT(TIMER) | BIT(POLL) | BIT(CONDITION) | BIT(CHILD),
	  "threads sleep or wait for work for much of their off-CPU time",
	  "if it should be faster, give it more to do at once; fixed sleeps can wait for events" },
	{ OFFCPU_MIXED, BIT(MEMORY),
	  "threads are blocked on memory for much of their off-CPU time",
	  "use less memory, or raise the limit that it runs into" },
	{ OFFCPU_MIXED, 0,
	  "threads are ready but have no CPU for much of their off-CPU time",
	  "run fewer busy threads than there are CPUs" },
};
/* clang-format on */

#define KIND_COUNT (ARRAY_SIZE(kinds))

static double kind_ns(const struct verdict_facts *facts, const struct offcpu_kind *kind)
{
	double sum = kind->reasons ? 0 : facts->queue;

	for (unsigned i = 0; i < WAIT_REASON_COUNT; i++)
		if (kind->reasons >> i & 1)
			sum += facts->wait[i];
	/* A client that polls for its answers waits for the network. */
	if (kind->reasons & BIT(NETWORK))
		sum += facts->answers;
	if (kind->reasons & BIT(POLL))
		sum -= facts->answers;
	/* On the path is who has the lock; the wait is that of the others. */
	if (kind->reasons & BIT(LOCK))
		sum += facts->contended;
	return sum;
}

static enum offcpu_bottleneck name_bottleneck(const double *percentages, double whole)
{
	if (whole <= 0)
		return OFFCPU_UNKNOWN;
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (percentages[i] > DOMINANT_PERCENT)
			return kinds[i].bottleneck;
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (percentages[i] > NOTABLE_PERCENT)
			return OFFCPU_MIXED;
	return OFFCPU_UNKNOWN;
}

static void say(const double *percentages, struct offcpu_analysis *ret)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (percentages[i] <= NOTABLE_PERCENT)
			continue;
		ret->bottlenecks[ret->bottleneck_count++] = kinds[i].sentence;
		ret->hints[ret->hint_count++] = kinds[i].hint;
	}
}

void offcpu_analyze(const struct verdict_facts *facts, struct offcpu_analysis *ret)
{
	double percentages[KIND_COUNT];
	double whole = facts->queue + facts->contended;

	*ret = (struct offcpu_analysis){ .bottleneck = OFFCPU_UNKNOWN };
	ret->measured = facts->has_ledger;
	if (!ret->measured)
		return;
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		whole += facts->wait[i];
	for (size_t i = 0; i < KIND_COUNT; i++)
		percentages[i] = share_of(kind_ns(facts, &kinds[i]), whole) * 100;
	ret->io_wait_percentage = percentages[0];
	ret->lock_contention_percentage = percentages[1];
	ret->sleep_percentage = percentages[2];
	ret->run_queue_percentage = percentages[KIND_COUNT - 1];
	ret->bottleneck = name_bottleneck(percentages, whole);
	say(percentages, ret);
}
