/* SPDX-License-Identifier: MIT */
#include "session/scope_look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scope_layout.h"
#include "collect/proc_file.h"
#include "collect/scope_reader.h"
#include "host/host.h"
#include "model/scope_survey.h"
#include "session/stat_line.h"

#define PATH_SIZE 64

static void copy_comm(char *to, const char *from)
{
	snprintf(to, SCOPE_COMM_SIZE, "%s", from);
}

/* Keeps a thread that still is there, and says so. */
static int keep_thread(struct scope_survey_process *found, int process,
		       const struct scope_task *task, size_t *kept)
{
	struct scope_survey_thread thread = { 0 };
	struct stat_line line;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "task/%" PRId32 "/stat", task->tid);
	if (task->tid == 0 || stat_line_read(process, path, &line) < 0)
		return 0;
	copy_comm(thread.comm, line.comm);
	thread.state = line.state;
	found->scopes.tasks.data[(*kept)++] = *task;
	return array_append(&found->threads, thread);
}

static int compare_tasks(const void *left, const void *right)
{
	const struct scope_task *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The kernel's word on each thread; blocks of threads that are gone are left out. */
static int join_threads(struct scope_survey_process *found, int process)
{
	struct scope_task *tasks = found->scopes.tasks.data;
	size_t kept = 0;
	int status = 0;

	if (tasks)
		qsort(tasks, found->scopes.tasks.count, sizeof(*tasks), compare_tasks);
	for (size_t i = 0; i < found->scopes.tasks.count && status == 0; i++) {
		struct scope_task task = tasks[i];

		/* A thread has one block: who says otherwise is not believed. */
		if (kept && tasks[kept - 1].tid == task.tid)
			continue;
		status = keep_thread(found, process, &task, &kept);
	}
	found->scopes.tasks.count = kept;
	return status;
}

static int read_process(struct scope_reader *reader, int process, bool with_statistics,
			struct scope_survey_process *found, struct error *error)
{
	struct stat_line line;
	int status = scope_reader_read(reader, with_statistics, &found->scopes, error);

	if (status == 0 && join_threads(found, process) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	/* Its directory opened before and is still good: all this was one process. */
	if (status == 0 && stat_line_read(process, "stat", &line) < 0)
		status = error_set(error, -ESRCH, "process %d has just ended", found->scopes.pid);
	if (status == 0)
		copy_comm(found->comm, line.comm);
	return status;
}

static void free_process(struct scope_survey_process *found)
{
	scopes_free(&found->scopes);
	array_free(&found->threads);
}

static int look(const struct host *host, int32_t pid, enum scope_search search,
		bool with_statistics, struct scope_survey *survey, struct error *error)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	CLEANUP(scope_reader_close_pointer) struct scope_reader *reader = NULL;
	struct scope_survey_process found = { 0 };
	int status = scope_reader_open(host, pid, search, &reader, error);

	if (status == 0)
		status = read_process(reader, process, with_statistics, &found, error);
	if (status == 0 && array_append(&survey->processes, found) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	if (status < 0)
		free_process(&found);
	return status;
}

int scope_look_at(const struct host *host, int32_t pid, bool with_statistics,
		  struct scope_survey *survey, struct error *error)
{
	int status = look(host, pid, SCOPE_SEARCH_ALL, with_statistics, survey, error);

	if (status == -ENOENT)
		error_set(error, status,
			  "process %d has no scopes: it does not use libtaskscope, or not yet, or "
			  "could not share it",
			  pid);
	return status;
}

/* Whether a thread has the name of the heartbeat: anyone may read names. */
static bool has_heartbeat(const struct host *host, int32_t pid)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers tids = { 0 };
	char path[PATH_SIZE], name[SCOPE_COMM_SIZE];

	snprintf(path, sizeof(path), "%" PRId32 "/task", pid);
	if (proc_list(host->proc, path, &tids) < 0)
		return false;
	for (size_t i = 0; i < tids.list.count; i++) {
		snprintf(path, sizeof(path), "%" PRId32 "/task/%" PRId32 "/comm", pid,
			 tids.list.data[i]);
		if (host_read_line(host->proc, path, name, sizeof(name)) &&
		    strcmp(name, SCOPE_HEARTBEAT_NAME) == 0)
			return true;
	}
	return false;
}

static bool is_kernel_thread(const struct host *host, int32_t pid)
{
	struct stat_line line;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%" PRId32 "/stat", pid);
	return stat_line_read(host->proc, path, &line) == 0 && stat_line_is_kernel_thread(&line);
}

static void count_denied(const struct host *host, int32_t pid, struct scope_survey *survey)
{
	if (is_kernel_thread(host, pid))
		return;
	survey->denied++;
	if (has_heartbeat(host, pid))
		survey->hidden++;
}

/* One of many: that it cannot be read, or ended meanwhile, ends nothing. */
static int look_at_any(const struct host *host, int32_t pid, bool with_statistics,
		       struct scope_survey *survey, struct error *error)
{
	struct error refusal = { 0 };
	int status = look(host, pid, SCOPE_SEARCH_QUICK, with_statistics, survey, &refusal);

	if (status == -ENOENT && has_heartbeat(host, pid))
		status = look(host, pid, SCOPE_SEARCH_ALL, with_statistics, survey, &refusal);
	if (status == -ENOMEM)
		return error_set(error, status, "out of memory");
	if (status == -EACCES || status == -EPERM)
		count_denied(host, pid, survey);
	else if (status == -EPROTO || status == -ENOTSUP)
		survey->broken++;
	return 0;
}

int scope_look_around(const struct host *host, bool with_statistics, struct scope_survey *survey,
		      struct error *error)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers pids = { 0 };
	int status = proc_list(host->proc, ".", &pids);

	if (status < 0)
		return error_set(error, status, "cannot list processes: %s", strerror(-status));
	for (size_t i = 0; i < pids.list.count && status == 0; i++)
		status = look_at_any(host, pids.list.data[i], with_statistics, survey, error);
	return status;
}
