/* SPDX-License-Identifier: MIT */
#include "record/recorder_syscalls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "record/recorder_state.h"
#include "record/strace_watch.h"
#include "store/history/calls/history_calls.h"
#include "trace/calls/calls.h"

#define CALLS_IN_JSON 5

bool recorder_has_syscalls(const struct recorder *recorder)
{
	return recorder->syscalls.calls || recorder->syscalls.strace;
}

int recorder_syscalls_since_tick(const struct recorder *recorder, process_call_sink *sink,
				 void *context)
{
	int status = 0;

	for (size_t i = 0; i < recorder->syscalls.last.count && status == 0; i++)
		status = sink(context, &recorder->syscalls.last.data[i]);
	return status;
}

static int take_ended(void *context, const struct process_call *call)
{
	struct recorder *recorder = context;
	int status = array_append(&recorder->syscalls.ended, *call);

	recorder->syscalls.lost_rows += status < 0;
	return status;
}

static int open_bpf(struct recorder *recorder, struct error *error)
{
	const struct calls_options options = {
		.tree_pid = recorder->options->tree_pid,
		.cgroup = recorder->options->cgroup,
	};

	return calls_open(recorder->host, &options, &recorder->syscalls.calls, error);
}

static int open_strace(struct recorder *recorder, struct error *error)
{
	const struct strace_watch_options options = {
		.host = recorder->host,
		.loop = &recorder->loop,
		.note = recorder->options->note,
		.sink = take_ended,
		.context = recorder,
	};

	return strace_watch_open(&options, &recorder->syscalls.strace, error);
}

void recorder_begin_syscalls(struct recorder *recorder)
{
	bool is_strace = recorder->options->syscalls == RECORD_SYSCALLS_STRACE;
	struct error error = { 0 }, ignored = { 0 };
	int status;

	if (recorder->options->syscalls == RECORD_SYSCALLS_NOT)
		return;
	status = is_strace ? open_strace(recorder, &error) : open_bpf(recorder, &error);
	if (status < 0)
		recorder->syscalls.reason = strdup(error.message);
	(void)history_set_meta(recorder->history, "syscalls",
			       status < 0 ? error.message :
			       is_strace  ? "strace" :
					    "bpf",
			       &ignored);
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

static void sort(struct recorder_syscalls *syscalls)
{
	array_sort(&syscalls->last, compare);
}

static void take_ended_straces(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;

	for (size_t i = 0; i < syscalls->ended.count; i++)
		syscalls->lost_rows += array_append(&syscalls->last, syscalls->ended.data[i]) < 0;
	syscalls->ended.count = 0;
}

/* Takes the kernel's sums since the last time. */
static void take_sums(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	struct error error = { 0 };

	syscalls->last.count = 0;
	if (syscalls->calls)
		recorder_judge(recorder, &recorder->syscalls_fault,
			       calls_read(syscalls->calls, take_sum, recorder), &error,
			       "system calls can be read");
}

void recorder_take_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;

	if (!recorder_has_syscalls(recorder))
		return;
	take_sums(recorder);
	take_ended_straces(recorder);
	if (syscalls->strace && !syscalls->is_paused)
		strace_watch_tick(syscalls->strace, recorder->last.snapshot);
	sort(syscalls);
}

int recorder_keep_syscalls(struct recorder *recorder, struct error *error)
{
	const struct recorder_syscalls *syscalls = &recorder->syscalls;

	if (!recorder_has_syscalls(recorder))
		return 0;
	return history_add_calls(recorder->history, clock_ns(CLOCK_REALTIME), syscalls->last.data,
				 syscalls->last.count, error);
}

void recorder_finish_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	struct error error = { 0 };

	if (!recorder_has_syscalls(recorder))
		return;
	take_sums(recorder);
	if (syscalls->strace)
		strace_watch_stop(syscalls->strace, true);
	take_ended_straces(recorder);
	recorder_judge(recorder, &recorder->store_fault, recorder_keep_syscalls(recorder, &error),
		       &error, "the store can be written");
}

static int pause_or_resume(struct recorder_syscalls *syscalls, bool is_paused)
{
	if (syscalls->strace && is_paused)
		strace_watch_stop(syscalls->strace, false);
	if (!syscalls->calls)
		return 0;
	return is_paused ? calls_pause(syscalls->calls) : calls_resume(syscalls->calls);
}

void recorder_shed_syscalls(struct recorder *recorder)
{
	struct recorder_syscalls *syscalls = &recorder->syscalls;
	bool is_shed = recorder->budget.shed >= SHED_SYSCALLS;
	struct error error = { 0 };
	int status;

	if (!recorder_has_syscalls(recorder) || is_shed == syscalls->is_paused)
		return;
	status = pause_or_resume(syscalls, is_shed);
	syscalls->is_paused = is_shed;
	recorder_judge(recorder, &recorder->syscalls_fault, status, &error,
		       "system calls can be read");
}

void recorder_end_syscalls(struct recorder *recorder)
{
	calls_close(recorder->syscalls.calls);
	strace_watch_close(recorder->syscalls.strace);
	free(recorder->syscalls.reason);
	array_free(&recorder->syscalls.last);
	array_free(&recorder->syscalls.ended);
}

struct calls_losses recorder_syscall_losses(const struct recorder *recorder)
{
	struct calls_losses losses = { 0 };

	if (recorder->syscalls.calls)
		calls_losses(recorder->syscalls.calls, &losses);
	return losses;
}

struct strace_losses recorder_strace_losses(const struct recorder *recorder)
{
	return recorder->syscalls.strace ? strace_watch_losses(recorder->syscalls.strace) :
					   (struct strace_losses){ 0 };
}

void recorder_traced_json(struct json *json, const struct recorder *recorder)
{
	int32_t pids[STRACES_MOST];
	size_t count;

	if (!recorder->syscalls.strace)
		return;
	count = strace_watch_pids(recorder->syscalls.strace, pids);
	json_member_array(json, "traced_pids");
	for (size_t i = 0; i < count; i++)
		json_i64(json, pids[i]);
	json_end_array(json);
}

/* The calls of a process, one after the other; NULL: none. */
static const struct process_call *find(const struct recorder *recorder,
				       const struct process *process, size_t *ret_count)
{
	const struct recorder_syscalls *syscalls = &recorder->syscalls;
	const struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
	const struct process_call *calls = syscalls->last.data;
	size_t count = syscalls->last.count;
	size_t first = array_bisect(calls, count, compare_processes(&item->process, &key) < 0);
	size_t end = array_bisect(calls, count, compare_processes(&item->process, &key) <= 0);

	*ret_count = end - first;
	return *ret_count ? &calls[first] : NULL;
}

static const char *find_absence(const struct recorder *recorder, const struct process *process)
{
	const struct recorder_syscalls *syscalls = &recorder->syscalls;
	const struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
	const char *refusal;
	size_t count;

	if (!recorder_has_syscalls(recorder))
		return syscalls->reason;
	if (syscalls->is_paused)
		return "left out to stay within the recorder's budget";
	if (!syscalls->strace || find(recorder, process, &count))
		return NULL;
	refusal = strace_watch_refusal(syscalls->strace, &key);
	return refusal ? refusal :
			 "strace tells the calls when it lets go, once a minute and at the end";
}

void recorder_syscall_figures(const struct recorder *recorder, const struct process *process,
			      struct process_figures *ret)
{
	size_t count;

	ret->calls_absent = find_absence(recorder, process);
	ret->has_calls = recorder_has_syscalls(recorder) && !ret->calls_absent;
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
