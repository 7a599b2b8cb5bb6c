/* SPDX-License-Identifier: MIT */
#include "model/tree/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/counter.h"
#include "model/tree/tree_member.h"

void comm_set(char comm[TREE_COMM_SIZE], const char *later)
{
	if (!later[0])
		return;
	memcpy(comm, later, TREE_COMM_SIZE - 1);
	comm[TREE_COMM_SIZE - 1] = '\0';
}

int tree_new(struct tree **ret)
{
	CLEANUP(tree_free_pointer) struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	tree->index = calloc(1, sizeof(*tree->index));
	tree->ended = calloc(TREE_KEPT, sizeof(struct tree_thread *));
	if (!tree->index || !tree->ended || kept_heap_init(&tree->index->kept_threads) < 0 ||
	    kept_heap_init(&tree->index->kept_processes) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(tree);
	return 0;
}

static void index_free(struct tree_index *index)
{
	if (!index)
		return;
	number_map_clear(&index->threads);
	number_map_clear(&index->processes);
	free(index->kept_threads.entries);
	free(index->kept_processes.entries);
	free(index);
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++)
		process_free(tree->all[i]);
	for (size_t i = 0; i < tree->ended_count; i++)
		thread_free(tree->ended[i]);
	free(tree->all);
	free(tree->ended);
	free(tree->programs);
	syscall_table_clear(&tree->syscalls);
	index_free(tree->index);
	free(tree);
}

uint64_t tree_unmatched_events(const struct tree *tree)
{
	return tree->index->unmatched_events;
}

const struct tree_process *tree_find(const struct tree *tree, int32_t pid)
{
	return number_map_get(&tree->index->processes, pid);
}

void tree_add_past(struct tree *tree, int32_t pid, const struct amounts *past)
{
	struct tree_process *process = number_map_get(&tree->index->processes, pid);

	if (!process)
		return;
	amounts_add(&process->amounts, past);
	amounts_add(&tree->amounts, past);
}

int tree_visit_threads(const struct tree *tree, tree_thread_visitor *visit, void *context)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_process *process = tree->all[i];

		for (size_t k = 0; k < process->live_count; k++) {
			int status = visit(context, process, process->live[k]);

			if (status < 0)
				return status;
		}
	}
	for (size_t i = 0; i < tree->ended_count; i++) {
		int status = visit(context, NULL, tree->ended[i]);

		if (status < 0)
			return status;
	}
	return 0;
}

bool tree_process_exit_code(const struct tree_process *process, int *ret)
{
	if (!(process->facts.present & TREE_PROCESS_STATUS) || !WIFEXITED(process->facts.status))
		return false;
	*ret = WEXITSTATUS(process->facts.status);
	return true;
}

bool tree_process_signal(const struct tree_process *process, int *ret)
{
	if (!(process->facts.present & TREE_PROCESS_STATUS) || !WIFSIGNALED(process->facts.status))
		return false;
	*ret = WTERMSIG(process->facts.status);
	return true;
}

void tree_sampled(struct tree *tree)
{
	if (!tree->has_rss)
		return;
	counter_raise(&tree->peak_rss_bytes, tree->rss_bytes);
	tree->has_peak_rss = true;
}

static void close_unseen_threads(struct tree *tree, struct tree_process *process, uint64_t since_ns)
{
	for (size_t i = 0; i < process->live_count; i++)
		if (!process->live[i]->ended && process->live[i]->seen_ns < since_ns)
			thread_lose(tree, process->live[i], since_ns);
}

void tree_close_unseen(struct tree *tree, uint64_t since_ns)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct tree_process *process = tree->all[i];

		if (process->state.stage > TREE_STAGE_CLOSING)
			continue;
		if (process->state.seen_ns < since_ns) {
			process_close(tree, process, since_ns);
		} else {
			close_unseen_threads(tree, process, since_ns);
			process_restage(tree, process);
		}
	}
}

void tree_finish(struct tree *tree)
{
	while (tree->index->closing.first)
		process_close(tree, tree->index->closing.first,
			      tree->index->closing.first->state.seen_ns);
}

void tree_sum_up(struct tree *tree)
{
	tree_finish(tree);
	for (size_t i = 0; i < tree->count; i++)
		process_give_calls(tree, tree->all[i]);
	if (tree->has_peak_rss)
		counter_raise(&tree->peak_rss_bytes, tree->largest_rss_bytes);
	waits_find_top(tree);
}

struct tree_process *tree_add_process(struct tree *tree)
{
	struct tree_process *process;

	if (tree->count >= TREE_READ_MAX ||
	    array_reserve_bytes((void **)&tree->all, &tree->capacity, tree->count + 1,
				sizeof(struct tree_process *)) < 0)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->state.stage = TREE_STAGE_KEPT;
	process->state.syscalls_counted = true;
	process->state.slot = tree->count;
	tree->all[tree->count++] = process;
	return process;
}

struct tree_thread *tree_add_thread(struct tree *tree)
{
	struct tree_thread *thread;

	if (tree->ended_count >= TREE_KEPT)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (thread)
		tree->ended[tree->ended_count++] = thread;
	return thread;
}

struct tree_thread *tree_attach_thread(struct tree_process *process)
{
	struct tree_thread *thread;

	if (array_reserve_bytes((void **)&process->live, &process->live_capacity,
				process->live_count + 1, sizeof(struct tree_thread *)) < 0)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->process = process;
	thread->slot = process->live_count;
	process->live[process->live_count++] = thread;
	return thread;
}
