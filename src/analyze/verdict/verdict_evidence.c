/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_evidence.h"
#include "metric/unit.h"
#include "analyze/verdict/verdict_numbers.h"

#include <string.h>

/* ", 1.6 M waits a second" */
static void said_rate(const struct verdict_facts *facts, double count, const char *what,
		      struct text *out)
{
	text_append_string(out, ", ");
	unit_format_real(out, UNIT_COUNT, facts->wall > 0 ? count * 1e9 / facts->wall : 0);
	text_format(out, " %sa second", what);
}

static void said_ns(const char *what, double ns, struct text *out)
{
	text_append_string(out, what);
	unit_format_real(out, UNIT_NS, ns);
}

/* "78.1 % (4.11 s of 5.26 s of busy time)" */
static void said_part(const struct verdict_facts *facts, const char *what, double ns,
		      struct text *out)
{
	text_format(out, "%s ", what);
	unit_format_share(out, share_of(ns, facts->demand));
	said_ns(" (", ns, out);
	said_ns(" of ", facts->demand, out);
	text_append_string(out, facts->demand > facts->wall ? " of busy time)" : " of wall time)");
}

static struct waited blocked_on(const struct verdict_facts *facts, enum wait_reason reason)
{
	return amounts_waited(&facts->run->tree->amounts, reason);
}

static void waits_of(const struct verdict_facts *facts, const char *what, enum wait_reason reason,
		     double ns, struct text *out)
{
	double count =
		reason == WAIT_LOCK ? facts->lock_waits : (double)blocked_on(facts, reason).count;

	said_part(facts, what, ns, out);
	if (count > 0)
		said_rate(facts, count, "waits ", out);
	if (facts->handover[reason] > facts->demand / 20) {
		said_ns(", handing over ", facts->handover[reason], out);
	}
}

void evidence_oom_kill(const struct verdict_facts *facts, struct text *out)
{
	const struct run *run = facts->run;
	const struct run_number *limit = &run->limits.cgroup_memory_limit_bytes;

	text_append_string(out, run->oom_killed ?
					"the kernel killed it for want of memory" :
					"the kernel killed a process of it for want of memory");
	if (run->tree->has_peak_rss) {
		text_append_string(out, "; largest process ");
		unit_format(out, UNIT_BYTES, run->tree->largest_rss_bytes);
	}
	if (limit->present) {
		text_append_string(out, ", limit ");
		unit_format(out, UNIT_BYTES, limit->value);
	}
}

void evidence_fd_limit(const struct verdict_facts *facts, struct text *out)
{
	const struct tree_process *fullest = facts->run->tree->fullest;

	if (facts->no_descriptor > 0)
		text_format(out, "%.0f calls failed for want of a file descriptor (EMFILE)",
			    facts->no_descriptor);
	if (!fullest || !(fullest->facts.present & TREE_PROCESS_FD_LIMIT))
		return;
	text_format(out, "%s%.15s had %llu of %llu descriptors open", out->length ? "; " : "",
		    fullest->comm, (unsigned long long)fullest->peak_fds,
		    (unsigned long long)fullest->facts.fd_limit);
}

void evidence_cpu_quota(const struct verdict_facts *facts, struct text *out)
{
	const struct run_limits *around = &facts->run->limits;

	said_ns("its cgroup was throttled for ", (double)around->cgroup_throttled_ns.value, out);
	if (around->cgroup_periods.present && around->cgroup_throttled_periods.present)
		text_format(out, ", in %llu of %llu periods",
			    (unsigned long long)around->cgroup_throttled_periods.value,
			    (unsigned long long)around->cgroup_periods.value);
	if (around->cgroup_quota_us.present && around->cgroup_period_us.value > 0)
		text_format(out, "; it may use %.2f CPUs",
			    (double)around->cgroup_quota_us.value /
				    (double)around->cgroup_period_us.value);
}

void evidence_memory_limit(const struct verdict_facts *facts, struct text *out)
{
	const struct run_limits *around = &facts->run->limits;
	unsigned long long high = around->cgroup_memory_high_hits.value;
	unsigned long long most = around->cgroup_memory_max_hits.value;

	said_part(facts, "stalled at a memory limit", facts->limit, out);
	text_format(out, ", reached %llu times", high + most);
}

void evidence_fsync(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "syncing files", facts->sync, out);
	said_rate(facts, facts->syncs.count, "syncs ", out);
	if (facts->syncs.count > 0) {
		said_ns(" of ", facts->syncs.ns / facts->syncs.count, out);
	}
}

bool evidence_is_conditions(const struct verdict_facts *facts, enum run_cause cause)
{
	if (cause == CAUSE_LOCK)
		return facts->contended > facts->wait[WAIT_LOCK] / 2;
	if (cause != CAUSE_POLL || facts->wait[WAIT_CONDITION] <= facts->wait[WAIT_POLL])
		return false;
	/* Workers wait for work from a main thread, which itself waits for events. */
	return facts->in_turns || facts->leader_wait[WAIT_POLL] <= facts->wall / 2;
}

void evidence_lock(const struct verdict_facts *facts, struct text *out)
{
	const char *what = evidence_is_conditions(facts, CAUSE_LOCK) ?
				   "blocked on condition variables or rwlocks" :
				   "blocked on locks";

	waits_of(facts, what, WAIT_LOCK, facts->wait[WAIT_LOCK], out);
}

void evidence_pipe(const struct verdict_facts *facts, struct text *out)
{
	waits_of(facts, "blocked on pipes", WAIT_PIPE, facts->wait[WAIT_PIPE], out);
}

void evidence_network(const struct verdict_facts *facts, struct text *out)
{
	if (facts->wait[WAIT_NETWORK] > 0)
		waits_of(facts, "blocked on sockets", WAIT_NETWORK, facts->wait[WAIT_NETWORK], out);
	else
		said_part(facts, "polling for answers", facts->wait[WAIT_POLL], out);
}

void evidence_fork_storm(const struct verdict_facts *facts, struct text *out)
{
	double forks = (double)facts->run->tree->forks;

	unit_format_real(out, UNIT_COUNT, forks);
	text_append_string(out, " processes started");
	said_rate(facts, forks, "", out);
	said_ns(", each with ", facts->on_cpu / (forks + 1), out);
	text_append_string(out, " of CPU time");
}

void evidence_tiny_io(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "in short reads and writes", facts->tiny, out);
	said_rate(facts, facts->moves.count, "", out);
	text_format(out, " of %.1f bytes", facts->bytes_per_move);
}

void evidence_mmap_churn(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "mapping and faulting memory",
		  facts->fault_time + facts->map_time + facts->wait[WAIT_MEMORY], out);
	said_rate(facts, facts->mappings.count, "calls ", out);
}

void evidence_page_faults(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "in page faults",
		  facts->fault_time + facts->map_time + facts->wait[WAIT_MEMORY], out);
	said_rate(facts, facts->faults, "faults ", out);
}

bool evidence_cores(const struct run *run, const char *start, struct text *out)
{
	unsigned online = run->limits.online_cpus;
	double cores = run_cores(run);

	if (cores < 0)
		return false;
	text_append_string(out, start);
	text_append_string(out, run_lower_bounds(run) & RUN_BOUND_CPU ? "at least " : "");
	text_format(out, "%.2f", cores);
	if (online)
		text_format(out, " of %u", online);
	text_format(out, " core%s busy", online == 1 ? "" : "s");
	return true;
}

void evidence_run_queue(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "ready but without a CPU", facts->run_queue, out);
	evidence_cores(facts->run, "; ", out);
}

void evidence_disk(const struct verdict_facts *facts, struct text *out)
{
	if (!facts->has_ledger) {
		said_part(facts, "I/O stalled around it while it was not on a CPU", facts->pressed,
			  out);
		return;
	}
	waits_of(facts, "blocked on disks", WAIT_DISK, facts->wait[WAIT_DISK], out);
	if (facts->disk_calls > facts->demand / 20) {
		said_ns(", CPU for it ", facts->disk_calls, out);
	}
}

void evidence_cpu(const struct verdict_facts *facts, struct text *out)
{
	if (facts->own_queue <= facts->computing) {
		said_part(facts, "on a CPU", facts->on_cpu, out);
		evidence_cores(facts->run, "; ", out);
		return;
	}
	text_append_string(out, evidence_cores(facts->run, "", out) ? "; " : "");
	said_ns("its threads waited ", facts->own_queue, out);
	text_append_string(out, " for each other's");
}

static void idle(const struct verdict_facts *facts, const char *what, struct text *out)
{
	text_format(out, "%s: nobody %s in ", what,
		    facts->parked > 0 ? "did any work" : "ran or waited for anything else");
	unit_format_share(out, share_of(facts->idle, facts->wall));
	said_ns(" of the time (", facts->idle, out);
	text_append_string(out, ")");
}

void evidence_sleep(const struct verdict_facts *facts, struct text *out)
{
	idle(facts, "asleep", out);
}

void evidence_poll(const struct verdict_facts *facts, struct text *out)
{
	bool conditions = evidence_is_conditions(facts, CAUSE_POLL);

	idle(facts, conditions ? "waiting on condition variables" : "waiting for events", out);
}

void evidence_none(const struct verdict_facts *facts, struct text *out)
{
	if (!facts->has_cpu && !facts->has_ledger)
		text_append_string(out, "neither CPU time nor waits could be measured");
	else if (!facts->has_ledger)
		said_part(facts, "insufficient data: waits were not measured, which were",
			  facts->unexplained, out);
	else if (facts->unexplained > 0)
		said_part(facts, "blocked for reasons that are not known", facts->unexplained, out);
}

/* The largest waits other than the one that the verdict names. */
static void largest_waits(const struct verdict_facts *facts, struct text *out)
{
	double whole = (double)amounts_blocked_ns(&facts->run->tree->amounts);
	bool said[WAIT_REASON_COUNT] = { false };

	for (int n = 0; n < 2; n++) {
		size_t best = WAIT_REASON_COUNT;

		for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
			if (!said[i] && (best == WAIT_REASON_COUNT ||
					 blocked_on(facts, i).ns > blocked_on(facts, best).ns))
				best = i;
		if ((double)blocked_on(facts, best).ns < whole / 100)
			return;
		said[best] = true;
		text_format(out, "%s%s ", n ? ", " : " (", waits[best].name);
		unit_format_real(out, UNIT_NS, (double)blocked_on(facts, best).ns);
	}
}

void evidence_split(const struct verdict_facts *facts, struct text *out)
{
	double blocked = (double)amounts_blocked_ns(&facts->run->tree->amounts);
	size_t before;

	if (!facts->has_ledger)
		return;
	said_ns("all threads: on a CPU ", facts->on_cpu, out);
	said_ns(", ready ", facts->run_queue, out);
	said_ns(facts->is_sampled ? ", blocked (sampled) " : ", blocked ", blocked, out);
	before = out->length;
	if (blocked > 0)
		largest_waits(facts, out);
	if (out->length > before)
		text_append_string(out, ")");
}

/* The wait that a cause is about. */
static int reason_of(enum run_cause cause)
{
	static const struct {
		enum run_cause cause;
		enum wait_reason reason;
	} reasons[] = {
		{ CAUSE_LOCK, WAIT_LOCK },	 { CAUSE_PIPE, WAIT_PIPE },
		{ CAUSE_NETWORK, WAIT_NETWORK }, { CAUSE_DISK, WAIT_DISK },
		{ CAUSE_FSYNC, WAIT_DISK },	 { CAUSE_MEMORY_LIMIT, WAIT_MEMORY },
		{ CAUSE_SLEEP, WAIT_TIMER },	 { CAUSE_POLL, WAIT_POLL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].cause == cause)
			return (int)reasons[i].reason;
	return -1;
}

static void waker(const struct tree_wait *wait, struct text *out)
{
	double share = tree_wait_waker_share(wait);

	if (wait->waker.total_ns == 0 || share < 0.005)
		return;
	if (wait->waker.waker_tid == 0)
		text_append_string(out, "; ended by the kernel in ");
	else
		text_format(out, "; ended by %.15s (%d) in ", wait->waker.waker_comm,
			    wait->waker.waker_tid);
	unit_format_share(out, share);
}

void evidence_top_wait(const struct verdict_facts *facts, enum run_cause cause, struct text *out)
{
	const struct tree *tree = facts->run->tree;
	int reason = evidence_is_conditions(facts, cause) ? WAIT_CONDITION : reason_of(cause);

	for (size_t i = 0; i < tree->top_wait_count; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		if ((int)wait->reason != reason)
			continue;
		text_format(out, "%.15s (%d) waited ", wait->comm, wait->thread.tid);
		unit_format_real(out, UNIT_NS, (double)wait->total_ns);
		if (wait->count)
			said_ns(", longest ", (double)wait->longest_ns, out);
		waker(wait, out);
		return;
	}
}
