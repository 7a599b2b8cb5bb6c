/* SPDX-License-Identifier: MIT */
#include "analyze/verdict_limits.h"

#include "analyze/verdict_numbers.h"

/* A storm of processes: that many a second, with no more CPU time each. */
#define FORK_RATE 60.0
#define FORK_CPU_NS 8e6
#define FORKS_MIN 20
/* Less from and to disks is no reason to wait for them. */
#define PRESSED_BYTES (1 << 20)
/* The share of all CPUs from which on the tree begins to wait for itself. */
#define SATURATION_BEGIN 0.7
#define SATURATION_END 0.9
/*
 * On a machine that others use too, a part of its running time in the queue says less about a
 * program than what it runs for: up to the first share, and none from the second on.  Both are lower
 * where it wants more CPUs than there are, and so is in its own way.
 */
#define SHARED_BEGIN 0.6
#define SHARED_END 0.8
#define CROWDED_LESS 0.1
/*
 * Short processes that are started one at a time have that many in the queue at most, the parent
 * and the child: more are in each other's way.  They must get some CPU for it.
 */
#define STORM_IN_TURN 2.0
#define STORM_CORES_LITTLE 0.25
#define STORM_CORES_ENOUGH 0.5

static double number(const struct run_number *value)
{
	return value->present ? (double)value->value : 0;
}

/* Strangers in its cgroup may have used the quota up: who hardly uses any is not held up by it. */
static bool uses_quota(const struct verdict_facts *facts)
{
	const struct run_surroundings *around = &facts->run->surroundings;
	double period = number(&around->cgroup_period_us);

	return period <= 0 || facts->cores >= number(&around->cgroup_quota_us) / period / 2;
}

/*
 * Time throttled is counted on each CPU, time in the queue by each thread, so the one is only a
 * share of the other.  It falls short where few are ready at the end of a period: periods in which
 * the quota was used up tell as well.
 */
static double quota_ns(const struct verdict_facts *facts)
{
	const struct run_surroundings *around = &facts->run->surroundings;
	double throttled = number(&around->cgroup_throttled_ns);
	double periods = share_of(number(&around->cgroup_throttled_periods),
				  number(&around->cgroup_periods));

	if (!uses_quota(facts))
		return 0;
	if (!facts->has_queue)
		return lesser(throttled, facts->unexplained);
	return facts->run_queue *
	       greater(share_of(throttled * 1.25, facts->wall), periods * periods);
}

/* Stalls of the cgroup are its own as far as it waited for memory or was in the kernel. */
static double limit_ns(const struct verdict_facts *facts)
{
	const struct run_surroundings *around = &facts->run->surroundings;
	double waited = facts->wait[WAIT_MEMORY];
	double stalled = number(&around->cgroup_memory_some_us) * 1000;

	if (!facts->has_limit_events)
		return 0;
	return greater(waited, lesser(stalled, waited + facts->in_kernel));
}

static void gather_limits(struct verdict_facts *facts)
{
	const struct run_surroundings *around = &facts->run->surroundings;

	facts->quota = quota_ns(facts);
	facts->has_limit_events =
		number(&around->cgroup_memory_high_hits) + number(&around->cgroup_memory_max_hits) >
		0;
	facts->limit = limit_ns(facts);
	facts->fault_time = at_least_0(facts->fault_time - facts->limit);
}

/*
 * Without a ledger: stalls on I/O around it while it was not on a CPU, if it moved anything itself.
 */
static void gather_pressure(struct verdict_facts *facts)
{
	const struct run_surroundings *around = &facts->run->surroundings;
	const struct run_number *stalled = around->cgroup_io_some_us.present ?
						   &around->cgroup_io_some_us :
						   &around->host_io_some_us;
	double moved =
		usage_of(facts->run, USAGE_READ_BYTES) + usage_of(facts->run, USAGE_WRITE_BYTES);

	if (facts->has_ledger || moved < PRESSED_BYTES)
		return;
	facts->pressed = lesser(facts->unexplained, number(stalled) * 1000);
	facts->unexplained -= facts->pressed;
}

/*
 * A thread that is woken for a lock waits for a CPU while the one who let it go, or another, takes
 * the lock again: that is contention as well.
 */
static double barged_ns(const struct verdict_facts *facts, double queue)
{
	const struct ledger *ledger = &facts->run->tree->ledger;
	double share = share_of(facts->lock_waits, (double)ledger->run_queue_count);

	return lesser(queue * share, facts->wait[WAIT_LOCK]);
}

/* Queueing among short processes of the tree's own is a part of their storm. */
static double storm_ns(const struct verdict_facts *facts, double queue)
{
	double crowd = at_least_0(queue - STORM_IN_TURN * facts->wall);

	return crowd * facts->forking *
	       (1 - falling(facts->cores, STORM_CORES_LITTLE, STORM_CORES_ENOUGH));
}

static void gather_queue(struct verdict_facts *facts)
{
	double queue = at_least_0(facts->run_queue - facts->quota);
	double busy = facts->online > 0 ? facts->cores / facts->online : 0;
	double shared, storm, less = 0;
	double saturated = 1 - falling(busy, SATURATION_BEGIN, SATURATION_END);

	facts->barged = barged_ns(facts, queue);
	queue -= facts->barged;
	storm = storm_ns(facts, queue);
	facts->own_queue = storm + (queue - storm) * saturated;
	queue -= facts->own_queue;
	if (facts->on_cpu + queue > facts->online * facts->wall)
		less = CROWDED_LESS;
	shared = queue * falling(share_of(queue, facts->on_cpu + queue), SHARED_BEGIN - less,
				 SHARED_END - less);
	facts->starved = queue - shared;
	facts->answering = shared * facts->handshake;
	shared -= facts->answering;
	facts->stretch = facts->on_cpu > 0 ? 1 + shared / facts->on_cpu : 1;
}

static void gather_forks(struct verdict_facts *facts)
{
	double forks = (double)facts->run->tree->forks;
	double cpu = facts->on_cpu / (forks + 1);

	if (forks < FORKS_MIN || facts->wall <= 0)
		return;
	facts->fork_rate = forks * 1e9 / facts->wall;
	facts->forking =
		share_of(facts->fork_rate, FORK_RATE) * (cpu > FORK_CPU_NS ? FORK_CPU_NS / cpu : 1);
}

void verdict_limits_gather(struct verdict_facts *facts)
{
	gather_limits(facts);
	gather_pressure(facts);
	gather_forks(facts);
	gather_queue(facts);
}
