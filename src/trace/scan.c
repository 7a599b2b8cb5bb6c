/* SPDX-License-Identifier: MIT */
#include "trace/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "host/host.h"
#include "trace/clocks.h"
#include "trace/proc_look.h"

#define START_TOLERANCE_TICKS                                                                      \
	2 /* start times by events are a little late, those of /proc whole ticks */
#define ROUNDS_MAX 64

/* When a task that was not seen to start did so, by the clock of events. */
static uint64_t began_ns(const struct members *members, const struct proc_look *look,
			 uint64_t now_ns)
{
	uint64_t suspended = suspended_ns();

	if (members->seeding || look->start_ns < suspended || look->start_ns - suspended > now_ns)
		return now_ns;
	return look->start_ns - suspended;
}

bool scan_is_member(const struct members *members, const struct member *member,
		    const struct proc_look *look)
{
	uint64_t tolerance = START_TOLERANCE_TICKS * members->host->tick_ns;

	return look->start_ns + tolerance >= member->key.start_ns &&
	       member->key.start_ns + tolerance >= look->start_ns;
}

bool scan_is_dead(const struct members *members, const struct member *member)
{
	struct proc_look look;

	return proc_look_process(members->host, member->key.pid, &look) == 0 &&
	       scan_is_member(members, member, &look) && look.is_dead;
}

static struct member_thread *add_thread(struct members *members, struct member *member, int32_t tid,
					const struct proc_look *look)
{
	struct task_key key = { member->key.pid, tid, look->start_ns };
	struct member_thread *stale = members_find_thread(members, tid);
	uint64_t now = monotonic_ns();

	if (stale)
		members_end_thread(members, stale, now);
	return members_add_thread(members, member, &key, began_ns(members, look, now));
}

static bool is_known(const struct members *members, const struct member *member, int32_t tid)
{
	const struct member_thread *thread = members_find_thread(members, tid);

	return thread && thread->process == member;
}

static void learn_peak(struct member *member, const struct proc_look *look)
{
	if (!look->has_peak)
		return;
	member->has_peak = true;
	member->peak_rss_bytes = look->peak_rss_bytes;
}

static int look_at(struct members *members, struct member *member, int32_t tid, bool tells)
{
	struct member_thread *thread;
	struct proc_look look;

	if (proc_look_thread(members->host, member->key.pid, tid, &look) < 0)
		return 0;
	thread = is_known(members, member, tid) ? members_find_thread(members, tid) :
						  add_thread(members, member, tid, &look);
	if (!thread)
		return -ENOMEM;
	thread->round = members->round;
	if (thread->found && !thread->started)
		member_thread_start(thread, &look);
	member_thread_learn(thread, &look);
	if (tid == member->key.pid)
		learn_peak(member, &look);
	if (tells)
		members_account(members, thread, monotonic_ns());
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

/* Whether a thread with these counters can be what this one has become: none has fallen. */
static bool can_be(const struct member_thread *thread, const struct usage *usage)
{
	for (int id = 0; id < USAGE_COUNT; id++)
		if (id != USAGE_USER && id != USAGE_SYSTEM && usage_has(usage, id) &&
		    usage->values[id] <
			    thread->before.usage.values[id] + thread->since.usage.values[id])
			return false;
	return true;
}

static uint64_t life_ns(const struct member_thread *thread)
{
	return thread->before.usage.values[USAGE_CPU] + thread->since.usage.values[USAGE_CPU];
}

/*
 * After an exec the leader is the thread that did it, whichever that was.  It has the counters of
 * its own: so it is taken for the one with the most CPU time of those that it can be.
 */
static void find_heir(struct members *members, struct member *member)
{
	struct member_thread *heir = NULL;
	struct proc_look look;

	if (proc_look_thread(members->host, member->key.pid, member->key.pid, &look) < 0)
		return;
	for (size_t i = 0; i < member->threads.count; i++) {
		struct member_thread *thread = member->threads.data[i];

		if (can_be(thread, &look.counters.usage) &&
		    (!heir || life_ns(thread) > life_ns(heir)))
			heir = thread;
	}
	if (heir)
		members_replace_leader(members, heir, monotonic_ns());
}

/* A program that it did not run at the last look. */
static void notice_exec(struct members *members, struct member *member,
			const struct proc_look *look)
{
	bool executed = look->has_executed && !member->executed;

	if (!look->image)
		return;
	executed = executed || (member->image && look->image != member->image);
	member->executed = look->has_executed;
	member->image = look->image;
	if (executed && member->threads.count > 1)
		find_heir(members, member);
	if (executed)
		members_exec(members, member, NULL, monotonic_ns());
}

int scan_threads(struct members *members, struct member *member, bool tells)
{
	struct proc_tasks tasks = { 0 };
	struct proc_look look;
	int status = proc_look_process(members->host, member->key.pid, &look);

	if (status < 0)
		return status;
	if (!scan_is_member(members, member, &look))
		return -ESRCH;
	notice_exec(members, member, &look);
	status = proc_look_list_threads(members->host, member->key.pid, &tasks);
	for (size_t i = 0; i < tasks.list.count && status == 0; i++)
		status = look_at(members, member, tasks.list.data[i], tells);
	array_free(&tasks.list);
	if (status == 0)
		end_missing(members, member);
	return status;
}

static int add_process(struct members *members, int32_t pid, const struct proc_look *look,
		       struct member **ret)
{
	struct task_key key = { pid, pid, look->start_ns };
	struct member *member = members_add(members, &key, look->parent_pid,
					    began_ns(members, look, monotonic_ns()));

	if (!member)
		return -ENOMEM;
	if (member->found)
		member_start(member, look, members->host->tick_ns);
	member->image = look->image;
	member->executed = look->has_executed;
	member->arguments_due = member->found || look->has_executed;
	memcpy(member->comm, look->comm, sizeof(member->comm));
	*ret = member;
	return 0;
}

/*
 * Adds a process with all its threads; while members are seeded, what they used so far is not
 * theirs.  Returns 0, also when it is a member already; -ESRCH when it is gone; -ENOMEM; or another
 * errno.
 */
static int join_process(struct members *members, int32_t pid, struct member **ret)
{
	struct member *member = members_find(members, pid);
	struct proc_look look;
	int status = proc_look_process(members->host, pid, &look);

	if (status < 0)
		return status;
	if (member && scan_is_member(members, member, &look)) {
		*ret = member;
		return 0;
	}
	if (member)
		members_end(members, member, monotonic_ns());
	status = add_process(members, pid, &look, &member);
	if (status < 0)
		return status;
	*ret = member;
	/* One that is gone by now is a member that ended: who waits for ends will notice. */
	status = scan_threads(members, member, false);
	return status == -ENOMEM ? status : 0;
}

static int add_children(struct members *members, const struct proc_tasks *children)
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

/* Every thread has children of its own. */
static int scan_children(struct members *members, const struct member *member,
			 struct proc_tasks *children)
{
	children->list.count = 0;
	for (size_t i = 0; i < member->threads.count; i++) {
		if (proc_look_list_children(members->host, member->key.pid,
					    member->threads.data[i]->key.tid, children) == -ENOMEM)
			return -ENOMEM;
	}
	return add_children(members, children);
}

/* Children of those that are added are found in the same pass, as the list grows. */
static int scan_lists(struct members *members)
{
	struct proc_tasks children = { 0 };
	int status = 0;

	for (size_t i = 0; i < members->list.count && status == 0; i++)
		status = scan_children(members, members->list.data[i], &children);
	array_free(&children.list);
	return status;
}

/* Whether any process was added. */
static int scan_parents(struct members *members, const struct proc_tasks *processes)
{
	size_t before = members->list.count;

	for (size_t i = 0; i < processes->list.count; i++) {
		int32_t pid = processes->list.data[i];
		struct proc_look look;
		struct member *child;

		if (members_find(members, pid) || number_map_get(&members->done, pid) ||
		    proc_look_process(members->host, pid, &look) < 0 ||
		    !members_find(members, look.parent_pid))
			continue;
		if (join_process(members, pid, &child) == -ENOMEM)
			return -ENOMEM;
	}
	return members->list.count > before;
}

/* By the parents of all processes; a child may have a lower number than its parent. */
static int scan_all(struct members *members)
{
	struct proc_tasks processes = { 0 };
	int status = proc_look_list_processes(members->host, &processes);

	for (int round = 0; status >= 0 && round < ROUNDS_MAX; round++) {
		status = scan_parents(members, &processes);
		if (status == 0)
			break;
	}
	array_free(&processes.list);
	return status == -ENOMEM ? status : 0;
}

int scan_descendants(struct members *members)
{
	if (!members->is_probed) {
		members->is_probed = true;
		members->lists_children = proc_look_knows_children(members->host);
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
			return error_set(error, status, "cannot look at process %" PRId32 ": %s",
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
	struct proc_look look;

	for (size_t i = 0; i < done->capacity;) {
		int32_t pid = done->slots[i].number;

		/* What is removed may be replaced by another one at the same place. */
		if (done->slots[i].value &&
		    (proc_look_process(members->host, pid, &look) < 0 || !look.is_dead))
			number_map_remove(done, pid);
		else
			i++;
	}
}
