/* SPDX-License-Identifier: MIT */
/*
 * This room reads the heap counters of every thread whose process uses jemalloc, without stopping
 * any thread.
 *
 * It reads two metrics, allocated_bytes and deallocated_bytes, from the memory of other
 * processes.  jemalloc keeps them in thread-local storage.  So the room finds out, for each
 * process, which module contains jemalloc (jemalloc_find.h), where that jemalloc keeps its
 * counters (jemalloc_layout.h), and where each thread has its thread-local storage
 * (jemalloc_target.h).  A failure gets a tag (jemalloc_tags.def), which is counted and reported.
 * A build with -Djemalloc=disabled does not contain this room.
 *
 * Processes share one search if they have the same user, the same program (device, inode, time of
 * change) and the same number of pages of executable memory: they are assumed to have the same
 * libraries.  A process that replaced a library by a jemalloc of exactly the same number of pages
 * would be missed.
 */
#ifndef COLLECT_JEMALLOC_H
#define COLLECT_JEMALLOC_H

#define NO_JEMALLOC "this build has no jemalloc support (-Djemalloc=disabled)"
#define NEEDS_JEMALLOC "a build with -Djemalloc=enabled"

struct capture;
struct jemalloc_source;

/* 0 or -ENOMEM. */
int jemalloc_open(struct jemalloc_source **ret);

/*
 * Adds the counters, a note for each process that has jemalloc, and a tally of all processes.
 * Needs a live host and what process_files_collect() found.  Keeps what it learns about files for
 * the next sample.  0 or -ENOMEM.
 */
int jemalloc_sample(struct jemalloc_source *source, struct capture *capture);

void jemalloc_close(struct jemalloc_source *source); /* NULL is allowed */

#endif
