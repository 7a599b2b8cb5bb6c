/* SPDX-License-Identifier: MIT */
/*
 * Lists all tasks in one walk through the kernel, by a BPF program that is loaded once and run for
 * each sample.
 */
#ifndef COLLECT_TASK_ITERATOR_H
#define COLLECT_TASK_ITERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/gate.h"

struct capture;
struct error;
struct host;
struct task_iterator;

/*
 * Loads the program, with_activity the one that can also look at that.  0, or a negative errno with a
 * sentence that a person can act on.
 */
int task_iterator_open(const struct host *host, const struct gate gates[GATE_COUNT],
		       bool with_activity, struct task_iterator **ret, struct error *error);
void task_iterator_close(struct task_iterator *iterator); /* NULL is allowed */

/*
 * Adds the rows and values of the tasks that are wanted; leaves ordering (snapshot_finish) and the
 * reasons for absent values to the caller.  If activity is due, this walk looks at it, too.  0, or a negative errno with a sentence.
 */
int task_iterator_list(struct task_iterator *iterator, struct capture *capture,
		       struct error *error);

/*
 * Walks only for the sampling's activity, of the tasks that are wanted; needs a program that was
 * loaded for that.  0, or a negative errno with a sentence.
 */
int task_iterator_activity(struct task_iterator *iterator, struct capture *capture,
			   struct error *error);

enum process_change {
	PROCESS_GONE,
	PROCESS_EXECUTED, /* it exists, but runs another program now */
	PROCESS_SAME,
};

/*
 * Walks once more, quickly, and finds out what became of the processes of some rows, which are in
 * ascending order.  For a process that still exists, what was read by its pid belongs to it.  For
 * one that is also the same program, it belongs to the program that the snapshot shows.  0, or a
 * negative errno with a sentence.
 */
int task_iterator_confirm(struct task_iterator *iterator, const struct capture *capture,
			  const uint32_t *rows, enum process_change *ret, size_t count,
			  struct error *error);

#endif
