/* SPDX-License-Identifier: MIT */
/*
 * What a process did with one system call, in a while: between two ticks of a recorder, or in a minute.
 */
#ifndef MODEL_PROCESS_CALL_H
#define MODEL_PROCESS_CALL_H

#include "model/syscall/call_lines.h"
#include "model/tree/tree_event.h"

struct process_call {
	struct task_key
		process; /* the thread is its first one; pid 0: processes that are not known by name */
	struct call_line line;
};

typedef int process_call_sink(void *context, const struct process_call *call);

#endif
