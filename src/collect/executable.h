/* SPDX-License-Identifier: MIT */
/*
 * The program that a process runs: its path, and which file that is.
 *
 * The path is the kernel's word, also when it says " (deleted)".  Kernel threads
 * and zombies run none, which is no failure.  A recorded tree holds the links,
 * which are never followed.
 */
#ifndef COLLECT_EXECUTABLE_H
#define COLLECT_EXECUTABLE_H

#include <stdbool.h>
#include <stdint.h>

struct capture;

/* Makes room for capture->images where they are of use.  0 or -ENOMEM. */
int executables_begin(struct capture *capture);

/*
 * Reads both for one process from its directory fd.  A process that is known to
 * have no memory runs no program, which no right is needed to know.  0 or -ENOMEM.
 */
int executable_read(struct capture *capture, int dir, uint32_t process_row, bool memory);

/* Says so when a recording has no links at all. */
void executables_end(struct capture *capture);

#endif
