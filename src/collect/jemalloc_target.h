/* SPDX-License-Identifier: MIT */
/*
 * The heap counters of the threads of one process, read from its memory while
 * it runs.
 *
 * What is read there is a stranger's, and reading may wait for the stranger; so
 * this is run aside (host/aside.h), and everything that it needs is in the
 * struct, which owns it.
 */
#ifndef COLLECT_JEMALLOC_TARGET_H
#define COLLECT_JEMALLOC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/jemalloc_layout.h"

struct target_thread {
	int32_t tid;
	uint32_t row;
	uint64_t pointer; /* thread pointer, 0 when the iterator did not tell */

	bool is_read;
	uint64_t allocated, deallocated;
};

struct jemalloc_target {
	int process; /* directory fd of the process */
	int32_t tgid;
	struct target_part {
		bool present;
		struct scouted_file file;
		struct address_range place;
	} parts[PART_COUNT];
	bool misses_files;  /* parts that are not present may be in files that cannot be opened */
	bool in_executable; /* the holder is the executable */
	struct jemalloc_layout layout;
	struct target_thread *threads;
	size_t count;
	size_t listed; /* of the process, also those that had ended when they were listed */

	/* The outcome. */
	enum jemalloc_tag tag;
	int error;
	const char *pointers; /* who told the thread pointers, in a word */
	size_t read;
	uint64_t stopped_ns;
};

void jemalloc_target_free(struct jemalloc_target *target); /* NULL is allowed */

/* For aside_run(): the context is the target. */
void jemalloc_target_read(void *context);

#endif
