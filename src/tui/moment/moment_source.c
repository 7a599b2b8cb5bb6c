/* SPDX-License-Identifier: MIT */
#include "tui/moment/moment_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/history/job/history_jobs.h"
#include "tui/moment/moment.h"

int moment_source_take(struct moment_source *source, const struct move *move, struct moment *moment,
		       struct error *error)
{
	struct moment next = { .is_live = source->kind->is_live };
	int status = source->kind->take(source, move, &next, error);

	if (status < 0) {
		moment_clear(&next);
		return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
	}
	moment_clear(moment);
	*moment = next;
	return 0;
}

static int find_job(void *context, const struct job *job)
{
	(void)job;
	*(bool *)context = true;
	return 1;
}

int moment_source_choose_job(struct moment_source *source, const char *name, struct error *error)
{
	const struct job_query query = { .span = { 0, UINT64_MAX }, .name = name, .limit = 1 };
	struct history *history = source->kind->jobs(source, error);
	bool is_found = false;
	int status;

	if (!history)
		return -ENODATA;
	status = history_jobs(history, &query, find_job, &is_found, error);
	if (status < 0)
		return status;
	if (!is_found)
		return error_set(error, -ENODATA, "the recording has no job '%s'", name);
	source->job = name;
	return 0;
}

const char *moment_source_wait(struct moment_source *source, struct moment *moment,
			       const struct task_key *thread, bool may_read)
{
	struct thread_wait wait = { .tid = thread->tid };

	for (size_t i = 0; i < moment->waits.count; i++)
		if (moment->waits.data[i].tid == thread->tid)
			return moment->waits.data[i].what;
	if (!source->kind->read_wait || !may_read)
		return "";
	source->kind->read_wait(source, thread, &wait);
	if (array_append(&moment->waits, wait) < 0)
		return "";
	return moment->waits.data[moment->waits.count - 1].what;
}

void moment_source_close(struct moment_source *source)
{
	if (source)
		source->kind->close(source);
}

void moment_source_close_pointer(struct moment_source **source)
{
	moment_source_close(*source);
}

#define NO_JOBS "a file has no jobs: they are in recordings, which --store and --history show"

struct file_source {
	struct moment_source source;
	struct snapshot *snapshot;
	bool was_taken;
};

static int take_file(struct moment_source *source, const struct move *move, struct moment *ret,
		     struct error *error)
{
	struct file_source *file = (struct file_source *)source;

	(void)move;
	if (file->was_taken)
		return error_set(error, -ENODATA, "the file has one moment only");
	file->was_taken = true;
	ret->no_jobs = NO_JOBS;
	return moment_make(ret, NULL, file->snapshot);
}

static struct history *no_jobs(struct moment_source *source, struct error *error)
{
	(void)source;
	error_set(error, -ENODATA, NO_JOBS);
	return NULL;
}

static void close_file(struct moment_source *source)
{
	struct file_source *file = (struct file_source *)source;

	snapshot_free(file->snapshot);
	free(file);
}

static const struct moment_source_kind file_kind = {
	.take = take_file,
	.jobs = no_jobs,
	.close = close_file,
};

int file_source_open(struct snapshot *snapshot, struct moment_source **ret, struct error *error)
{
	struct file_source *file = calloc(1, sizeof(*file));

	if (!file) {
		snapshot_free(snapshot);
		return error_set(error, -ENOMEM, "out of memory");
	}
	file->source.kind = &file_kind;
	file->snapshot = snapshot;
	*ret = &file->source;
	return 0;
}
