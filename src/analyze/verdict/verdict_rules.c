/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_evidence.h"

#include "analyze/verdict/verdict_numbers.h"

/* One refusal may be a probe, or be handled; so many are a state. */
#define REFUSALS 10
/* A cause must explain at least this share of the time. */
#define LEAST_STRENGTH 0.15
/* Time behind its own threads counts as computing below this share of all time. */
#define OVERSUBSCRIBED_SHARE 0.3
#define ENDED_IT 3.0
#define FAILED_IT 2.0

static double share(const struct verdict_facts *facts, double ns)
{
	return share_of(ns, facts->whole - facts->shared);
}

/* Time on a CPU or for one that starting short processes does not explain. */
static double work_share(const struct verdict_facts *facts, double ns)
{
	return share(facts, ns) * (1 - facts->forking);
}

static bool is_oversubscribed(const struct verdict_facts *facts)
{
	return facts->computing != COMPUTING_SERIALISED &&
	       facts->computing != COMPUTING_COLLECTOR &&
	       facts->queue_own >= OVERSUBSCRIBED_SHARE * facts->whole;
}

static double computing(const struct verdict_facts *facts, enum computing why)
{
	double ns = facts->cpu_for[CPU_COMPUTING];

	if (facts->computing != why)
		return 0;
	return work_share(facts, ns + (is_oversubscribed(facts) ? 0 : facts->queue_own));
}

static double cpu(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_ITSELF);
}

static double collector(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_COLLECTOR);
}

static double serialised(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_SERIALISED);
}

static double imbalance(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_UNEVEN);
}

static double pipe_stage(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_STAGE);
}

static double child(const struct verdict_facts *facts)
{
	return computing(facts, COMPUTING_CHILD);
}

static double kernel_cpu(const struct verdict_facts *facts)
{
	return work_share(facts, facts->cpu_for[CPU_IN_KERNEL]);
}

static double spinning(const struct verdict_facts *facts)
{
	return work_share(facts, facts->cpu_for[CPU_SPINNING]);
}

static double cpu_quota(const struct verdict_facts *facts)
{
	return share(facts, facts->quota);
}

static double run_queue(const struct verdict_facts *facts)
{
	return share(facts, facts->starved);
}

static double oversubscribed(const struct verdict_facts *facts)
{
	return is_oversubscribed(facts) ? work_share(facts, facts->queue_own) : 0;
}

static double disk_ns(const struct verdict_facts *facts)
{
	return at_least_0(facts->wait[WAIT_DISK] - facts->sync_wait) + facts->cpu_for[CPU_DISK] +
	       facts->pressed;
}

static double sync_ns(const struct verdict_facts *facts)
{
	return facts->sync_wait + facts->cpu_for[CPU_SYNCING];
}

static double blkio_limit(const struct verdict_facts *facts)
{
	return facts->is_io_limited ? share(facts, disk_ns(facts) + sync_ns(facts)) : 0;
}

static double disk(const struct verdict_facts *facts)
{
	return facts->is_io_limited ? 0 : share(facts, disk_ns(facts));
}

static double fsync_calls(const struct verdict_facts *facts)
{
	return facts->is_io_limited ? 0 : share(facts, sync_ns(facts));
}

static double lock(const struct verdict_facts *facts)
{
	return facts->run->deadlock.count ? 0 : share(facts, facts->wait[WAIT_LOCK]);
}

static double deadlock(const struct verdict_facts *facts)
{
	return facts->run->deadlock.count ? ENDED_IT : 0;
}

static double network(const struct verdict_facts *facts)
{
	return share(facts, facts->wait[WAIT_NETWORK] + facts->answers +
				    facts->handing_over[WAIT_NETWORK]);
}

static double pipe_waits(const struct verdict_facts *facts)
{
	return share(facts, facts->wait[WAIT_PIPE] + facts->handing_over[WAIT_PIPE]);
}

static double page_faults(const struct verdict_facts *facts)
{
	if (facts->maps_memory)
		return 0;
	return work_share(facts, facts->cpu_for[CPU_FAULTING] + facts->cpu_for[CPU_MAPPING]) +
	       share(facts, facts->wait[WAIT_MEMORY]);
}

static double mmap_churn(const struct verdict_facts *facts)
{
	if (!facts->maps_memory)
		return 0;
	return work_share(facts, facts->cpu_for[CPU_FAULTING] + facts->cpu_for[CPU_MAPPING]) +
	       share(facts, facts->map_wait);
}

static double memory_limit(const struct verdict_facts *facts)
{
	return share(facts, facts->limit);
}

static double oom_kill(const struct verdict_facts *facts)
{
	const struct run *run = facts->run;

	return run->oom_killed || run->tree->oom_kills > 0 || facts->killed ? ENDED_IT : 0;
}

static double fork_storm(const struct verdict_facts *facts)
{
	return share(facts, facts->on_cpu + facts->queue_own) * facts->forking;
}

static double tiny_io(const struct verdict_facts *facts)
{
	return work_share(facts, facts->cpu_for[CPU_TINY]);
}

static bool failed(const struct run *run)
{
	return run->has_status && run->status != 0;
}

static double fd_limit(const struct verdict_facts *facts)
{
	const struct tree_process *fullest = facts->run->tree->fullest;
	double refused = facts->sums.no_descriptor;

	if (refused >= REFUSALS || (refused > 0 && failed(facts->run)))
		return FAILED_IT;
	/* Where calls were watched and none failed, being near the limit does no harm. */
	if (facts->has_calls || !fullest || !(fullest->facts.present & TREE_PROCESS_FD_LIMIT))
		return 0;
	return evidence_is_full(fullest) ? FAILED_IT : 0;
}

static double sleeping(const struct verdict_facts *facts)
{
	return share(facts, facts->wait[WAIT_TIMER] + facts->timed);
}

static double polling(const struct verdict_facts *facts)
{
	return share(facts, facts->wait[WAIT_POLL] - facts->answers + facts->wait[WAIT_CONDITION] -
				    facts->timed);
}

static double child_wait(const struct verdict_facts *facts)
{
	return share(facts, facts->wait[WAIT_CHILD]);
}

static double halted(const struct verdict_facts *facts, enum halt halt)
{
	double ns = facts->wait[WAIT_STOPPED] + facts->handing_over[WAIT_STOPPED];

	return facts->halt == halt ? share(facts, ns) : 0;
}

static double stopped(const struct verdict_facts *facts)
{
	return halted(facts, HALT_STOPPED);
}

static double traced(const struct verdict_facts *facts)
{
	return halted(facts, HALT_TRACED);
}

static double frozen(const struct verdict_facts *facts)
{
	return halted(facts, HALT_FROZEN);
}

static double none(const struct verdict_facts *facts)
{
	return greater(share(facts, facts->unexplained), LEAST_STRENGTH);
}

/*
 * Specific causes come first: where a specific and a general one are equally strong, the specific
 * one helps more.
 */
/* clang-format off */
const struct verdict_rule verdict_rules[CAUSE_COUNT] = {
	{ CAUSE_OOM_KILL,     oom_kill,     evidence_oom_kill,     PATH_ANY },
	{ CAUSE_DEADLOCK,     deadlock,     evidence_deadlock,     PATH_ANY },
	{ CAUSE_FD_LIMIT,     fd_limit,     evidence_fd_limit,     PATH_ANY },
	{ CAUSE_STOPPED,      stopped,      evidence_stopped,      WAIT_STOPPED },
	{ CAUSE_TRACED,       traced,       evidence_stopped,      WAIT_STOPPED },
	{ CAUSE_FROZEN,       frozen,       evidence_stopped,      WAIT_STOPPED },
	{ CAUSE_CPU_QUOTA,    cpu_quota,    evidence_cpu_quota,    PATH_RUN_QUEUE },
	{ CAUSE_MEMORY_LIMIT, memory_limit, evidence_memory_limit, WAIT_MEMORY },
	{ CAUSE_BLKIO_LIMIT,  blkio_limit,  evidence_blkio_limit,  WAIT_DISK },
	{ CAUSE_FSYNC,        fsync_calls,  evidence_fsync,        WAIT_DISK },
	{ CAUSE_LOCK,         lock,         evidence_lock,         WAIT_LOCK },
	{ CAUSE_PIPE,         pipe_waits,   evidence_pipe,         WAIT_PIPE },
	{ CAUSE_NETWORK,      network,      evidence_network,      WAIT_NETWORK },
	{ CAUSE_FORK_STORM,   fork_storm,   evidence_fork_storm,   PATH_CPU },
	{ CAUSE_SPINNING,     spinning,     evidence_spinning,     PATH_CPU },
	{ CAUSE_TINY_IO,      tiny_io,      evidence_tiny_io,      PATH_CPU },
	{ CAUSE_MMAP_CHURN,   mmap_churn,   evidence_mmap_churn,   PATH_CPU },
	{ CAUSE_PAGE_FAULTS,  page_faults,  evidence_page_faults,  PATH_CPU },
	{ CAUSE_RUN_QUEUE,    run_queue,    evidence_run_queue,    PATH_RUN_QUEUE },
	{ CAUSE_OVERSUBSCRIBED, oversubscribed, evidence_oversubscribed, PATH_RUN_QUEUE },
	{ CAUSE_DISK,         disk,         evidence_disk,         WAIT_DISK },
	{ CAUSE_GC,           collector,    evidence_gc,           PATH_CPU },
	{ CAUSE_SERIALISED,   serialised,   evidence_serialised,   PATH_CPU },
	{ CAUSE_IMBALANCE,    imbalance,    evidence_imbalance,    PATH_CPU },
	{ CAUSE_PIPE_STAGE,   pipe_stage,   evidence_pipe_stage,   PATH_CPU },
	{ CAUSE_CHILD,        child,        evidence_cpu,          PATH_CPU },
	{ CAUSE_KERNEL_CPU,   kernel_cpu,   evidence_kernel_cpu,   PATH_CPU },
	{ CAUSE_CPU,          cpu,          evidence_cpu,          PATH_CPU },
	{ CAUSE_SLEEP,        sleeping,     evidence_sleep,        WAIT_TIMER },
	{ CAUSE_POLL,         polling,      evidence_poll,         WAIT_POLL },
	{ CAUSE_CHILD_WAIT,   child_wait,   evidence_child_wait,   WAIT_CHILD },
	{ CAUSE_NONE,         none,         evidence_none,         PATH_ANY },
};
/* clang-format on */
