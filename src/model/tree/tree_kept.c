/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/collection/array.h"
#include "model/counter.h"
#include "model/tree/tree_member.h"

/*
 * The rank of an ended member: its time on a CPU plus its costly waits.  The highest ranks are
 * kept.
 */
static uint64_t rank_of(const struct amounts *amounts)
{
	uint64_t busy = amounts_has(amounts, AMOUNT_run_time_ns) ?
				amounts_get(amounts, AMOUNT_run_time_ns) :
				amounts_cpu_ns(amounts);

	counter_add(&busy, amounts_costly_ns(amounts));
	return busy;
}

static void thread_fold(struct tree *tree, struct tree_thread *thread)
{
	amounts_add(&tree->folded, &thread->amounts);
	tree->folded_threads++;
	waits_offer(&tree->index->costly, &tree->index->work, thread);
	thread_free(thread);
}

static void keep_thread(struct tree *tree, struct tree_thread *thread, size_t slot)
{
	thread->slot = slot;
	tree->ended[slot] = thread;
}

void thread_retire(struct tree *tree, struct tree_thread *thread)
{
	struct kept_heap *heap = &tree->index->kept_threads;
	struct tree_thread *dropped = thread;

	if (thread->process)
		comm_set(thread->program, thread->process->comm);
	thread->process = NULL;
	syscall_table_clear(&thread->syscalls);
	/* Threads of a saved run are not in the heap, but take up room in `ended`. */
	if (heap->count == TREE_KEPT || tree->ended_count < TREE_KEPT)
		dropped = kept_heap_offer(heap, rank_of(&thread->amounts), thread);
	if (!dropped)
		keep_thread(tree, thread, tree->ended_count++);
	else if (dropped != thread)
		keep_thread(tree, thread, dropped->slot);
	if (dropped)
		thread_fold(tree, dropped);
}

static void process_fold(struct tree *tree, struct tree_process *process)
{
	struct tree_process *last = tree->all[--tree->count];

	tree->all[process->state.slot] = last;
	last->state.slot = process->state.slot;
	tree_fold_process(tree, process);
	process_free(process);
}

static void keep_process(struct tree *tree, struct tree_process *process)
{
	struct tree_process *dropped =
		kept_heap_offer(&tree->index->kept_processes, rank_of(&process->amounts), process);

	/* The process that a file names as the fullest may be among those offered before. */
	if (dropped && dropped != tree->fullest && dropped != tree->root)
		process_fold(tree, dropped);
}

/*
 * The root and the fullest process are kept whatever their rank; the former fullest no longer is.
 */
void process_set_fullest(struct tree *tree, struct tree_process *process)
{
	struct tree_process *former = tree->fullest;

	tree->fullest = process;
	if (former && former != process && former != tree->root &&
	    former->state.stage == TREE_STAGE_KEPT)
		keep_process(tree, former);
}

void tree_set_fullest(struct tree *tree, const struct task_key *key)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == key->pid &&
		    tree->all[i]->key.start_ns == key->start_ns) {
			process_set_fullest(tree, tree->all[i]);
			return;
		}
}

static void retire_taken(struct tree *tree)
{
	struct tree_process *process = tree->index->taken;

	if (!process)
		return;
	tree->index->taken = NULL;
	for (size_t i = 0; i < process->live_count; i++) {
		thread_retire(tree, process->live[i]);
	}
	free(process->live);
	process->live = NULL;
	process->live_count = process->live_capacity = 0;
	syscall_table_clear(&process->syscalls);
	process_set_stage(tree, process, TREE_STAGE_KEPT);
	if (process != tree->root && process != tree->fullest)
		keep_process(tree, process);
}

/* Removes it from the index: later events are not about it. */
static void unindex(struct tree *tree, struct tree_process *process)
{
	number_map_forget(&tree->index->processes, process->key.pid, process);
	for (size_t i = 0; i < process->live_count; i++)
		number_map_forget(&tree->index->threads, process->live[i]->key.tid,
				  process->live[i]);
	tree->index->resting -= process->live_count;
}

const struct tree_process *tree_take_ended(struct tree *tree)
{
	struct tree_process *process;

	retire_taken(tree);
	process = tree->index->ended.first;
	if (!process)
		return NULL;
	process_end_threads(tree, process, process->end_ns);
	process_set_stage(tree, process, TREE_STAGE_TAKEN);
	tree->index->taken = process;
	unindex(tree, process);
	process_give_calls(tree, process);
	return process;
}
