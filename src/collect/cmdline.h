/* SPDX-License-Identifier: MIT */
/*
 * Command lines, read beside the capture.
 *
 * To copy a command line the kernel takes the lock on the target's memory map,
 * and a process can sit on that lock for as long as it likes.  So a thread reads
 * them, and the capture waits for it for half a second at most, counted over all
 * waits; what is not there by then is absent.  A thread that is stuck is left
 * alone: it owns a share of the queue, which lives on until it comes back.
 *
 * A recorded tree has no locks: its command lines are read on the spot.
 */
#ifndef COLLECT_CMDLINE_H
#define COLLECT_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMDLINE_MAX 4096 /* bytes that are kept; a longer one ends in "..." */

struct capture;
struct cmdline_queue;

/* Returns 0 and a queue to finish, or a negative errno. */
int cmdline_start(bool live, struct cmdline_queue **ret);

/* Hands over the directory fd of a process; the queue closes it. */
void cmdline_add(struct cmdline_queue *queue, uint32_t process_row, int dir);

/*
 * Waits for what was handed over, stores it in the snapshot's processes and
 * counts it.  Ends the queue, also on failure: 0 or -ENOMEM.
 */
int cmdline_finish(struct cmdline_queue *queue, struct capture *capture);

/*
 * Makes one line of a command line's bytes: NULs between words become blanks, and one of CMDLINE_MAX
 * bytes ends in "...".
 */
size_t cmdline_join(char *bytes, size_t length);

#endif
