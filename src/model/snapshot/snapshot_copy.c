/* SPDX-License-Identifier: MIT */
#include "model/snapshot/snapshot.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"

/* Texts get the numbers that they have in the original, since they are added in the same order. */
static int copy_strings(const struct snapshot *from, struct snapshot *to)
{
	uint32_t count = dictionary_count(from->strings), id;
	int status = 0;

	for (uint32_t i = 1; i < count && status == 0; i++) {
		const char *text = dictionary_text(from->strings, i);

		status = snapshot_intern(to, text, strlen(text), &id);
	}
	return status;
}

static int copy_rows(const struct snapshot *from, struct snapshot *to)
{
	uint32_t row;

	for (size_t i = 0; i < from->process_count; i++) {
		if (snapshot_add_process(to, from->processes[i].tgid, &row) < 0)
			return -ENOMEM;
		to->processes[row] = from->processes[i];
	}
	if (snapshot_reserve(to, from->task_count) < 0)
		return -ENOMEM;
	if (from->task_count)
		memcpy(to->tasks, from->tasks, from->task_count * sizeof(*to->tasks));
	to->task_count = from->task_count;
	return 0;
}

static int copy_column(const struct snapshot *from, struct snapshot *to, enum metric_id id)
{
	const struct column *old = &from->columns[id];
	struct column *new = &to->columns[id];
	size_t rows = snapshot_rows(from, id);

	if (old->values && snapshot_need_column(to, id) < 0)
		return -ENOMEM;
	if (old->values && rows) {
		memcpy(new->values, old->values, rows * sizeof(*new->values));
		memcpy(new->states, old->states, rows * sizeof(*new->states));
	}
	if (old->absent && column_set_absent(new, &to->arena, old->absent) < 0)
		return -ENOMEM;
	return old->origin ? column_set_origin(new, &to->arena, old->origin) : 0;
}

static int copy_facts(const struct snapshot *from, struct snapshot *to)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		to->facts[id] = from->facts[id];
		if (from->facts[id].text &&
		    snapshot_set_fact_text(to, (enum fact_id)id, from->facts[id].text) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->source_count; i++) {
		const struct source_report *old = &from->sources[i];
		struct source_report *new = snapshot_source(to, old->name);
		const char *name = new ? new->name : NULL;

		if (!new)
			return -ENOMEM;
		*new = *old;
		new->name = name;
		new->reason = old->reason ?
				      arena_copy(&to->arena, old->reason, strlen(old->reason)) :
				      NULL;
		if (old->reason && !new->reason)
			return -ENOMEM;
	}
	return 0;
}

int snapshot_copy_tasks(const struct snapshot *snapshot, struct snapshot **ret)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *copy = NULL;
	int status = snapshot_new(&copy);

	if (status == 0)
		status = copy_strings(snapshot, copy);
	if (status == 0)
		status = copy_rows(snapshot, copy);
	for (int id = 0; id < METRIC_STORED && status == 0; id++)
		status = copy_column(snapshot, copy, (enum metric_id)id);
	if (status == 0)
		status = copy_facts(snapshot, copy);
	if (status < 0)
		return status;
	copy->tally = snapshot->tally;
	copy->interval_ns = snapshot->interval_ns;
	*ret = TAKE_PTR(copy);
	return 0;
}
