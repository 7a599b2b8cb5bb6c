/* SPDX-License-Identifier: MIT */
/*
 * What our own process uses, read from the kernel.  Any value may be unknown: a host can hide any
 * of these files.
 */
#ifndef LIB_PROCESS_USAGE_H
#define LIB_PROCESS_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/heartbeat/line.h"

struct process_usage {
	struct amount rss, peak_rss, threads, read_bytes, written_bytes;
};

struct process_usage process_usage_read(void);
/* CPU time of all its threads, including those that ended. */
struct amount process_cpu_ns(void);
/* How many CPUs it may run on. */
struct amount process_cpus(void);

/*
 * Reads a small file and ends it with a zero byte.  What does not fit is cut off.  Returns the
 * length or a negative errno.
 */
ssize_t process_read_file(const char *path, char *buffer, size_t capacity);
/* The number after `key`, where that is at the start of a line. */
struct amount process_find_number(const char *text, const char *key);

#endif
