/* SPDX-License-Identifier: MIT */
/* Takes events: threads that begin and end, programs. */
#include <string.h>

#include "model/path/timeline_room.h"

/* A new process runs its parent's program until it executes another. */
static void inherit_program(struct timeline *timeline, struct timeline_process *process,
			    const struct tree_event *event)
{
	const struct timeline_thread *creator = timeline_thread(timeline, event->fork.creator);
	const struct timeline_process *parent =
		creator ? &timeline->processes[creator->process] :
			  number_map_get(&timeline->by_pid, event->fork.parent_pid);

	if (parent && parent != process && !event->fork.found)
		process->programs[0] = timeline_program_at(parent, event->time_ns);
}

static void set_comm(char to[TREE_COMM_SIZE], const char from[TREE_COMM_SIZE])
{
	memcpy(to, from, TREE_COMM_SIZE - 1);
	to[TREE_COMM_SIZE - 1] = '\0';
}

static void take_fork(struct timeline *timeline, const struct tree_event *event)
{
	const struct tree_fork *fork = &event->fork;
	struct timeline_thread *thread = timeline_get_thread(timeline, fork->serial, &event->task);

	if (!thread || thread->has_begun)
		return;
	thread->has_begun = true;
	thread->begin_ns = fork->found ? 0 : event->time_ns;
	thread->watched_ns = event->time_ns;
	/* Nobody makes itself, and nobody is made by one that came later. */
	thread->creator = fork->creator < fork->serial ? fork->creator : 0;
	set_comm(thread->comm, fork->comm);
	if (event->task.pid == event->task.tid)
		inherit_program(timeline, &timeline->processes[thread->process], event);
}

static void take_exec(struct timeline *timeline, const struct tree_event *event)
{
	struct timeline_process *process = number_map_get(&timeline->by_pid, event->task.pid);
	struct timeline_thread *leader = number_map_get(&timeline->by_tid, event->task.pid);

	if (!process)
		return;
	if (leader && leader->task.pid == event->task.pid)
		set_comm(leader->comm, event->exec.comm);
	if (process->execs == TIMELINE_PROGRAMS) {
		memmove(process->programs, process->programs + 1,
			TIMELINE_PROGRAMS * sizeof(process->programs[0]));
		memmove(process->exec_ns, process->exec_ns + 1,
			(TIMELINE_PROGRAMS - 1) * sizeof(process->exec_ns[0]));
		process->execs--;
	}
	process->exec_ns[process->execs++] = event->time_ns;
	process->programs[process->execs] = timeline_add_program(timeline, &event->exec);
}

static bool is_same(const struct timeline_thread *thread, const struct task_key *task)
{
	return thread && thread->task.pid == task->pid &&
	       (!thread->task.start_ns || !task->start_ns ||
		thread->task.start_ns == task->start_ns);
}

static void take_account(struct timeline *timeline, const struct tree_event *event)
{
	struct timeline_thread *thread = number_map_get(&timeline->by_tid, event->task.tid);
	const struct tree_account *account = &event->account;

	if (!is_same(thread, &event->task))
		return;
	if (account->comm[0])
		set_comm(thread->comm, account->comm);
	if (account->ended)
		thread->end_ns = account->end_ns ? account->end_ns : event->time_ns;
}

static void take_process(struct timeline *timeline, const struct tree_event *event)
{
	struct timeline_process *process = number_map_get(&timeline->by_pid, event->task.pid);

	if (process && event->process.ended)
		process->end_ns = event->process.end_ns ? event->process.end_ns : event->time_ns;
}

void timeline_take(struct timeline *timeline, const struct tree_event *event)
{
	if (event->task.pid <= 0 || event->task.tid <= 0)
		return;
	switch (event->type) {
	case TREE_FORK:
		take_fork(timeline, event);
		break;
	case TREE_EXEC:
		take_exec(timeline, event);
		break;
	case TREE_THREAD:
		take_account(timeline, event);
		break;
	case TREE_PROCESS:
		take_process(timeline, event);
		break;
	case TREE_WAIT:
		timeline_take_wait(timeline, event);
		break;
	default:
		break;
	}
}
