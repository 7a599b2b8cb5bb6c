/* SPDX-License-Identifier: MIT */
/*
 * Memory of each process by kind of page, from smaps_rollup: every key that the
 * kernel has, as readings, and the sums that are metrics.
 *
 * Costly: the kernel walks the process's page tables and holds the lock on its
 * memory map meanwhile.  So this is done only when it is asked for, after all
 * that is quick, by threads (collect/reader_pool.h) with a deadline for each
 * process; and what it took is noted.
 */
#ifndef COLLECT_SMAPS_H
#define COLLECT_SMAPS_H

struct capture;

/* Does nothing unless it was asked for.  0 or -ENOMEM. */
int smaps_collect(struct capture *capture);

#endif
