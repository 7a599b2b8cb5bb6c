/* SPDX-License-Identifier: MIT */
/*
 * What a tracer sends about stacks: copies of stacks that were made in the kernel, and the mappings of
 * processes, which say what their addresses mean.
 *
 * All of it is sent from drain_stacks() of the tracer, and is valid during the call only.  Mappings come before
 * the stacks that were copied after them.  Times are of CLOCK_MONOTONIC.
 */
#ifndef TRACE_TRACER_STACK_H
#define TRACE_TRACER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/code/unwind.h"
#include "model/profile/profile.h"
#include "model/tree/tree_event.h"

#define TRACER_KERNEL_FRAMES 64
#define TRACER_SCOPE_LABELS 40

/* Open scopes of libtaskscope when the stack was copied: as struct tree_scope_key has them. */
struct tracer_stack_scopes {
	uint64_t area_ns;
	uint16_t labels[TRACER_SCOPE_LABELS];
	size_t count;
};

struct tracer_stack {
	enum profile_kind kind;
	struct task_key task; /* whose stack it is */
	char comm[TREE_COMM_SIZE];
	uint64_t time_ns;   /* when it was copied */
	uint64_t weight_ns; /* how long it was there: a sampling period, or a time off the CPU */
	uint64_t begin_ns;  /* when the time off the CPU began; 0 on the CPU */
	uint8_t reason;	    /* enum wait_reason, off the CPU and of a waker */
	uint32_t syscall;   /* its number, or UINT32_MAX: in none */
	uint64_t object;    /* as in struct tree_wait_event */
	bool is_inferred; /* the block itself was not captured: take the last stack of the same thread,
			       syscall, instruction and stack pointer; registers has only these two, if them */
	bool is_open;	  /* it was still blocked when the watch ended */
	struct task_key woken;	/* PROFILE_WAKER: whose wait it ended */
	const uint64_t *kernel; /* innermost first; NULL when it was in user mode or is not known */
	size_t kernel_count;
	bool has_user;	     /* the copy is valid */
	bool is_kernel_only; /* there is no user stack: a thread of the kernel, or one that ends */
	struct stack_copy user;
	struct tracer_stack_scopes scopes;
};

enum tracer_image {
	TRACER_MAP,  /* a mapping was made */
	TRACER_EXEC, /* the process runs another program: its old mappings are gone */
	TRACER_FORK, /* a process has the mappings of its parent */
	TRACER_END,  /* of a process */
};

struct tracer_image_event {
	enum tracer_image type;
	int32_t pid;
	uint64_t time_ns;
	int32_t parent_pid;			    /* TRACER_FORK */
	uint64_t start, end, offset, device, inode; /* TRACER_MAP, from here on */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: not known */
	const char *path;
};

/* Both return 0 or -ENOMEM, which ends the drain. */
struct tracer_stack_sink {
	int (*stack)(void *context, const struct tracer_stack *stack);
	int (*image)(void *context, const struct tracer_image_event *event);
	void *context;
};

/* What was asked for; all zeros: no stacks. */
struct tracer_stack_options {
	uint32_t frequency_hz; /* of samples on the CPU; 0: none */
	uint64_t
		off_cpu_min_ns; /* a block that is as long always has a stack; 0: off-CPU stacks are not taken */
};

/* Totals so far. */
struct tracer_stack_losses {
	uint64_t dropped,
		dropped_ns;	 /* stacks that found the ring full, and the time they stood for */
	uint64_t dropped_cpu_ns; /* of dropped_ns: on the CPU */
	uint64_t unread;	 /* user stacks that could not be read */
	uint64_t images;	 /* records of mappings that found their ring full */
	uint64_t unseen; /* wakings after long blocks, so that these have no frames of the kernel */
	uint64_t wakers; /* stacks of wakers that were left out, so as not to take too many */
	/* Off-CPU time in blocks that have no stack of their own, by kind: */
	uint64_t short_ns; /* shorter than off_cpu_min_ns and not sampled */
	uint64_t fault_ns; /* in page faults whose stack was not copied */
};

#endif
