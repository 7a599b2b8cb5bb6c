/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include "analyze/verdict/verdict_numbers.h"

/* A storm of processes: at least so many per second, with at most so much CPU time each. */
#define FORK_RATE 60.0
#define FORK_CPU_NS 8e6
#define FORKS_MIN 20
/* With less disk traffic, disks are not a reason to wait. */
#define PRESSED_BYTES (1 << 20)
/* From this share of all CPUs on, the tree begins to wait for itself. */
#define SATURATION_BEGIN 0.7
#define SATURATION_END 0.9
/*
 * On a machine shared with others, time in the queue says less about a program
 * than what it runs for.  Up to the first share, all of it is put down to
 * sharing; from the second on, none.  Both are lower where the program wants
 * more CPUs than there are, and so gets in its own way.
 */
#define SHARED_BEGIN 0.6
#define SHARED_END 0.8
#define CROWDED_LESS 0.1
/*
 * Short processes that are started one at a time have at most this many in the
 * queue, the parent and the child; more get in each other's way.  That counts
 * only if they get some CPU.
 */
#define STORM_IN_TURN 2.0
#define STORM_CORES_LITTLE 0.25
#define STORM_CORES_ENOUGH 0.5

static double number(const struct run_number *value)
{
	return value->present ? (double)value->value : 0;
}

/*
 * Others in its cgroup may have used up the quota: a run that uses little of it
 * is not limited by it.
 */
static bool uses_quota(const struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double period = number(&around->cgroup_period_us);

	return period <= 0 || facts->cores >= number(&around->cgroup_quota_us) / period / 2;
}

/*
 * Throttled time is counted on each CPU, queue time by each thread, so the one
 * is only a share of the other.  It is too low where few threads are ready at
 * the end of a period, so the periods in which the quota was used up are taken
 * into account as well.
 */
static double quota_ns(const struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
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

/* Memory stalls of the cgroup count as far as the run waited for memory or was in the kernel. */
static double limit_ns(const struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double waited = facts->wait[WAIT_MEMORY];
	double stalled = number(&around->cgroup_memory_some_us) * 1000;

	if (!facts->has_limit_events)
		return 0;
	return greater(waited, lesser(stalled, waited + facts->in_kernel));
}

static void gather_limits(struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;

	facts->quota = quota_ns(facts);
	facts->has_limit_events =
		number(&around->cgroup_memory_high_hits) + number(&around->cgroup_memory_max_hits) >
		0;
	facts->limit = limit_ns(facts);
	facts->fault_time = at_least_0(facts->fault_time - facts->limit);
}

/*
 * Without a ledger: I/O stalls around the run while it was not on a CPU, if it
 * moved anything itself.
 */
static void gather_pressure(struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	const struct run_number *stalled = around->cgroup_io_some_us.present ?
						   &around->cgroup_io_some_us :
						   &around->host_io_some_us;
	double moved = amount_of(facts->run, AMOUNT_read_bytes) +
		       amount_of(facts->run, AMOUNT_write_bytes);

	if (facts->has_ledger || moved < PRESSED_BYTES)
		return;
	facts->pressed = lesser(facts->unexplained, number(stalled) * 1000);
	facts->unexplained -= facts->pressed;
}

/*
 * A thread that is woken for a lock waits for a CPU, while the thread that
 * released the lock, or another, takes it again: that is contention as well.
 */
static double barged_ns(const struct verdict_facts *facts, double queue)
{
	const struct amounts *amounts = &facts->run->tree->amounts;
	double share = share_of(facts->lock_waits, (double)amounts_get(amounts, AMOUNT_wait_count));

	return lesser(queue * share, facts->wait[WAIT_LOCK]);
}

/* Queueing among the tree's own short processes is part of their storm. */
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
