/* SPDX-License-Identifier: MIT */
/*
 * Reads command lines in threads beside the capture (see reader_pool.h), since the kernel takes
 * the lock on the process's memory map to copy one.  The capture waits for half a second at most,
 * summed over all waits; a command line that is not there by then is absent.
 */
#ifndef COLLECT_CMDLINE_H
#define COLLECT_CMDLINE_H

#include <stddef.h>
#include <stdint.h>

#define CMDLINE_MAX 4096 /* bytes that are kept; a longer one ends in "..." */

struct capture;
struct reader_pool;

/*
 * Returns 0 and a pool that stores the command lines in the snapshot's processes and counts them,
 * to be ended by reader_pool_finish(); or a negative errno.
 */
int cmdline_start(struct capture *capture, struct reader_pool **ret);

/* Hands over the directory fd of a process; the pool closes it. */
void cmdline_add(struct reader_pool *pool, uint32_t process_row, int dir);

/*
 * Adds a process by its pid alone.  The caller checks afterwards that the pid still belongs to the
 * same process.
 */
void cmdline_add_number(struct reader_pool *pool, const struct capture *capture,
			uint32_t process_row);

/*
 * Turns the bytes of a command line into one line: NULs between words become blanks, and a line of
 * CMDLINE_MAX bytes ends in "...".
 */
size_t cmdline_join(char *bytes, size_t length);

#endif
