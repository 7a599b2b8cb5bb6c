/* SPDX-License-Identifier: MIT */
#include "session/phase/scope_survey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scope_layout.h"
#include "host/proc/proc_file.h"
#include "collect/scope/scope_reader.h"
#include "host/host.h"
#include "model/scope/scope_survey.h"
#include "host/proc/task_text.h"

#define PATH_SIZE 64

/* Keeps a thread if it still exists. */
static int keep_thread(struct scope_survey_process *found, int process,
		       const struct scope_task *task, size_t *kept)
{
	struct scope_survey_thread thread = { 0 };
	char path[PATH_SIZE], buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	snprintf(path, sizeof(path), "task/%" PRId32 "/stat", task->tid);
	if (task->tid == 0 || task_stat_read(process, path, buffer, &stat) < 0)
		return 0;
	task_stat_copy_comm(&stat, thread.comm, sizeof(thread.comm));
	thread.state = task_stat_state(&stat);
	found->scopes.tasks.data[(*kept)++] = *task;
	return array_append(&found->threads, thread);
}

static int compare_tasks(const void *left, const void *right)
{
	const struct scope_task *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Adds the kernel's name and state of each thread; drops blocks of threads that are gone. */
static int join_threads(struct scope_survey_process *found, int process)
{
	struct scope_task *tasks = found->scopes.tasks.data;
	size_t kept = 0;
	int status = 0;

	if (tasks)
		qsort(tasks, found->scopes.tasks.count, sizeof(*tasks), compare_tasks);
	for (size_t i = 0; i < found->scopes.tasks.count && status == 0; i++) {
		struct scope_task task = tasks[i];

		/* A thread has one block: ignore further ones. */
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
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	int status = scope_reader_read(reader, with_statistics, &found->scopes, error);

	if (status == 0 && join_threads(found, process) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	/* The directory was opened before and still works: all this was one process. */
	if (status == 0 && task_stat_read(process, "stat", buffer, &stat) < 0)
		status = error_set(error, -ESRCH, "process %d has just ended", found->scopes.pid);
	if (status == 0)
		task_stat_copy_comm(&stat, found->comm, sizeof(found->comm));
	return status;
}

static void free_process(struct scope_survey_process *found)
{
	scopes_free(&found->scopes);
	array_free(&found->threads);
}

static int survey_one(const struct host *host, int32_t pid, enum scope_search search,
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

int scope_survey_process(const struct host *host, int32_t pid, bool with_statistics,
			 struct scope_survey *survey, struct error *error)
{
	int status = survey_one(host, pid, SCOPE_SEARCH_ALL, with_statistics, survey, error);

	if (status == -ENOENT)
		error_set(error, status,
			  "process %d has no scopes: it does not use libtaskscope, or not yet, or "
			  "could not share it",
			  pid);
	return status;
}

/* Whether a thread has the heartbeat's name, which anyone may read. */
static bool has_heartbeat(const struct host *host, int32_t pid)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers tids = { 0 };
	char path[PATH_SIZE], name[SCOPE_COMM_SIZE];

	if (proc_list_threads(host->proc, pid, &tids) < 0)
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
	char path[PATH_SIZE], buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	snprintf(path, sizeof(path), "%" PRId32 "/stat", pid);
	return task_stat_read(host->proc, path, buffer, &stat) == 0 &&
	       task_stat_is_kernel_thread(&stat);
}

static void count_denied(const struct host *host, int32_t pid, struct scope_survey *survey)
{
	if (is_kernel_thread(host, pid))
		return;
	survey->denied++;
	if (has_heartbeat(host, pid))
		survey->hidden++;
}

/* Surveys one of many processes: one that cannot be read or has ended does not end the survey. */
static int survey_any(const struct host *host, int32_t pid, bool with_statistics,
		      struct scope_survey *survey, struct error *error)
{
	struct error refusal = { 0 };
	int status = survey_one(host, pid, SCOPE_SEARCH_QUICK, with_statistics, survey, &refusal);

	if (status == -ENOENT && has_heartbeat(host, pid))
		status = survey_one(host, pid, SCOPE_SEARCH_ALL, with_statistics, survey, &refusal);
	if (status == -ENOMEM)
		return error_set(error, status, "out of memory");
	if (status == -EACCES || status == -EPERM)
		count_denied(host, pid, survey);
	else if (status == -EPROTO || status == -ENOTSUP)
		survey->broken++;
	return 0;
}

int scope_survey_all(const struct host *host, bool with_statistics, struct scope_survey *survey,
		     struct error *error)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers pids = { 0 };
	int status = proc_list(host->proc, ".", &pids);

	if (status < 0)
		return error_set(error, status, "cannot list processes: %s", strerror(-status));
	for (size_t i = 0; i < pids.list.count && status == 0; i++)
		status = survey_any(host, pids.list.data[i], with_statistics, survey, error);
	return status;
}
