/* SPDX-License-Identifier: MIT */
/*
 * What the active threads of a host did at one moment: those that ran or wanted to, that waited
 * uninterruptibly, or that slept in a system call for less than the time between two looks.
 */
#ifndef MODEL_ACTIVITY_H
#define MODEL_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/scope_layout.h"
#include "metric/wait.h"
#include "model/syscall/syscall.h"

#define ACTIVITY_COMM_SIZE 16
#define ACTIVITY_FRAMES 32

/* A stack in the kernel; the same one has the same hash in each recording. */
struct kernel_stack {
	uint64_t hash;
	const char *frames; /* names of functions, the innermost first, joined with ';' */
};

struct activity_sample {
	int32_t pid, tid;
	uint64_t start_ns; /* of the process, since boot */
	uint32_t uid;	   /* the real one */
	char state;	   /* 'R', 'S', 'D', as ps shows it */
	bool is_on_cpu;
	bool has_call; /* false: in none, or not known since it is on a CPU */
	enum syscall_abi abi;
	uint32_t number;
	enum wait_reason reason; /* of one that waits */
	char comm[ACTIVITY_COMM_SIZE], process_comm[ACTIVITY_COMM_SIZE];
	char scope[SCOPE_LABEL_SIZE];	  /* "": in none */
	const struct kernel_stack *stack; /* NULL: on a CPU, left out, or without names */
};

struct activity {
	uint64_t unix_ns;
	ARRAY_OF(struct activity_sample) samples;
	uint64_t stacks_left_out;  /* because there were too many */
	uint64_t threads_left_out; /* of users who had more than their share, in the scope or not */
	uint64_t walk_ns;	   /* CPU time of the walk, which a tick may have shared */
	const char *no_stacks;	   /* why none has a stack; NULL: they have */
};

/* What it waits for: the name of a reason, or one of these two. */
#define ACTIVITY_RUNNING "running"
#define ACTIVITY_RUNNABLE "runnable"

static inline const char *activity_wait(const struct activity_sample *sample)
{
	if (sample->state == 'R')
		return sample->is_on_cpu ? ACTIVITY_RUNNING : ACTIVITY_RUNNABLE;
	return waits[sample->reason].name;
}

#endif
