/* SPDX-License-Identifier: MIT */
/*
 * Finds the program that a process runs: its path, and which file that is.
 *
 * The path is what the kernel shows, also when that ends with " (deleted)".  Kernel threads and
 * zombies run no program, which does not count as a failure.  A recorded tree holds the exe links;
 * they are never followed.
 */
#ifndef COLLECT_EXECUTABLE_H
#define COLLECT_EXECUTABLE_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct walked_process;

/* Allocates capture->images if this capture needs them.  0 or -ENOMEM. */
int executables_begin(struct capture *capture);

/*
 * Reads path and file of one process from its directory fd.  `memory` is false for a process that
 * is known to have no memory: it runs no program, and no rights are needed to know that.  0 or
 * -ENOMEM.
 */
int executable_read(struct capture *capture, int dir, uint32_t process_row, bool memory);

/* Notes the file from what the iterator reported. */
void executable_note(struct capture *capture, uint32_t process_row,
		     const struct walked_process *walked);
void executable_note_none(struct capture *capture); /* for a process without memory */
/*
 * Sets the path from what the iterator reported: another process's path if that is known to be the
 * same, else read by pid.  *ret_row is the process whose path was read; the caller must check that
 * it did not run another program by then.
 */
int executable_find(struct capture *capture, uint32_t process_row,
		    const struct walked_process *walked, uint32_t *ret_row);
/* Reads the path from the directory of the process itself.  0 or -ENOMEM. */
int executable_read_path(struct capture *capture, int dir, uint32_t process_row);

/* Reports when a recording has no exe links at all. */
void executables_end(struct capture *capture);

#endif
