/* SPDX-License-Identifier: MIT */
/* Says in a sentence what the verdict means for the process. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "metric/unit.h"
#include "session/why/why_sentence.h"

/* What the process does, by cause. */
static const char *const doing[CAUSE_COUNT] = {
	[CAUSE_CPU] = "computing",
	[CAUSE_KERNEL_CPU] = "computing in the kernel",
	[CAUSE_CHILD] = "waiting for a child that computes",
	[CAUSE_PIPE_STAGE] = "waiting for a stage of a pipeline that computes",
	[CAUSE_IMBALANCE] = "waiting for its busiest thread",
	[CAUSE_SPINNING] = "asking again and again in vain",
	[CAUSE_GC] = "collecting garbage",
	[CAUSE_OVERSUBSCRIBED] = "ready to run, but its other threads have the CPUs",
	[CAUSE_BLKIO_LIMIT] = "held back by the I/O limit of its cgroup",
	[CAUSE_SERIALISED] = "computing one thread at a time",
	[CAUSE_CHILD_WAIT] = "waiting for the end of a child or thread",
	[CAUSE_STOPPED] = "stopped by a signal",
	[CAUSE_TRACED] = "stopped by a debugger or tracer",
	[CAUSE_FROZEN] = "frozen with its cgroup",
	[CAUSE_CPU_QUOTA] = "held back by the CPU quota of its cgroup",
	[CAUSE_RUN_QUEUE] = "ready to run, but without a CPU",
	[CAUSE_DISK] = "waiting for disks",
	[CAUSE_FSYNC] = "syncing files",
	[CAUSE_LOCK] = "waiting for locks",
	[CAUSE_DEADLOCK] = "deadlocked",
	[CAUSE_NETWORK] = "waiting for the other end of sockets",
	[CAUSE_PIPE] = "waiting for the other end of pipes",
	[CAUSE_PAGE_FAULTS] = "taking page faults",
	[CAUSE_MMAP_CHURN] = "mapping and unmapping memory",
	[CAUSE_MEMORY_LIMIT] = "held back by a memory limit",
	[CAUSE_OOM_KILL] = "short of memory: a process was killed for it",
	[CAUSE_FORK_STORM] = "starting short processes",
	[CAUSE_TINY_IO] = "reading and writing a few bytes at a time",
	[CAUSE_FD_LIMIT] = "out of file descriptors",
	[CAUSE_SLEEP] = "asleep",
	[CAUSE_POLL] = "waiting for events",
};

/*
 * Appends where the first thread is blocked: "in read of pipe:[123], for 2.0 s, last woken by x
 * (12)".
 */
void why_append_blocked(struct text *out, const struct why_thread *thread)
{
	if (!thread || thread->reason < 0)
		return;
	if (thread->call[0])
		text_format(out, ", in %s", thread->call);
	if (thread->object.kind) {
		text_append_string(out, thread->call[0] ? " of " : ", waits for ");
		wait_object_describe(&thread->object, out);
	}
	why_append_since(out, thread);
	if (thread->has_waker && thread->waker.waker_tid > 0) {
		text_append_string(out, ", woken by ");
		why_append_name(out, thread->waker.waker_comm);
		text_format(out, " (%" PRId32 ")", thread->waker.waker_tid);
	}
}

static const struct tree_process *busiest_child(const struct why *why)
{
	const struct tree_process *best = NULL;

	for (size_t i = 0; i < why->run->tree->count; i++) {
		const struct tree_process *process = why->run->tree->all[i];

		if (process->key.pid == why->before.pid)
			continue;
		if (!best || amounts_get(&process->amounts, AMOUNT_run_time_ns) >
				     amounts_get(&best->amounts, AMOUNT_run_time_ns))
			best = process;
	}
	return best;
}

bool why_say_children(const struct why *why, struct text *out)
{
	const struct tree_process *child = why->by_children ? busiest_child(why) : NULL;
	const char *what = doing[why->diagnosis.verdict.cause];

	if (!child)
		return false;
	text_append_string(out, "it waits for its children");
	if (what)
		text_format(out, ", which are %s", what);
	text_append_string(out, "; the busiest is ");
	why_append_name(out, child->comm);
	text_format(out, " (%" PRId32 ")", child->key.pid);
	return true;
}

static bool is_busy(enum run_cause cause)
{
	switch (causes[cause].class) {
	case CLASS_CPU_BOUND:
	case CLASS_MEMORY_BOUND:
	case CLASS_STARVED:
		return true;
	default:
		return cause == CAUSE_TINY_IO;
	}
}

/* The thread that the verdict is about, where it is one of this process; else the first. */
static const struct why_thread *thread_of_path(const struct why *why)
{
	for (size_t i = 0; why->run && why->run->path.is_known && i < why->threads.count; i++)
		if (why->threads.data[i].tid == why->run->path.thread.tid)
			return &why->threads.data[i];
	return why_leader(why);
}

/* The process that the verdict is about, where that is not the one that was asked about. */
static const struct tree_process *other_process(const struct why *why)
{
	for (size_t i = 0; why->run && why->run->path.is_known && i < why->run->tree->count; i++) {
		const struct tree_process *process = why->run->tree->all[i];

		if (process->key.pid != why->before.pid &&
		    process->key.pid == why->run->path.thread.pid)
			return process;
	}
	return NULL;
}

static const char *doing_of(const struct why *why)
{
	enum run_cause cause = why->diagnosis.verdict.cause;
	const struct why_thread *thread = thread_of_path(why);

	if (cause == CAUSE_POLL && thread && thread->object.address)
		return "waiting to be woken by another thread, for work or for a lock";
	return doing[cause];
}

bool why_say_verdict(const struct why *why, struct text *out)
{
	const char *what = why->judged ? doing_of(why) : NULL;
	const struct why_thread *busiest = why->threads.count ? why->threads.data : NULL;
	const struct tree_process *other = other_process(why);

	if (!what)
		return false;
	if (other) {
		text_append_string(out, "it waits for ");
		why_append_name(out, other->comm);
		text_format(out, " (%" PRId32 "), which is %s", other->key.pid, what);
		return true;
	}
	text_format(out, "it is %s", what);
	if (!is_busy(why->diagnosis.verdict.cause)) {
		why_append_blocked(out, thread_of_path(why));
	} else if (busiest && why_has_times(busiest)) {
		text_format(out, "; most of all thread %" PRId32 " (", busiest->tid);
		why_append_name(out, busiest->comm);
		text_append_string(out, ")");
		why_append_cpu(out, why, busiest, 1);
	}
	return true;
}
