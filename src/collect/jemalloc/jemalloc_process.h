/* SPDX-License-Identifier: MIT */
/*
 * Reads the heap counters of one process after the other: finds the module that has jemalloc, then
 * reads the counters of each thread.  Only for jemalloc.c.
 */
#ifndef COLLECT_JEMALLOC_PROCESS_H
#define COLLECT_JEMALLOC_PROCESS_H

#include <stdint.h>

#include "collect/jemalloc/jemalloc_find.h"

#define UNKNOWN_USER UINT64_MAX

/* The user that a process runs as, or UNKNOWN_USER. */
uint64_t heap_reader_user(const struct heap_reader *reader, uint32_t process);

/*
 * Reads a process, and counts and notes the outcome.  Returns -ENOMEM, or the tag of the outcome:
 * JEMALLOC_READ, JEMALLOC_NOT_FOUND, ...
 */
int heap_reader_read(struct heap_reader *reader, uint32_t process);

#endif
