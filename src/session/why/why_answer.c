/* SPDX-License-Identifier: MIT */
/* Makes the one sentence that answers why, from the first situation in the table that applies. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/verdict/verdict_evidence.h"
#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "host/proc/task_text.h"
#include "metric/unit.h"
#include "session/why/why.h"

/* A state letter in words, or NULL when it is not known. */
static const char *state_text(char state)
{
	static const struct {
		char letter;
		const char *text;
	} states[] = {
		{ 'R', "running or ready" },
		{ 'S', "sleeping" },
		{ 'D', "uninterruptible" },
		{ 'T', "stopped" },
		{ 't', "stopped by a tracer" },
		{ 'Z', "dead" },
		{ 'X', "dead" },
		{ 'I', "idle kernel thread" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].letter == state)
			return states[i].text;
	return NULL;
}

static void append_name(struct text *out, const char *comm)
{
	text_append_escaped(out, comm, strlen(comm));
}

static void append_end(struct text *out, const struct why *why)
{
	char name[KERNEL_NAME_SIZE];

	if (!why->has_status)
		return;
	if (WIFEXITED(why->status))
		text_format(out, " with exit code %d", WEXITSTATUS(why->status));
	else if (WIFSIGNALED(why->status))
		text_format(out, " by %s", signal_name(WTERMSIG(why->status), name));
}

/* The first thread; if it ended before the others, the busiest of them. */
static const struct why_thread *leader_of(const struct why *why)
{
	const struct why_thread *busiest = NULL;

	for (size_t i = 0; i < why->threads.count; i++) {
		const struct why_thread *thread = &why->threads.data[i];

		if (thread->tid == why->before.pid && !task_state_is_dead(thread->state))
			return thread;
		if (!busiest && !task_state_is_dead(thread->state))
			busiest = thread;
	}
	return busiest;
}

static bool is_dead(const struct why *why)
{
	return why->after.state ? why->after.is_dead : why->before.is_dead;
}

static char state_of(const struct why *why)
{
	const struct why_thread *leader = leader_of(why);
	char state = why->after.state ? why->after.state : why->before.state;

	return task_state_is_dead(state) && leader ? leader->state : state;
}

static bool say_zombie(const struct why *why, struct text *out)
{
	if (!is_dead(why) || !why->before.is_dead)
		return false;
	text_append_string(out, "it is dead, ended");
	append_end(out, why);
	text_format(out, ", and waits for its parent %" PRId32, why->after.parent_pid);
	if (why->after.parent_comm[0]) {
		text_append_string(out, " (");
		append_name(out, why->after.parent_comm);
		text_append_string(out, ")");
	}
	text_append_string(out, " to reap it");
	return true;
}

static bool say_ended(const struct why *why, struct text *out)
{
	if (!why->ended && !is_dead(why))
		return false;
	text_append_string(out, "it ended while it was watched");
	append_end(out, why);
	return true;
}

/* Appends the CPU time of these threads while they were watched, as a share of one CPU. */
static void append_cpu(struct text *out, const struct why *why, const struct why_thread *threads,
		       size_t count)
{
	uint64_t run_time_ns = 0;
	bool is_known = false;

	for (size_t i = 0; i < count; i++) {
		run_time_ns += amounts_get(&threads[i].amounts, AMOUNT_run_time_ns);
		is_known |= why_has_times(&threads[i]);
	}
	if (!is_known || !why->watched_ns)
		return;
	text_append_string(out, ", ");
	unit_format_share(out, (double)run_time_ns / (double)why->watched_ns);
	text_append_string(out, " of a CPU over ");
	unit_format_real(out, UNIT_NS, (double)why->watched_ns);
}

static void append_channel(struct text *out, const struct why_thread *thread)
{
	if (thread && thread->found && thread->found->channel[0]) {
		text_append_string(out, ", waits in ");
		append_name(out, thread->found->channel);
	}
}

static bool say_kernel_thread(const struct why *why, struct text *out)
{
	if (!why->before.is_kernel_thread)
		return false;
	text_append_string(out, "it is a kernel thread");
	append_cpu(out, why, why->threads.data, why->threads.count);
	append_channel(out, leader_of(why));
	return true;
}

static bool say_stopped(const struct why *why, struct text *out)
{
	char state = state_of(why);

	if (state != 'T' && state != 't')
		return false;
	if (why->after.tracer_pid > 0) {
		text_format(out, "it is stopped by a debugger, %" PRId32, why->after.tracer_pid);
		text_append_string(out, " (");
		append_name(out, why->after.tracer_comm);
		text_append_string(out, ")");
		return true;
	}
	text_append_string(out, "it is stopped by a signal; SIGCONT lets it go on");
	return true;
}

/* Appends how long a thread has been blocked. */
static void append_since(struct text *out, const struct why_thread *thread)
{
	if (!thread->has_since)
		return;
	text_append_string(out, thread->at_least ? ", for at least " : ", for ");
	unit_format_real(out, UNIT_NS, (double)thread->since_ns);
}

/* Its threads wait for each other for ever, or it waits for others that do. */
static bool say_deadlock(const struct why *why, struct text *out)
{
	const struct wait_deadlock *deadlock = &why->deadlock;
	bool is_member = false;

	if (!deadlock->count)
		return false;
	for (size_t i = 0; i < deadlock->count; i++)
		is_member |= deadlock->members[i].who.pid == why->before.pid;
	text_append_string(out, is_member ? "it is deadlocked: " :
					    "it waits for a deadlock of others: ");
	if (deadlock->count == 1)
		text_append_string(out, "a thread waits for itself");
	else
		text_format(out, "%zu threads wait for each other", deadlock->count);
	for (size_t i = 0; i < why->threads.count; i++)
		if (why->threads.data[i].tid == deadlock->members[0].who.tid)
			append_since(out, &why->threads.data[i]);
	return true;
}

static bool was_in(const struct process_state *before, const struct why_thread *thread)
{
	for (size_t i = 0; i < before->threads.count; i++) {
		const struct task_state *earlier = &before->threads.data[i];

		if (earlier->tid == thread->tid)
			return earlier->state == thread->state && thread->found &&
			       strcmp(earlier->channel, thread->found->channel) == 0;
	}
	return false;
}

/* A thread that was in state D both times, in the same place, and did nothing in between. */
static const struct why_thread *find_stuck(const struct why *why)
{
	for (size_t i = 0; i < why->threads.count; i++) {
		const struct why_thread *thread = &why->threads.data[i];

		if (thread->state == 'D' && was_in(&why->before, thread) &&
		    amounts_get(&thread->amounts, AMOUNT_run_time_ns) < why->watched_ns / 100)
			return thread;
	}
	return NULL;
}

static bool say_stuck(const struct why *why, struct text *out)
{
	const struct why_thread *thread = find_stuck(why);

	if (!thread)
		return false;
	text_format(out, "thread %" PRId32 " is in uninterruptible sleep", thread->tid);
	append_channel(out, thread);
	if (thread->call[0])
		text_format(out, " called by %s", thread->call);
	if (thread->has_since) {
		append_since(out, thread);
	} else {
		text_append_string(out, ", for at least ");
		unit_format_real(out, UNIT_NS, (double)why->watched_ns);
	}
	return true;
}

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
static void append_blocked(struct text *out, const struct why_thread *thread)
{
	if (!thread || thread->reason < 0)
		return;
	if (thread->call[0])
		text_format(out, ", in %s", thread->call);
	if (thread->object.kind) {
		text_append_string(out, thread->call[0] ? " of " : ", waits for ");
		wait_object_describe(&thread->object, out);
	}
	append_since(out, thread);
	if (thread->has_waker && thread->waker.waker_tid > 0) {
		text_append_string(out, ", woken by ");
		append_name(out, thread->waker.waker_comm);
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

static bool say_children(const struct why *why, struct text *out)
{
	const struct tree_process *child = why->by_children ? busiest_child(why) : NULL;
	const char *what = doing[why->diagnosis.verdict.cause];

	if (!child)
		return false;
	text_append_string(out, "it waits for its children");
	if (what)
		text_format(out, ", which are %s", what);
	text_append_string(out, "; the busiest is ");
	append_name(out, child->comm);
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

static bool say_verdict(const struct why *why, struct text *out)
{
	const char *what = why->judged ? doing[why->diagnosis.verdict.cause] : NULL;
	const struct why_thread *busiest = why->threads.count ? why->threads.data : NULL;

	if (!what)
		return false;
	text_format(out, "it is %s", what);
	if (!is_busy(why->diagnosis.verdict.cause)) {
		append_blocked(out, leader_of(why));
	} else if (busiest && why_has_times(busiest)) {
		text_format(out, "; most of all thread %" PRId32 " (", busiest->tid);
		append_name(out, busiest->comm);
		text_append_string(out, ")");
		append_cpu(out, why, busiest, 1);
	}
	return true;
}

/* Without a verdict: says what the first thread does, which is all that is known. */
static bool say_leader(const struct why *why, struct text *out)
{
	const struct why_thread *leader = leader_of(why);
	const char *state = state_text(state_of(why));

	text_format(out, "it is %s", state ? state : "in a state that is not known");
	append_cpu(out, why, why->threads.data, why->threads.count);
	if (!leader)
		return true;
	if (leader->reason >= 0)
		text_format(out, ", waits for: %s", waits[leader->reason].name);
	append_blocked(out, leader);
	if (!leader->call[0])
		append_channel(out, leader);
	return true;
}

typedef bool situation(const struct why *why, struct text *out);

void why_answer(struct why *why)
{
	static situation *const situations[] = {
		say_zombie, say_ended,	  say_kernel_thread, say_stopped, say_deadlock,
		say_stuck,  say_children, say_verdict,	     say_leader,
	};
	CLEANUP(text_free) struct text sentence = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(situations); i++)
		if (situations[i](why, &sentence))
			break;
	memccpy(why->answer, text_string(&sentence), '\0', sizeof(why->answer) - 1);
	why->answer[sizeof(why->answer) - 1] = '\0';
}
