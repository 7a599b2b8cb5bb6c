/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include <string.h>

#include "analyze/verdict/verdict_numbers.h"
#include "analyze/verdict/verdict_threads.h"

/* Entry and exit of a call, watching included; its latency does not contain them. */
#define CALL_OVERHEAD_NS 200.0
#define CALL_OVERHEAD_MOST_NS 1000.0
/* A short read or write: the least it takes, and the assumption where calls were not measured. */
#define MOVE_NS 250.0
#define MOVE_UNMEASURED_NS 800.0
/* A page fault: about what one takes, and the most that is assumed for small and for huge pages. */
#define FAULT_NS 700.0
#define FAULT_MOST_NS 5e3
#define FAULT_HUGE_NS 200e3
/* The time to wake another thread and to be switched away. */
#define HANDOVER_NS 10e3
#define HANDSHAKE_NS 50e3
/* Bytes per call: up to the first, all of the call is overhead; from the second on, none. */
#define TINY_BYTES 64.0
#define SMALL_BYTES 512.0
#define HANDSHAKE_BYTES 16384.0
/* Threads that take turns contend for a lock if they compute in at least this part of the time. */
#define CONTENDED_RUNS_SHARE 0.4
/* This many writes for each sync count as part of the sync. */
#define WRITES_PER_SYNC 4.0

/* Waiting for a connection is waiting for work, whatever the ledger calls it. */
static void drop_accepting(struct verdict_facts *facts, double accepting)
{
	facts->wait[WAIT_NETWORK] = at_least_0(facts->wait[WAIT_NETWORK] - accepting);
	facts->wait[WAIT_POLL] += accepting;
}

static double sum_active(const struct verdict_facts *facts, const double *without)
{
	double sum = facts->on_cpu + facts->run_queue;

	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		if (waits[i].kind == WAIT_COST)
			sum += at_least_0(facts->wait[i] - (without ? without[i] : 0));
	return sum;
}

/* Sleeping, or waiting for events. */
static double waited_for_work(const double waited[WAIT_REASON_COUNT])
{
	return waited[WAIT_TIMER] + waited[WAIT_POLL] + waited[WAIT_CONDITION];
}

/* Whether the main threads wait for work, and the command's own first thread is not parked. */
static bool has_idle_master(const struct verdict_facts *facts, const struct thread_sums *threads)
{
	if (threads->root_is_parked)
		return false;
	if (waited_for_work(threads->leader) >= facts->wall / 2)
		return true;
	return threads->dormant_leaders <= 0 && waited_for_work(facts->wait) >= facts->wall / 2;
}

/* Drops waits of parked threads, unless nobody else did anything or waited for work. */
static void drop_parked(struct verdict_facts *facts, const struct thread_sums *threads)
{
	const double *dropped = threads->parked;

	if (sum_active(facts, dropped) < facts->wall / 10) {
		if (!has_idle_master(facts, threads))
			return;
		dropped = threads->dormant;
	}
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++) {
		facts->parked += dropped[i];
		facts->wait[i] = at_least_0(facts->wait[i] - dropped[i]);
	}
}

/*
 * Waits on conditions are waits for work, except where one thread computes and
 * others wait for it.
 */
static void take_contended(struct verdict_facts *facts, const struct turn_sums *turns)
{
	double runs = facts->on_cpu + facts->run_queue;

	facts->lock_waits = waited_count(&facts->run->tree->amounts, WAIT_LOCK);
	facts->in_turns = facts->has_ledger && turns->mutual;
	if (!facts->in_turns || turns->runs < runs / 2 ||
	    turns->runs < facts->wall * CONTENDED_RUNS_SHARE)
		return;
	facts->contended = lesser(turns->waited, facts->wait[WAIT_CONDITION]);
	facts->lock_waits += turns->count;
	facts->wait[WAIT_CONDITION] -= facts->contended;
	facts->wait[WAIT_LOCK] += facts->contended;
}

/* Covered waits hold nobody up, except between threads that answer each other in turns. */
static void drop_covered(struct verdict_facts *facts, double covered)
{
	facts->covered = lesser(facts->wait[WAIT_PIPE], covered * (1 - facts->handshake));
	facts->wait[WAIT_PIPE] -= facts->covered;
}

/* The kernel's share of charged CPU time.  Time on a CPU may be more: a hypervisor takes some. */
static double kernel_share(const struct run *run)
{
	const struct amounts *amounts = &run->tree->amounts;
	double user = amount_of(run, AMOUNT_utime_ns);
	double kernel = amount_of(run, AMOUNT_stime_ns);

	if (!amounts_has(amounts, AMOUNT_stime_ns) || !amounts_has(amounts, AMOUNT_utime_ns))
		return 1;
	return share_of(kernel, user + kernel);
}

/* It is not known what unseen CPU time was spent on, so none of it counts as kernel time. */
static void gather_cpu(struct verdict_facts *facts)
{
	double seen = (double)run_seen_cpu_ns(facts->run);

	facts->has_cpu = run_knows_cpu(facts->run);
	facts->on_cpu = seen + (double)run_unseen_cpu_ns(facts->run);
	facts->in_kernel = seen * kernel_share(facts->run);
}

static void gather_ledger(struct verdict_facts *facts)
{
	const struct amounts *amounts = &facts->run->tree->amounts;

	facts->has_ledger = amounts_has_waits(amounts);
	facts->is_sampled = run_is_sampled(facts->run);
	facts->has_queue = amounts_has(amounts, AMOUNT_wait_time_ns);
	if (facts->has_queue)
		facts->run_queue = (double)amounts_get(amounts, AMOUNT_wait_time_ns);
	for (size_t i = 0; facts->has_ledger && i < WAIT_REASON_COUNT; i++)
		facts->wait[i] = waited_ns(amounts, i);
	facts->faults = amount_of(facts->run, AMOUNT_minflt);
}

static void gather_scale(struct verdict_facts *facts)
{
	double rest;

	facts->active = sum_active(facts, NULL);
	facts->demand = greater(facts->wall, facts->active);
	facts->cores = facts->wall > 0 ? facts->on_cpu / facts->wall : 0;
	facts->online = facts->run->limits.online_cpus;
	rest = at_least_0(facts->wall - facts->active);
	facts->unexplained = facts->has_ledger ? lesser(rest, facts->wait[WAIT_OTHER]) : rest;
	facts->idle = rest - facts->unexplained;
}

/* The part of a time in calls that was spent on a CPU rather than waiting for one. */
static double running(const struct verdict_facts *facts, double ns)
{
	double runs = facts->on_cpu + facts->run_queue;

	return runs > 0 ? at_least_0(ns) * facts->on_cpu / runs : 0;
}

static double take(double *rest, double wanted)
{
	double taken = lesser(*rest, at_least_0(wanted));

	*rest -= taken;
	return taken;
}

/*
 * Kernel time that neither calls nor page faults explain is call entry and
 * exit, and watching them.  It is the same for each call, whatever the call
 * does.
 */
static void gather_overhead(struct verdict_facts *facts, double blocked_in_calls)
{
	double outside = facts->in_kernel - running(facts, facts->calls.ns - blocked_in_calls);
	double faulting = facts->faults * FAULT_NS;

	facts->call_overhead = CALL_OVERHEAD_NS;
	if (facts->calls.count < 1 || outside < 2 * faulting)
		return;
	facts->call_overhead =
		greater(CALL_OVERHEAD_NS,
			lesser(CALL_OVERHEAD_MOST_NS, (outside - faulting) / facts->calls.count));
}

/* CPU time in these calls, which waited for `waited` in all. */
static double call_time(const struct verdict_facts *facts, const struct call_sum *calls,
			double waited)
{
	return lesser(facts->in_kernel,
		      running(facts, calls->ns - waited) + calls->count * facts->call_overhead);
}

static void split_sync(struct verdict_facts *facts, const struct call_sum *writes, double *rest)
{
	struct call_sum calls = facts->syncs;
	double waited;

	if (writes->count <= WRITES_PER_SYNC * calls.count) {
		calls.count += writes->count;
		calls.ns += writes->ns;
		facts->moves.count -= writes->count;
		facts->moves.ns -= writes->ns;
	}
	waited = lesser(facts->wait[WAIT_DISK], calls.ns);
	facts->disk = facts->wait[WAIT_DISK] - waited;
	if (calls.count == 0)
		return;
	facts->sync_calls = take(rest, call_time(facts, &calls, waited));
	facts->sync = waited + facts->sync_calls;
}

static void gather_moves(struct verdict_facts *facts)
{
	const struct amounts *amounts = &facts->run->tree->amounts;
	double bytes = amount_of(facts->run, AMOUNT_rchar) + amount_of(facts->run, AMOUNT_wchar);
	double calls = amount_of(facts->run, AMOUNT_syscr) + amount_of(facts->run, AMOUNT_syscw);
	double waits_in_them =
		waited_count(amounts, WAIT_PIPE) + waited_count(amounts, WAIT_NETWORK);

	facts->bytes_per_move = -1;
	if (!amounts_has(amounts, AMOUNT_rchar) || !amounts_has(amounts, AMOUNT_syscr) || calls < 1)
		return;
	facts->bytes_per_move = bytes / calls;
	if (facts->moves.count < 1 && !facts->has_calls)
		facts->moves =
			(struct call_sum){ calls, calls * (MOVE_UNMEASURED_NS - CALL_OVERHEAD_NS) };
	facts->handshake = share_of(5 * waits_in_them, calls) *
			   falling(facts->bytes_per_move, SMALL_BYTES, HANDSHAKE_BYTES);
}

/* The most that reads and writes can have waited, including waits that are not weighed. */
static double waited_in_moves(const struct verdict_facts *facts)
{
	const struct amounts *amounts = &facts->run->tree->amounts;

	if (!facts->has_ledger)
		return 0;
	return facts->disk + waited_ns(amounts, WAIT_PIPE) + waited_ns(amounts, WAIT_NETWORK);
}

/*
 * The part of what was read and written that came from a disk.  Bytes written
 * do not count: they go to the page cache first, and a call that waits for them
 * is known by its wait.
 */
static double read_from_disk(const struct verdict_facts *facts)
{
	return share_of(amount_of(facts->run, AMOUNT_read_bytes),
			amount_of(facts->run, AMOUNT_rchar) + amount_of(facts->run, AMOUNT_wchar));
}

/* Starting and completing a transfer is part of it, and a large part where disks are fast. */
static void split_disk(struct verdict_facts *facts, double *rest)
{
	double count = waited_count(&facts->run->tree->amounts, WAIT_DISK);
	double time = facts->in_kernel;
	double share;

	if (!facts->has_ledger || facts->disk <= 0)
		return;
	if (facts->has_calls)
		time = call_time(facts, &facts->moves, waited_in_moves(facts));
	share = greater(share_of(count - facts->syncs.count, facts->moves.count),
			read_from_disk(facts));
	facts->disk_calls = take(rest, time * share);
}

static void split_tiny(struct verdict_facts *facts, double *rest)
{
	double waited = waited_in_moves(facts);
	double least = lesser(facts->in_kernel, facts->moves.count * MOVE_NS);
	double time;

	if (facts->bytes_per_move < 0)
		return;
	time = greater(call_time(facts, &facts->moves, waited), least);
	facts->tiny = take(rest, time * falling(facts->bytes_per_move, TINY_BYTES, SMALL_BYTES) *
					 (1 - facts->handshake));
}

static void split_handovers(struct verdict_facts *facts, double *rest)
{
	static const enum wait_reason handed[] = { WAIT_PIPE, WAIT_NETWORK, WAIT_LOCK };
	const struct amounts *amounts = &facts->run->tree->amounts;

	for (size_t i = 0; facts->has_ledger && i < ARRAY_SIZE(handed); i++) {
		enum wait_reason reason = handed[i];
		double count = waited_count(amounts, reason);
		double cost = HANDOVER_NS;

		if (reason == WAIT_LOCK)
			count = facts->lock_waits;
		else
			cost += (HANDSHAKE_NS - HANDOVER_NS) * facts->handshake;
		facts->handover[reason] = take(rest, cost * count);
	}
}

/*
 * System time outside of calls is nearly all page faults.  How much is outside
 * is known when calls are measured; otherwise it is estimated from the number
 * of faults.
 */
static void split_faults(struct verdict_facts *facts, double blocked_in_calls, double *rest)
{
	bool few_calls = facts->calls.count * 2 * CALL_OVERHEAD_NS * 10 < facts->in_kernel;
	double outside = facts->in_kernel - call_time(facts, &facts->calls, blocked_in_calls);
	double least = facts->faults * FAULT_NS / 2;
	double most = facts->faults * (few_calls ? FAULT_HUGE_NS : FAULT_MOST_NS);

	if (facts->has_calls)
		facts->fault_time = greater(least, lesser(outside, most));
	else
		facts->fault_time = facts->faults * FAULT_NS;
	facts->fault_time = take(rest, lesser(facts->fault_time, facts->in_kernel));
}

static void split_cpu(struct verdict_facts *facts, const struct call_sum *writes,
		      double blocked_in_calls)
{
	double rest = facts->on_cpu;

	split_sync(facts, writes, &rest);
	split_disk(facts, &rest);
	split_tiny(facts, &rest);
	facts->map_time = take(&rest, call_time(facts, &facts->mappings, facts->wait[WAIT_MEMORY]));
	split_faults(facts, blocked_in_calls, &rest);
	split_handovers(facts, &rest);
	facts->computing = rest;
}

void verdict_facts_gather(const struct run *run, struct verdict_facts *ret)
{
	struct call_sum lists[LIST_COUNT] = { 0 };
	struct thread_sums threads;
	double blocked = (double)amounts_blocked_ns(&run->tree->amounts);

	*ret = (struct verdict_facts){ .run = run, .wall = (double)run_wall_ns(run) };
	thread_sums_gather(run, &threads);
	memcpy(ret->leader_wait, threads.leader, sizeof(ret->leader_wait));
	gather_cpu(ret);
	gather_ledger(ret);
	verdict_calls_gather(ret, lists);
	drop_accepting(ret, lists[LIST_ACCEPT].ns + threads.accepting);
	gather_moves(ret);
	drop_parked(ret, &threads);
	take_contended(ret, &threads.turns);
	drop_covered(ret, threads.covered);
	gather_scale(ret);
	gather_overhead(ret, blocked - threads.open);
	split_cpu(ret, &lists[LIST_WRITE], blocked - threads.open);
	verdict_limits_gather(ret);
}
