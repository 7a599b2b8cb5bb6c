/* SPDX-License-Identifier: MIT */
/*
 * Keeps from one sample to the next what a process changes only by an exec: its command line, the
 * path of its program, and that it has no jemalloc.
 *
 * A process is identified by its pid and start time.  An exec is noticed by the kernel's count of
 * them and by the address of the arguments.  It is not noticed when a process overwrites its
 * arguments without an exec.
 */
#ifndef COLLECT_PROCESS_FACTS_H
#define COLLECT_PROCESS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"

struct capture;
struct process;
struct walked_process;

struct process_fact {
	int32_t tgid;
	uint64_t start_time_ns;
	uint64_t exec_id;
	uint64_t arg_start;
	uint64_t executable_pages; /* if it changed, a new library may have brought jemalloc */
	bool lacks_jemalloc;
	char *cmdline; /* "" when it has none */
	char *exe;
};

/* All zeros is empty and valid. */
struct process_facts {
	ARRAY_OF(struct process_fact) list; /* sorted by tgid */
};

void process_facts_clear(struct process_facts *known);

/* What is known about the process; NULL when it is new or has executed another program. */
struct process_fact *process_facts_find(const struct process_facts *known,
					const struct process *process,
					const struct walked_process *walked);

/* Replaces the sampling's facts by those of this capture's processes.  0 or -ENOMEM. */
int process_facts_keep(struct capture *capture);

#endif
