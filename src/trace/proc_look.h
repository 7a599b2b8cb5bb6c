/* SPDX-License-Identifier: MIT */
/*
 * What /proc shows of a thread at one moment: who it is, what it used since it began, and how it
 * stands.
 *
 * Reading goes through a directory fd of the thread, which stays with it, so that no value is of
 * another one with the same number.  Parsing is pure.
 */
#ifndef TRACE_PROC_LOOK_H
#define TRACE_PROC_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/tree_event.h"
#include "trace/counters.h"

struct host;

struct proc_look {
	char state;
	char comm[TREE_COMM_SIZE];
	int32_t parent_pid;
	bool has_executed; /* it, or who it was forked from, ran an exec since: see PF_FORKNOEXEC */
	uint64_t start_ns; /* CLOCK_BOOTTIME, in whole ticks */
	uint64_t image;	   /* differs from one program that it runs to the next; 0: not known, or
			    * in the middle of an exec, which is not one that it ran yet */
	struct thread_counters counters;
	uint64_t waited_ns; /* CPU time of children that the process waited for, in whole ticks */
	bool has_peak;
	uint64_t peak_rss_bytes;
	bool is_dead; /* it ended and was not waited for */
	int status;   /* then, as wait() has it, if we have the right to look; else 0 */
};

/* stat, schedstat, io and status of a task; what is not in the text stays as it is. */
bool proc_look_parse_stat(const char *text, uint64_t tick_ns, struct proc_look *look);
void proc_look_parse_schedstat(const char *text, struct proc_look *look);
void proc_look_parse_io(const char *text, struct proc_look *look);
void proc_look_parse_status(const char *text, struct proc_look *look);

/* Whether system calls know tasks by the numbers that this proc shows. */
bool proc_look_is_ours(const struct host *host);

/* A thread, with all files.  0, -ESRCH when it is gone, or another negative errno. */
int proc_look_thread(const struct host *host, int32_t pid, int32_t tid, struct proc_look *ret);

/* A whole process, by its stat alone: CPU time and faults are those of all its threads ever. */
int proc_look_process(const struct host *host, int32_t pid, struct proc_look *ret);

/* Whether `status` of a process that ended is shown to us. */
bool proc_look_may_see_status(const struct host *host, int32_t pid);

struct proc_tasks {
	ARRAY_OF(int32_t) list;
};

/* The threads of a process, replacing what was there.  0, -ESRCH, -ENOMEM, or another errno. */
int proc_look_list_threads(const struct host *host, int32_t pid, struct proc_tasks *ret);

/* Whether this kernel lists the children of a thread (CONFIG_PROC_CHILDREN). */
bool proc_look_knows_children(const struct host *host);

/* Adds the children that a thread has now. */
int proc_look_list_children(const struct host *host, int32_t pid, int32_t tid,
			    struct proc_tasks *tasks);

/* All processes, replacing what was there. */
int proc_look_list_processes(const struct host *host, struct proc_tasks *ret);

/* The command line, at most TREE_ARGUMENTS_MAX bytes.  `ret` points into the buffer. */
int proc_look_arguments(const struct host *host, int32_t pid, char buffer[TREE_ARGUMENTS_MAX + 1],
			struct tree_exec *ret);

#endif
