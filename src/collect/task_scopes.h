/* SPDX-License-Identifier: MIT */
/*
 * What threads of programs that use libtaskscope are doing: the label of each thread's innermost open
 * scope, its age and its progress.
 *
 * Most processes have no such memory, and finding that out is what this costs: one look at a
 * descriptor that is not there.  Only a process with a thread called like the library's heartbeat is
 * searched further.
 */
#ifndef COLLECT_TASK_SCOPES_H
#define COLLECT_TASK_SCOPES_H

struct capture;

/* After snapshot_finish() and process_files_collect().  0 or -ENOMEM: what cannot be read is absent. */
int task_scopes_collect(struct capture *capture);

#endif
