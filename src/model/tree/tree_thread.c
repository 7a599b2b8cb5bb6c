/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"
#include "model/counter.h"
#include "model/tree/tree_member.h"

/* At most this many wakers are kept for one thread, those with the longest sums. */
#define WAKERS_MAX 16
/* The wakers of shorter waits are not kept. */
#define WAKER_WAIT_NS 100000

/*
 * At most this many ended threads are kept in full at live processes; of further ones only sums
 * are kept.
 */
#define RESTING_MAX 1024

void thread_free(struct tree_thread *thread)
{
	syscall_table_clear(&thread->syscalls);
	free(thread->wakers);
	free(thread);
}

struct tree_thread *thread_find(const struct tree *tree, const struct tree_process *process,
				int32_t tid)
{
	struct tree_thread *thread = number_map_get(&tree->index->threads, tid);

	return thread && thread->process == process ? thread : NULL;
}

static void count_thread(struct tree *tree, struct tree_process *process)
{
	process->state.running++;
	counter_add(&tree->threads,
		    counter_raise(&process->threads, ++process->state.threads_seen));
	counter_raise(&tree->most_threads, ++tree->live_threads);
}

/* Ends the thread that had the number, since another one has it now. */
static void release_number(struct tree *tree, int32_t tid, uint64_t time_ns)
{
	struct tree_thread *thread = number_map_get(&tree->index->threads, tid);

	if (!thread || thread->ended)
		return;
	thread_lose(tree, thread, time_ns);
	process_restage(tree, thread->process);
}

int thread_add(struct tree *tree, struct tree_process *process, const struct task_key *key,
	       uint64_t time_ns, struct tree_thread **ret)
{
	struct tree_thread *thread;

	if (tree->live_threads + tree->index->resting >= TREE_THREADS_MAX)
		return -ENOSPC;
	if (number_map_reserve(&tree->index->threads) < 0 ||
	    array_reserve_bytes((void **)&process->live, &process->live_capacity,
				process->live_count + 1, sizeof(struct tree_thread *)) < 0)
		return -ENOMEM;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	release_number(tree, key->tid, time_ns);
	thread->key = *key;
	thread->begin_ns = thread->seen_ns = time_ns;
	thread->found = true;
	thread->process = process;
	thread->slot = process->live_count;
	process->live[process->live_count++] = thread;
	number_map_put(&tree->index->threads, key->tid, thread);
	count_thread(tree, process);
	*ret = thread;
	return 0;
}

static void thread_end(struct tree *tree, struct tree_thread *thread, uint64_t time_ns)
{
	thread->ended = true;
	thread->end_ns = time_ns;
	thread->now = (struct tree_now){ 0 };
	thread->process->state.running--;
	tree->live_threads--;
	tree->index->resting++;
}

void thread_lose(struct tree *tree, struct tree_thread *thread, uint64_t time_ns)
{
	tree->unaccounted_threads++;
	thread_end(tree, thread, time_ns);
}

static void raise_sums(struct tree *tree, struct tree_thread *thread,
		       const struct tree_account *account)
{
	struct amounts grown;

	amounts_raise(&thread->amounts, &account->amounts, &grown);
	amounts_add(&thread->process->amounts, &grown);
	amounts_add(&tree->amounts, &grown);
}

/* Children come and go: those of one name count as one waker, with the numbers of the last. */
static bool is_same_waker(const struct tree_waker *row, const struct tree_wait_event *wait)
{
	if (row->reason != wait->reason)
		return false;
	if (row->reason == WAIT_CHILD)
		return memcmp(row->waker_comm, wait->waker_comm, TREE_COMM_SIZE) == 0;
	return row->waker_tid == wait->waker_tid && row->waker_pid == wait->waker_pid;
}

static struct tree_waker *least_waker(struct tree_thread *thread)
{
	struct tree_waker *least = &thread->wakers[0];

	for (size_t i = 1; i < thread->waker_count; i++)
		if (thread->wakers[i].total_ns < least->total_ns)
			least = &thread->wakers[i];
	return least;
}

/* A row for this waker; when all are taken, that of the least one, if this wait was longer. */
static struct tree_waker *place_waker(struct tree *tree, struct tree_thread *thread,
				      const struct tree_wait_event *wait, uint64_t ns)
{
	struct tree_waker *row;

	for (size_t i = 0; i < thread->waker_count; i++)
		if (is_same_waker(&thread->wakers[i], wait))
			return &thread->wakers[i];
	if (thread->waker_count < WAKERS_MAX) {
		if (array_reserve_bytes((void **)&thread->wakers, &thread->waker_capacity,
					thread->waker_count + 1, sizeof(*row)) < 0)
			return NULL;
		row = &thread->wakers[thread->waker_count++];
	} else {
		row = least_waker(thread);
		if (row->total_ns >= ns)
			return NULL;
		tree->dropped_wakers += row->count;
	}
	*row = (struct tree_waker){ .reason = wait->reason };
	return row;
}

void thread_waited(struct tree *tree, struct tree_thread *thread,
		   const struct tree_wait_event *wait)
{
	uint64_t ns = wait->wake_ns > wait->block_ns ? wait->wake_ns - wait->block_ns : 0;
	struct tree_waker *row;

	if (ns < WAKER_WAIT_NS || wait->open || wait->waker_class == WAKER_UNKNOWN ||
	    wait->reason >= WAIT_REASON_COUNT)
		return;
	row = place_waker(tree, thread, wait, ns);
	if (!row) {
		tree->dropped_wakers++;
		return;
	}
	row->waker_pid = wait->waker_pid;
	row->waker_tid = wait->waker_tid;
	memcpy(row->waker_comm, wait->waker_comm, TREE_COMM_SIZE);
	row->count++;
	counter_add(&row->total_ns, ns);
	counter_raise(&row->longest_ns, ns);
}

/* Removes an ended thread from its process, which keeps the thread's system calls. */
static void thread_leave(struct tree *tree, struct tree_thread *thread)
{
	struct tree_process *process = thread->process;
	struct tree_thread *last = process->live[--process->live_count];

	thread_give_calls(tree, thread);
	process->live[thread->slot] = last;
	last->slot = thread->slot;
	number_map_forget(&tree->index->threads, thread->key.tid, thread);
	tree->index->resting--;
	thread_retire(tree, thread);
}

static void note_account(struct tree *tree, struct tree_thread *thread,
			 const struct tree_account *account, uint64_t time_ns)
{
	struct tree_process *process = thread->process;

	counter_raise(&thread->seen_ns, time_ns);
	comm_set(thread->comm, account->comm);
	if (thread->key.tid == process->key.pid)
		comm_set(process->comm, account->comm);
	if (!thread->ended) {
		thread->now = account->now;
		if (thread->now.reason >= WAIT_REASON_COUNT)
			thread->now.reason = WAIT_OTHER;
	}
	raise_sums(tree, thread, account);
}

static void note_end(struct tree *tree, struct tree_thread *thread, uint64_t time_ns)
{
	counter_raise(&thread->process->state.threads_end_ns, time_ns);
	process_outlast(thread->process);
	if (!thread->ended)
		thread_end(tree, thread, time_ns);
}

int thread_account(struct tree *tree, struct tree_thread *thread,
		   const struct tree_account *account, uint64_t time_ns)
{
	int status;

	note_account(tree, thread, account, time_ns);
	status = thread_set_calls(tree, thread, account);
	if (account->ended)
		note_end(tree, thread, account->end_ns ? account->end_ns : time_ns);
	if (thread->ended && thread->key.tid != thread->process->key.pid &&
	    tree->index->resting > RESTING_MAX)
		thread_leave(tree, thread);
	return status;
}

/*
 * Finds the thread that did the exec.  It is the only one left, but last accounts of others may be
 * missing; so take the one whose wall time is nearest to, and not above, that of the account.
 */
static struct tree_thread *find_successor(const struct tree_process *process,
					  const struct tree_account *account)
{
	struct tree_thread *best = NULL;

	for (size_t i = 0; i < process->live_count; i++) {
		struct tree_thread *thread = process->live[i];

		if (thread->ended || thread->key.tid == process->key.pid ||
		    amounts_get(&thread->amounts, AMOUNT_wall_time_ns) >
			    amounts_get(&account->amounts, AMOUNT_wall_time_ns))
			continue;
		if (!best || amounts_get(&thread->amounts, AMOUNT_wall_time_ns) >
				     amounts_get(&best->amounts, AMOUNT_wall_time_ns))
			best = thread;
	}
	return best;
}

int thread_replace_leader(struct tree *tree, struct tree_process *process,
			  const struct tree_event *event)
{
	struct tree_thread *thread = find_successor(process, &event->account);

	if (number_map_reserve(&tree->index->threads) < 0)
		return -ENOMEM;
	process->state.leader_replaced = false;
	if (!thread)
		return thread_add(tree, process, &process->key, event->time_ns, &thread);
	number_map_forget(&tree->index->threads, thread->key.tid, thread);
	thread->key = process->key;
	number_map_put(&tree->index->threads, thread->key.tid, thread);
	return 0;
}
