/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_evidence.h"

#include <stdio.h>
#include <string.h>

#include "analyze/path/path_shares.h"
#include "analyze/verdict/verdict_numbers.h"
#include "analyze/verdict/verdict_said.h"
#include "metric/unit.h"

/* The limit of open files counts as reached when at most this many are left. */
#define DESCRIPTORS_LEFT 2

static struct waited blocked_on(const struct verdict_facts *facts, enum wait_reason reason)
{
	return amounts_waited(&facts->run->tree->amounts, reason);
}

static void waits_of(const struct verdict_facts *facts, const char *what, enum wait_reason reason,
		     double ns, struct text *out)
{
	double count = (double)blocked_on(facts, reason).count;

	said_part(facts, what, ns, out);
	if (count > 0)
		said_rate(facts, count, "waits ", out);
	if (facts->handing_over[reason] > facts->whole / 20)
		said_ns(", handing over ", facts->handing_over[reason], out);
}

void evidence_oom_kill(const struct verdict_facts *facts, struct text *out)
{
	const struct run *run = facts->run;
	const struct run_number *limit = &run->limits.cgroup_memory_limit_bytes;

	text_append_string(out, "the kernel killed ");
	if (facts->killed)
		text_format(out, "%.15s (%d)", facts->killed->comm, facts->killed->key.pid);
	else
		text_append_string(out, run->oom_killed ? "it" : "a process of it");
	text_append_string(out, " for want of memory");
	if (run->tree->has_peak_rss) {
		text_append_string(out, "; largest process ");
		unit_format(out, UNIT_BYTES, run->tree->largest_rss_bytes);
	}
	if (limit->present) {
		text_append_string(out, ", limit ");
		unit_format(out, UNIT_BYTES, limit->value);
	}
}

void evidence_deadlock(const struct verdict_facts *facts, struct text *out)
{
	const struct run_deadlock *deadlock = &facts->run->deadlock;

	if (deadlock->count == 1)
		text_append_string(out, "a thread waits for itself: ");
	else
		text_format(out, "%u threads wait for each other: ", deadlock->count);
	for (uint32_t i = 0; i < deadlock->count; i++)
		text_format(out, "%s%.15s (%d)", i ? ", " : "", deadlock->waiters[i].comm,
			    deadlock->waiters[i].tid);
}

bool evidence_is_full(const struct tree_process *process)
{
	return process->peak_fds + DESCRIPTORS_LEFT >= process->facts.fd_limit;
}

/* What fails at once is not seen with many open. */
void evidence_fd_limit(const struct verdict_facts *facts, struct text *out)
{
	const struct tree_process *fullest = facts->run->tree->fullest;
	double refused = facts->sums.no_descriptor;

	if (refused > 0)
		text_format(out, "%.0f call%s failed for want of a file descriptor (EMFILE)",
			    refused, refused > 1 ? "s" : "");
	if (!fullest || !(fullest->facts.present & TREE_PROCESS_FD_LIMIT))
		return;
	text_format(out, "%s%.15s ", out->length ? "; " : "", fullest->comm);
	if (evidence_is_full(fullest))
		text_format(out, "had %llu of %llu descriptors open",
			    (unsigned long long)fullest->peak_fds,
			    (unsigned long long)fullest->facts.fd_limit);
	else
		text_format(out, "may have %llu descriptors open",
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
	unsigned long long hits =
		around->cgroup_memory_high_hits.value + around->cgroup_memory_max_hits.value;

	said_part(facts, "stalled at a memory limit", facts->limit, out);
	if (hits)
		text_format(out, ", reached %llu times", hits);
	if (around->cgroup_refaults.present && around->cgroup_refaults.value) {
		text_append_string(out, "; ");
		unit_format(out, UNIT_COUNT, around->cgroup_refaults.value);
		text_append_string(out, " pages were read again");
	}
}

void evidence_blkio_limit(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "blocked on disks", facts->wait[WAIT_DISK], out);
	text_append_string(out, "; its cgroup may move ");
	unit_format(out, UNIT_BYTES, facts->run->limits.cgroup_io_limit_bytes.value);
	text_append_string(out, " a second");
}

void evidence_stopped(const struct verdict_facts *facts, struct text *out)
{
	static const char *const words[HALT_COUNT] = {
		[HALT_STOPPED] = "stopped by a signal",
		[HALT_TRACED] = "stopped by a debugger or tracer",
		[HALT_FROZEN] = "frozen with its cgroup",
	};

	said_part(facts, words[facts->halt],
		  facts->wait[WAIT_STOPPED] + facts->handing_over[WAIT_STOPPED], out);
	if (facts->handing_over[WAIT_STOPPED] > facts->whole / 20)
		said_ns(", of it CPU for stops ", facts->handing_over[WAIT_STOPPED], out);
}

void evidence_fsync(const struct verdict_facts *facts, struct text *out)
{
	const struct call_sum *syncs = &facts->sums.lists[LIST_SYNC];

	said_part(facts, "syncing files", facts->sync_wait + facts->cpu_for[CPU_SYNCING], out);
	said_rate(facts, syncs->count, "syncs ", out);
	if (syncs->count > 0)
		said_ns(" of ", syncs->ns / syncs->count, out);
}

void evidence_lock(const struct verdict_facts *facts, struct text *out)
{
	double asleep = facts->path ? path_share(facts->path, WAIT_TIMER, WAIT_LOCK) : 0;

	asleep *= facts->whole;
	if (2 * asleep > facts->wait[WAIT_LOCK]) {
		said_part(facts, "asleep with a lock that others wait for", asleep, out);
		said_ns("; they waited ", facts->sums.wait[WAIT_LOCK], out);
		return;
	}
	waits_of(facts, "blocked on locks", WAIT_LOCK, facts->wait[WAIT_LOCK], out);
}

void evidence_pipe(const struct verdict_facts *facts, struct text *out)
{
	waits_of(facts, "blocked on pipes", WAIT_PIPE, facts->wait[WAIT_PIPE], out);
}

void evidence_network(const struct verdict_facts *facts, struct text *out)
{
	if (facts->wait[WAIT_NETWORK] >= facts->answers)
		waits_of(facts, "blocked on sockets", WAIT_NETWORK, facts->wait[WAIT_NETWORK], out);
	else
		said_part(facts, "polling for answers", facts->answers, out);
}

void evidence_fork_storm(const struct verdict_facts *facts, struct text *out)
{
	double forks = (double)facts->run->tree->forks;

	unit_format_real(out, UNIT_COUNT, forks);
	text_append_string(out, " processes started");
	said_rate(facts, forks, "", out);
	said_ns(", each with ", facts->sums.on_cpu / (forks + 1), out);
	text_append_string(out, " of CPU time");
}

void evidence_spinning(const struct verdict_facts *facts, struct text *out)
{
	const struct tree_sums *sums = &facts->sums;
	const struct call_sum *lists = sums->lists;
	double ns = facts->cpu_for[CPU_SPINNING];
	char what[64];

	if (sums->vain.count > sums->calls.count / 2) {
		snprintf(what, sizeof(what), "on a CPU for failing calls of %.24s",
			 sums->vain_name);
		said_part(facts, what, ns, out);
		said_rate(facts, sums->vain.count, "", out);
		return;
	}
	said_part(facts, "on a CPU without getting anything done", ns, out);
	said_rate(facts,
		  sums->again + lists[LIST_YIELD].count + lists[LIST_POLL].count +
			  vain_child_calls(sums),
		  "vain calls ", out);
}

void evidence_tiny_io(const struct verdict_facts *facts, struct text *out)
{
	const struct call_sum *lists = facts->sums.lists;

	said_part(facts, "in short reads and writes", facts->cpu_for[CPU_TINY], out);
	said_rate(facts, lists[LIST_READ].count + lists[LIST_WRITE].count, "", out);
	text_format(out, " of %.1f bytes", facts->sums.bytes_per_move);
}

void evidence_mmap_churn(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "mapping and faulting memory",
		  facts->cpu_for[CPU_FAULTING] + facts->cpu_for[CPU_MAPPING] + facts->map_wait,
		  out);
	said_rate(facts, facts->sums.mappings.count, "calls ", out);
}

void evidence_page_faults(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "in page faults",
		  facts->cpu_for[CPU_FAULTING] + facts->cpu_for[CPU_MAPPING] +
			  facts->wait[WAIT_MEMORY],
		  out);
	said_rate(facts, facts->sums.faults, "faults ", out);
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
	said_part(facts, "ready but without a CPU", facts->queue, out);
	if (facts->stolen > facts->whole / 100)
		said_ns("; to the hypervisor ", facts->stolen, out);
	else
		evidence_cores(facts->run, "; ", out);
}

void evidence_oversubscribed(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "ready behind its own threads", facts->queue_own, out);
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
	if (facts->cpu_for[CPU_DISK] > facts->whole / 20)
		said_ns(", CPU for it ", facts->cpu_for[CPU_DISK], out);
}

void evidence_cpu(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "on a CPU", facts->on_cpu, out);
	evidence_cores(facts->run, "; ", out);
}

void evidence_gc(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "on a CPU", facts->on_cpu, out);
	text_append_string(out, ", of it collecting garbage ");
	unit_format_share(out, facts->collecting);
}

void evidence_kernel_cpu(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "in the kernel on a CPU", facts->cpu_for[CPU_IN_KERNEL], out);
	said_rate(facts, facts->sums.calls.count, "calls ", out);
}

void evidence_serialised(const struct verdict_facts *facts, struct text *out)
{
	double held_up = greater(facts->crew.held_up, facts->crew.kept_out);

	said_part(facts, "one at a time on a CPU", facts->on_cpu, out);
	if (held_up * facts->sums.on_cpu < facts->sums.wait[WAIT_LOCK] / 10) {
		said_ns("; others waited for locks ", facts->sums.wait[WAIT_LOCK], out);
		return;
	}
	text_append_string(out, "; by locks held up ");
	unit_format_share(out, held_up);
}

void evidence_imbalance(const struct verdict_facts *facts, struct text *out)
{
	text_format(out, "%.15s (%d) computed ", facts->crew.name, facts->crew.busiest.tid);
	unit_format_real(out, UNIT_NS, facts->crew.busiest_ns);
	said_ns(", all who work beside it ", facts->crew.others_ns, out);
}

void evidence_pipe_stage(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "on a CPU", facts->on_cpu, out);
	said_ns("; others waited in pipes ", facts->sums.wait[WAIT_PIPE], out);
}

void evidence_sleep(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "asleep", facts->wait[WAIT_TIMER] + facts->timed, out);
}

void evidence_poll(const struct verdict_facts *facts, struct text *out)
{
	double conditions = facts->wait[WAIT_CONDITION] - facts->timed;
	double polls = facts->wait[WAIT_POLL] - facts->answers;

	if (verdict_is_woken(facts))
		said_part(facts, "waiting to be woken, for work or for a lock", conditions, out);
	else
		said_part(facts, "waiting for events", polls, out);
}

void evidence_child_wait(const struct verdict_facts *facts, struct text *out)
{
	said_part(facts, "waiting for the end of a child or thread", facts->wait[WAIT_CHILD], out);
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
	said_ns("all threads: on a CPU ", facts->sums.on_cpu, out);
	said_ns(", ready ", facts->sums.run_queue, out);
	said_ns(facts->is_sampled ? ", blocked (sampled) " : ", blocked ", blocked, out);
	before = out->length;
	if (blocked > 0)
		largest_waits(facts, out);
	if (out->length > before)
		text_append_string(out, ")");
}
