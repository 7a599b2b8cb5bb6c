/* SPDX-License-Identifier: MIT */
#include "analyze/verdict_evidence.h"
#include "analyze/verdict_numbers.h"

#include <string.h>

static void scaled(struct text *out, double value, const double *sizes, const char *const *suffixes)
{
	size_t i = 0;

	while (sizes[i] > 1 && value < sizes[i])
		i++;
	value /= sizes[i];
	text_format(out, "%.*f %s", value < 9.95 && sizes[i] > 1 ? 1 : 0, value, suffixes[i]);
}

void evidence_time(struct text *out, double ns)
{
	static const double sizes[] = { 3600e9, 1e9, 1e6, 1e3, 1 };
	static const char *const suffixes[] = { "h", "s", "ms", "us", "ns" };

	scaled(out, ns, sizes, suffixes);
}

static void append_bytes(struct text *out, double bytes)
{
	static const double sizes[] = { 1099511627776.0, 1073741824.0, 1048576.0, 1024.0, 1 };
	static const char *const suffixes[] = { "TiB", "GiB", "MiB", "KiB", "B" };

	scaled(out, bytes, sizes, suffixes);
}

/* "9876", "12 K", "1.6 M" */
static void amount(struct text *out, double count)
{
	static const double sizes[] = { 1e12, 1e9, 1e6, 1e3, 1 };
	static const char *const suffixes[] = { "T", "G", "M", "K", "" };

	if (count < 9999.5)
		text_format(out, "%.0f", count);
	else
		scaled(out, count, sizes, suffixes);
}

/* ", 1.6 M waits a second" */
static void said_rate(const struct verdict_facts *facts, double count, const char *what,
		      struct text *out)
{
	text_append_string(out, ", ");
	amount(out, facts->wall > 0 ? count * 1e9 / facts->wall : 0);
	text_format(out, " %sa second", what);
}

static int percent(double value, double whole)
{
	return (int)(share_of(value, whole) * 100 + 0.5);
}

/* "78 % (4.1 s of 5.2 s of busy time)" */
static void part(const struct verdict_facts *facts, double ns, struct text *out)
{
	text_format(out, "%d %% (", percent(ns, facts->demand));
	evidence_time(out, ns);
	text_append_string(out, " of ");
	evidence_time(out, facts->demand);
	text_append_string(out, facts->demand > facts->wall ? " of busy time)" : " of wall time)");
}

static void said_part(const struct verdict_facts *facts, const char *what, double ns,
		      struct text *out)
{
	text_format(out, "%s ", what);
	part(facts, ns, out);
}

static const struct ledger_wait *blocked_on(const struct verdict_facts *facts,
					    enum wait_reason reason)
{
	return &facts->run->tree->ledger.blocked[reason];
}

static void waits_of(const struct verdict_facts *facts, const char *what, enum wait_reason reason,
		     double ns, struct text *out)
{
	double count =
		reason == WAIT_LOCK ? facts->lock_waits : (double)blocked_on(facts, reason)->count;

	said_part(facts, what, ns, out);
	if (count > 0)
		said_rate(facts, count, "waits ", out);
	if (facts->handover[reason] > facts->demand / 20) {
		text_append_string(out, ", handing over ");
		evidence_time(out, facts->handover[reason]);
	}
}

void evidence_oom_kill(const struct verdict_facts *facts, struct text *out)
{
	const struct run *run = facts->run;
	const struct run_number *limit = &run->surroundings.cgroup_memory_limit_bytes;

	text_append_string(out, run->oom_killed ?
					"the kernel killed it for want of memory" :
					"the kernel killed a process of it for want of memory");
	if (run->tree->has_peak_rss) {
		text_append_string(out, "; largest process ");
		append_bytes(out, (double)run->tree->largest_rss_bytes);
	}
	if (limit->present) {
		text_append_string(out, ", limit ");
		append_bytes(out, (double)limit->value);
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
	const struct run_surroundings *around = &facts->run->surroundings;

	text_append_string(out, "its cgroup was throttled for ");
	evidence_time(out, (double)around->cgroup_throttled_ns.value);
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
	const struct run_surroundings *around = &facts->run->surroundings;
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
		text_append_string(out, " of ");
		evidence_time(out, facts->syncs.ns / facts->syncs.count);
	}
}

bool evidence_is_conditions(const struct verdict_facts *facts, enum run_cause cause)
{
	if (cause == CAUSE_LOCK)
		return facts->contended > facts->wait[WAIT_LOCK] / 2;
	if (cause != CAUSE_POLL || facts->wait[WAIT_CONDITION] <= facts->wait[WAIT_POLL])
		return false;
	/* Workers wait for what a main thread that waits for events gives them. */
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

	amount(out, forks);
	text_append_string(out, " processes started");
	said_rate(facts, forks, "", out);
	text_append_string(out, ", each with ");
	evidence_time(out, facts->on_cpu / (forks + 1));
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
	unsigned online = run->surroundings.online_cpus;
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
		text_append_string(out, ", CPU for it ");
		evidence_time(out, facts->disk_calls);
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
	text_append_string(out, "its threads waited ");
	evidence_time(out, facts->own_queue);
	text_append_string(out, " for each other's");
}

static void idle(const struct verdict_facts *facts, const char *what, struct text *out)
{
	text_format(out, "%s: nobody %s in %d %% of the time (", what,
		    facts->parked > 0 ? "did any work" : "ran or waited for anything else",
		    percent(facts->idle, facts->wall));
	evidence_time(out, facts->idle);
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

/* The largest waits beside the first one that the verdict names. */
static void largest_waits(const struct verdict_facts *facts, struct text *out)
{
	double whole = (double)ledger_blocked_ns(&facts->run->tree->ledger);
	bool said[WAIT_REASON_COUNT] = { false };

	for (int n = 0; n < 2; n++) {
		size_t best = WAIT_REASON_COUNT;

		for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
			if (!said[i] && (best == WAIT_REASON_COUNT ||
					 blocked_on(facts, i)->ns > blocked_on(facts, best)->ns))
				best = i;
		if ((double)blocked_on(facts, best)->ns < whole / 100)
			return;
		said[best] = true;
		text_format(out, "%s%s ", n ? ", " : " (", waits[best].name);
		evidence_time(out, (double)blocked_on(facts, best)->ns);
	}
}

void evidence_split(const struct verdict_facts *facts, struct text *out)
{
	double blocked = (double)ledger_blocked_ns(&facts->run->tree->ledger);
	size_t before;

	if (!facts->has_ledger)
		return;
	text_append_string(out, "all threads: on a CPU ");
	evidence_time(out, facts->on_cpu);
	text_append_string(out, ", ready ");
	evidence_time(out, facts->run_queue);
	text_append_string(out, ", blocked ");
	evidence_time(out, blocked);
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

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].cause == cause)
			return (int)reasons[i].reason;
	return -1;
}

static void waker(const struct tree_wait *wait, struct text *out)
{
	int share = percent(tree_wait_waker_share(wait), 1);

	if (wait->waker.total_ns == 0 || share == 0)
		return;
	if (wait->waker.waker_tid == 0)
		text_format(out, "; ended by the kernel in %d %%", share);
	else
		text_format(out, "; ended by %.15s (%d) in %d %%", wait->waker.waker_comm,
			    wait->waker.waker_tid, share);
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
		evidence_time(out, (double)wait->total_ns);
		text_append_string(out, ", longest ");
		evidence_time(out, (double)wait->longest_ns);
		waker(wait, out);
		return;
	}
}
