/* SPDX-License-Identifier: MIT */
/*
 * Reads the heap counters of one process after the other: finds the module that has jemalloc, then
 * reads the counters of each thread.  Only for jemalloc.c.
 */
#ifndef COLLECT_JEMALLOC_PROCESS_H
#define COLLECT_JEMALLOC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/jemalloc/jemalloc_find.h"
#include "collect/jemalloc/jemalloc_tally.h"
#include "collect/proc/proc_file.h"

struct capture;

/* Set the members up to `reading`; the rest starts as all zeros. */
struct process_reader {
	struct jemalloc_source *source;
	struct capture *capture;
	struct time_budget learning; /* for learning about files */
	struct time_budget reading;  /* for reading memory as well */
	bool has_sorted;	     /* the threads that the iterator reported */
	struct proc_buffer buffer;
	struct jemalloc_tally tally;
};

#define UNKNOWN_USER UINT64_MAX

/* The user that a process runs as, or UNKNOWN_USER. */
uint64_t process_reader_user(const struct process_reader *reader, uint32_t process);

/*
 * Reads a process, and counts and notes the outcome.  Returns -ENOMEM, or the tag of the outcome:
 * JEMALLOC_READ, JEMALLOC_NOT_FOUND, ...
 */
int process_reader_read(struct process_reader *reader, uint32_t process);

#endif
