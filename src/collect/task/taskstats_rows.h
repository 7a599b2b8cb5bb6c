/* SPDX-License-Identifier: MIT */
/* Fills cells of a snapshot's rows from the kernel's taskstats answers. */
#ifndef COLLECT_TASKSTATS_ROWS_H
#define COLLECT_TASKSTATS_ROWS_H

struct capture;
struct taskstats_socket;

/*
 * Asks for the missing values of tasks that the iterator did not list, whose rows come last.
 * Counts into the capture's tallies and the snapshot's readings, and sets reasons for absent
 * values.  Without a socket it asks nothing, and only counts that it did not.  0 or -ENOMEM.
 */
int taskstats_rows_fill(struct capture *capture, struct taskstats_socket *socket);

#endif
