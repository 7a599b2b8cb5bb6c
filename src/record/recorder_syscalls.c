/* SPDX-License-Identifier: MIT */
#include "record/recorder_syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "record/recorder_state.h"
#include "store/history/calls/history_calls.h"
#include "trace/calls/calls.h"

#define CALLS_IN_JSON 5

bool recorder_has_syscalls(const struct recorder *recorder)
{
	return recorder->syscalls.calls;
}

int recorder_syscalls_since_tick(const struct recorder *recorder, process_call_sink *sink,
				 void *context)
{
	int status = 0;

	for (size_t i = 0; i < recorder->syscalls.last.count && status == 0; i++)
		status = sink(context, &recorder->syscalls.last.data[i]);
	return status;
}

void recorder_begin_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	const struct calls_options options = {
		.tree_pid = recorder->options->tree_pid,
		.cgroup = recorder->options->cgroup,
	};
	struct error error = { 0 }, ignored = { 0 };

	if (recorder->options->syscalls != RECORD_SYSCALLS_BPF)
		return;
	if (calls_open(recorder->host, &options, &syscalls->calls, &error) < 0)
		syscalls->reason = strdup(error.message);
	(void)history_set_meta(recorder->history, "syscalls",
			       syscalls->calls ? "bpf" : error.message, &ignored);
}

static int take_sum(void *context, const struct call_sum *sum)
{
	struct recorder *recorder = context;
	char buffer[SYSCALL_NAME_SIZE];
	struct process_call call = {
		.process = { sum->pid, sum->pid, sum->start_ns },
		.line = { .calls = sum->calls,
			  .errors = sum->errors,
			  .time_ns = sum->time_ns,
			  .max_ns = sum->max_ns },
	};

	snprintf(call.line.name, sizeof(call.line.name), "%s",
		 syscall_name(sum->abi, sum->number, buffer));
	return array_append(&recorder->syscalls.last, call);
}

static int compare_processes(const struct task_key *one, const struct task_key *other)
{
	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return (one->start_ns > other->start_ns) - (one->start_ns < other->start_ns);
}

static int compare(const void *one_pointer, const void *other_pointer)
{
	const struct process_call *one = one_pointer, *other = other_pointer;
	int order = compare_processes(&one->process, &other->process);

	if (order)
		return order;
	return (one->line.time_ns < other->line.time_ns) -
	       (one->line.time_ns > other->line.time_ns);
}

void recorder_take_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	struct error error = { 0 };

	if (!syscalls->calls)
		return;
	syscalls->last.count = 0;
	recorder_judge(recorder, &recorder->syscalls_fault,
		       calls_read(syscalls->calls, take_sum, recorder), &error,
		       "system calls can be read");
	if (syscalls->last.count)
		qsort(syscalls->last.data, syscalls->last.count, sizeof(syscalls->last.data[0]),
		      compare);
}

int recorder_keep_syscalls(struct recorder *recorder, struct error *error)
{
	const struct recorder_syscalls *syscalls = &recorder->syscalls;

	if (!syscalls->calls)
		return 0;
	return history_add_calls(recorder->history, clock_ns(CLOCK_REALTIME), syscalls->last.data,
				 syscalls->last.count, error);
}

void recorder_shed_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	bool is_shed = recorder->budget.shed >= SHED_SYSCALLS;
	struct error error = { 0 };
	int status;

	if (!syscalls->calls || is_shed == syscalls->is_paused)
		return;
	status = is_shed ? calls_pause(syscalls->calls) : calls_resume(syscalls->calls);
	syscalls->is_paused = is_shed;
	recorder_judge(recorder, &recorder->syscalls_fault, status, &error,
		       "system calls can be read");
}

void recorder_end_syscalls(struct recorder *recorder)
{
	calls_close(recorder->syscalls.calls);
	free(recorder->syscalls.reason);
	array_free(&recorder->syscalls.last);
}

struct calls_losses recorder_syscall_losses(const struct recorder *recorder)
{
	struct calls_losses losses = { 0 };

	if (recorder->syscalls.calls)
		calls_losses(recorder->syscalls.calls, &losses);
	return losses;
}

/* The calls of a process, one after the other; NULL: none. */
static const struct process_call *find(const struct recorder *recorder,
				       const struct process *process, size_t *ret_count)
{
	const struct recorder_syscalls *syscalls = &recorder->syscalls;
	const struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
	size_t low = 0, high = syscalls->last.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_processes(&syscalls->last.data[middle].process, &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_count = 0;
	while (low + *ret_count < syscalls->last.count &&
	       compare_processes(&syscalls->last.data[low + *ret_count].process, &key) == 0)
		++*ret_count;
	return *ret_count ? &syscalls->last.data[low] : NULL;
}

void recorder_syscall_figures(const struct recorder *recorder, const struct process *process,
			      struct process_figures *ret)
{
	size_t count;

	ret->has_calls = recorder_has_syscalls(recorder) && !recorder->syscalls.is_paused;
	ret->calls = find(recorder, process, &count);
	ret->call_count = count < CALLS_IN_JSON ? count : CALLS_IN_JSON;
}

const char *recorder_syscall_hotspot(const struct recorder *recorder, const struct process *process,
				     double *ret_share)
{
	size_t count;
	const struct process_call *calls = find(recorder, process, &count);
	uint64_t all_ns = 0;

	for (size_t i = 0; i < count; i++)
		all_ns += calls[i].line.time_ns;
	if (!all_ns)
		return NULL;
	*ret_share = (double)calls[0].line.time_ns / (double)all_ns;
	return calls[0].line.name;
}
