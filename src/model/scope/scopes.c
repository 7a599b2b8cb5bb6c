/* SPDX-License-Identifier: MIT */
#include "model/scope/scopes.h"

#define NS_PER_SECOND 1e9

void scopes_clear(struct scopes *scopes)
{
	struct scopes empty = { 0 };

	empty.tasks.data = scopes->tasks.data;
	empty.tasks.capacity = scopes->tasks.capacity;
	empty.list.data = scopes->list.data;
	empty.list.capacity = scopes->list.capacity;
	empty.labels.data = scopes->labels.data;
	empty.labels.capacity = scopes->labels.capacity;
	*scopes = empty;
}

void scopes_free(struct scopes *scopes)
{
	array_free(&scopes->tasks);
	array_free(&scopes->list);
	array_free(&scopes->labels);
	scopes_clear(scopes);
}

const struct scope *scopes_innermost(const struct scopes *scopes, const struct scope_task *task)
{
	return task->count ? &scopes->list.data[task->first + task->count - 1] : NULL;
}

const struct scope *scopes_progress(const struct scopes *scopes, const struct scope_task *task)
{
	for (size_t i = task->count; i > 0; i--) {
		const struct scope *scope = &scopes->list.data[task->first + i - 1];

		if (scope->has_progress)
			return scope;
	}
	return NULL;
}

/* Whether `task` is a better choice for scopes_oldest() than `found`. */
static bool is_better(const struct scopes *scopes, const struct scope_task *task,
		      const struct scope_task *found)
{
	if (!found)
		return true;
	if (task->is_idle != found->is_idle)
		return found->is_idle;
	return scopes_innermost(scopes, task)->age_ns > scopes_innermost(scopes, found)->age_ns;
}

const struct scope_task *scopes_oldest(const struct scopes *scopes)
{
	const struct scope_task *found = NULL;

	for (size_t i = 0; i < scopes->tasks.count; i++) {
		const struct scope_task *task = &scopes->tasks.data[i];

		if (task->count && is_better(scopes, task, found))
			found = task;
	}
	return found;
}

bool scope_rate(const struct scope *scope, double *ret)
{
	if (!scope->has_progress || scope->age_ns == 0 || scope->count == 0)
		return false;
	*ret = (double)scope->count * NS_PER_SECOND / (double)scope->age_ns;
	return true;
}

bool scope_time_left(const struct scope *scope, uint64_t *ret_ns)
{
	double rate, left_ns;

	if (scope->total == 0 || !scope_rate(scope, &rate))
		return false;
	if (scope->count >= scope->total) {
		*ret_ns = 0;
		return true;
	}
	left_ns = (double)(scope->total - scope->count) / rate * NS_PER_SECOND;
	if (left_ns >= (double)INT64_MAX)
		return false;
	*ret_ns = (uint64_t)left_ns;
	return true;
}
