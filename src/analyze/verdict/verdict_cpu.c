/* SPDX-License-Identifier: MIT */
/* What the CPU time of the tree was spent on, from its calls, page faults and bytes moved. */
#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

/* Entry and exit of a call, watching included; its latency does not contain them. */
#define CALL_OVERHEAD_NS 200.0
#define CALL_OVERHEAD_MOST_NS 1000.0
/* The least that a short read or write takes. */
#define MOVE_NS 250.0
/* A page fault: about what one takes, and the most that is assumed for small and for huge pages. */
#define FAULT_NS 700.0
#define FAULT_MOST_NS 5e3
#define FAULT_HUGE_NS 200e3
/* Bytes per call: up to the first, all of the call is overhead; from the second on, none. */
#define TINY_BYTES 64.0
#define SMALL_BYTES 512.0
/*
 * Reads of less than a page, and those of which not one in a hundred waits, are served by
 * read-ahead.
 */
#define PAGE_BYTES 4096.0
#define WAITED_LEAST 0.01
/* This many writes for each sync count as part of the sync. */
#define WRITES_PER_SYNC 4.0
/*
 * A program spins if nearly all its calls ask in vain, and so often that there is hardly work
 * between two of them.  An event loop asks in vain at most about once for each piece of work.
 */
#define SPINNING_CALLS 0.8
#define SPINNING_PER_CPU_SECOND 20e3
/*
 * So does one whose calls are nearly all of one kind that fails again and again, such as a script
 * that asks whether a file exists.  An interpreter takes 20 to 50 us for a turn of such a loop, a busy
 * machine several times that.  Whoever works looks for several files in vain, but finds others, and
 * reads them.
 */
#define FAILING_CALLS 0.9
#define FAILING_PER_CPU_SECOND 5e3
/* From this share of the time that nothing else explains, it is the kernel that computes. */
#define KERNEL_SHARE 0.6

struct split {
	const struct tree_sums *sums;
	double overhead; /* ns that a call takes beside its latency */
	double rest;	 /* of on_cpu */
	double kernel;	 /* of in_kernel */
	double *parts;
};

/* The part of a time in calls that was spent on a CPU rather than waiting for one. */
static double running(const struct tree_sums *sums, double ns)
{
	double runs = sums->on_cpu + sums->run_queue;

	return runs > 0 ? at_least_0(ns) * sums->on_cpu / runs : 0;
}

/*
 * Kernel time that neither calls nor page faults explain is call entry and exit, and watching them.
 * It is the same for each call, whatever the call does.
 */
static double call_overhead(const struct tree_sums *sums)
{
	double inside = running(sums, sums->calls.ns - sums->blocked_in_calls);
	double outside = sums->in_kernel - inside;
	double faulting = sums->faults * FAULT_NS;

	if (sums->calls.count < 1 || outside < 2 * faulting)
		return CALL_OVERHEAD_NS;
	return greater(CALL_OVERHEAD_NS,
		       lesser(CALL_OVERHEAD_MOST_NS, (outside - faulting) / sums->calls.count));
}

/* CPU time in these calls, which waited for `waited` in all. */
static double call_time(const struct split *split, struct call_sum calls, double waited)
{
	return lesser(split->sums->in_kernel,
		      running(split->sums, calls.ns - waited) + calls.count * split->overhead);
}

static void take(struct split *split, enum cpu_purpose purpose, double wanted)
{
	double taken = lesser(split->rest, at_least_0(wanted));

	split->parts[purpose] = taken;
	split->rest -= taken;
	split->kernel = at_least_0(split->kernel - taken);
}

double vain_child_calls(const struct tree_sums *sums)
{
	return at_least_0(sums->lists[LIST_WAIT].count - sums->child_waits - sums->processes);
}

/* Calls that asked in vain.  A poll did not, if it waited or if others then did something. */
static double vain_calls(const struct tree_sums *sums)
{
	double asked = sums->again + sums->lists[LIST_YIELD].count + vain_child_calls(sums);
	double polls = sums->lists[LIST_POLL].count;
	double others = sums->calls.count - polls - asked;

	return asked + at_least_0(polls - sums->poll_waits - at_least_0(others));
}

bool fails_in_vain(const struct tree_sums *sums)
{
	double vain = sums->vain.count;

	return vain >= FAILING_CALLS * sums->calls.count &&
	       vain * 1e9 >= FAILING_PER_CPU_SECOND * sums->on_cpu && vain > 0;
}

static bool is_spinning(const struct tree_sums *sums)
{
	double vain = vain_calls(sums);

	if (fails_in_vain(sums))
		return true;
	return vain >= SPINNING_CALLS * sums->calls.count &&
	       vain * 1e9 >= SPINNING_PER_CPU_SECOND * sums->on_cpu && vain > 0;
}

/* Adds the writes that belong to syncs to them, and takes them from the moves. */
static struct call_sum sync_calls(const struct tree_sums *sums, struct call_sum *moves)
{
	struct call_sum calls = sums->lists[LIST_SYNC];
	const struct call_sum *writes = &sums->lists[LIST_WRITE];

	if (calls.count > 0 && writes->count <= WRITES_PER_SYNC * calls.count) {
		calls.count += writes->count;
		calls.ns += writes->ns;
		moves->count -= writes->count;
		moves->ns -= writes->ns;
	}
	return calls;
}

/*
 * Starting and completing a transfer is part of it, and a large part where disks are fast: then a
 * thread may not even block.  What read-ahead had in memory before it was read does not count.
 */
static void split_disk(struct split *split, const struct call_sum *moves, double waited)
{
	const struct tree_sums *sums = split->sums;
	const struct call_sum *async = &sums->lists[LIST_ASYNC];
	struct call_sum calls = { moves->count + async->count, moves->ns + async->ns };
	double waits_of_them = at_least_0(sums->disk_waits - sums->lists[LIST_SYNC].count);
	double part = share_of(waits_of_them, calls.count);

	if (sums->bytes_per_move >= PAGE_BYTES && part >= WAITED_LEAST)
		part = greater(part, sums->read_from_disk);
	take(split, CPU_DISK, call_time(split, calls, waited) * part);
}

static void split_tiny(struct split *split, const struct call_sum *moves, double waited)
{
	double least = lesser(split->sums->in_kernel, moves->count * MOVE_NS);
	double bytes = split->sums->bytes_per_move;

	if (bytes >= 0)
		take(split, CPU_TINY,
		     greater(call_time(split, *moves, waited), least) *
			     falling(bytes, TINY_BYTES, SMALL_BYTES));
}

/*
 * System time outside of calls is nearly all page faults.  How much is outside is known when calls
 * are measured; otherwise it is estimated from the number of faults.
 */
static void split_faults(struct split *split)
{
	const struct tree_sums *sums = split->sums;
	bool few_calls = sums->calls.count * 2 * CALL_OVERHEAD_NS * 10 < sums->in_kernel;
	double outside = sums->in_kernel - call_time(split, sums->calls, sums->blocked_in_calls);
	double least = sums->faults * FAULT_NS / 2;
	double most = sums->faults * (few_calls ? FAULT_HUGE_NS : FAULT_MOST_NS);
	double time = sums->faults * FAULT_NS;

	if (sums->calls.count > 0)
		time = greater(least, lesser(outside, most));
	take(split, CPU_FAULTING, lesser(time, sums->in_kernel));
}

void verdict_cpu_split(const struct tree_sums *sums, double fractions[CPU_PURPOSES])
{
	struct split split = { sums, call_overhead(sums), sums->on_cpu, sums->in_kernel,
			       fractions };
	struct call_sum moves = { sums->lists[LIST_READ].count + sums->lists[LIST_WRITE].count,
				  sums->lists[LIST_READ].ns + sums->lists[LIST_WRITE].ns };
	struct call_sum syncs = sync_calls(sums, &moves);
	double in_syncs = lesser(sums->wait[WAIT_DISK], syncs.ns);
	double in_moves =
		sums->wait[WAIT_DISK] - in_syncs + sums->wait[WAIT_PIPE] + sums->wait[WAIT_NETWORK];

	for (size_t i = 0; i < CPU_PURPOSES; i++)
		fractions[i] = 0;
	if (sums->on_cpu <= 0)
		return;
	if (is_spinning(sums))
		take(&split, CPU_SPINNING, split.rest);
	if (sums->lists[LIST_SYNC].count > 0)
		take(&split, CPU_SYNCING, call_time(&split, syncs, in_syncs));
	split_disk(&split, &moves, in_moves);
	split_tiny(&split, &moves, in_moves);
	take(&split, CPU_MAPPING, call_time(&split, sums->mappings, sums->wait[WAIT_MEMORY]));
	split_faults(&split);
	take(&split, split.kernel >= KERNEL_SHARE * sums->on_cpu ? CPU_IN_KERNEL : CPU_COMPUTING,
	     split.rest);
	for (size_t i = 0; i < CPU_PURPOSES; i++)
		fractions[i] /= sums->on_cpu;
}
