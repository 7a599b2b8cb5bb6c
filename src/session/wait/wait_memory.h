/* SPDX-License-Identifier: MIT */
/*
 * Memory of processes whose threads wait for a futex.
 *
 * A page may belong to a file system that never answers, and whoever fetches it cannot be ended, not
 * even by SIGKILL.  So children read, which are left alone at a deadline, and only pages that are in
 * memory already.
 */
#ifndef SESSION_WAIT_MEMORY_H
#define SESSION_WAIT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/wait/futex_word.h"

/* What is at an address, read twice in a row. */
struct wait_words {
	bool is_wanted;
	uint64_t address;
	uint32_t words[2][FUTEX_WORDS];
	size_t counts[2]; /* how many could be read */
	bool is_late;
};

/* One for each thread of a process.  All zeros is empty and valid. */
struct wait_memory {
	struct wait_words *list; /* shared with the child that reads */
	size_t count;
};

/* Makes a list of `count` words of which none is wanted.  0 or -ENOMEM. */
int wait_memory_init(struct wait_memory *memory, size_t count);
void wait_memory_clear(struct wait_memory *memory);

/*
 * Reads those that are wanted, below a process's directory, with half of the time until the deadline
 * (CLOCK_MONOTONIC).  Those that were not reached are late.
 */
void wait_memory_read(struct wait_memory *memory, int process, uint64_t deadline_ns);

/*
 * Whether another process maps the file or shared memory that a process has at an address, so that
 * both share what is there.  False when that is not known by the deadline.
 */
bool wait_memory_is_shared(int process, uint64_t address, int other, uint64_t deadline_ns);

#endif
