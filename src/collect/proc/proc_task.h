/* SPDX-License-Identifier: MIT */
/*
 * Reads one process: what all readers share, and what each reader has of its own.  Only for
 * proc_reader.c and the two files that do the reading.
 */
#ifndef COLLECT_PROC_TASK_H
#define COLLECT_PROC_TASK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "collect/proc/affinity.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"
#include "collect/proc/proc_parse.h"
#include "collect/proc/proc_reader.h"

/* Files of a task with metrics in them, in the order of reading. */
enum proc_file {
	PROC_STATUS,
	PROC_SCHEDSTAT,
	PROC_SCHED,
	PROC_IO,
	PROC_STAT,
	PROC_FILES,
};

struct proc_file_info {
	const char *name;
	enum source_id source;
	enum metric_place place;
	enum metric_place group_place; /* the same file of the whole process, 0 for none */
	void (*parse)(const char *text, const struct proc_plan *plan, struct proc_values *ret);
	const char *missing; /* why a kernel may not have it */
};

extern const struct proc_file_info proc_files[PROC_FILES];

struct proc_context {
	struct capture *capture;
	const struct proc_job *jobs;
	size_t job_count;
	atomic_size_t next_job;
	uint8_t *keep;	/* NULL when is_listed */
	bool is_listed; /* the iterator made the rows: they stay, and only gain what it lacks */

	struct proc_plan plans[PROC_FILES]; /* no items: the file is not read */
	atomic_bool missing[PROC_FILES];    /* this kernel does not have the file */
	bool wants_cgroup;
	bool wants_group;    /* some plan has items for the whole process */
	enum metric_id cpus; /* the metric with the affinity, METRIC_STORED for none */
	/* NULL: the kernel cannot be asked, since proc shows other numbers than system calls use */
	struct affinity_lists *affinity;
	pthread_mutex_t strings; /* guards the snapshot's dictionary and the lists */
};

/* The text that was interned last: neighbouring tasks mostly have the same. */
struct proc_interned {
	struct text text;
	uint32_t id;
};

/* The sums over a process's threads of one file's group items. */
struct proc_sums {
	uint64_t sum[PROC_ITEMS];
	uint32_t measured[PROC_ITEMS]; /* threads that had the value */
};

/* What the files of a whole process say. */
struct proc_group {
	uint64_t threads;
	struct proc_values values[PROC_FILES];
};

struct proc_reader {
	struct proc_context *context;
	int status; /* -ENOMEM when it had to give up */

	struct proc_buffer buffer;
	struct proc_values values;
	struct proc_interned comm, cgroup, cpus;

	/* About the task being read; counted only if the task is kept. */
	int64_t outcomes[SOURCE_COUNT];
	uint32_t tried; /* a bit for each source with an outcome */
	unsigned negative, discarded;

	bool leader_spoke; /* the process has got its leader's values */

	struct proc_sums sums[PROC_FILES];
	struct proc_group before, after;

	struct source_tally tallies[SOURCE_COUNT];
	struct capture_tally tally;
	uint64_t tasks_ended; /* see struct capture */
};

/* Whether the file is to be read: it has wanted metrics, and this kernel has the file. */
bool proc_is_read(const struct proc_context *context, enum proc_file file);

/* Stores an item's value in a row.  An impossible value is counted instead. */
void proc_store_item(struct proc_reader *reader, const struct proc_item *item, uint64_t raw,
		     uint32_t row);

/* Notes how a source did for the task being read: a length or 0, or a negative errno. */
void proc_set_outcome(struct proc_reader *reader, enum source_id source, int64_t status);

/* The number of a text in the snapshot's dictionary.  0 or -ENOMEM. */
int proc_intern(struct proc_reader *reader, struct proc_interned *last, const char *text,
		size_t length, uint32_t *ret);

/*
 * A task's CPUs (proc_cpus.c).  proc_needs_cpus() asks the kernel for them, and returns whether
 * the status file is still needed.  proc_find_cpus() takes them from that file once it was read.
 * proc_no_cpus_reason() is the reason for when only that file would have had them; NULL: the errno
 * explains it.
 */
bool proc_needs_cpus(struct proc_reader *reader, int32_t tid, uint32_t row);
int proc_find_cpus(struct proc_reader *reader, uint32_t row);
const char *proc_no_cpus_reason(int status);

/*
 * The share of a process's dead threads (proc_group.c).  Call begin before its threads are read,
 * add for each file's values as they are parsed, and end if all threads were kept.
 */
void proc_group_begin(struct proc_reader *reader, int process);
void proc_group_add(struct proc_reader *reader, enum proc_file file);
void proc_group_end(struct proc_reader *reader, const struct proc_job *job, int process);

/* Reads one job; false when memory ran out. */
bool proc_read_job(struct proc_reader *reader, const struct proc_job *job);
void proc_reader_clear(struct proc_reader *reader);

#endif
