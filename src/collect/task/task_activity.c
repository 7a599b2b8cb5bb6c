/* SPDX-License-Identifier: MIT */
/* Walks that look at activity: see bpf/activity.bpf.h. */
#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "task_activity.skel.h"
#include "collect/activity/activity_reader.h"
#include "collect/activity/activity_stacks.h"
#include "collect/cgroup/cgroup_paths.h"
#include "collect/collector.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_iterator.h"
#include "collect/task/task_iterator_parts.h"
#include "collect/task/task_record.h"
#include "host/bpf.h"

void task_activity_begin(struct task_iterator *iterator, struct activity_reader *reader, bool only)
{
	iterator->active->bss->activity_walk = activity_reader_begin(reader);
	iterator->active->bss->threads_per_user = reader->threads_per_user;
	iterator->active->bss->stacks_per_user = ACTIVITY_STACKS_PER_USER;
	iterator->active->bss->threads_left_out = 0;
	iterator->active->bss->with_stacks = activity_reader_wants_stacks(reader);
	iterator->active->bss->only_activity = only;
	iterator->active->bss->with_activity = 1;
	reader->activity.walk_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int task_activity_take(struct task_iterator *iterator, struct activity_reader *reader,
		       const struct task_decoder *decoder, const struct task_record *record)
{
	int status = activity_reader_add(reader, decoder, record);

	if (!activity_reader_wants_stacks(reader))
		iterator->active->bss->with_stacks = 0;
	return status;
}

void task_activity_end(struct task_iterator *iterator, struct activity_reader *reader)
{
	reader->activity.walk_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - reader->activity.walk_ns;
	reader->activity.threads_left_out = iterator->active->bss->threads_left_out;
	iterator->active->bss->only_activity = 0;
	iterator->active->bss->with_activity = 0;
}

/* A walk for activity alone. */
struct activity_walk {
	struct task_iterator *iterator;
	struct capture *capture;
	struct task_decoder decoder;
	struct cgroup_paths *cgroups; /* NULL: any will do */
};

static void walk_clear(struct activity_walk *walk)
{
	cgroup_paths_free(walk->cgroups);
	snapshot_free(walk->capture->snapshot);
}

static int take_active(void *context, struct task_record *record)
{
	struct activity_walk *walk = context;
	const struct task_fields *task = record->task;
	struct capture *capture = walk->capture;
	uint32_t cgroup = 0;
	int status = 0;

	if (!record->activity || task->pid == 0 || task->tgid == 0)
		return 0;
	if (walk->cgroups)
		status = cgroup_paths_find(
			walk->cgroups,
			task->present >> TASK_BIT_cgroup_id & 1 ? task->cgroup_id : 0,
			(int32_t)task->tgid, (int32_t)task->pid, &cgroup);
	if (status == -ENOMEM)
		return status;
	if (walk->cgroups &&
	    !capture_wants_cgroup(capture, snapshot_text(capture->snapshot, cgroup)))
		return 0;
	return task_activity_take(walk->iterator, &capture->sampling->activity, &walk->decoder,
				  record);
}

static ssize_t consume(void *context, const void *bytes, size_t length)
{
	const struct activity_walk *walk = context;

	return task_records_each(bytes, length, task_affinity_words(walk->capture->host),
				 take_active, context);
}

/* Paths of cgroups need a snapshot that keeps them. */
static int open_cgroups(struct activity_walk *walk)
{
	struct capture *capture = walk->capture;
	int status = snapshot_new(&capture->snapshot);

	if (status < 0)
		return status;
	walk->cgroups = cgroup_paths_new(capture->host, capture->snapshot,
					 &capture->tallies[SOURCE_CGROUP]);
	return walk->cgroups ? 0 : -ENOMEM;
}

int task_iterator_activity(struct task_iterator *iterator, struct capture *capture,
			   struct error *error)
{
	CLEANUP(walk_clear)
	struct activity_walk walk = {
		.iterator = iterator,
		.capture = capture,
		.decoder = { .scale = capture->scale,
			     .boottime_offset_ns = host_boottime_offset_ns(capture->host) },
	};
	int status = capture->options->cgroup ? open_cgroups(&walk) : 0;

	if (status == 0) {
		task_activity_begin(iterator, &capture->sampling->activity, true);
		status = host_bpf_iterate(iterator->fd, 0, consume, &walk);
		task_activity_end(iterator, &capture->sampling->activity);
	}
	return status < 0 ? host_bpf_explain(status, error) : 0;
}
