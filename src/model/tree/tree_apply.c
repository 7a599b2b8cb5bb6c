/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "model/counter.h"
#include "model/tree/tree_member.h"

static int ignore(struct tree *tree)
{
	tree->index->unmatched_events++;
	return 0;
}

static bool is_leader(const struct task_key *key)
{
	return key->tid == key->pid;
}

/* The process that has the number now; it may not be the one of the event. */
static struct tree_process *holder_of(const struct tree *tree, const struct task_key *key)
{
	return number_map_get(&tree->index->processes, key->pid);
}

/* Whether the key is of this process.  A thread's key lacks the start time of its process. */
static bool is_process(const struct tree_process *process, const struct task_key *key)
{
	return !is_leader(key) || start_matches(process->key.start_ns, key->start_ns);
}

static struct tree_process *process_of(const struct tree *tree, const struct task_key *key)
{
	struct tree_process *process = holder_of(tree, key);

	return process && is_process(process, key) ? process : NULL;
}

/*
 * Gives the process, and adds it if its beginning was not seen.  *ret is NULL when the event comes
 * too late.
 */
static int process_get(struct tree *tree, const struct tree_event *event, struct tree_process **ret)
{
	struct tree_process *process = holder_of(tree, &event->task);

	*ret = NULL;
	if (process && is_process(process, &event->task)) {
		*ret = process->exited ? NULL : process;
		return 0;
	}
	if (process && event->task.start_ns < process->key.start_ns)
		return 0;
	if (process)
		process_close(tree, process, event->time_ns);
	return process_add(tree, event, true, ret);
}

static void learn_fork(struct tree *tree, struct tree_process *process,
		       const struct tree_event *event)
{
	const struct tree_fork *fork = &event->fork;

	if (fork->parent_pid)
		process->parent_pid = fork->parent_pid;
	if (fork->inner_pid)
		process->inner_pid = fork->inner_pid;
	if (fork->has_uid) {
		process->facts.present |= TREE_PROCESS_UID;
		process->facts.uid = fork->uid;
	}
	comm_set(process->comm, fork->comm);
	process->state.command_due |= fork->found;
	if (!process->found || fork->found)
		return;
	process->found = false;
	tree->forks++;
	if (event->time_ns < process->begin_ns)
		process->begin_ns = event->time_ns;
}

static int fork_process(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = holder_of(tree, &event->task);
	uint64_t start_ns = event->task.start_ns;
	int status;

	if (process && !process->exited && is_process(process, &event->task)) {
		learn_fork(tree, process, event);
		return 0;
	}
	/* About a process that is gone, or about a former owner of the number. */
	if (process && start_ns && start_ns <= process->key.start_ns)
		return ignore(tree);
	if (process)
		process_close(tree, process, event->time_ns);
	status = process_add(tree, event, event->fork.found, &process);
	if (status == 0)
		learn_fork(tree, process, event);
	return status;
}

static int fork_thread(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process;
	struct tree_thread *thread;
	int status = process_get(tree, event, &process);

	if (status < 0)
		return status;
	if (!process)
		return ignore(tree);
	thread = thread_find(tree, process, event->task.tid);
	if (!thread || thread->ended || !start_matches(thread->key.start_ns, event->task.start_ns))
		status = thread_add(tree, process, &event->task, event->time_ns, &thread);
	if (status < 0)
		return status;
	comm_set(thread->comm, event->fork.comm);
	thread->found = event->fork.found;
	process_restage(tree, process);
	return 0;
}

static int apply_fork(struct tree *tree, const struct tree_event *event)
{
	return is_leader(&event->task) ? fork_process(tree, event) : fork_thread(tree, event);
}

static int apply_exec(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process;
	int status = process_get(tree, event, &process);

	if (status < 0)
		return status;
	if (!process)
		return ignore(tree);
	return process_exec(tree, process, &event->exec);
}

/* The last account of a thread does not add a process: nothing would ever end it. */
static int account_process(struct tree *tree, const struct tree_event *event,
			   struct tree_process **ret)
{
	if (!event->account.ended)
		return process_get(tree, event, ret);
	*ret = process_of(tree, &event->task);
	return 0;
}

static int account_thread(struct tree *tree, struct tree_process *process,
			  const struct tree_event *event, struct tree_thread **ret)
{
	struct tree_thread *thread;

	*ret = NULL;
	if (is_leader(&event->task) && process->state.leader_replaced) {
		int status = thread_replace_leader(tree, process, event);

		if (status < 0)
			return status;
	}
	thread = thread_find(tree, process, event->task.tid);
	if (thread && start_matches(thread->key.start_ns, event->task.start_ns)) {
		if (!thread->key.start_ns)
			thread->key.start_ns = event->task.start_ns;
		*ret = thread;
		return 0;
	}
	if (thread && event->task.start_ns < thread->key.start_ns)
		return 0;
	return thread_add(tree, process, &event->task, event->time_ns, ret);
}

static bool has_thread(struct tree_thread *const *threads, size_t count, const struct task_key *key)
{
	for (size_t i = 0; i < count; i++)
		if (threads[i]->key.tid == key->tid && threads[i]->key.start_ns == key->start_ns)
			return true;
	return false;
}

/*
 * Whether a thread of no live process is known: one that was given up may get its last account
 * after all.  Live processes are many, and their threads are found by number.
 */
static bool is_known(const struct tree *tree, const struct task_key *key)
{
	const struct tree_process *process = tree->index->ended.first;

	for (; process; process = process->state.next)
		if (has_thread(process->live, process->live_count, key))
			return true;
	process = tree->index->taken;
	return (process && has_thread(process->live, process->live_count, key)) ||
	       has_thread(tree->ended, tree->ended_count, key);
}

/*
 * The last account of a thread that had no other event: its beginning was lost.  What it used
 * belongs to the tree, which keeps it as an ended thread without a process.
 */
static int account_alone(struct tree *tree, const struct tree_event *event)
{
	struct tree_process process = { .key = event->task };
	struct tree_thread *thread = calloc(1, sizeof(*thread));
	int status;

	if (!thread)
		return -ENOMEM;
	process.live = &thread;
	process.live_count = 1;
	process.key.pid = event->task.tid;
	*thread = (struct tree_thread){
		.key = event->task,
		.process = &process,
		.ended = true,
		.found = true,
		.program = TREE_UNSEEN,
		.end_ns = event->account.end_ns,
	};
	status = thread_account(tree, thread, &event->account, event->time_ns);
	process_give_calls(tree, &process);
	syscall_table_clear(&process.syscalls);
	counter_add(&tree->threads, 1);
	thread->process = NULL;
	thread_retire(tree, thread);
	return status;
}

static int apply_account(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process;
	struct tree_thread *thread;
	int status = account_process(tree, event, &process);

	if (status < 0)
		return status;
	/*
	 * A sample may include a thread of a process that has ended; its last account comes later.
	 */
	if (!process && event->task.start_ns && !event->account.ended)
		return 0;
	if (!process && event->task.start_ns && !is_known(tree, &event->task))
		return account_alone(tree, event);
	if (!process)
		return ignore(tree);
	status = account_thread(tree, process, event, &thread);
	if (status < 0)
		return status;
	if (!thread)
		return ignore(tree);
	status = thread_account(tree, thread, &event->account, event->time_ns);
	process_restage(tree, process);
	return status;
}

static int apply_process(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = process_of(tree, &event->task);

	if (!process)
		return ignore(tree);
	process_learn(tree, process, &event->process, event->time_ns);
	process_restage(tree, process);
	return 0;
}

/* A signal after SIGKILL cannot be the one that ends the process. */
static int apply_signal(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = process_of(tree, &event->task);
	struct tree_signal *last;

	if (!process)
		return ignore(tree);
	last = &process->state.signal;
	if (process->exited || last->number == SIGKILL)
		return 0;
	*last = event->signal;
	last->sender_comm[TREE_COMM_SIZE - 1] = '\0';
	return 0;
}

static int apply_oom(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = process_of(tree, &event->task);

	if (!process)
		return ignore(tree);
	tree->oom_kills += !process->oom_killed;
	process->oom_killed = true;
	return 0;
}

/* The critical path has waits of its own; here only their wakers count. */
static int apply_wait(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = process_of(tree, &event->task);
	struct tree_thread *thread = process ? thread_find(tree, process, event->task.tid) : NULL;

	if (thread)
		thread_waited(tree, thread, &event->wait);
	return 0;
}

static void note_seen(struct tree *tree, const struct tree_event *event)
{
	struct tree_process *process = process_of(tree, &event->task);

	if (!process)
		return;
	counter_raise(&process->state.seen_ns, event->time_ns);
	if (is_leader(&event->task) && !process->key.start_ns)
		process->key.start_ns = event->task.start_ns;
}

int tree_apply(struct tree *tree, const struct tree_event *event)
{
	static int (*const appliers[])(struct tree *, const struct tree_event *) = {
		[TREE_FORK] = apply_fork,      [TREE_EXEC] = apply_exec,
		[TREE_THREAD] = apply_account, [TREE_PROCESS] = apply_process,
		[TREE_SIGNAL] = apply_signal,  [TREE_OOM] = apply_oom,
		[TREE_WAIT] = apply_wait,
	};
	int status;

	if ((unsigned)event->type >= TREE_EVENT_TYPE_COUNT || event->task.pid <= 0 ||
	    event->task.tid <= 0)
		return ignore(tree);
	status = appliers[event->type](tree, event);
	note_seen(tree, event);
	if (status != -ENOSPC)
		return status;
	tree->untracked += event->type == TREE_FORK;
	return ignore(tree);
}
