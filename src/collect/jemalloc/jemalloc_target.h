/* SPDX-License-Identifier: MIT */
/*
 * Reads the heap counters of the threads of one process from its memory, while it runs.
 *
 * The memory belongs to another process, and that process can make a read wait.  So this runs in a
 * thread with a deadline (host/deadline_run.h), and the struct owns everything that the thread
 * needs.
 *
 * jemalloc_target.c finds the block that holds the counters, jemalloc_pointers.c finds the thread
 * pointers, jemalloc_counters.c reads the counters.  Each step returns 0; or -1 after it has set
 * the target's tag, which says what failed.
 */
#ifndef COLLECT_JEMALLOC_TARGET_H
#define COLLECT_JEMALLOC_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/jemalloc/jemalloc_find.h"
#include "host/elf/link_map.h"
#include "host/elf/target_memory.h"
#include "host/elf/thread_list.h"

struct target_thread {
	int32_t tid; /* must be first: compare_i32() finds it */
	uint32_t row;
	uint64_t pointer; /* thread pointer; 0: the iterator did not report it */

	bool is_read;
	uint64_t allocated, deallocated;
};

struct jemalloc_target {
	pid_t pid;
	struct module_scan *scan;	   /* what it has loaded, and its directory */
	struct process_module *executable; /* NULL: not known, or it may not be read */
	struct process_module *holder;	   /* the module with jemalloc */
	struct jemalloc_layout layout;

	/*
	 * What the file of the C library says, for when memory lacks the symbols that describe its
	 * threads: before glibc 2.34, and in statically linked programs.
	 */
	bool was_inspected;		   /* we have searched for its file, found or not */
	const struct process_module *libc; /* NULL: not found */
	struct elf_findings libc_findings;

	struct target_thread *threads; /* by tid */
	size_t count;
	size_t listed; /* threads of the process, with those that had ended when listed */

	/* What is read when it is needed. */
	struct target_memory memory;
	struct module_list modules;
	struct thread_layout structs; /* of the C library */
	bool has_structs;

	/*
	 * Where the module's TLS block is; `block` counts from the thread pointer if it is fixed.
	 */
	struct tls_module module;
	bool is_fixed;
	int64_t block;

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

/* ---- the steps ---- */

int target_fail(struct jemalloc_target *target, enum jemalloc_tag tag, int error);

/* Reads the layout of the C library's structs, on the first call only. */
int target_read_structs(struct jemalloc_target *target);

/* Finds the thread pointers that the iterator did not report. */
int target_find_pointers(struct jemalloc_target *target);

/* Reads the counters of all threads that have a pointer. */
int target_read_counters(struct jemalloc_target *target);

#endif
