/* SPDX-License-Identifier: MIT */
/*
 * Shapes of programs whose limit is known because they are built to have it: shapes.c lists them,
 * `shapes MILLISECONDS NAME [FILE]` plays one.  Each spends its time until `end_ns` in one way.
 */
#ifndef WORKLOADS_SHAPES_H
#define WORKLOADS_SHAPES_H

#include "workload.h"

struct scene {
	uint64_t end_ns;
	const char *path; /* the third argument, or NULL */
};

/* shapes_threads.c: what threads and processes do to each other */
void play_deadlock(const struct scene *scene);
void play_rwlock(const struct scene *scene);
void play_semaphore(const struct scene *scene);
void play_imbalance(const struct scene *scene);
void play_hand_over(const struct scene *scene);
void play_collector(const struct scene *scene);
void play_ticker(const struct scene *scene);

/* shapes_spin.c: CPU time that brings nothing */
void play_yield(const struct scene *scene);
void play_empty_reads(const struct scene *scene);
void play_zero_polls(const struct scene *scene);

/* shapes_calls.c: what the kernel does for it */
void play_opens(const struct scene *scene);
void play_one_refusal(const struct scene *scene);
void play_memory_fsync(const struct scene *scene);

/* shapes_files.c: files that are not in memory */
void play_aio_reads(const struct scene *scene);
void play_ring_reads(const struct scene *scene);
void play_reads_and_sums(const struct scene *scene);
void play_mapped_reads(const struct scene *scene);

#endif
