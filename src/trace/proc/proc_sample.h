/* SPDX-License-Identifier: MIT */
/*
 * Samples of threads and processes from /proc: identity, state, and what was used since the start.
 *
 * A thread's files are read through a directory fd of the thread, so that no value comes from
 * another thread that gets the same number.  Parsing is pure.
 */
#ifndef TRACE_PROC_SAMPLE_H
#define TRACE_PROC_SAMPLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/proc/proc_file.h"
#include "model/tree/tree_event.h"
#include "trace/bpf/counters.h"

struct deadline_threads;
struct host;

/*
 * Whether reading failed because we lack descriptors or memory, so that it would fail for any
 * task.
 */
static inline bool proc_sample_is_shortage(int status)
{
	return status == -EMFILE || status == -ENFILE || status == -ENOMEM;
}

struct proc_sample {
	char state;
	char comm[TREE_COMM_SIZE];
	int32_t parent_pid;
	bool has_executed; /* it did an exec: PF_FORKNOEXEC is not set */
	uint64_t start_ns; /* CLOCK_BOOTTIME, in whole ticks */
	uint64_t image;	   /* changes with each exec; 0: not known, or in the middle of an exec */
	struct amounts counters;
	uint64_t waited_ns; /* CPU time of children that the process waited for, in whole ticks */
	bool has_peak;
	uint64_t peak_rss_bytes;
	bool has_uid;
	uint64_t uid; /* effective user */
	bool is_dead; /* it ended and was not reaped */
	int status;   /* then: as wait() has it, or 0 without the right to see it */
};

/* Parse stat, schedstat, io and status of a task.  Values that the text lacks stay unchanged. */
bool proc_sample_parse_stat(const char *text, uint64_t tick_ns, struct proc_sample *sample);
void proc_sample_parse_schedstat(const char *text, struct proc_sample *sample);
void proc_sample_parse_io(const char *text, struct proc_sample *sample);
void proc_sample_parse_status(const char *text, struct proc_sample *sample);

/*
 * Whether two start times are of one task: those of events are a little late, those of /proc are
 * whole ticks.
 */
bool proc_sample_is_start(const struct host *host, uint64_t one_ns, uint64_t other_ns);

/*
 * Reads all files of a thread; files that can block are left out when they do, or without a
 * reader.  0, -ESRCH when the thread is gone, or another negative errno.
 */
int proc_sample_thread(const struct host *host, struct deadline_threads *reader, int32_t pid,
		       int32_t tid, struct proc_sample *ret);

/* Reads a process, from its stat alone.  CPU time and faults include all its threads ever. */
int proc_sample_process(const struct host *host, int32_t pid, struct proc_sample *ret);

/*
 * The exit status of a process as wait() has it, from its pidfd: kernels since 6.15 keep it there
 * once the process was reaped.  False when it is not known, or not yet.
 */
bool proc_sample_pidfd_status(int pidfd, int *ret);

/* Whether we may see the exit status of a process that ended. */
bool proc_sample_may_see_status(const struct host *host, int32_t pid);

/* Whether this kernel lists the children of a thread (CONFIG_PROC_CHILDREN). */
bool proc_sample_knows_children(const struct host *host);

/* Adds the current children of a thread to the list. */
int proc_sample_list_children(const struct host *host, int32_t pid, int32_t tid,
			      struct proc_numbers *children);

/*
 * Reads the command line, at most TREE_ARGUMENTS_MAX bytes; `ret` points into the buffer.  -ESRCH
 * when the process is gone or did not begin at `start_ns` (0: not known), -ETIMEDOUT when the read
 * blocks.
 */
int proc_sample_arguments(const struct host *host, struct deadline_threads *reader, int32_t pid,
			  uint64_t start_ns, char buffer[TREE_ARGUMENTS_MAX + 2],
			  struct tree_exec *ret);

#endif
