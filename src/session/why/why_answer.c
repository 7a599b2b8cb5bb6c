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
#include "session/why/why_sentence.h"

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

void why_append_name(struct text *out, const char *comm)
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
const struct why_thread *why_leader(const struct why *why)
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
	const struct why_thread *leader = why_leader(why);
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
		why_append_name(out, why->after.parent_comm);
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
void why_append_cpu(struct text *out, const struct why *why, const struct why_thread *threads,
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
		why_append_name(out, thread->found->channel);
	}
}

static bool say_kernel_thread(const struct why *why, struct text *out)
{
	if (!why->before.is_kernel_thread)
		return false;
	text_append_string(out, "it is a kernel thread");
	why_append_cpu(out, why, why->threads.data, why->threads.count);
	append_channel(out, why_leader(why));
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
		why_append_name(out, why->after.tracer_comm);
		text_append_string(out, ")");
		return true;
	}
	text_append_string(out, "it is stopped by a signal; SIGCONT lets it go on");
	return true;
}

/* Appends how long a thread has been blocked. */
void why_append_since(struct text *out, const struct why_thread *thread)
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
			why_append_since(out, &why->threads.data[i]);
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
		why_append_since(out, thread);
	} else {
		text_append_string(out, ", for at least ");
		unit_format_real(out, UNIT_NS, (double)why->watched_ns);
	}
	return true;
}

/* Without a verdict: says what the first thread does, which is all that is known. */
static bool say_leader(const struct why *why, struct text *out)
{
	const struct why_thread *leader = why_leader(why);
	const char *state = state_text(state_of(why));

	text_format(out, "it is %s", state ? state : "in a state that is not known");
	why_append_cpu(out, why, why->threads.data, why->threads.count);
	if (!leader)
		return true;
	if (leader->reason >= 0)
		text_format(out, ", waits for: %s", waits[leader->reason].name);
	why_append_blocked(out, leader);
	if (!leader->call[0])
		append_channel(out, leader);
	return true;
}

typedef bool situation(const struct why *why, struct text *out);

void why_answer(struct why *why)
{
	static situation *const situations[] = {
		say_zombie, say_ended,	      say_kernel_thread, say_stopped, say_deadlock,
		say_stuck,  why_say_children, why_say_verdict,	 say_leader,
	};
	CLEANUP(text_free) struct text sentence = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(situations); i++)
		if (situations[i](why, &sentence))
			break;
	memccpy(why->answer, text_string(&sentence), '\0', sizeof(why->answer) - 1);
	why->answer[sizeof(why->answer) - 1] = '\0';
}
