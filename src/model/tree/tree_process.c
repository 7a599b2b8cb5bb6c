/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/memory.h"
#include "model/counter.h"
#include "model/tree/tree_member.h"

/*
 * At most this many processes may wait for the last accounts of their threads, or for their own
 * end.  When there are more, the oldest counts as complete: what it lacks was lost.
 */
#define CLOSING_MAX 1024

void process_free(struct tree_process *process)
{
	for (size_t i = 0; i < process->live_count; i++)
		thread_free(process->live[i]);
	free(process->live);
	free(process->arguments);
	syscall_table_clear(&process->syscalls);
	free(process);
}

static void free_process_pointer(struct tree_process **process)
{
	if (*process)
		process_free(*process);
}

/* A child has the command line of its parent until it does an exec. */
static void inherit_arguments(const struct tree *tree, struct tree_process *process, int32_t parent)
{
	const struct tree_process *from = number_map_get(&tree->index->processes, parent);

	if (!from || !from->arguments)
		return;
	process->arguments = malloc(from->arguments_length + 1);
	if (!process->arguments)
		return;
	memcpy(process->arguments, from->arguments, from->arguments_length + 1);
	process->arguments_length = from->arguments_length;
	process->arguments_cut = from->arguments_cut;
}

static void count_process(struct tree *tree, struct tree_process *process)
{
	process->state.slot = tree->count;
	tree->all[tree->count++] = process;
	if (!tree->root)
		tree->root = process;
	tree->processes++;
	tree->forks += !process->found;
	counter_raise(&tree->most_processes, ++tree->live_processes);
}

int process_add(struct tree *tree, const struct tree_event *event, bool found,
		struct tree_process **ret)
{
	CLEANUP(free_process_pointer)
	struct tree_process *process = calloc(1, sizeof(*process));
	struct number_map *table = &tree->index->processes;
	bool is_leader = event->task.tid == event->task.pid;
	struct tree_thread *leader;
	int status;

	if (!process || number_map_reserve(table) < 0 ||
	    array_reserve_bytes((void **)&tree->all, &tree->capacity, tree->count + 1,
				sizeof(struct tree_process *)) < 0)
		return -ENOMEM;
	process->key = (struct task_key){ .pid = event->task.pid, .tid = event->task.pid };
	if (is_leader)
		process->key.start_ns = event->task.start_ns;
	process->found = found;
	process->begin_ns = event->time_ns;
	status = thread_add(tree, process, &process->key, event->time_ns, &leader);
	if (status < 0)
		return status;
	leader->found = found;
	if (is_leader && event->type == TREE_FORK) {
		comm_set(leader->comm, event->fork.comm);
		inherit_arguments(tree, process, event->fork.parent_pid);
	}
	count_process(tree, process);
	number_map_put(table, process->key.pid, process);
	*ret = TAKE_PTR(process);
	return 0;
}

static void level_set(struct tree_level *level, struct tree_level later, uint64_t *sum,
		      size_t *known)
{
	*sum += (later.known ? later.value : 0) - (level->known ? level->value : 0);
	*known += later.known;
	*known -= level->known;
	*level = later;
}

static void set_rss(struct tree *tree, struct tree_process *process, struct tree_level rss)
{
	level_set(&process->state.rss, rss, &tree->rss_bytes, &tree->index->rss_known);
	tree->has_rss = tree->index->rss_known > 0;
}

static void set_fds(struct tree *tree, struct tree_process *process, struct tree_level fds)
{
	level_set(&process->state.fds, fds, &tree->open_fds, &tree->index->fds_known);
	tree->has_fds = tree->index->fds_known > 0;
}

/* A process that is about to end has no words any more: then they are not known. */
static int set_arguments(struct tree_process *process, const struct tree_exec *exec)
{
	size_t length = exec->length < TREE_ARGUMENTS_MAX ? exec->length : TREE_ARGUMENTS_MAX;
	char *copy = length ? malloc(length + 1) : NULL;

	if (length && !copy)
		return -ENOMEM;
	if (copy) {
		memcpy(copy, exec->arguments, length);
		copy[length] = '\0';
	}
	free(process->arguments);
	process->arguments = copy;
	process->arguments_length = length;
	process->arguments_cut = exec->cut || length < exec->length;
	return 0;
}

/* The peak RSS is that of the last program: drop the one of the program before. */
int process_exec(struct tree *tree, struct tree_process *process, const struct tree_exec *exec)
{
	struct tree_thread *leader = thread_find(tree, process, process->key.pid);

	if (exec->arguments && set_arguments(process, exec) < 0)
		return -ENOMEM;
	comm_set(process->comm, exec->comm);
	if (leader && !leader->ended)
		comm_set(leader->comm, exec->comm);
	if (process->state.command_due) {
		process->state.command_due = false;
		return 0;
	}
	process->state.leader_replaced = leader && leader->ended;
	process->execs++;
	tree->execs++;
	process->facts.present &= ~(unsigned)(TREE_PROCESS_RSS | TREE_PROCESS_PEAK_RSS);
	process->facts.peak_rss_bytes = 0;
	set_rss(tree, process, (struct tree_level){ 0 });
	return 0;
}

static void learn_memory(struct tree *tree, struct tree_process *process,
			 const struct tree_process_facts *facts)
{
	struct tree_process_facts *mine = &process->facts;

	if (facts->present & TREE_PROCESS_RSS) {
		mine->rss_bytes = facts->rss_bytes;
		counter_raise(&mine->peak_rss_bytes, facts->rss_bytes);
		set_rss(tree, process, (struct tree_level){ true, facts->rss_bytes });
	}
	if (facts->present & TREE_PROCESS_PEAK_RSS)
		counter_raise(&mine->peak_rss_bytes, facts->peak_rss_bytes);
	if (!(facts->present & (TREE_PROCESS_RSS | TREE_PROCESS_PEAK_RSS)))
		return;
	mine->present |= TREE_PROCESS_PEAK_RSS;
	counter_raise(&tree->largest_rss_bytes, mine->peak_rss_bytes);
	tree->has_peak_rss = true;
}

static void learn_descriptors(struct tree *tree, struct tree_process *process,
			      const struct tree_process_facts *facts)
{
	struct tree_process_facts *mine = &process->facts;

	if (facts->present & TREE_PROCESS_FD_LIMIT)
		mine->fd_limit = facts->fd_limit;
	if (!(facts->present & TREE_PROCESS_FDS))
		return;
	mine->fds = facts->fds;
	counter_raise(&process->peak_fds, facts->fds);
	set_fds(tree, process, (struct tree_level){ true, facts->fds });
	if (!(mine->present & TREE_PROCESS_FD_LIMIT) || !mine->fd_limit)
		return;
	process->state.fullness = (double)process->peak_fds / (double)mine->fd_limit;
	if (!tree->fullest || process->state.fullness > tree->fullest->state.fullness)
		process_set_fullest(tree, process);
}

static void learn_end(struct tree_process *process, const struct tree_process_facts *facts)
{
	struct tree_process_facts *mine = &process->facts;

	if (facts->present & TREE_PROCESS_UID)
		mine->uid = facts->uid;
	if (facts->present & TREE_PROCESS_STATUS)
		mine->status = facts->status;
	if (facts->present & TREE_PROCESS_SENDER) {
		mine->sender_pid = facts->sender_pid;
		mine->sender_comm[0] = '\0';
		comm_set(mine->sender_comm, facts->sender_comm);
	}
}

/* Takes the sender from the signal event when the end does not name it. */
static void find_sender(struct tree_process *process)
{
	const struct tree_signal *signal = &process->state.signal;
	int number;

	if (process->facts.present & TREE_PROCESS_SENDER ||
	    !tree_process_signal(process, &number) || number != signal->number)
		return;
	process->facts.sender_pid = signal->sender_pid;
	memcpy(process->facts.sender_comm, signal->sender_comm, TREE_COMM_SIZE);
	process->facts.present |= TREE_PROCESS_SENDER;
}

static void count_status(struct tree *tree, struct tree_process *process)
{
	int number;

	if (process->state.status_counted || !(process->facts.present & TREE_PROCESS_STATUS))
		return;
	process->state.status_counted = true;
	if (tree_process_signal(process, &number))
		tree->signalled++;
	else if (tree_process_exit_code(process, &number) && number)
		tree->failed++;
	find_sender(process);
}

void process_outlast(struct tree_process *process)
{
	if (!process->exited)
		return;
	counter_raise(&process->end_ns, process->state.threads_end_ns);
	process->facts.end_ns = process->end_ns;
}

static void process_exit(struct tree *tree, struct tree_process *process, uint64_t time_ns)
{
	if (process->exited)
		return;
	process->exited = true;
	process->end_ns = time_ns;
	process->facts.ended = true;
	process_outlast(process);
	tree->exited++;
	tree->live_processes--;
	set_rss(tree, process, (struct tree_level){ 0 });
	set_fds(tree, process, (struct tree_level){ 0 });
}

static void learn_threads(struct tree *tree, struct tree_process *process, uint64_t threads)
{
	process->facts.threads = threads;
	counter_add(&tree->threads, counter_raise(&process->threads, threads));
}

/* What the accounts of its threads lack belongs to the sums. */
static void learn_saved(struct tree *tree, struct tree_process *process,
			const struct tree_saved *saved)
{
	struct amounts grown;

	amounts_raise(&process->amounts, &saved->amounts, &grown);
	amounts_add(&tree->amounts, &grown);
	process_set_calls(tree, process, saved->syscalls);
	/* If the file has no command line, it was not known; that of the parent is not its own. */
	if (set_arguments(process, &saved->program) < 0)
		memory_note_missing();
	comm_set(process->comm, saved->program.comm);
	if (saved->execs > process->execs && saved->execs <= UINT32_MAX) {
		tree->execs += saved->execs - process->execs;
		process->execs = (uint32_t)saved->execs;
	}
	counter_raise(&process->peak_fds, saved->peak_fds);
}

static void learn_unseen(struct tree *tree, struct tree_process *process, uint64_t cpu_ns)
{
	counter_add(&tree->unseen_cpu_ns, counter_raise(&process->facts.unseen_cpu_ns, cpu_ns));
}

void process_learn(struct tree *tree, struct tree_process *process,
		   const struct tree_process_facts *facts, uint64_t time_ns)
{
	process->facts.present |= facts->present;
	if (facts->saved)
		learn_saved(tree, process, facts->saved);
	learn_memory(tree, process, facts);
	learn_descriptors(tree, process, facts);
	learn_end(process, facts);
	if (facts->present & TREE_PROCESS_THREADS)
		learn_threads(tree, process, facts->threads);
	if (facts->present & TREE_PROCESS_UNSEEN)
		learn_unseen(tree, process, facts->unseen_cpu_ns);
	if (facts->ended)
		process_exit(tree, process, facts->end_ns ? facts->end_ns : time_ns);
	/* A file has the end as it was, whatever its threads say. */
	if (facts->ended && facts->saved)
		process->end_ns = process->facts.end_ns = facts->end_ns;
	if (!process->exited)
		return;
	set_rss(tree, process, (struct tree_level){ 0 });
	set_fds(tree, process, (struct tree_level){ 0 });
	count_status(tree, process);
}

static struct process_list *list_of(struct tree *tree, enum tree_stage stage)
{
	if (stage == TREE_STAGE_CLOSING)
		return &tree->index->closing;
	return stage == TREE_STAGE_ENDED ? &tree->index->ended : NULL;
}

static void list_remove(struct process_list *list, struct tree_process *process)
{
	struct tree_process_state *state = &process->state;

	*(state->previous ? &state->previous->state.next : &list->first) = state->next;
	*(state->next ? &state->next->state.previous : &list->last) = state->previous;
	list->count--;
}

static void list_append(struct process_list *list, struct tree_process *process)
{
	process->state.next = NULL;
	process->state.previous = list->last;
	*(list->last ? &list->last->state.next : &list->first) = process;
	list->last = process;
	list->count++;
}

void process_set_stage(struct tree *tree, struct tree_process *process, enum tree_stage stage)
{
	struct process_list *from = list_of(tree, process->state.stage);
	struct process_list *to = list_of(tree, stage);

	if (process->state.stage == stage)
		return;
	if (from)
		list_remove(from, process);
	if (to)
		list_append(to, process);
	process->state.stage = stage;
}

void process_restage(struct tree *tree, struct tree_process *process)
{
	bool done = process->state.running == 0;

	if (process->state.stage >= TREE_STAGE_ENDED)
		return;
	if (done && process->exited) {
		process_close(tree, process, process->end_ns);
		return;
	}
	process_set_stage(tree, process,
			  done || process->exited ? TREE_STAGE_CLOSING : TREE_STAGE_LIVE);
	if (tree->index->closing.count > CLOSING_MAX)
		process_close(tree, tree->index->closing.first,
			      tree->index->closing.first->state.seen_ns);
}

void process_end_threads(struct tree *tree, struct tree_process *process, uint64_t time_ns)
{
	for (size_t i = 0; process->state.running && i < process->live_count; i++)
		if (!process->live[i]->ended)
			thread_lose(tree, process->live[i], time_ns);
}

void process_close(struct tree *tree, struct tree_process *process, uint64_t time_ns)
{
	if (process->state.stage >= TREE_STAGE_ENDED)
		return;
	process_end_threads(tree, process, time_ns);
	process_exit(tree, process, time_ns);
	process_set_stage(tree, process, TREE_STAGE_ENDED);
}
