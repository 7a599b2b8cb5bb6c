/*
 * Heap counters of every thread whose process uses jemalloc, without stopping any
 * of them.
 *
 * Which processes do, and where each jemalloc keeps its counters, is found out
 * once for each program and set of libraries (jemalloc_scout.h, jemalloc_layout.h); then
 * the memory of each is read (jemalloc_target.h).  What did not work is a tag
 * (jemalloc_tags.def), counted and told.
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
