/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory of each process by kind of page, from smaps_rollup: every key that the kernel
 * has, as readings, and the sums that are metrics.
 *
 * This is slow: the kernel walks the process's page tables and meanwhile holds the lock on its
 * memory map.  So it is done only on request and after everything that is quick, by threads
 * (collect/process/reader_pool.h) with a deadline for each process.  The time that it took is
 * noted.
 */
#ifndef COLLECT_SMAPS_H
#define COLLECT_SMAPS_H

struct capture;

/* Does nothing unless it was asked for.  0 or -ENOMEM. */
int smaps_collect(struct capture *capture);

#endif
