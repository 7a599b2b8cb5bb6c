/* SPDX-License-Identifier: MIT */
/*
 * Readings of processes and cgroups out of turn: when a job or a step begins or ends.  From /proc and
 * the files of cgroups; at ticks both come with the snapshot.
 */
#ifndef RECORD_JOB_READING_H
#define RECORD_JOB_READING_H

#include "host/deadline_run.h"
#include "host/hierarchy.h"
#include "host/proc/proc_file.h"
#include "record/job/book/job_book.h"

struct host;
struct snapshot;

struct job_reader {
	const struct host *host;
	struct hierarchies trees;
	bool has_trees;
	struct deadline_threads threads;
	char boot_id[64];     /* "": not known */
	uint64_t most_ns;     /* 0: as much CPU time as a mark may take; tests set less */
	uint64_t deadline_ns; /* CLOCK_THREAD_CPUTIME_ID; 0: none */
	uint64_t latest_ns;   /* CLOCK_MONOTONIC: for reads that wait */
};

void job_reader_open(struct job_reader *reader, const struct host *host);
void job_reader_close(struct job_reader *reader);

struct job_instant job_reader_now(const struct job_reader *reader);

/*
 * Marks are taken between two turns of the recorder's loop, so all that one of them reads has to
 * be done in a short time, which begins here.  What is left then counts as of the last tick.  It is
 * CPU time: on a busy host a mark reads as much as on an idle one.
 */
void job_reader_begin(struct job_reader *reader);
bool job_reader_has_time(const struct job_reader *reader);

/* False when the process is gone. */
bool job_read_process(struct job_reader *reader, const struct task_key *key, struct job_use *ret);
/*
 * All descendants of a process that live.  0, -ETIME with those that were found so far, or another
 * negative errno.
 */
int job_list_family(struct job_reader *reader, const struct task_key *root, struct job_family *ret);
/* The same by a tick. */
int job_family_at(const struct snapshot *snapshot, const struct task_key *root,
		  struct job_family *ret);

/* What a cgroup used, as it is now. */
struct job_cgroup {
	bool exists, has_run_time, has_peak;
	uint64_t run_time_ns, peak_bytes;
};

struct job_cgroup job_read_cgroup(struct job_reader *reader, const char *path);
/* The same by a tick. */
struct job_cgroup job_cgroup_at(const struct snapshot *snapshot, const char *path);

#endif
