/* SPDX-License-Identifier: MIT */
#include "collect/scope/task_scopes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"
#include "collect/scope/scope_reader.h"
#include "collect/source.h"
#include "model/scope/scopes.h"

static const enum metric_id scope_metrics[] = { METRIC_scope_age_ns, METRIC_scope_count,
						METRIC_scope_total, METRIC_scope_stall_ns };

struct scope_walk {
	struct capture *capture;
	struct scopes scopes; /* of the current process; its memory is reused */
	struct proc_buffer buffer;
	uint32_t heartbeat; /* the name of the heartbeat thread, as a string's number */
	uint64_t users;	    /* processes whose scopes were read */
};

/* A process's task rows, which are adjacent and sorted by tid. */
struct task_range {
	struct task *tasks;
	size_t count;
};

static void scope_walk_clear(struct scope_walk *walk)
{
	scopes_free(&walk->scopes);
	proc_buffer_clear(&walk->buffer);
}

/* The first task is ignored: its name may be the same by chance, as taskscope's own is. */
static enum scope_search how_far(const struct scope_walk *walk, const struct process *process,
				 const struct task_range *range)
{
	for (size_t i = 0; i < range->count; i++)
		if (range->tasks[i].comm == walk->heartbeat && range->tasks[i].tid != process->tgid)
			return SCOPE_SEARCH_ALL;
	return SCOPE_SEARCH_QUICK;
}

static int compare_tids(const void *key, const void *element)
{
	const int32_t *tid = key;
	const struct task *task = element;

	return (*tid > task->tid) - (*tid < task->tid);
}

static struct task *find_task(const struct task_range *range, int32_t tid)
{
	return bsearch(&tid, range->tasks, range->count, sizeof(*range->tasks), compare_tids);
}

/*
 * If the stack kept changing while it was read, only the label is kept: age and progress may
 * belong to another scope.
 */
static int keep_scope(struct scope_walk *walk, const struct scope_task *from, struct task *task)
{
	struct snapshot *snapshot = walk->capture->snapshot;
	const struct scope *scope = scopes_innermost(&walk->scopes, from);
	uint32_t row = (uint32_t)(task - snapshot->tasks);

	if (!scope)
		return 0;
	if (snapshot_intern(snapshot, scope->label, strlen(scope->label), &task->scope) < 0)
		return -ENOMEM;
	if (from->is_torn)
		return 0;
	snapshot_set(snapshot, METRIC_scope_age_ns, row, scope->age_ns);
	if (walk->scopes.has_heartbeat)
		snapshot_set(snapshot, METRIC_scope_stall_ns, row,
			     from->stall == SCOPE_STALL_NONE ? 0 : from->stalled_ns);
	if (scope->has_progress)
		snapshot_set(snapshot, METRIC_scope_count, row, scope->count);
	if (scope->has_progress && scope->total)
		snapshot_set(snapshot, METRIC_scope_total, row, scope->total);
	return 0;
}

static int keep_scopes(struct scope_walk *walk, const struct task_range *range)
{
	for (size_t i = 0; i < ARRAY_SIZE(scope_metrics); i++)
		if (snapshot_need_column(walk->capture->snapshot, scope_metrics[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < walk->scopes.tasks.count; i++) {
		const struct scope_task *from = &walk->scopes.tasks.data[i];
		struct task *task = find_task(range, from->tid);

		if (task && keep_scope(walk, from, task) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Whether the first descriptor that the library uses is open: 0, -ENOENT, or why we cannot know.
 * The reader would check all descriptors that the library may use, at the same cost for each.
 */
static int find_first(const struct scope_walk *walk, const struct process *process)
{
	const struct walked_process *walked = walked_process_find(walk->capture, process);
	char path[32], start[1];

	if (walked && walked->is_counted)
		return walked->scope_fds & 1 ? 0 : -ENOENT;
	snprintf(path, sizeof(path), "%" PRId32 "/fd/%d", process->tgid, SCOPE_FD);
	return readlinkat(walk->capture->host->proc, path, start, sizeof(start)) < 0 ? -errno : 0;
}

/* Checks last, and only for processes with scopes, that the process is the one that was listed. */
static int read_scopes(struct scope_walk *walk, const struct process *process,
		       enum scope_search search, struct error *error)
{
	CLEANUP(scope_reader_close_pointer) struct scope_reader *reader = NULL;
	const struct capture *capture = walk->capture;
	CLEANUP(close_fd) int dir = -1;
	int status = search == SCOPE_SEARCH_QUICK ? find_first(walk, process) : 0;

	if (status == 0)
		status = scope_reader_open(capture->host, process->tgid, search, &reader, error);
	if (status < 0)
		return status;
	status = scope_reader_read(reader, false, &walk->scopes, error);
	if (status < 0)
		return status;
	dir = proc_open_number(capture->host->proc, process->tgid);
	if (dir < 0)
		return -ESRCH;
	status = process_check(capture, dir, process, &walk->buffer);
	return is_vanished(status) ? -ESRCH : status;
}

/*
 * Counts a failure to read; uses the sentence, if there is one, since it says more than the errno.
 */
static int count_failure(struct scope_walk *walk, int status, const struct error *error)
{
	struct source_tally *tally = &walk->capture->tallies[SOURCE_SCOPES];

	source_count(tally, status);
	if (is_vanished(status) || !error->message[0] || status == -EACCES || status == -EPERM)
		return 0;
	tally->reason =
		arena_copy(&walk->capture->snapshot->arena, error->message, strlen(error->message));
	return tally->reason ? 0 : -ENOMEM;
}

static int read_process(struct scope_walk *walk, const struct process *process,
			const struct task_range *range)
{
	struct source_tally *tally = &walk->capture->tallies[SOURCE_SCOPES];
	struct error error = { 0 };
	int status = read_scopes(walk, process, how_far(walk, process, range), &error);

	if (status == -ENOMEM)
		return status;
	if (status < 0 && status != -ENOENT)
		return count_failure(walk, status, &error);
	tally->read++;
	if (status == -ENOENT)
		return 0;
	walk->users++;
	if (walk->capture->options->activity)
		activity_scopes_note(&walk->capture->sampling->activity.scopes, process->tgid,
				     process->start_time_ns);
	return walk->scopes.is_on ? keep_scopes(walk, range) : 0; /* off: they are outdated */
}

static int read_processes(struct scope_walk *walk)
{
	const struct capture *capture = walk->capture;
	struct snapshot *snapshot = capture->snapshot;
	size_t task = 0;
	int status = 0;

	for (uint32_t row = 0; row < snapshot->process_count && status == 0; row++) {
		struct task_range range = { .tasks = &snapshot->tasks[task] };

		for (; task < snapshot->task_count && snapshot->tasks[task].process == row; task++)
			range.count++;
		if (!process_lacks_memory(capture, row))
			status = read_process(walk, &snapshot->processes[row], &range);
	}
	return status;
}

#define NOBODY "none of the processes uses libtaskscope"

/*
 * Writes why a thread has no scope or its scope lacks this value, after naming processes that were
 * not read.
 */
static void absent_text(const struct scope_walk *walk, enum metric_id id, struct text *out)
{
	const char *none = id == METRIC_scope_age_ns   ? "no scope" :
			   id == METRIC_scope_stall_ns ? "no scope that a heartbeat watches" :
							 "no scope that has a counter";
	bool failed = walk->capture->tallies[SOURCE_SCOPES].failed;

	if (!walk->users)
		text_append_string(out, failed ? "no process that could be read uses libtaskscope" :
						 NOBODY);
	else if (id == METRIC_scope_total)
		text_append_string(out, "the thread is in no scope whose steps are known");
	else
		text_format(out, "the thread is in %s", none);
	if (!failed)
		return;
	text_append_string(out, "; ");
	source_failure_text(walk->capture, SOURCE_SCOPES, 0, out);
}

static int explain_absences(struct scope_walk *walk)
{
	CLEANUP(text_free) struct text reason = { 0 };
	struct snapshot *snapshot = walk->capture->snapshot;
	struct source_tally *tally = &walk->capture->tallies[SOURCE_SCOPES];

	if (!walk->users && !tally->failed)
		tally->reason = NOBODY;
	for (size_t i = 0; i < ARRAY_SIZE(scope_metrics); i++) {
		if (snapshot_measured(snapshot, scope_metrics[i]) == snapshot->task_count)
			continue;
		text_clear(&reason);
		absent_text(walk, scope_metrics[i], &reason);
		if (reason.failed ||
		    snapshot_set_absent(snapshot, scope_metrics[i], text_string(&reason)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int task_scopes_collect(struct capture *capture)
{
	CLEANUP(scope_walk_clear) struct scope_walk walk = { .capture = capture };
	int status;

	if (!source_wanted(capture, SOURCE_SCOPES))
		return 0;
	if (!capture->host->live) {
		capture->tallies[SOURCE_SCOPES].reason = "a recorded tree has no memory to read";
		return 0;
	}
	status = snapshot_intern(capture->snapshot, SCOPE_HEARTBEAT_NAME,
				 strlen(SCOPE_HEARTBEAT_NAME), &walk.heartbeat);
	if (status == 0)
		status = read_processes(&walk);
	return status < 0 ? status : explain_absences(&walk);
}
