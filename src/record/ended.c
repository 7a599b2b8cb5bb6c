/* SPDX-License-Identifier: MIT */
#include "record/ended.h"

#include "model/record/life_event.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/recorder_state.h"

/* More than a tick of the budget of events has; what does not fit makes the total smaller. */
#define ENDED_MOST 65536

void ended_clear(struct ended_processes *ended)
{
	array_free(&ended->list);
}

void ended_note(struct ended_processes *ended, const struct life_event *event)
{
	struct ended_process process = { .task = event->task };

	if (event->kind != LIFE_EXIT || !amounts_has(&event->amounts, AMOUNT_run_time_ns) ||
	    ended->list.count == ENDED_MOST)
		return;
	process.cpu_ns = amounts_get(&event->amounts, AMOUNT_run_time_ns);
	(void)array_append(&ended->list, process);
}

static int64_t find(const struct snapshot *snapshot, const struct task_key *task)
{
	int64_t row = snapshot_find_process(snapshot, task->pid);

	return row >= 0 && snapshot->processes[row].start_time_ns == task->start_ns ? row : -1;
}

/* All that a process used counts if no tick saw it and it began after the last one. */
static uint64_t used_since(const struct recorder_tick *before, const struct ended_process *process)
{
	const struct fact *then = &before->snapshot->facts[FACT_boottime_ns];
	int64_t row = find(before->snapshot, &process->task);

	if (row < 0)
		return then->present && process->task.start_ns >= then->number ? process->cpu_ns :
										 0;
	return before->cpu[row].is_known && process->cpu_ns > before->cpu[row].value ?
		       process->cpu_ns - before->cpu[row].value :
		       0;
}

uint64_t ended_take(struct ended_processes *ended, const struct recorder_tick *before,
		    const struct snapshot *now)
{
	uint64_t total = 0;
	size_t kept = 0;

	for (size_t i = 0; i < ended->list.count; i++) {
		struct ended_process *process = &ended->list.data[i];

		if (find(now, &process->task) >= 0)
			ended->list.data[kept++] = *process;
		else if (before->snapshot)
			total += used_since(before, process);
	}
	ended->list.count = kept;
	return total;
}
