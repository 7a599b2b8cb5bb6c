/* SPDX-License-Identifier: MIT */
/* Finds the CPUs that a task may run on: by system call, else from its status file. */
#include <string.h>

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

static bool is_last_mask(const struct proc_reader *reader)
{
	const struct affinity_mask *mask = &reader->mask, *last = &reader->last_mask;

	return last->words && last->word_count == mask->word_count &&
	       memcmp(last->words, mask->words, mask->word_count * sizeof(*mask->words)) == 0;
}

static int ask_cpus(struct proc_reader *reader, int32_t tid, uint32_t row)
{
	struct affinity_mask asked;
	CLEANUP(text_free) struct text list = { 0 };
	int status = affinity_ask(tid, &reader->mask);

	if (status < 0)
		return status;
	if (!is_last_mask(reader)) {
		cpulist_format(reader->mask.words, reader->mask.word_count, &list);
		if (list.failed)
			return -ENOMEM;
		status = proc_intern(reader, &reader->cpus, text_string(&list), list.length,
				     &reader->last_mask_id);
		if (status < 0)
			return status;
		asked = reader->mask;
		reader->mask = reader->last_mask;
		reader->last_mask = asked;
	}
	store_cpus(reader, row, reader->last_mask_id);
	return 0;
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
	if (context->may_ask)
		status = ask_cpus(reader, tid, row);
	if (status < 0)
		proc_set_outcome(reader, SOURCE_AFFINITY, status);
	return status < 0;
}
