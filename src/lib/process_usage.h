/* SPDX-License-Identifier: MIT */
/*
 * What the own process uses, as its kernel tells.  Everything may be unknown: a host can hide any of
 * these files.
 */
#ifndef LIB_PROCESS_USAGE_H
#define LIB_PROCESS_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/line.h"

struct process_usage {
	struct amount rss, peak_rss, threads, read_bytes, written_bytes;
};

struct process_usage process_usage_read(void);
/* CPU time of all its threads, also of those that ended. */
struct amount process_cpu_ns(void);
/* CPUs that it may run on. */
struct amount process_cpus(void);

/* A small file, with a zero at its end: the length, or a negative errno.  What is beyond is cut. */
ssize_t process_read_file(const char *path, char *buffer, size_t capacity);
/* The number that follows `key` at the start of a line. */
struct amount process_find_number(const char *text, const char *key);

#endif
