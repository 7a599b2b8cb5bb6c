/* SPDX-License-Identifier: MIT */
/*
 * From the kernel's answers to the cells of a snapshot's rows.
 */
#ifndef COLLECT_TASKSTATS_ROWS_H
#define COLLECT_TASKSTATS_ROWS_H

struct capture;
struct taskstats_socket;

/*
 * Asks for what is missing of the tasks that the iterator did not list, whose
 * rows come last; counts into the capture's tallies and the snapshot's readings,
 * and gives reasons.  Without a socket nothing is asked, and only that is counted.
 * 0 or -ENOMEM.
 */
int taskstats_rows_fill(struct capture *capture, struct taskstats_socket *socket);

#endif
