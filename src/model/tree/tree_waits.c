/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "model/counter.h"
#include "model/tree/tree_member.h"

double tree_wait_waker_share(const struct tree_wait *wait)
{
	uint64_t whole = wait->recorded_ns ? wait->recorded_ns : wait->total_ns;

	return whole ? (double)wait->waker.total_ns / (double)whole : 0;
}

/*
 * Inserts a wait and keeps the list in descending order; the shortest is dropped when it is full.
 */
static void list_insert(struct wait_list *list, const struct tree_wait *wait)
{
	size_t at = list->count;

	while (at > 0 && list->waits[at - 1].total_ns < wait->total_ns)
		at--;
	if (at == TREE_TOP_WAITS)
		return;
	if (list->count < TREE_TOP_WAITS)
		list->count++;
	memmove(&list->waits[at + 1], &list->waits[at],
		(list->count - at - 1) * sizeof(list->waits[0]));
	list->waits[at] = *wait;
}

static bool has_room(const struct wait_list *list, uint64_t total_ns)
{
	return list->count < TREE_TOP_WAITS || list->waits[list->count - 1].total_ns < total_ns;
}

static void find_waker(const struct tree_thread *thread, struct tree_wait *wait)
{
	for (size_t i = 0; i < thread->waker_count; i++) {
		const struct tree_waker *waker = &thread->wakers[i];

		if (waker->reason != wait->reason)
			continue;
		counter_add(&wait->recorded_ns, waker->total_ns);
		if (waker->total_ns > wait->waker.total_ns)
			wait->waker = *waker;
	}
}

static void offer_wait(struct wait_list *list, const struct tree_thread *thread,
		       enum wait_reason reason)
{
	const struct waited spent = amounts_waited(&thread->amounts, reason);
	struct tree_wait wait = {
		.thread = thread->key,
		.reason = reason,
		.total_ns = spent.ns,
		.longest_ns = spent.max_ns,
		.count = spent.count,
	};

	memcpy(wait.comm, thread->comm, TREE_COMM_SIZE);
	find_waker(thread, &wait);
	list_insert(list, &wait);
}

void waits_offer(struct wait_list *costly, struct wait_list *work, const struct tree_thread *thread)
{
	if (!amounts_has_waits(&thread->amounts))
		return;
	for (int i = 0; i < WAIT_REASON_COUNT; i++) {
		struct wait_list *list = waits[i].kind == WAIT_COST ? costly : work;
		uint64_t ns = amounts_waited(&thread->amounts, i).ns;

		if (ns && has_room(list, ns))
			offer_wait(list, thread, i);
	}
}

struct both_lists {
	struct wait_list costly, work;
};

static int offer_thread(void *context, const struct tree_process *process_or_null,
			const struct tree_thread *thread)
{
	struct both_lists *lists = context;

	(void)process_or_null;
	waits_offer(&lists->costly, &lists->work, thread);
	return 0;
}

static void append(struct tree *tree, const struct wait_list *list)
{
	for (size_t i = 0; i < list->count && tree->top_wait_count < TREE_TOP_WAITS; i++)
		tree->top_waits[tree->top_wait_count++] = list->waits[i];
}

/*
 * The index has only the waits of threads that were freed, since those of others can still grow;
 * so add the others here.
 */
void waits_find_top(struct tree *tree)
{
	struct both_lists lists = { tree->index->costly, tree->index->work };

	tree_visit_threads(tree, offer_thread, &lists);
	if (!lists.costly.count && !lists.work.count)
		return;
	tree->top_wait_count = 0;
	append(tree, &lists.costly);
	append(tree, &lists.work);
}
