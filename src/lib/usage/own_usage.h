/* SPDX-License-Identifier: MIT */
/*
 * This room measures our own process.
 *
 * What the process and its threads use and do, read from the kernel.  Any value may be unknown: a
 * host can hide any of these files.
 */
#ifndef LIB_OWN_USAGE_H
#define LIB_OWN_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/lines/line.h"

struct process_usage {
	struct amount rss, peak_rss, threads, read_bytes, written_bytes;
};

struct process_usage process_usage_read(void);
/* CPU time of all its threads, including those that ended. */
struct amount process_cpu_ns(void);
/* How many CPUs it may run on. */
struct amount process_cpus(void);

enum { THREAD_WORD_SIZE = 64 };

/* Unknown when the thread does not exist. */
struct amount thread_cpu_ns(pid_t tid);
/* Time in which it was ready to run but had no CPU. */
struct amount thread_delay_ns(pid_t tid);
/* The kernel's letter for its state; 0: unknown. */
char thread_state(pid_t tid);
/* Whether all other threads of the process ended, including the first one. */
bool thread_is_last(void);
/* These are "" when unknown, and where the thread does not wait in the kernel. */
void thread_wait_channel(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_system_call(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_name(pid_t tid, char word[static THREAD_WORD_SIZE]);

/*
 * Reads a small file and ends it with a zero byte.  What does not fit is cut off.  Returns the
 * length or a negative errno.
 */
ssize_t usage_read_file(const char *path, char *buffer, size_t capacity);
/* The number after `key`, where that is at the start of a line. */
struct amount usage_find_number(const char *text, const char *key);

#endif
