/* SPDX-License-Identifier: MIT */
#include "collect/activity/activity_scopes.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/scope/scope_reader.h"
#include "model/record/activity.h"
#include "model/scope/scopes.h"

void activity_scopes_clear(struct activity_scopes *scopes)
{
	number_map_clear(&scopes->by_pid);
	array_free(&scopes->users);
}

void activity_scopes_note(struct activity_scopes *scopes, int32_t pid, uint64_t start_ns)
{
	struct scope_user user = { .pid = pid, .start_ns = start_ns };

	if (array_append(&scopes->users, user) == 0)
		(void)number_map_set(&scopes->by_pid, pid, (void *)scopes->users.count);
}

static struct scope_user *user_of(const struct activity_scopes *scopes,
				  const struct activity_sample *sample)
{
	size_t place = (size_t)number_map_get(&scopes->by_pid, sample->pid);
	struct scope_user *user = place ? &scopes->users.data[place - 1] : NULL;

	return user && user->start_ns == sample->start_ns ? user : NULL;
}

static void label_thread(struct activity *activity, int32_t pid, int32_t tid, const char *label)
{
	for (size_t i = 0; i < activity->samples.count; i++) {
		struct activity_sample *sample = &activity->samples.data[i];

		if (sample->pid == pid && sample->tid == tid)
			snprintf(sample->scope, sizeof(sample->scope), "%s", label);
	}
}

/* A process that cannot be read any more has no labels. */
static void label_process(const struct host *host, const struct scope_user *user,
			  struct activity *activity)
{
	CLEANUP(scope_reader_close_pointer) struct scope_reader *reader = NULL;
	CLEANUP(scopes_free) struct scopes scopes = { 0 };
	struct error error = { 0 };

	if (scope_reader_open(host, user->pid, SCOPE_SEARCH_ALL, &reader, &error) < 0 ||
	    scope_reader_read(reader, false, &scopes, &error) < 0 || !scopes.is_on)
		return;
	for (size_t i = 0; i < scopes.tasks.count; i++) {
		const struct scope_task *task = &scopes.tasks.data[i];
		const struct scope *scope = scopes_innermost(&scopes, task);

		if (scope)
			label_thread(activity, user->pid, task->tid, scope->label);
	}
}

void activity_scopes_label(struct activity_scopes *scopes, const struct host *host,
			   struct activity *activity)
{
	if (scopes->users.count == 0)
		return;
	for (size_t i = 0; i < activity->samples.count; i++) {
		struct scope_user *user = user_of(scopes, &activity->samples.data[i]);

		if (user)
			user->is_active = true;
	}
	for (size_t i = 0; i < scopes->users.count; i++) {
		if (!scopes->users.data[i].is_active)
			continue;
		label_process(host, &scopes->users.data[i], activity);
		scopes->users.data[i].is_active = false;
	}
}
