/* SPDX-License-Identifier: MIT */
/*
 * What is known about a running program's memory while its heap counters are read.  Only for
 * jemalloc_target.c and its parts: jemalloc_pointers.c, jemalloc_counters.c, jemalloc_identity.c.
 *
 * Each step returns 0; or -1 after it has set the target's tag, which says what failed.
 */
#ifndef COLLECT_JEMALLOC_VIEW_H
#define COLLECT_JEMALLOC_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/jemalloc/jemalloc_target.h"
#include "host/elf/link_map.h"
#include "host/elf/target_memory.h"
#include "host/elf/thread_list.h"

struct proc_buffer;

/* Members are read when they are needed. */
struct target_view {
	struct jemalloc_target *target;
	pid_t pid;
	struct target_memory memory;

	struct module_list modules;
	struct thread_layout layout;
	bool has_layout;

	/*
	 * Where the module's TLS block is; `block` counts from the thread pointer if it is fixed.
	 */
	struct tls_module module;
	bool is_fixed;
	int64_t block;
};

int view_fail(struct target_view *view, enum jemalloc_tag tag, int error);

/* Reads the layout of the C library's structs, on the first call only. */
int view_read_layout(struct target_view *view);

/* Finds the thread pointers that the iterator did not report. */
int view_find_pointers(struct target_view *view);

/* The number of a thread in the innermost PID namespace; 0 when it has ended. */
int32_t view_inner_tid(int process, int32_t tid, struct proc_buffer *buffer);

/* Reads the counters of all threads that have a pointer. */
int view_read_counters(struct target_view *view);

/*
 * Drops the counters of threads that have ended meanwhile, since other threads may have got their
 * stacks.  If no thread has ended, one system call shows that.
 */
void view_check_threads(struct target_view *view);

#endif
