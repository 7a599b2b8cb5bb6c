/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_evidence.h"

#include <signal.h>
#include <sys/wait.h>

#include "analyze/verdict/verdict_numbers.h"

/* The limit of open files counts as reached when at most this many are left. */
#define DESCRIPTORS_LEFT 2
/*
 * With more page faults per call that changes a map, touching memory is the
 * cause, not mapping it.
 */
#define FAULTS_PER_MAPPING 64
/* A cause must explain at least this share of the time. */
#define LEAST_STRENGTH 0.15
#define ENDED_IT 3.0
#define FAILED_IT 2.0

/* The part that starting short processes does not explain. */
static double own_share(const struct verdict_facts *facts, double ns)
{
	return share_of(ns, facts->demand) * (1 - facts->forking);
}

/*
 * Waits beside a thread that computes overlap with its work: they hold up
 * nobody as long as it has work.  This is not so when threads wait for each
 * other in turns.
 */
static double overlapped(const struct verdict_facts *facts, double ns)
{
	double busy = share_of(facts->on_cpu - facts->disk_calls, facts->wall);

	return own_share(facts, ns) * (1 - busy / 2 * (1 - facts->handshake));
}

/* Time on a CPU, and in the queue for it. */
static double ran(const struct verdict_facts *facts, double ns)
{
	return ns * facts->stretch;
}

static double cpu(const struct verdict_facts *facts)
{
	return own_share(facts, ran(facts, facts->computing) + facts->own_queue);
}

static double cpu_quota(const struct verdict_facts *facts)
{
	return share_of(facts->quota, facts->demand);
}

static double run_queue(const struct verdict_facts *facts)
{
	return share_of(facts->starved, facts->demand);
}

static double disk(const struct verdict_facts *facts)
{
	return overlapped(facts, facts->disk + ran(facts, facts->disk_calls) + facts->pressed);
}

static double fsync_calls(const struct verdict_facts *facts)
{
	double waited = facts->sync - facts->sync_calls;

	return own_share(facts, waited + ran(facts, facts->sync_calls));
}

static double lock(const struct verdict_facts *facts)
{
	return own_share(facts, facts->wait[WAIT_LOCK] + facts->barged +
					ran(facts, facts->handover[WAIT_LOCK]));
}

/* A client that waits in poll() for its answers, rather than in the read itself. */
static double polled_network(const struct verdict_facts *facts)
{
	if (facts->connects < 1 || facts->accepts > 0 ||
	    facts->network_calls < facts->polls.count / 2)
		return 0;
	return facts->wait[WAIT_POLL] > facts->wait[WAIT_TIMER] ? facts->idle * 0.6 : 0;
}

static double network(const struct verdict_facts *facts)
{
	return overlapped(facts, facts->wait[WAIT_NETWORK] +
					 ran(facts, facts->handover[WAIT_NETWORK]) +
					 polled_network(facts));
}

static double pipe_waits(const struct verdict_facts *facts)
{
	return overlapped(facts, facts->wait[WAIT_PIPE] + facts->answering +
					 ran(facts, facts->handover[WAIT_PIPE]));
}

static double memory_work(const struct verdict_facts *facts)
{
	double waited = facts->has_limit_events ? 0 : facts->wait[WAIT_MEMORY];

	return own_share(facts, ran(facts, facts->fault_time + facts->map_time) + waited);
}

static bool maps_rather_than_touches(const struct verdict_facts *facts)
{
	return facts->mappings.count > 0 &&
	       facts->faults <= facts->mappings.count * FAULTS_PER_MAPPING;
}

static double page_faults(const struct verdict_facts *facts)
{
	return maps_rather_than_touches(facts) ? 0 : memory_work(facts);
}

static double mmap_churn(const struct verdict_facts *facts)
{
	return maps_rather_than_touches(facts) ? memory_work(facts) : 0;
}

static double memory_limit(const struct verdict_facts *facts)
{
	return share_of(facts->limit, facts->demand);
}

static bool was_killed(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		int number;

		if (tree_process_signal(tree->all[i], &number) && number == SIGKILL)
			return true;
	}
	return false;
}

/* A process killed in the same cgroup may not be ours; one of ours that died by SIGKILL is. */
static double oom_kill(const struct verdict_facts *facts)
{
	const struct run *run = facts->run;
	const struct run_number *kills = &run->limits.cgroup_oom_kills;

	if (run->oom_killed || run->tree->oom_kills > 0)
		return ENDED_IT;
	return kills->present && kills->value > 0 && was_killed(run->tree) ? ENDED_IT : 0;
}

static double fork_storm(const struct verdict_facts *facts)
{
	double held_up = cpu_quota(facts) + run_queue(facts) + memory_limit(facts);

	if (facts->active < facts->wall / 10 || held_up >= 1)
		return 0;
	return facts->forking * (1 - held_up);
}

static double tiny_io(const struct verdict_facts *facts)
{
	return own_share(facts, ran(facts, facts->tiny));
}

static double fd_limit(const struct verdict_facts *facts)
{
	const struct tree_process *fullest = facts->run->tree->fullest;
	uint64_t most = fullest ? fullest->peak_fds : 0;

	if (facts->no_descriptor > 0)
		return FAILED_IT;
	/* Where calls were watched and none failed, being near the limit does no harm. */
	if (facts->has_calls || !fullest || !(fullest->facts.present & TREE_PROCESS_FD_LIMIT))
		return 0;
	return most + DESCRIPTORS_LEFT >= fullest->facts.fd_limit ? FAILED_IT : 0;
}

/* The first threads of processes count twice: helpers often sleep beside a main thread. */
static double weight(const struct verdict_facts *facts, enum wait_reason reason)
{
	return facts->wait[reason] + facts->leader_wait[reason];
}

/* What the run waits for while nobody does anything: a timer, events, or neither. */
enum idling { IDLING_OTHERWISE, IDLING_ASLEEP, IDLING_FOR_EVENTS };

static enum idling idling(const struct verdict_facts *facts)
{
	double asleep = weight(facts, WAIT_TIMER);
	double events = weight(facts, WAIT_POLL) + weight(facts, WAIT_CONDITION);
	double stopped = weight(facts, WAIT_STOPPED);

	if (stopped >= asleep && stopped >= events)
		return IDLING_OTHERWISE;
	return asleep > events ? IDLING_ASLEEP : IDLING_FOR_EVENTS;
}

static double sleeping(const struct verdict_facts *facts)
{
	return idling(facts) == IDLING_ASLEEP ? own_share(facts, facts->idle) : 0;
}

static double polling(const struct verdict_facts *facts)
{
	if (idling(facts) != IDLING_FOR_EVENTS)
		return 0;
	return own_share(facts, facts->idle - polled_network(facts));
}

/* No times show a deadlock: those that search for one set this cause (analyze/wait). */
static double deadlock(const struct verdict_facts *facts)
{
	(void)facts;
	return 0;
}

static double none(const struct verdict_facts *facts)
{
	double unexplained = share_of(facts->unexplained, facts->demand);

	return unexplained > LEAST_STRENGTH ? unexplained : LEAST_STRENGTH;
}

/*
 * Specific causes come first: where a specific and a general one are equally
 * strong, the specific one helps more.
 */
/* clang-format off */
const struct verdict_rule verdict_rules[CAUSE_COUNT] = {
	{ CAUSE_OOM_KILL,     oom_kill,     evidence_oom_kill },
	{ CAUSE_FD_LIMIT,     fd_limit,     evidence_fd_limit },
	{ CAUSE_CPU_QUOTA,    cpu_quota,    evidence_cpu_quota },
	{ CAUSE_MEMORY_LIMIT, memory_limit, evidence_memory_limit },
	{ CAUSE_FSYNC,        fsync_calls,  evidence_fsync },
	{ CAUSE_LOCK,         lock,         evidence_lock },
	{ CAUSE_PIPE,         pipe_waits,   evidence_pipe },
	{ CAUSE_NETWORK,      network,      evidence_network },
	{ CAUSE_FORK_STORM,   fork_storm,   evidence_fork_storm },
	{ CAUSE_TINY_IO,      tiny_io,      evidence_tiny_io },
	{ CAUSE_MMAP_CHURN,   mmap_churn,   evidence_mmap_churn },
	{ CAUSE_PAGE_FAULTS,  page_faults,  evidence_page_faults },
	{ CAUSE_RUN_QUEUE,    run_queue,    evidence_run_queue },
	{ CAUSE_DISK,         disk,         evidence_disk },
	{ CAUSE_CPU,          cpu,          evidence_cpu },
	{ CAUSE_SLEEP,        sleeping,     evidence_sleep },
	{ CAUSE_POLL,         polling,      evidence_poll },
	{ CAUSE_DEADLOCK,     deadlock,     evidence_none },
	{ CAUSE_NONE,         none,         evidence_none },
};
/* clang-format on */
