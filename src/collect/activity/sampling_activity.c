/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "collect/task/task_iterator.h"

void sampling_plan_activity(struct sampling *sampling)
{
	sampling->activity.is_due = sampling->options.activity;
}

void sampling_limit_activity(struct sampling *sampling, uint32_t threads_per_user)
{
	sampling->activity.threads_per_user = threads_per_user;
}

/* A sample finds out anew which processes have scopes. */
void sampling_begin_activity(struct sampling *sampling)
{
	activity_scopes_clear(&sampling->activity.scopes);
	sampling->activity.is_taken = false;
}

void sampling_end_activity(struct sampling *sampling)
{
	if (sampling->activity.is_due && sampling->iterator)
		activity_reader_finish(&sampling->activity);
	sampling->activity.is_due = false;
}

int sampling_take_activity(struct sampling *sampling, struct error *error)
{
	struct capture capture = {
		.sampling = sampling,
		.host = sampling->host,
		.options = &sampling->options,
		.scale = { sampling->host->tick_ns, sampling->host->page_bytes },
	};
	const char *why = sampling_lacks_activity(sampling);
	int status;

	sampling->activity.is_taken = false;
	if (why)
		return error_set(error, -ENOTSUP, "%s", why);
	status = task_iterator_activity(sampling->iterator, &capture, error);
	if (status == 0)
		activity_reader_finish(&sampling->activity);
	return status;
}

struct activity *sampling_activity(struct sampling *sampling)
{
	return sampling->activity.is_taken ? &sampling->activity.activity : NULL;
}

const char *sampling_lacks_activity(const struct sampling *sampling)
{
	if (!sampling->options.activity)
		return "activity was not asked for";
	if (sampling->iterator)
		return NULL;
	return sampling->no_iterator.message[0] ?
		       sampling->no_iterator.message :
		       "activity takes the BPF task iterator, and procfs "
		       "lists the tasks";
}
