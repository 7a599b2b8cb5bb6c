/* SPDX-License-Identifier: MIT */
/*
 * Heap counters of every thread whose process uses jemalloc, without stopping any
 * of them.
 *
 * Which processes have no jemalloc is found out once for each program; those that
 * may have one are looked at one by one, by the files that each has mapped itself
 * (jemalloc_scout.h).  Where a jemalloc keeps its counters is found out once for
 * each file (jemalloc_layout.h); then the memory of each process is read
 * (jemalloc_target.h).  What did not work is a tag (jemalloc_tags.def), counted and told.
 *
 * "Once for each program" is a guess: processes of one user and one program (device,
 * inode, time of change) with equally many pages of executable memory are taken to have the same
 * libraries.  One that exchanged a library for jemalloc of exactly the same number
 * of pages would be missed.
 */
#ifndef COLLECT_JEMALLOC_H
#define COLLECT_JEMALLOC_H

struct capture;

/*
 * Adds the counters, a note for each process that has jemalloc, and the tally of
 * all.  Needs what process_files_collect() found.  0 or -ENOMEM.
 */
int jemalloc_collect(struct capture *capture);

#endif
