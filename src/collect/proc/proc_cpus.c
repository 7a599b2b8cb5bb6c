/* SPDX-License-Identifier: MIT */
/* Finds the CPUs that a task may run on: by system call, else from its status file. */
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "collect/proc/proc_task.h"
#include "host/proc/task_text.h"

const char *proc_no_cpus_reason(int status)
{
	if (status == -ENOENT)
		return "the status file, which has it, is missing";
	return status == -ENODATA ? "the status file, which has it, was left out or lacks it" :
				    NULL;
}

static void store_cpus(struct proc_reader *reader, uint32_t row, uint32_t id)
{
	struct proc_context *context = reader->context;

	snapshot_set(context->capture->snapshot, context->cpus, row, id);
	proc_set_outcome(reader, SOURCE_AFFINITY, 0);
}

static int ask_cpus(struct proc_reader *reader, int32_t tid, uint32_t row)
{
	struct proc_context *context = reader->context;
	uint64_t mask[TASK_AFFINITY_WORDS_MAX];
	uint32_t id;
	int status = affinity_ask(tid, mask);

	if (status < 0)
		return status;
	pthread_mutex_lock(&context->strings);
	status = affinity_lists_find(context->affinity, mask, &id);
	pthread_mutex_unlock(&context->strings);
	if (status == 0)
		store_cpus(reader, row, id);
	return status;
}

int proc_find_cpus(struct proc_reader *reader, uint32_t row)
{
	const struct cpuset *online = &reader->context->capture->host->online;
	CLEANUP(text_free) struct text list = { 0 };
	size_t length;
	const char *value = task_status_find(reader->buffer.data, "Cpus_allowed_list", &length);
	uint32_t id;
	int status;

	if (!value)
		return -ENODATA;
	status = affinity_from_list(value, length, online, &list);
	if (status == 0)
		status = proc_intern(reader, &reader->cpus, text_string(&list), list.length, &id);
	if (status == 0)
		store_cpus(reader, row, id);
	return status;
}

bool proc_needs_cpus(struct proc_reader *reader, int32_t tid, uint32_t row)
{
	struct proc_context *context = reader->context;
	int status = -ENODATA;

	if (context->cpus == METRIC_STORED)
		return false;
	if (context->affinity)
		status = ask_cpus(reader, tid, row);
	if (status < 0)
		proc_set_outcome(reader, SOURCE_AFFINITY, status);
	return status < 0;
}
