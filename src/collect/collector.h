/* SPDX-License-Identifier: MIT */
/*
 * What collectors share: the capture they work for, its filters, its gates and
 * the tallies of each source.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "collect/capture.h"
#include "collect/gate.h"
#include "host/host.h"
#include "metric/metric.h"
#include "model/snapshot.h"

/*
 * How one source did.  A vanished task is no failure.  Tallies are plain
 * numbers: each worker has its own, and they are added up at the end.
 */
struct source_tally {
	uint64_t read;
	uint64_t failed;
	int error; /* errno of the latest failure */
	/* Says more than the errno, or why all went well and gave nothing; or NULL.  Static, or in
	 * the snapshot's arena. */
	const char *reason;
	bool is_partial; /* the reason is why it is not all there, although no read failed */
};

#define PROC_IS_FOREIGN "proc does not show our PID namespace"

struct proc_buffer;

/*
 * What the iterator tells about memory, for sources that read it.  Rows are put
 * in order afterwards, so these are found by number, once they are sorted.
 */
struct thread_seen {
	int32_t tid;
	uint64_t thread_pointer;
};

struct process_seen {
	int32_t tgid;
	uint64_t
		executable_pages; /* mapped: tells processes of one program apart by their libraries */
};

/* The file that a process runs. */
struct process_image {
	bool present; /* kernel threads run none */
	int error;    /* negative errno why it is not known, or 0 */
	uint64_t device, inode;
	int64_t changed_ns; /* mtime */
};

struct capture {
	const struct host *host;
	const struct capture_options *options;
	struct snapshot *snapshot;
	struct raw_scale scale;
	struct gate gates[GATE_COUNT];
	struct source_tally tallies[SOURCE_COUNT];
	struct host_clock clock; /* at the start */
	bool has_clock;
	uint64_t tasks_ended; /* listed by the iterator, and gone before their files were read */
	bool proc_is_foreign; /* the iterator listed tasks that proc has under other numbers */
	uint64_t lost_facts;  /* a bit for each fact about the host that could not be learned */
	ARRAY_OF(struct thread_seen) threads_seen;
	ARRAY_OF(struct process_seen) processes_seen;
	struct process_image *images; /* by row of a process; NULL when they were not looked at */
};

/* Order what was seen by number, so that it can be found; NULL when the iterator saw no such. */
void collector_sort_processes_seen(struct capture *capture);
void collector_sort_threads_seen(struct capture *capture); /* many: only for who needs them */
const struct thread_seen *collector_thread_seen(const struct capture *capture, int32_t tid);
const struct process_seen *collector_process_seen(const struct capture *capture, int32_t tgid);

/*
 * A way of listing tasks.  collect() adds rows and values to the snapshot, and
 * fails with a sentence when it does not work here; it leaves ordering
 * (snapshot_finish) and the reasons for absent values to the capture.
 */
struct collector {
	const char *name; /* what the fact task_source says */
	int (*collect)(struct capture *capture, struct error *error);
};

extern const struct collector task_iterator_collector;
extern const struct collector procfs_collector;

static inline bool source_wanted(const struct capture *capture, enum source_id id)
{
	if (id == SOURCE_SMAPS && !capture->options->smaps)
		return false;
	return !(capture->options->without >> id & 1);
}

/* Whether a task that is gone explains the errno: no failure of ours or the kernel's. */
static inline bool is_vanished(int status)
{
	return status == -ENOENT || status == -ESRCH;
}

/* Whether the task iterator has the metric. */
bool source_is_iterated(const struct metric *metric);

/* The first metric that is found at a place; METRIC_STORED when its source is not wanted. */
enum metric_id source_metric(const struct capture *capture, enum source_id id,
			     enum metric_place place);

/* Counts the outcome of one read: a length or 0, or a negative errno. */
void source_count(struct source_tally *tally, int64_t status);

/*
 * The same for a file that the process must have: of a recorded process, which is
 * there for ever, a missing one is a loss.
 */
void source_count_file(const struct capture *capture, struct source_tally *tally, int64_t status);
void source_add_tallies(struct source_tally *into, const struct source_tally *from);

/* The source is not there at all, which no read will tell. */
void source_set_missing(struct source_tally *tally, const char *reason);

/* The same for one whose files are in proc: a mount that does not show them says nothing. */
void source_set_unseen(const struct host *host, struct source_tally *tally, const char *reason);

/* Whether the task is a zombie, or dead, as far as is known. */
static inline bool task_has_ended(const struct snapshot *snapshot, uint32_t row)
{
	uint64_t state;

	return snapshot_get(snapshot, METRIC_state, row, &state) && (state == 'Z' || state == 'X');
}

/* Filters of the capture. */
bool capture_wants_process(const struct capture *capture, int32_t tgid);
bool capture_wants_cgroup(const struct capture *capture, const char *path);

/* Whether cgroup paths are to be read; notes why not when there can be none. */
bool capture_reads_cgroups(struct capture *capture);

/*
 * Adds what procfs alone has to every process of the snapshot: memory size,
 * descriptors, limits, user names, command lines.
 */
int process_files_collect(struct capture *capture);

/*
 * Whether the directory fd is that of the process and not of one that has its
 * number now, by the leader's start time: 0, -ESRCH, or why it cannot be told.
 */
int process_check(const struct capture *capture, int dir, const struct process *process,
		  struct proc_buffer *buffer);

/*
 * A directory fd of the process, or of a living thread when its leader has ended;
 * -ESRCH when nothing of it lives, or why it cannot be told.
 */
int process_open(const struct capture *capture, uint32_t row, struct proc_buffer *buffer);

/*
 * Gives a name and a start time to processes whose leader was not listed, being
 * in another cgroup than the one that was asked for.  0 or -ENOMEM.
 */
int procfs_name_leaders(struct capture *capture);

/* Reads tasks that the iterator did not list (see capture_tally.gap_filled). */
int procfs_fill_gaps(struct capture *capture);

/*
 * Asks the kernel for the delays of tasks that the iterator did not list; before
 * snapshot_finish(), as long as these come last.  0 or -ENOMEM.
 */
int taskstats_collect(struct capture *capture);

#endif
