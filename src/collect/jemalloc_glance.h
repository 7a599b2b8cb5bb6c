/* SPDX-License-Identifier: MIT */
/*
 * Whether a process uses a jemalloc that was met before, by a quick look at its memory.
 *
 * A child that reads the files of processes (collect/jemalloc_scout.h) costs as much as reading
 * the counters of a thousand threads.  Where offsets of a file are kept already, that file has
 * jemalloc in it, and the rest is told by what the process has loaded.  The kernel says which
 * file that is; all else is the process's word about itself, read within bounds, as its
 * counters are.  Nothing is kept by it, and what is not as usual is left to the scout.
 */
#ifndef COLLECT_JEMALLOC_GLANCE_H
#define COLLECT_JEMALLOC_GLANCE_H

#include <stdint.h>

#include "collect/jemalloc_attach.h"

/*
 * Reads a process of the capture if a glance at it tells all that is needed: 1.  Returns 0 when it
 * is for the scout, or -ENOMEM.  Files of `scout`, which is the attachment's, are replaced.
 */
int glance_read(struct attachment *attachment, struct scout *scout, uint32_t process);

#endif
