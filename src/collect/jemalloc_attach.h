/* SPDX-License-Identifier: MIT */
/*
 * Heap counters of one process after the other, once it is known which file of it has jemalloc.
 * Only for jemalloc.c.
 */
#ifndef COLLECT_JEMALLOC_ATTACH_H
#define COLLECT_JEMALLOC_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "collect/jemalloc_layout.h"
#include "collect/jemalloc_scout.h"
#include "collect/jemalloc_tally.h"
#include "collect/proc_file.h"
#include "host/offset_cache.h"

struct capture;
struct slow_users;

struct known_layout {
	struct scouted_file file;
	bool is_executable;
	uint64_t user; /* of the process that led to it */
	struct jemalloc_layout layout;
};

/* Set the members up to `reading`; the rest, all zeros, is what all processes share. */
struct attachment {
	struct capture *capture;
	const struct scout *scout;
	struct slow_users *slow;    /* who kept us waiting */
	struct time_budget budget;  /* for learning where counters are */
	struct time_budget reading; /* for reading them as well */
	ARRAY_OF(struct known_layout) layouts;
	struct offset_cache cache;
	bool has_cache;
	uint32_t *first_tasks; /* rows of each process's tasks: from its own up to the next one's */
	struct proc_buffer buffer;
	struct jemalloc_tally tally;
};

void attachment_clear(struct attachment *attachment);

#define UNKNOWN_USER UINT64_MAX

/* The user that a process runs as, or UNKNOWN_USER. */
uint64_t attachment_user(const struct attachment *attachment, uint32_t process);

/* Opens it for whoever needs it. */
const struct offset_cache *attachment_cache(struct attachment *attachment);

/* Whether it is known already where the jemalloc of a file keeps its counters. */
bool attachment_knows(struct attachment *attachment, const struct scouted_file *file,
		      bool is_executable, uint32_t process);

/*
 * Reads a process that was scouted and found to have jemalloc; counts and notes what
 * becomes of it.  0 or -ENOMEM.
 */
int attachment_read(struct attachment *attachment, const struct scouted_process *scouted,
		    uint32_t process);

#endif
