/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include <string.h>

#include "analyze/verdict/verdict_numbers.h"

/* A short read or write, where calls were not measured. */
#define MOVE_UNMEASURED_NS 600.0
/*
 * It is not known whom a client without a peer on this host polls for; most likely for the server,
 * but it may also be for a person.
 */
#define ANSWERS_UNSURE 0.6
/* Where its sockets are known, only a terminal or a pipe beside them may be what it polls for. */
#define ANSWERS_BY_SOCKETS 0.8

/*
 * With more page faults per call that changes a map, touching memory is the cause, not mapping it.
 */
#define FAULTS_PER_MAPPING 64

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

static void gather_moves(struct verdict_facts *facts)
{
	const struct run *run = facts->run;
	const struct amounts *amounts = &run->tree->amounts;
	struct tree_sums *sums = &facts->sums;
	double bytes = amount_of(run, AMOUNT_rchar) + amount_of(run, AMOUNT_wchar);
	double calls = amount_of(run, AMOUNT_syscr) + amount_of(run, AMOUNT_syscw);

	sums->bytes_per_move = -1;
	sums->read_from_disk = share_of(amount_of(run, AMOUNT_read_bytes), bytes);
	if (!amounts_has(amounts, AMOUNT_rchar) || !amounts_has(amounts, AMOUNT_syscr) || calls < 1)
		return;
	sums->bytes_per_move = bytes / calls;
	if (!facts->has_calls)
		sums->lists[LIST_READ] = (struct call_sum){ calls, calls * MOVE_UNMEASURED_NS };
}

/* It is not known what unseen CPU time was spent on, so none of it counts as kernel time. */
static void gather_sums(struct verdict_facts *facts)
{
	const struct run *run = facts->run;
	const struct amounts *amounts = &run->tree->amounts;
	struct tree_sums *sums = &facts->sums;
	double seen = (double)run_seen_cpu_ns(run);

	facts->has_cpu = run_knows_cpu(run);
	facts->has_ledger = amounts_has_waits(amounts);
	facts->is_sampled = run_is_sampled(facts->run);
	facts->has_queue = amounts_has(amounts, AMOUNT_wait_time_ns);
	sums->on_cpu = seen + (double)run_unseen_cpu_ns(run);
	sums->in_kernel = seen * kernel_share(run);
	if (facts->has_queue)
		sums->run_queue = amount_of(run, AMOUNT_wait_time_ns);
	for (size_t i = 0; facts->has_ledger && i < WAIT_REASON_COUNT; i++)
		sums->wait[i] = waited_ns(amounts, i);
	sums->disk_waits = waited_count(amounts, WAIT_DISK);
	sums->poll_waits = waited_count(amounts, WAIT_POLL);
	sums->child_waits = waited_count(amounts, WAIT_CHILD);
	sums->processes = (double)run->tree->processes;
	sums->blocked_in_calls = (double)amounts_blocked_ns(amounts) - facts->crew.open;
	sums->faults = amount_of(run, AMOUNT_minflt);
}

/* Without a path: a wait for a child of the tree says nothing, unless it is all there is. */
static double idle_wait(const struct tree_sums *sums, enum wait_reason reason, double others)
{
	if (waits[reason].kind == WAIT_COST || (reason == WAIT_CHILD && others > 0))
		return 0;
	return sums->wait[reason];
}

/* Without a path: everything that threads did or that held them up counts. */
static void take_sums(struct verdict_facts *facts)
{
	const struct tree_sums *sums = &facts->sums;
	double active = sums->on_cpu + sums->run_queue;
	double others = 0, for_work = 0, idle;

	facts->on_cpu = sums->on_cpu;
	facts->queue = sums->run_queue;
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++) {
		if (waits[i].kind == WAIT_COST)
			active += facts->wait[i] = sums->wait[i];
		else if (i != WAIT_CHILD)
			others += sums->wait[i];
	}
	facts->whole = greater(active, facts->wall);
	idle = at_least_0(facts->wall - active);
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		for_work += idle_wait(sums, i, others);
	if (for_work <= 0)
		facts->unexplained = idle;
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		if (idle_wait(sums, i, others) > 0)
			facts->wait[i] = idle * idle_wait(sums, i, others) / for_work;
}

/* Waiting for a connection is waiting for work, whatever the ledger calls it. */
static void drop_accepting(struct verdict_facts *facts)
{
	double accepting = facts->sums.lists[LIST_ACCEPT].ns + facts->crew.open_accepts;
	double ns = facts->wait[WAIT_NETWORK] * share_of(accepting, facts->sums.wait[WAIT_NETWORK]);

	facts->wait[WAIT_NETWORK] -= ns;
	facts->wait[WAIT_POLL] += ns;
}

/* A client that waits in poll() for its answers, rather than in the read itself. */
static void take_answers(struct verdict_facts *facts)
{
	bool is_sure;

	if (facts->answers > 0 || !verdict_is_client(facts, &is_sure))
		return;
	if (is_sure)
		facts->answers = facts->wait[WAIT_POLL] * ANSWERS_BY_SOCKETS;
	else if (facts->sums.received >= 1)
		facts->answers = facts->wait[WAIT_POLL] * ANSWERS_UNSURE;
}

static void divide_cpu(struct verdict_facts *facts)
{
	double rest = facts->on_cpu;

	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		rest -= facts->handing_over[i];
	verdict_cpu_split(&facts->sums, facts->cpu_for);
	for (size_t i = 0; i < CPU_PURPOSES; i++)
		facts->cpu_for[i] *= at_least_0(rest);
	if (facts->sums.on_cpu <= 0)
		facts->cpu_for[CPU_COMPUTING] = at_least_0(rest);
	facts->sync_wait = facts->wait[WAIT_DISK] *
			   share_of(facts->sums.lists[LIST_SYNC].ns, facts->sums.wait[WAIT_DISK]);
}

/*
 * Its own mapping calls can make it wait only for a lock that another of its threads has, and not for
 * longer than the calls took.  Other waits for memory are no result of them: someone outside looks at
 * the map, or there is no memory.
 */
static void take_map_waits(struct verdict_facts *facts)
{
	const struct tree *tree = facts->run->tree;
	const struct tree_sums *sums = &facts->sums;

	facts->maps_memory = sums->mappings.count > 0 &&
			     sums->faults <= sums->mappings.count * FAULTS_PER_MAPPING;
	if (!facts->maps_memory)
		return;
	if (tree->threads > tree->processes)
		facts->map_wait = lesser(facts->wait[WAIT_MEMORY], sums->mappings.ns);
	facts->unexplained += facts->wait[WAIT_MEMORY] - facts->map_wait;
}

/* Waits that nobody ended, and that are over, had a time limit: they were sleeps. */
static void take_timed_waits(struct verdict_facts *facts)
{
	double ns = facts->wait[WAIT_CONDITION];

	if (facts->path && facts->crew.open_condition < ns / 2)
		facts->timed = ns;
}

bool verdict_is_woken(const struct verdict_facts *facts)
{
	return facts->wait[WAIT_CONDITION] - facts->timed > facts->wait[WAIT_POLL] - facts->answers;
}

void verdict_facts_gather(const struct run *run, struct verdict_facts *ret)
{
	*ret = (struct verdict_facts){ .run = run, .wall = (double)run_wall_ns(run) };
	crew_gather(run, &ret->crew);
	gather_sums(ret);
	verdict_calls_gather(ret);
	gather_moves(ret);
	ret->cores = ret->wall > 0 ? ret->sums.on_cpu / ret->wall : 0;
	ret->online = run->limits.online_cpus;
	verdict_path_gather(ret);
	if (!ret->path)
		take_sums(ret);
	ret->unexplained += ret->wait[WAIT_OTHER];
	drop_accepting(ret);
	take_answers(ret);
	divide_cpu(ret);
	take_timed_waits(ret);
	verdict_path_explain(ret);
	verdict_limits_gather(ret);
	take_map_waits(ret);
	/* The program that computes says more than that it is in the kernel. */
	if (ret->computing != COMPUTING_ITSELF) {
		ret->cpu_for[CPU_COMPUTING] += ret->cpu_for[CPU_IN_KERNEL];
		ret->cpu_for[CPU_IN_KERNEL] = 0;
	}
}
