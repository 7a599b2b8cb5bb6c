/* SPDX-License-Identifier: MIT */
/*
 * This room reads a host into a snapshot.  This header has what its collectors share: the capture
 * that they fill, its filters, its gates and the tally of each source.  Other rooms use capture.h.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "collect/activity/activity_reader.h"
#include "collect/capture.h"
#include "collect/cgroup/cgroup_files.h"
#include "collect/gate.h"
#include "collect/host/host_figures.h"
#include "collect/process/process_facts.h"
#include "host/host.h"
#include "metric/metric.h"
#include "model/snapshot/snapshot.h"

/*
 * How many reads of one source succeeded and failed.  A task that vanished does not count as a
 * failure.  Each worker thread has its own tallies, without locks; they are added up at the end.
 */
struct source_tally {
	uint64_t read;
	uint64_t failed;
	int error; /* errno of the latest failure */
	/* Explains the failure better than the errno does, or why there are no values although no
	 * read failed; or NULL.  A static string, or one in the snapshot's arena. */
	const char *reason;
	bool is_partial; /* no read failed, but values are missing: the reason says why */
};

#define PROC_IS_FOREIGN "proc does not show our PID namespace"

struct proc_buffer;

/*
 * What the task iterator reported about a thread or process besides metrics; it saves other sources
 * from reading files.  Rows of the snapshot are reordered later, so these are found by tid or tgid
 * (after collector_sort_...()), not by row.
 */
struct walked_thread {
	int32_t tid;
	uint64_t thread_pointer;
};

struct walked_process {
	int32_t tgid;
	bool has_memory;   /* false: kernel thread, or ended; all from executable_pages on is 0 */
	bool is_sized;	   /* the snapshot has its memory size, or it has no memory */
	bool is_counted;   /* the snapshot has its number of open descriptors */
	uint8_t scope_fds; /* which of the descriptors from SCOPE_FD on are open */
	uint64_t executable_pages; /* differs when processes of one program have other libraries */
	uint64_t exec_id;	   /* how often this process and its ancestors executed a program */
	uint64_t arg_start, arg_end;
	uint64_t exe_device, exe_inode;
	uint64_t exe_path[2]; /* equal for processes whose program has the same path */
};

/* The file that a process runs. */
struct process_image {
	bool present; /* false for kernel threads */
	int error;    /* negative errno that kept us from finding the file, or 0 */
	uint64_t device, inode;
	int64_t changed_ns;  /* mtime */
	bool lacks_jemalloc; /* learned now, or earlier from the same program and libraries */
};

#define PROGRAM_PATHS 256

/* The path of a program that several processes run: it is read for one of them. */
struct program_path {
	uint64_t path[2]; /* as walked_process.exe_path */
	uint32_t exe;	  /* a string of the snapshot; 0 when this slot is free */
	uint32_t row;	  /* of the process whose path was read */
};

/* What is kept from one sample to the next. */
struct sampling {
	const struct host *host;
	struct capture_options options;
	struct gate gates[GATE_COUNT];
	bool proc_is_foreign;		/* proc shows other pids and tids than the iterator does */
	struct task_iterator *iterator; /* NULL: procfs lists the tasks */
	struct error no_iterator;	/* why the iterator does not work, if it was tried */
	const bool *wanted;		/* metrics of threads; NULL: all */
	struct process_facts facts;
	struct host_figure_files figures;
	struct cgroup_sampling cgroups;
	struct activity_reader activity;
	struct gpu_source *gpu;		  /* NULL until the first sample with GPUs */
	struct jemalloc_source *jemalloc; /* NULL until the first sample with heap counters */
};

/* One sample, while it is taken. */
struct capture {
	struct sampling *sampling; /* NULL in tests of single collectors */
	struct error *error;	   /* for a sentence where an errno alone says too little */
	const struct host *host;
	const struct capture_options *options;
	struct snapshot *snapshot;
	struct raw_scale scale;
	struct gate gates[GATE_COUNT];
	struct source_tally tallies[SOURCE_COUNT];
	struct host_clock clock; /* at the start */
	bool has_clock;
	uint64_t tasks_before; /* how many the kernel had when listing began; 0: not known */
	uint64_t tasks_ended;  /* after the iterator listed them, before their files were read */
	bool proc_is_foreign;  /* proc shows the iterator's tasks under other pids and tids */
	uint64_t lost_facts;   /* a bit for each fact about the host that could not be read */
	ARRAY_OF(struct walked_thread) walked_threads;
	ARRAY_OF(struct walked_process) walked_processes;
	struct program_path programs[PROGRAM_PATHS];
	struct process_image *images; /* by row of a process; NULL when they are not needed */
};

/*
 * Sort by tgid or tid what the iterator reported, so that the two functions below can find it.
 * They return NULL for a task that the iterator did not report.
 */
void walked_processes_sort(struct capture *capture);
void walked_threads_sort(struct capture *capture); /* there are many: sort only if needed */
const struct walked_thread *walked_thread_find(const struct capture *capture, int32_t tid);
const struct walked_process *walked_process_find(const struct capture *capture,
						 const struct process *process);

/* Lists tasks from proc.  The caller orders the rows (snapshot_finish).  0 or a negative errno. */
int procfs_list(struct capture *capture);

/* Whether the value of a metric is kept; those of processes are few, and always are. */
static inline bool metric_wanted(const struct capture *capture, enum metric_id id)
{
	const bool *wanted = capture->sampling ? capture->sampling->wanted : NULL;

	return !wanted || wanted[id] || metrics[id].scope != METRIC_OF_THREAD;
}

static inline bool source_wanted(const struct capture *capture, enum source_id id)
{
	if ((id == SOURCE_SMAPS && !capture->options->smaps) ||
	    (id == SOURCE_GPU && !capture->options->gpu) ||
	    (id == SOURCE_JEMALLOC && !metric_wanted(capture, METRIC_allocated_bytes) &&
	     !metric_wanted(capture, METRIC_deallocated_bytes)))
		return false;
	return !(capture->options->without >> id & 1);
}

/* Whether the errno only means that the task has ended, which does not count as a failure. */
static inline bool is_vanished(int status)
{
	return status == -ENOENT || status == -ESRCH;
}

/* Whether the task iterator reports the metric. */
bool source_is_iterated(const struct metric *metric);

/* The first metric that is read from a place; METRIC_STORED when its source is not wanted. */
enum metric_id source_metric(const struct capture *capture, enum source_id id,
			     enum metric_place place);

/* Counts the outcome of one read: a length or 0, or a negative errno. */
void source_count(struct source_tally *tally, int64_t status);

/*
 * The same for a file that every process has.  A recorded process never ends, so if the file is
 * missing there, the recording is incomplete and that counts as a failure.
 */
void source_count_file(const struct capture *capture, struct source_tally *tally, int64_t status);
void source_add_tallies(struct source_tally *into, const struct source_tally *from);

/*
 * Notes that the host does not have this source at all; reads of single tasks would not show that.
 */
void source_set_missing(struct source_tally *tally, const char *reason);

/* The same for a source in proc; it is denied, not missing, if the proc mount hides its files. */
void source_set_unseen(const struct host *host, struct source_tally *tally, const char *reason);

/* Whether the task is known to be a zombie or dead. */
static inline bool task_has_ended(const struct snapshot *snapshot, uint32_t row)
{
	uint64_t state;

	return snapshot_get(snapshot, METRIC_state, row, &state) && (state == 'Z' || state == 'X');
}

/* Whether the sampling can do what its options ask for: 0, or an error with a sentence. */
int sampling_check(const struct sampling *sampling, struct error *error);

/* Notes in the snapshot which tasks were asked for, unless all were. */
void capture_note_filter(struct capture *capture);

/* Whether the process is known to be a kernel thread or a zombie, which have no memory. */
bool process_lacks_memory(const struct capture *capture, uint32_t row);

/* Whether the capture's filters let a process or a cgroup pass. */
bool capture_wants_process(const struct capture *capture, int32_t tgid);
bool capture_wants_cgroup(const struct capture *capture, const char *path);

/* Whether cgroup paths are to be read.  Notes the reason when this host cannot have any. */
bool capture_reads_cgroups(struct capture *capture);

/*
 * Adds to every process of the snapshot what only procfs has: memory size, descriptors, limits,
 * user names, command lines.
 */
int process_files_collect(struct capture *capture);

/*
 * Checks by the leader's start time that the directory fd belongs to the process, not to a newer
 * one with the same pid.  0; -ESRCH when it is another process; or the errno that prevented the
 * check.
 */
int process_check(const struct capture *capture, int dir, const struct process *process,
		  struct proc_buffer *buffer);

/*
 * Opens the directory of the process, or of a living thread when its leader has ended.  Returns an
 * fd; -ESRCH when no thread of it lives; or another negative errno.
 */
int process_open(const struct capture *capture, uint32_t row, struct proc_buffer *buffer);

/*
 * Replaces *dir, the directory of a process whose leader has ended, by that of a living thread;
 * false when there is none.
 */
bool process_find_living(const struct snapshot *snapshot, uint32_t row, int *dir);

/*
 * Reads the name and start time of processes whose leader was not listed because it is in another
 * cgroup than the one that was asked for.  0 or -ENOMEM.
 */
int procfs_name_leaders(struct capture *capture);

/* How many tasks the kernel has, those of other PID namespaces included; 0 when it is not known. */
uint64_t procfs_count_tasks(const struct host *host);

/* Reads tasks that the iterator did not list (see capture_tally.gap_filled). */
int procfs_fill_gaps(struct capture *capture);

/*
 * Asks the kernel for the delays of tasks that the iterator did not list.  Must run before
 * snapshot_finish(), while the rows of these tasks are still the last ones.  0 or -ENOMEM.
 */
int taskstats_collect(struct capture *capture);

/* Around each sample, for its activity. */
void sampling_begin_activity(struct sampling *sampling);
void sampling_end_activity(struct sampling *sampling);

/* The steps of a sample.  Each returns 0, or a negative errno where the sample cannot go on. */
#define COLLECTOR(function, needs_proc) int function(struct capture *capture);
#include "collect/sources.def"

#endif
