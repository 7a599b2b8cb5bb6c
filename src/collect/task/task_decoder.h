/* SPDX-License-Identifier: MIT */
/*
 * Turns records of the task iterator into rows of a snapshot.
 *
 * metrics.def says which member of a record is which metric.  Values that take more than a
 * conversion of units are calculated as the kernel does for /proc.
 */
#ifndef COLLECT_TASK_DECODER_H
#define COLLECT_TASK_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct affinity_lists;
struct snapshot;
struct task_record;

#define DECODER_SECTIONS 8

/* A metric that is decoded: all that is needed for each record, in few bytes. */
struct decoded_metric {
	uint16_t id;
	uint16_t word; /* of the section, which begins with the bits of what is present */
	uint8_t bit;
	uint8_t raw;
	bool is_of_process;
	bool is_doubtful; /* records may have values that are impossible */
};

/* Set the first members; the rest, all zeros, is the decoder's own.  Owns nothing. */
struct task_decoder {
	struct snapshot *snapshot;
	struct raw_scale scale;
	struct affinity_lists *affinity; /* NULL: masks are not decoded */
	int64_t boottime_offset_ns;	 /* of our time namespace */
	uint64_t boottime_ns;		 /* now; a wait longer than its task's life is impossible */
	uint32_t withheld;  /* a bit for each gate whose metrics records have, though not counted */
	const bool *wanted; /* metrics of threads; NULL: all */

	uint64_t present[DECODER_SECTIONS];	      /* members that some record had, by section */
	struct decoded_metric metrics[METRIC_STORED]; /* section by section */
	uint16_t ends[DECODER_SECTIONS]; /* where those of a section end; all 0 before the first */
};

/*
 * Adds a task, its process when that is new, and their values.  Impossible values are left out and
 * counted in the snapshot's tally.  Returns 0 or -ENOMEM.
 */
int task_decoder_add(struct task_decoder *decoder, const struct task_record *record,
		     uint32_t cgroup);

/* When a record's task was started, in the clock that snapshots use. */
uint64_t task_decoder_start_ns(const struct task_decoder *decoder,
			       const struct task_record *record);

/* The same of any time since boot that the kernel has in a record. */
uint64_t task_decoder_time_ns(const struct task_decoder *decoder, uint64_t start_boottime);

/* A bit for each section of a record that has metrics which are wanted. */
uint32_t task_decoder_sections(const struct task_decoder *decoder);

/* Call after the last record: notes which metrics this kernel does not have.  0 or -ENOMEM. */
int task_decoder_finish(const struct task_decoder *decoder);

#endif
