/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include <signal.h>
#include <sys/wait.h>

#include "analyze/verdict/verdict_numbers.h"

/*
 * A storm of processes: at least so many, with at most so much CPU time each.  Starting a small
 * program takes about a millisecond of CPU time, an interpreter five.
 */
#define FORK_CPU_NS 8e6
#define FORKS_MIN 20
/* With less disk traffic, disks are not a reason to wait. */
#define PRESSED_BYTES (1 << 20)
/*
 * Without a path it is not known who had the CPU.  From the first share of all CPUs on, the tree
 * begins to wait for itself; from the second on, for nobody else.
 */
#define SATURATION_BEGIN 0.7
#define SATURATION_END 0.9
/*
 * Short processes that are started one at a time have at most this many in the queue, the parent
 * and the child; more get in each other's way.
 */
#define IN_TURN 2.0
/*
 * Each start of a process is two turns in the queue, its own and its parent's, each for the time slice
 * of another (3 to 4 ms).  Up to so much of a queue behind others comes with the start itself.
 */
#define START_QUEUE_NS 8e6
/*
 * On a machine that is shared with others, some time in the queue behind them is usual, and says
 * less about a program than what it does with the rest.  From this share of all time on it is what
 * the program mainly does.
 */
#define STARVED_SHARE 0.5
/*
 * A limit of I/O counts if at least this share of what it allows was moved.  The kernel lets whole
 * requests through in slices of 100 ms, so large ones use little more than half of what is allowed,
 * and the first and last of a short watch are cut off.
 */
#define IO_LIMIT_USED 0.4
#define PAGE_BYTES 4096.0

static double number(const struct run_number *value)
{
	return value->present ? (double)value->value : 0;
}

/*
 * Others in its cgroup may have used up the quota: a run that uses little of it is not limited by
 * it.
 */
static bool uses_quota(const struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double period = number(&around->cgroup_period_us);

	return period <= 0 || facts->cores >= number(&around->cgroup_quota_us) / period / 2;
}

/*
 * Throttled time is counted on each CPU, queue time by each thread, so the one is only a share of
 * the other.  It is too low where few threads are ready at the end of a period, so the periods in
 * which the quota was used up are taken into account as well.
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
	return facts->queue * greater(share_of(throttled * 1.25, facts->wall), periods * periods);
}

/* Without a path it is estimated how long the tree itself had the CPU. */
static double own_queue(const struct verdict_facts *facts)
{
	double busy = facts->online > 0 ? facts->cores / facts->online : 0;
	double saturated = 1 - falling(busy, SATURATION_BEGIN, SATURATION_END);
	double crowd = at_least_0(facts->queue - IN_TURN * facts->wall) * facts->forking;

	return greater(facts->queue * saturated, crowd);
}

/*
 * A CPU for which a thread waits has something to do.  So the part of such time that the hypervisor
 * took of all CPUs is its part of the queue, whoever of this host seemed to have the CPU.
 */
static double stolen_part(const struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double stolen = number(&around->host_steal_ns);

	return share_of(stolen, stolen + number(&around->host_busy_ns));
}

/*
 * Its own threads stand in each other's way only as far as they would with the CPUs that others use
 * as well: so many of those in the queue would not be there.
 */
static void blame_others(struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double others = at_least_0(number(&around->host_busy_ns) - facts->sums.on_cpu);
	double ns = facts->queue_own * share_of(others, facts->sums.run_queue);

	facts->queue_own -= ns;
	facts->starved += ns;
}

/* A storm would wait for fewer turns of others if it started fewer processes. */
static void blame_starts(struct verdict_facts *facts)
{
	double ns = facts->starved * facts->forking;

	if (facts->starved > START_QUEUE_NS * facts->started)
		return;
	facts->starved -= ns;
	facts->queue_own += ns;
}

/* Says who had the CPU while the run waited for one. */
static void divide_queue(struct verdict_facts *facts)
{
	double rest, left;

	facts->quota = quota_ns(facts);
	rest = 1 - share_of(facts->quota, facts->queue);
	if (!facts->path) {
		facts->queue_own = own_queue(facts);
		facts->starved = facts->queue - facts->queue_own;
	} else {
		blame_others(facts);
		blame_starts(facts);
	}
	left = rest * (1 - stolen_part(facts));
	facts->stolen = facts->queue * (rest - left);
	facts->queue_own *= left;
	facts->starved = facts->starved * left + facts->stolen;
	if (facts->starved < STARVED_SHARE * facts->whole)
		facts->starved = facts->stolen = 0;
	facts->shared = at_least_0(facts->queue - facts->quota - facts->queue_own - facts->starved);
}

static void move_part(double *from, double share, double *to)
{
	*to += *from * share;
	*from -= *from * share;
}

/*
 * Where a memory limit was reached: pages that came back after they had been thrown out were read
 * because of the limit.  Stalls of the cgroup count as far as the run waited for memory or was in
 * the kernel.
 */
static void take_limit(struct verdict_facts *facts)
{
	const struct run_limits *around = &facts->run->limits;
	double back = share_of(number(&around->cgroup_refaults) * PAGE_BYTES,
			       amount_of(facts->run, AMOUNT_read_bytes));
	double stalled = number(&around->cgroup_memory_some_us) * 1000;
	double kernel = facts->on_cpu * share_of(facts->sums.in_kernel, facts->sums.on_cpu);
	double more;

	/* The counters of cgroup v1 do not rise when pages of files are thrown out. */
	facts->has_limit_events = number(&around->cgroup_memory_high_hits) > 0 ||
				  number(&around->cgroup_memory_max_hits) > 0 ||
				  (around->cgroup_memory_limit_bytes.present && back > 0);
	if (!facts->has_limit_events)
		return;
	facts->limit = facts->wait[WAIT_MEMORY];
	facts->wait[WAIT_MEMORY] = 0;
	move_part(&facts->wait[WAIT_DISK], back, &facts->limit);
	move_part(&facts->cpu_for[CPU_DISK], back, &facts->limit);
	move_part(&facts->cpu_for[CPU_FAULTING], back, &facts->limit);
	move_part(&facts->cpu_for[CPU_IN_KERNEL], back, &facts->limit);
	more = lesser(at_least_0(stalled - facts->limit), kernel);
	facts->limit += more;
	facts->cpu_for[CPU_FAULTING] = at_least_0(facts->cpu_for[CPU_FAULTING] - more);
}

/*
 * A process killed in the same cgroup may not be ours; one of ours that died by SIGKILL is.  Who is known to
 * have been killed for that comes first.
 */
static const struct tree_process *find_killed(const struct run *run)
{
	const struct tree_process *killed = NULL;

	for (size_t i = 0; i < run->tree->count; i++) {
		const struct tree_process *process = run->tree->all[i];
		int signal;

		if (process->oom_killed)
			return process;
		if (!killed && number(&run->limits.cgroup_oom_kills) > 0 &&
		    tree_process_signal(process, &signal) && signal == SIGKILL)
			killed = process;
	}
	return killed;
}

/* Time in the queue for a CPU does not count: nothing can be moved then. */
static void take_io_limit(struct verdict_facts *facts)
{
	double time = lesser(facts->wall, at_least_0(facts->whole - facts->queue));
	double allowed = number(&facts->run->limits.cgroup_io_limit_bytes) * time / 1e9;
	double moved = amount_of(facts->run, AMOUNT_read_bytes) +
		       amount_of(facts->run, AMOUNT_write_bytes);

	facts->is_io_limited = allowed > 0 && moved >= IO_LIMIT_USED * allowed;
}

/*
 * Without a ledger: I/O stalls around the run while it was not on a CPU, if it moved anything
 * itself.
 */
static void take_pressure(struct verdict_facts *facts)
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

/* The part of the computing on the path that many processes did, little each. */
static double short_processes(struct verdict_facts *facts)
{
	double ns = 0;

	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind != PATH_CPU || part->via == PATH_DIRECT ||
		    (double)part->ns > FORK_CPU_NS * (double)part->processes)
			continue;
		ns += (double)part->ns;
		facts->started = greater(facts->started, (double)part->processes);
	}
	return facts->started < FORKS_MIN ? 0 : share_of(ns, facts->on_cpu);
}

static void take_forks(struct verdict_facts *facts)
{
	double forks = (double)facts->run->tree->forks;
	double cpu = facts->sums.on_cpu / (forks + 1);

	if (forks < FORKS_MIN)
		return;
	if (facts->path)
		facts->forking = short_processes(facts);
	else
		facts->forking = cpu > FORK_CPU_NS ? FORK_CPU_NS / cpu : 1;
}

void verdict_limits_gather(struct verdict_facts *facts)
{
	take_forks(facts);
	divide_queue(facts);
	take_limit(facts);
	take_io_limit(facts);
	facts->killed = find_killed(facts->run);
	take_pressure(facts);
}
