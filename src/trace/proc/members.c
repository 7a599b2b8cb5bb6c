/* SPDX-License-Identifier: MIT */
#include "trace/proc/members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "host/host.h"
#include "model/counter.h"
#include "trace/proc/proc_sample.h"

#define ROUNDING_TICKS 2 /* user and system time are each rounded */

static void free_member(struct member *member)
{
	for (size_t i = 0; i < member->threads.count; i++) {
		thread_files_close(&member->threads.data[i]->files);
		free(member->threads.data[i]);
	}
	array_free(&member->threads);
	if (member->pidfd >= 0)
		close(member->pidfd);
	free(member);
}

int members_open(struct members *members, const struct host *host, struct error *error)
{
	members->host = host;
	if (proc_numbers_are_ours(host))
		return 0;
	return error_set(error, -ENOTSUP,
			 "the proc that is mounted is not that of our PID namespace");
}

void members_clear(struct members *members)
{
	for (size_t i = 0; i < members->list.count; i++)
		free_member(members->list.data[i]);
	array_free(&members->list);
	number_map_clear(&members->processes);
	number_map_clear(&members->threads);
	number_map_clear(&members->done);
	deadline_threads_clear(&members->reader);
}

void members_set_sink(struct members *members, tree_event_sink *sink, void *context)
{
	members->sink = sink;
	members->context = context;
	members->status = 0;
}

struct member *members_find(const struct members *members, int32_t pid)
{
	return number_map_get(&members->processes, pid);
}

struct member_thread *members_find_thread(const struct members *members, int32_t tid)
{
	return number_map_get(&members->threads, tid);
}

struct member_thread *members_add_thread(struct members *members, struct member *member,
					 const struct task_key *key, uint64_t time_ns)
{
	struct member_thread *thread = calloc(1, sizeof(*thread));

	if (!thread || number_map_reserve(&members->threads) < 0 ||
	    array_append(&member->threads, thread) < 0) {
		free(thread);
		return NULL;
	}
	number_map_put(&members->threads, key->tid, thread);
	thread->key = *key;
	thread->process = member;
	thread->slot = member->threads.count - 1;
	thread->begin_ns = time_ns;
	thread->found = members->seeding;
	thread->round = members->round;
	memcpy(thread->comm, member->comm, sizeof(thread->comm));
	member->thread_count++;
	member->has_news = true;
	return thread;
}

static struct member *enter(struct members *members, const struct task_key *key)
{
	struct member *member = calloc(1, sizeof(*member));

	if (!member || number_map_reserve(&members->processes) < 0 ||
	    array_append(&members->list, member) < 0) {
		free(member);
		return NULL;
	}
	number_map_put(&members->processes, key->pid, member);
	member->key = *key;
	member->pidfd = -1;
	member->found = members->seeding;
	member->slot = members->list.count - 1;
	return member;
}

static void leave(struct members *members, struct member *member)
{
	struct member *last = members->list.data[--members->list.count];

	members->list.data[member->slot] = last;
	last->slot = member->slot;
	number_map_remove(&members->processes, member->key.pid);
	free_member(member);
}

struct member *members_add(struct members *members, const struct task_key *key, int32_t parent_pid,
			   uint64_t time_ns)
{
	struct member *member = enter(members, key);
	const struct member *parent = members_find(members, parent_pid);

	if (!member)
		return NULL;
	member->parent_pid = parent_pid;
	member->begin_ns = time_ns;
	if (!members->begin_ns)
		members->begin_ns = time_ns;
	if (parent)
		memcpy(member->comm, parent->comm, sizeof(member->comm));
	if (!members_add_thread(members, member, key, time_ns)) {
		leave(members, member);
		return NULL;
	}
	member->threads.data[0]->announced = true; /* it is announced with its process */
	return member;
}

static void learn_name(char comm[TREE_COMM_SIZE], const struct proc_sample *sample)
{
	if (sample->comm[0])
		memcpy(comm, sample->comm, TREE_COMM_SIZE);
}

void member_thread_start(const struct members *members, struct member_thread *thread,
			 const struct proc_sample *sample)
{
	thread->started = true;
	if (!members->since_start || !thread->found)
		thread->before = sample->counters;
	thread->state = sample->state;
	learn_name(thread->comm, sample);
}

/* Charges are rounded down, so assume the most that they can have been before. */
void member_start(struct member *member, const struct proc_sample *whole, uint64_t tick_ns)
{
	uint64_t rounding = ROUNDING_TICKS * tick_ns;

	member->before_ns = amounts_get(&whole->counters, AMOUNT_run_time_ns) + rounding;
	member->waited_before_ns = whole->waited_ns + rounding;
	member->waited_ns = member->waited_before_ns;
	member->image = whole->image;
	member->parent_pid = whole->parent_pid;
	learn_name(member->comm, whole);
}

void member_thread_learn(struct member_thread *thread, const struct proc_sample *sample)
{
	struct member *member = thread->process;

	counters_raise(&thread->since, &thread->before, &sample->counters);
	thread->state = sample->state;
	learn_name(thread->comm, sample);
	if (thread->key.tid != member->key.pid)
		return;
	learn_name(member->comm, sample);
	if (sample->parent_pid)
		member->parent_pid = sample->parent_pid;
	if (sample->waited_ns > member->waited_ns)
		member->waited_ns = sample->waited_ns;
	if (sample->has_uid) {
		member->has_uid = true;
		member->uid = sample->uid;
	}
	if (sample->has_peak) {
		member->has_peak = true;
		member->peak_rss_bytes = sample->peak_rss_bytes;
	}
}

/* Its own CPU time over its whole life, as far as accounts have it. */
static uint64_t own_ns(const struct member *member)
{
	uint64_t sum = member->before_ns + member->ended_ns;

	for (size_t i = 0; i < member->threads.count; i++)
		sum += amounts_get(&member->threads.data[i]->since, AMOUNT_run_time_ns);
	return sum;
}

void member_update_unseen(struct member *member)
{
	uint64_t accounted = member->waited_before_ns + member->known_ns;

	if (member->waited_ns > accounted && member->waited_ns - accounted > member->unseen_ns)
		member->unseen_ns = member->waited_ns - accounted;
}

void member_set_total(struct member *member, uint64_t total_ns)
{
	uint64_t waited = total_ns > own_ns(member) ? total_ns - own_ns(member) : 0;

	if (waited > member->waited_ns)
		member->waited_ns = waited;
	member_update_unseen(member);
}

/* Adds what the parent will be charged for this process, as far as it is known. */
static void charge_parent(struct members *members, const struct member *member)
{
	struct member *parent = members_find(members, member->parent_pid);

	if (parent)
		parent->known_ns += own_ns(member) + member->waited_before_ns + member->known_ns +
				    member->unseen_ns;
}

static void forget_thread(struct members *members, struct member_thread *thread)
{
	struct member *member = thread->process;
	struct member_thread *last;

	last = member->threads.data[--member->threads.count];
	member->threads.data[thread->slot] = last;
	last->slot = thread->slot;
	member->ended_ns += amounts_get(&thread->since, AMOUNT_run_time_ns);
	/* A newer thread may have the number now. */
	if (number_map_get(&members->threads, thread->key.tid) == thread)
		number_map_remove(&members->threads, thread->key.tid);
	members->states.open -= thread_files_close(&thread->files);
	members->states.taken.threads_unsampled += !thread->waits.is_sampled;
	free(thread);
}

void members_end_thread(struct members *members, struct member_thread *thread, uint64_t time_ns)
{
	members_account(members, thread, time_ns, true);
	counter_raise(&thread->process->last_end_ns, time_ns);
	forget_thread(members, thread);
}

/*
 * A process ends with its last thread.  A poll may have missed that thread before the process was
 * found to be gone: then the end is as old as that.
 */
void members_end(struct members *members, struct member *member, uint64_t time_ns)
{
	if (!member->threads.count && member->last_end_ns)
		time_ns = member->last_end_ns;
	while (member->threads.count) {
		members->lost_threads += !member->threads.data[0]->complete;
		members_end_thread(members, member->threads.data[0], time_ns);
	}
	members_report_end(members, member, time_ns);
	charge_parent(members, member);
	leave(members, member);
}

void members_replace_leader(struct members *members, struct member_thread *heir, uint64_t time_ns)
{
	struct member *member = heir->process;
	struct member_thread *leader = members_find_thread(members, member->key.pid);

	if (leader == heir)
		return;
	if (leader) {
		members->lost_threads++;
		members_end_thread(members, leader, time_ns);
	}
	number_map_remove(&members->threads, heir->key.tid);
	heir->key = member->key;
	/* This cannot fail: another entry was just removed. */
	(void)number_map_set(&members->threads, heir->key.tid, heir);
}
