/* SPDX-License-Identifier: MIT */
/*
 * Reads the heap counters of the threads of one process from its memory, while it runs.
 *
 * The memory belongs to another process, and that process can make a read wait.  So this runs in a
 * thread with a deadline (host/deadline_run.h), and the struct owns everything that the thread
 * needs.
 */
#ifndef COLLECT_JEMALLOC_TARGET_H
#define COLLECT_JEMALLOC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/jemalloc/jemalloc_layout.h"
#include "host/elf/loaded_elf.h"

struct target_thread {
	int32_t tid;
	uint32_t row;
	uint64_t pointer; /* thread pointer; 0: the iterator did not report it */

	bool is_read;
	uint64_t allocated, deallocated;
};

struct jemalloc_target {
	int process; /* directory fd of the process */
	int32_t tgid;
	uint64_t interpreter; /* load bias of the dynamic loader */
	bool in_executable;   /* jemalloc is in the executable, not in a library */
	struct target_module {
		uint64_t header; /* its address; 0: not known */
		bool is_read;	 /* elf is set */
		struct loaded_elf elf;
	} executable, holder; /* the holder is the module with jemalloc */
	struct jemalloc_layout layout;

	/*
	 * What the file of the C library says, for when memory lacks the symbols that describe its
	 * threads: before glibc 2.34, and in statically linked programs.
	 */
	bool was_inspected;    /* we have searched for its file, found or not */
	uint64_t library_code; /* an address in it; 0: not found */
	struct elf_findings library;

	struct target_thread *threads;
	size_t count;
	size_t listed; /* threads of the process, with those that had ended when listed */

	/* The outcome. */
	enum jemalloc_tag tag;
	int error;
	const char *pointers; /* one word: where the thread pointers came from */
	size_t read;
	uint64_t stopped_ns;
};

/* Whether reading failed because of missing symbols that the C library's file may have. */
bool jemalloc_target_needs_library(const struct jemalloc_target *target);

void jemalloc_target_free(struct jemalloc_target *target); /* NULL is allowed */

/* For deadline_run(): the context is the target. */
void jemalloc_target_read(void *context);

#endif
