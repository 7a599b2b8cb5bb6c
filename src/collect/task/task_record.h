/* SPDX-License-Identifier: MIT */
/* Parses one record of the task iterator (bpf/task.h). */
#ifndef COLLECT_TASK_RECORD_H
#define COLLECT_TASK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/task.h"

/* The sections, in the buffer that the record was read into; NULL for those it lacks. */
struct task_record {
	const struct task_fields *task; /* never NULL */
	const uint64_t *cpus;		/* never NULL */
	const struct group_fields *group;
	const struct delay_fields *delay;
	const struct stats_fields *stats;
	const struct name_fields *name;
	const struct activity_fields *activity;
};

/*
 * Parses the first record of a buffer.  Returns its size; 0 when the buffer ends before the record
 * does; or -EBADMSG for bytes that the iterator cannot have written.  The task's tid, tgid and
 * start time are present and in range; tid or tgid is 0 when the task was just exiting.  `bytes`
 * must be aligned for 64-bit values.
 */
int task_record_parse(const void *bytes, size_t length, size_t affinity_words,
		      struct task_record *ret);

#endif
