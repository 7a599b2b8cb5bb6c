/* SPDX-License-Identifier: MIT */
/*
 * The inside of a running program, as far as its heap counters lie there.  Only for
 * jemalloc_target.c and its parts: jemalloc_pointers.c, jemalloc_counters.c.
 *
 * Steps return 0, or -1 once the target has the tag that says what failed.
 */
#ifndef COLLECT_JEMALLOC_ANATOMY_H
#define COLLECT_JEMALLOC_ANATOMY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/jemalloc_target.h"
#include "host/link_map.h"
#include "host/target_memory.h"
#include "host/thread_list.h"

struct proc_buffer;

/* What is known of the running program beyond its files; read when it is needed. */
struct anatomy {
	struct jemalloc_target *target;
	pid_t pid;
	struct target_memory memory;

	struct module_list modules;
	uint64_t bias; /* of the executable */
	struct thread_layout layout;
	bool has_layout;

	/* Where the counters are, from the thread pointer, unless the module has no fixed place. */
	struct tls_module module;
	bool is_fixed;
	int64_t block;
};

int anatomy_fail(struct anatomy *anatomy, enum jemalloc_tag tag, int error);

/* What the C library says of its structs, once. */
int anatomy_read_layout(struct anatomy *anatomy);

/* The thread pointers that the iterator did not tell. */
int anatomy_find_pointers(struct anatomy *anatomy);

/* The number of a thread in the innermost PID namespace; 0 when it has ended. */
int32_t anatomy_inner_tid(int process, int32_t tid, struct proc_buffer *buffer);

/* The counters of all threads that have a pointer. */
int anatomy_read_counters(struct anatomy *anatomy);

/*
 * Drops what was read of threads that have ended meanwhile: it may be of others, who got
 * their stacks.  When nobody ended, which is found out in a moment, all is well.
 */
void anatomy_check_threads(struct anatomy *anatomy);

#endif
