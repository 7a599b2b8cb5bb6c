/* SPDX-License-Identifier: MIT */
/*
 * This room receives stacks and what their addresses mean:
 *
 *	stack_decoder.h	records of stacks that the BPF programs copied (bpf/tree/tree_stack.h)
 *	cpu_clock.h	the clock of each CPU that makes them sample
 *	image_decoder.h	the kernel's records of mappings, as perf events bring them
 *	image_events.h	the perf events of all CPUs, in the order of time
 *	blocked_stacks.h	stacks of threads that are blocked now
 *
 * Bytes are checked before they are used: sizes against counts, and counts against what they may be.
 */
#ifndef TRACE_STACK_DECODER_H
#define TRACE_STACK_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/tree/tree_stack.h"
#include "trace/stack/blocked_stack.h"
#include "trace/tracer_stack.h"

/* Large: it has room for a stack that the reader copies. */
struct stack_decoder {
	int64_t boottime_offset_ns; /* as struct tree_decoder has it */
	/* Copies the stack of a thread that is still blocked, as blocked_stack_copy() does. */
	ssize_t (*copy)(void *context, const struct blocked_thread *thread, void *ret);
	void *context;
	char bytes[BLOCKED_STACK_MAX];
};

/*
 * Sends the stacks of one record: its own, and one that is inferred where it also stands for other
 * blocks.  Returns 0, -EBADMSG, or what the sink returned.  Tasks outside our PID namespace have no
 * number and give no stacks.
 */
int stack_record_send(const void *bytes, size_t length, struct stack_decoder *decoder,
		      const struct tracer_stack_sink *sink);

#endif
