/* SPDX-License-Identifier: MIT */
/* Moments of this host, as they come. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "model/snapshot/snapshot.h"
#include "model/wait/link_kind.h"
#include "metric/wait.h"
#include "store/history/history.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_jobs.h"
#include "tui/moment/moment_source.h"

/* A recording that has nothing newer is no longer written; sooner where it was seen to be. */
#define RECORDER_SILENT_NS (60 * NS_PER_SECOND)
#define RECORDER_LATE_NS (5 * NS_PER_SECOND)
#define EVENTS_MOST 100
/* How far back the events of a moment go, so that people see the last ones. */
#define EVENTS_AGE_NS (300 * NS_PER_SECOND)

struct live_source {
	struct moment_source source;
	struct sampling *sampling;
	const struct host *host;
	struct snapshot *before, *now;
	char *store; /* NULL: none */
	struct history *history;
	dev_t device; /* the file that it is */
	ino_t inode;
	uint64_t end_ns; /* of the recording when it was looked at last */
	uint64_t gap_ns; /* the longest time between two ends of it; 0: it was not seen to grow */
	bool was_seen;	 /* a recorder wrote it */
};

#define NO_RECORDER "no recorder runs, which would know the jobs: taskscope record"

#define RECORDER_GONE "the recorder has stopped: taskscope record"

/* The file may have been moved away, and another one begun. */
static void close_old_history(struct live_source *live)
{
	struct stat file;

	if (!live->history || (stat(live->store, &file) == 0 && file.st_dev == live->device &&
			       file.st_ino == live->inode))
		return;
	history_close(live->history);
	live->history = NULL;
	live->end_ns = 0;
}

static bool open_history(struct live_source *live, struct error *error)
{
	struct stat file;

	if (!live->store)
		return false;
	close_old_history(live);
	if (live->history)
		return true;
	if (stat(live->store, &file) < 0 || history_open(live->store, &live->history, error) < 0)
		return false;
	live->device = file.st_dev;
	live->inode = file.st_ino;
	return true;
}

/* Whether somebody writes the recording, by when it grew last. */
static bool is_written(struct live_source *live, uint64_t end_ns, uint64_t now_ns)
{
	uint64_t silent_ns = RECORDER_SILENT_NS, gap_ns = end_ns - live->end_ns;

	if (live->end_ns && end_ns > live->end_ns && gap_ns < RECORDER_SILENT_NS &&
	    gap_ns > live->gap_ns)
		live->gap_ns = gap_ns;
	live->end_ns = end_ns;
	if (live->gap_ns)
		silent_ns =
			3 * live->gap_ns > RECORDER_LATE_NS ? 3 * live->gap_ns : RECORDER_LATE_NS;
	return end_ns + silent_ns >= now_ns;
}

/* A recorder may begin, end, or begin another file at any time. */
static void add_recorded(struct live_source *live, struct moment *moment)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct error ignored = { 0 };
	uint64_t end_ns;

	moment->no_jobs = live->was_seen ? RECORDER_GONE : NO_RECORDER;
	moment->recorder_is_gone = live->was_seen;
	if (!open_history(live, &ignored))
		return;
	end_ns = history_end(live->history);
	if (!is_written(live, end_ns, now_ns))
		return;
	live->was_seen = true;
	moment->recorder_is_gone = false;
	moment_add_past(moment, live->history, now_ns - EVENTS_AGE_NS, end_ns, EVENTS_MOST);
	moment_add_jobs(moment, live->history, live->source.job, now_ns);
	moment->no_jobs = NULL;
}

/* The rates of what was not read a moment ago are known with the next one. */
static int explain_new(struct moment *moment, const struct snapshot *before)
{
	int status = 0;

	for (int id = 0; before && id < METRIC_STORED && status == 0; id++)
		if (metrics[id].kind == KIND_COUNTER && moment->tasks->columns[id].values &&
		    !before->columns[id].values)
			status = snapshot_set_absent(moment->tasks, (enum metric_id)id,
						     "rates need a second sample");
	return status;
}

static void want_live(struct moment_source *source, const bool *wanted)
{
	sampling_want(((struct live_source *)source)->sampling, wanted);
}

static int take_live(struct moment_source *source, const struct move *move, struct moment *ret,
		     struct error *error)
{
	struct live_source *live = (struct live_source *)source;
	struct snapshot *next;
	int status;

	if (move->kind != MOVE_ON)
		return error_set(error, -ENODATA,
				 "this is live, and has no past: --history shows a recording");
	status = sampling_take(live->sampling, &next, error);
	if (status < 0)
		return status;
	snapshot_free(live->before);
	live->before = live->now;
	live->now = next;
	status = moment_make(ret, live->before, live->now);
	if (status == 0)
		status = explain_new(ret, live->before);
	if (status == 0)
		add_recorded(live, ret);
	return status;
}

static struct history *live_jobs(struct moment_source *source, struct error *error)
{
	struct live_source *live = (struct live_source *)source;
	struct error ignored = { 0 };

	if (open_history(live, &ignored))
		return live->history;
	error_set(error, -ENODATA, NO_RECORDER);
	return NULL;
}

/*
 * By the function of the kernel in which it sleeps, which the owner of a process may read.  A futex
 * may be a lock or a condition: the name does not tell.  The directory must be that of the thread,
 * not of another one that got its number: nothing can be opened below it once the thread is gone.
 */
static void read_live_wait(struct moment_source *source, const struct task_key *thread,
			   struct thread_wait *ret)
{
	const struct live_source *live = (const struct live_source *)source;
	CLEANUP(close_fd)
	int directory = proc_open_thread(live->host->proc, thread->pid, thread->tid);
	char channel[64];
	int reason;

	if (directory < 0 || proc_read_start(directory, "wchan", channel, sizeof(channel)) <= 0 ||
	    strcmp(channel, "0") == 0)
		return;
	reason = channel_reason(channel);
	if (strncmp(channel, "futex_", 6) == 0)
		snprintf(ret->what, sizeof(ret->what), "futex");
	else
		snprintf(ret->what, sizeof(ret->what), "%.31s",
			 reason >= 0 ? waits[reason].name : channel);
}

static void close_live(struct moment_source *source)
{
	struct live_source *live = (struct live_source *)source;

	snapshot_free(live->before);
	snapshot_free(live->now);
	history_close(live->history);
	free(live->store);
	free(live);
}

static const struct moment_source_kind live_kind = {
	.is_live = true,
	.take = take_live,
	.read_wait = read_live_wait,
	.jobs = live_jobs,
	.close = close_live,
	.want = want_live,
};

int live_source_open(struct sampling *sampling, const struct host *host, const char *store,
		     struct moment_source **ret, struct error *error)
{
	struct live_source *live = calloc(1, sizeof(*live));

	if (live && store)
		live->store = strdup(store);
	if (!live || (store && !live->store)) {
		free(live);
		return error_set(error, -ENOMEM, "out of memory");
	}
	live->source.kind = &live_kind;
	live->sampling = sampling;
	live->host = host;
	*ret = &live->source;
	return 0;
}
