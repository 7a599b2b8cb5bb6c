/* SPDX-License-Identifier: MIT */
#include "trace/proc/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "model/counter.h"
#include "trace/proc/proc_sample.h"

#define ROUNDS_MAX 64

/*
 * When a task began whose start was not seen, in the clock of events.  Its start time is rounded down to a
 * clock tick, which may be before the first member was watched.
 */
static uint64_t began_ns(const struct members *members, const struct proc_sample *sample,
			 uint64_t now_ns)
{
	uint64_t suspended = suspended_ns(), began_ns = members->begin_ns;

	if (members->seeding || sample->start_ns < suspended ||
	    sample->start_ns - suspended > now_ns)
		return now_ns;
	counter_raise(&began_ns, sample->start_ns - suspended);
	return began_ns;
}

bool scan_is_member(const struct members *members, const struct member *member,
		    const struct proc_sample *sample)
{
	return proc_sample_is_start(members->host, sample->start_ns, member->key.start_ns);
}

bool scan_is_dead(const struct members *members, const struct member *member)
{
	struct proc_sample sample;

	return proc_sample_process(members->host, member->key.pid, &sample) == 0 &&
	       scan_is_member(members, member, &sample) && sample.is_dead;
}

static struct member_thread *add_thread(struct members *members, struct member *member, int32_t tid,
					const struct proc_sample *sample)
{
	struct task_key key = { member->key.pid, tid, sample->start_ns };
	struct member_thread *stale = members_find_thread(members, tid);
	uint64_t now = monotonic_ns();

	if (stale)
		members_end_thread(members, stale, now);
	return members_add_thread(members, member, &key, began_ns(members, sample, now));
}

static bool is_known(const struct members *members, const struct member *member, int32_t tid)
{
	const struct member_thread *thread = members_find_thread(members, tid);

	return thread && thread->process == member;
}

/* Whether `thread` may now have these counters: none has fallen. */
static bool can_be(const struct member_thread *thread, const struct amounts *now)
{
	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (amounts_has(now, id) && counter_is_total(id) &&
		    amounts_get(now, id) <
			    amounts_get(&thread->before, id) + amounts_get(&thread->since, id))
			return false;
	return true;
}

static uint64_t life_ns(const struct member_thread *thread)
{
	return amounts_get(&thread->before, AMOUNT_run_time_ns) +
	       amounts_get(&thread->since, AMOUNT_run_time_ns);
}

/*
 * After an exec the leader is the thread that did it, with that thread's counters.  So assume that
 * it was the thread with the most CPU time among those whose counters fit.  Returns whether it is
 * another one than before.
 */
static bool find_heir(struct members *members, struct member *member)
{
	struct member_thread *heir = NULL;
	struct proc_sample sample;

	if (proc_sample_thread(members->host, &members->reader, member->key.pid, member->key.pid,
			       &sample) < 0)
		return false;
	for (size_t i = 0; i < member->threads.count; i++) {
		struct member_thread *thread = member->threads.data[i];

		if (can_be(thread, &sample.counters) && (!heir || life_ns(thread) > life_ns(heir)))
			heir = thread;
	}
	if (!heir || heir == members_find_thread(members, member->key.pid))
		return false;
	members_replace_leader(members, heir, monotonic_ns());
	return true;
}

/* Reports an exec if it runs another program than at the last sample.  Returns whether it does. */
static bool notice_exec(struct members *members, struct member *member,
			const struct proc_sample *sample)
{
	bool executed = sample->has_executed && !member->executed;

	if (!sample->image)
		return false;
	executed = executed || (member->image && sample->image != member->image);
	member->executed = sample->has_executed;
	member->image = sample->image;
	if (executed && member->threads.count > 1)
		find_heir(members, member);
	if (executed)
		members_exec(members, member, NULL, monotonic_ns());
	return executed;
}

/*
 * Checks whether the counters that were read from the leader are its own: another thread may have
 * become the leader, by an exec, since the process was sampled.  Returns 1 when they are its own; 0
 * when that thread was found and they must be read again; -EAGAIN in the middle of the exec.
 */
static int check_leader(struct members *members, struct member *member,
			const struct proc_sample *read)
{
	const struct member_thread *leader = members_find_thread(members, member->key.pid);
	struct proc_sample sample;

	if (!leader || member->threads.count < 2 ||
	    proc_sample_process(members->host, member->key.pid, &sample) < 0 ||
	    !scan_is_member(members, member, &sample))
		return 1;
	if (!sample.image && !sample.is_dead)
		return -EAGAIN;
	if (notice_exec(members, member, &sample))
		return 0;
	return can_be(leader, &read->counters) || !find_heir(members, member);
}

/* A thread that cannot be read for lack of descriptors or memory does not count as missing. */
static int sample_thread(struct members *members, struct member *member, int32_t tid, bool reports)
{
	struct member_thread *thread;
	struct proc_sample sample;
	int is_own = 0;

	while (is_own == 0) {
		int status = proc_sample_thread(members->host, &members->reader, member->key.pid,
						tid, &sample);

		if (status < 0)
			return proc_sample_is_shortage(status) ? status : 0;
		is_own = tid == member->key.pid ? check_leader(members, member, &sample) : 1;
	}
	if (is_own < 0)
		return is_own;
	thread = is_known(members, member, tid) ? members_find_thread(members, tid) :
						  add_thread(members, member, tid, &sample);
	if (!thread)
		return -ENOMEM;
	thread->round = members->round;
	if (thread->found && !thread->started)
		member_thread_start(members, thread, &sample);
	member_thread_learn(thread, &sample);
	if (reports)
		members_account(members, thread, monotonic_ns(), false);
	return 0;
}

static void end_missing(struct members *members, struct member *member)
{
	uint64_t now = monotonic_ns();

	for (size_t i = member->threads.count; i-- > 0;)
		if (member->threads.data[i]->round != members->round) {
			members->lost_threads++;
			members_end_thread(members, member->threads.data[i], now);
		}
}

int scan_threads(struct members *members, struct member *member, bool reports)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers tasks = { 0 };
	struct proc_sample sample;
	int status = proc_sample_process(members->host, member->key.pid, &sample);

	if (status < 0)
		return status;
	if (!scan_is_member(members, member, &sample))
		return -ESRCH;
	notice_exec(members, member, &sample);
	status = proc_gone(proc_list_threads(members->host->proc, member->key.pid, &tasks));
	for (size_t i = 0; i < tasks.list.count && status == 0; i++)
		if (tasks.list.data[i] != member->key.pid)
			status = sample_thread(members, member, tasks.list.data[i], reports);
	/* The leader comes last: a thread that is missing by then may have become the leader. */
	if (status == 0 && tasks.list.count)
		status = sample_thread(members, member, member->key.pid, reports);
	if (status == 0)
		end_missing(members, member);
	return status == -EAGAIN ? 0 : status;
}

static int add_process(struct members *members, int32_t pid, const struct proc_sample *sample,
		       struct member **ret)
{
	struct task_key key = { pid, pid, sample->start_ns };
	struct member *member = members_add(members, &key, sample->parent_pid,
					    began_ns(members, sample, monotonic_ns()));

	if (!member)
		return -ENOMEM;
	if (member->found)
		member_start(member, sample, members->host->tick_ns);
	member->image = sample->image;
	member->executed = sample->has_executed;
	member->arguments_due = member->found || sample->has_executed;
	memcpy(member->comm, sample->comm, sizeof(member->comm));
	*ret = member;
	return 0;
}

/*
 * Adds a process with all its threads.  While members are seeded, what the process used so far
 * does not count.  Returns 0, also when it is a member already; -ESRCH when it is gone; -ENOMEM;
 * or another errno.
 */
static int join_process(struct members *members, int32_t pid, struct member **ret)
{
	struct member *member = members_find(members, pid);
	struct proc_sample sample;
	int status = proc_sample_process(members->host, pid, &sample);

	if (status < 0)
		return status;
	if (member && scan_is_member(members, member, &sample)) {
		*ret = member;
		return 0;
	}
	if (member)
		members_end(members, member, monotonic_ns());
	status = add_process(members, pid, &sample, &member);
	if (status < 0)
		return status;
	*ret = member;
	/* If it is gone by now it stays a member; its end is noticed later. */
	status = scan_threads(members, member, false);
	return status == -ENOMEM ? status : 0;
}

static int add_children(struct members *members, const struct proc_numbers *children)
{
	for (size_t i = 0; i < children->list.count; i++) {
		int32_t pid = children->list.data[i];
		struct member *child;

		if (!members_find(members, pid) && !number_map_get(&members->done, pid) &&
		    join_process(members, pid, &child) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* Each thread has its own list of children. */
static int scan_children(struct members *members, const struct member *member,
			 struct proc_numbers *children)
{
	children->list.count = 0;
	for (size_t i = 0; i < member->threads.count; i++) {
		if (proc_sample_list_children(members->host, member->key.pid,
					      member->threads.data[i]->key.tid,
					      children) == -ENOMEM)
			return -ENOMEM;
	}
	return add_children(members, children);
}

/* The list grows during the pass, so children of new members are found as well. */
static int scan_lists(struct members *members)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers children = { 0 };
	int status = 0;

	for (size_t i = 0; i < members->list.count && status == 0; i++)
		status = scan_children(members, members->list.data[i], &children);
	return status;
}

/* Returns 1 when a process was added. */
static int scan_parents(struct members *members, const struct proc_numbers *processes)
{
	size_t before = members->list.count;

	for (size_t i = 0; i < processes->list.count; i++) {
		int32_t pid = processes->list.data[i];
		struct proc_sample sample;
		struct member *child;

		if (members_find(members, pid) || number_map_get(&members->done, pid) ||
		    proc_sample_process(members->host, pid, &sample) < 0 ||
		    !members_find(members, sample.parent_pid))
			continue;
		if (join_process(members, pid, &child) == -ENOMEM)
			return -ENOMEM;
	}
	return members->list.count > before;
}

/*
 * Goes by the parents of all processes.  It needs several rounds: a child may have a lower number
 * than its parent.
 */
static int scan_all(struct members *members)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers processes = { 0 };
	int status = proc_list(members->host->proc, ".", &processes);

	for (int round = 0; status >= 0 && round < ROUNDS_MAX; round++) {
		status = scan_parents(members, &processes);
		if (status == 0)
			break;
	}
	return status == -ENOMEM ? status : 0;
}

int scan_descendants(struct members *members)
{
	if (!members->is_probed) {
		members->is_probed = true;
		members->lists_children = proc_sample_knows_children(members->host);
	}
	return members->lists_children ? scan_lists(members) : scan_all(members);
}

static int follow_all(struct members *members, const int32_t *pids, size_t count,
		      struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		struct member *member;
		int status = join_process(members, pids[i], &member);

		if (status == -ESRCH)
			return error_set(error, status, "there is no process %" PRId32, pids[i]);
		if (status < 0)
			return error_set(error, status, "cannot read process %" PRId32 ": %s",
					 pids[i], strerror(-status));
	}
	if (scan_descendants(members) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int scan_follow(struct members *members, const int32_t *pids, size_t count, struct error *error)
{
	int status;

	members->seeding = true;
	status = follow_all(members, pids, count, error);
	members->seeding = false;
	return status;
}

void scan_forget_done(struct members *members)
{
	struct number_map *done = &members->done;
	struct proc_sample sample;

	for (size_t i = 0; i < done->capacity;) {
		int32_t pid = done->slots[i].number;

		/* Removing an entry may move another one to this place, so do not advance. */
		if (done->slots[i].value &&
		    (proc_sample_process(members->host, pid, &sample) < 0 || !sample.is_dead))
			number_map_remove(done, pid);
		else
			i++;
	}
}
