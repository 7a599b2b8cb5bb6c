/* SPDX-License-Identifier: MIT */
/* Keeps the past of a run, events and samples, within bounds. */
#include <string.h>

#include "base/collection/array.h"
#include "model/path/timeline.h"
#include "model/tree/run.h"

const char *const tree_event_names[TREE_EVENT_TYPE_COUNT] = {
	[TREE_FORK] = "fork",	    [TREE_EXEC] = "exec",     [TREE_THREAD] = "thread",
	[TREE_PROCESS] = "process", [TREE_SIGNAL] = "signal", [TREE_OOM] = "oom_kill",
	[TREE_WAIT] = "wait",
};

static void copy_comm(char to[TREE_COMM_SIZE], const char from[TREE_COMM_SIZE])
{
	memcpy(to, from, TREE_COMM_SIZE - 1);
}

/* False for events that add nothing to the rows of tasks. */
static bool describe(const struct tree_event *event, struct past_event *ret)
{
	switch (event->type) {
	case TREE_FORK:
		ret->other_pid = event->fork.parent_pid;
		copy_comm(ret->comm, event->fork.comm);
		return event->task.pid == event->task.tid;
	case TREE_EXEC:
		copy_comm(ret->comm, event->exec.comm);
		return true;
	case TREE_SIGNAL:
		ret->other_pid = event->signal.sender_pid;
		ret->signal = (uint32_t)event->signal.number;
		copy_comm(ret->comm, event->signal.sender_comm);
		return true;
	case TREE_OOM:
		return true;
	default:
		return false;
	}
}

static void keep_event(struct run *run, const struct tree_event *event)
{
	struct past_event kept = {
		.time_ns = event->time_ns,
		.event = tree_event_names[event->type],
		.task = event->task,
	};

	if (!describe(event, &kept))
		return;
	if (run->past.events.count == PAST_EVENTS || array_append(&run->past.events, kept) < 0)
		run->past.events_omitted++;
}

int run_take_event(struct run *run, const struct tree_event *event)
{
	int status = tree_apply(run->tree, event);

	if (run->timeline)
		timeline_take(run->timeline, event);
	keep_event(run, event);
	return status;
}

/* A sample for which there is no memory is left out; the aggregates include it. */
void run_past_sample(struct run_past *past, const struct run_sample *sample)
{
	if (past->due) {
		past->due--;
		return;
	}
	if (past->samples.count == PAST_SAMPLES) {
		for (size_t i = 0; i < PAST_SAMPLES / 2; i++)
			past->samples.data[i] = past->samples.data[2 * i];
		past->samples.count = PAST_SAMPLES / 2;
		past->stride = past->stride ? 2 * past->stride : 2;
	}
	(void)array_append(&past->samples, *sample);
	past->due = past->stride ? past->stride - 1 : 0;
}

void run_past_free(struct run_past *past)
{
	array_free(&past->events);
	array_free(&past->samples);
}
