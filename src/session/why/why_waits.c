/* SPDX-License-Identifier: MIT */
/* Corrects an answer by what the threads wait for: deadlocks, and locks that are conditions. */
#include <inttypes.h>
#include <string.h>

#include "model/wait/futex_word.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "session/why/why.h"

void why_describe_member(const struct wait_member *member, struct text *out)
{
	text_format(out, "thread %" PRId32 " (", member->who.tid);
	text_append_escaped(out, member->who.comm, strlen(member->who.comm));
	text_append_string(out, ") waits for ");
	wait_object_describe(&member->object, out);
}

static void add_evidence(struct verdict *verdict, const struct wait_member *member)
{
	CLEANUP(text_free) struct text line = { 0 };

	why_describe_member(member, &line);
	if (verdict->evidence_count < DIAGNOSIS_EVIDENCE_MAX)
		verdict_copy_line(text_string(&line), verdict->evidence[verdict->evidence_count++]);
}

static void judge_deadlock(struct why *why)
{
	struct verdict *verdict = &why->diagnosis.verdict;

	if (!why->deadlock.count)
		return;
	*verdict = (struct verdict){ .class = causes[CAUSE_DEADLOCK].class,
				     .cause = CAUSE_DEADLOCK,
				     .score = 1,
				     .confidence = verdict_confidence(CAUSE_DEADLOCK, 1),
				     .hint = causes[CAUSE_DEADLOCK].hint };
	for (size_t i = 0; i < why->deadlock.count; i++)
		add_evidence(verdict, &why->deadlock.members[i]);
	why->judged = true;
	why->by_children = false;
}

static const struct why_thread *thread_of(const struct why *why, int32_t tid)
{
	for (size_t i = 0; i < why->threads.count; i++)
		if (why->threads.data[i].tid == tid)
			return &why->threads.data[i];
	return NULL;
}

static bool waits_for_condition(const struct why_thread *thread)
{
	return thread->object.kind && strcmp(thread->object.kind, "condition") == 0;
}

/* Whether it has what the other waits for: it runs, or has just given it up and waits again. */
static bool takes_turns(const struct why_thread *thread, const struct why_thread *other)
{
	if (!other->giver_tid)
		return false;
	return other->state == 'R' ||
	       (waits_for_condition(other) &&
		futex_may_be_same(thread->object.address, other->object.address));
}

/*
 * A lock that is made of a condition with a time limit, such as Python's global interpreter lock:
 * the threads that wait for the condition are woken by each other, between waits that end by their
 * limit.  Its holder is the thread that gave it up most often.
 */
static void judge_turns(const struct why *why, struct why_thread *thread)
{
	const struct why_thread *giver = thread_of(why, thread->giver_tid);

	if (!waits_for_condition(thread) || !thread->object.is_timed || !giver || giver == thread ||
	    !takes_turns(thread, giver))
		return;
	thread->reason = thread->object.reason = WAIT_LOCK;
	thread->object.has_holder = true;
	thread->object.holder = (struct wait_party){ .pid = why->before.pid, .tid = giver->tid };
	memcpy(thread->object.holder.comm, giver->comm, sizeof(giver->comm));
}

/*
 * Nobody woke the thread that it is about, and its wait has a time limit: it sleeps, as far as that
 * can be known.
 */
static void judge_timed(struct why *why)
{
	struct verdict *verdict = &why->diagnosis.verdict;
	const struct why_thread *thread;
	CLEANUP(text_free) struct text line = { 0 };

	if (!why->judged || verdict->cause != CAUSE_POLL || !why->run ||
	    !why->run->path.is_known)
		return;
	thread = thread_of(why, why->run->path.thread.tid);
	if (!thread || !thread->object.address || !thread->object.is_timed || thread->has_waker ||
	    thread->reason != WAIT_CONDITION)
		return;
	verdict_say_timed(verdict);
	text_format(&line, "thread %" PRId32 " (", thread->tid);
	text_append_escaped(&line, thread->comm, strlen(thread->comm));
	text_append_string(&line, ") waits with a time limit, and nobody wakes it");
	verdict_copy_line(text_string(&line), verdict->evidence[0]);
}

void why_judge_waits(struct why *why)
{
	for (size_t i = 0; i < why->threads.count; i++)
		judge_turns(why, &why->threads.data[i]);
	judge_timed(why);
	judge_deadlock(why);
}
