/* SPDX-License-Identifier: MIT */
/*
 * Collects what threads of programs that use libtaskscope are doing: the label of each thread's
 * innermost open scope, its age and its progress.
 *
 * Most processes have no scope memory, and for them this costs one check of a descriptor that is
 * not there.  Only a process with a thread that has the name of the library's heartbeat is
 * searched further.
 */
#ifndef COLLECT_TASK_SCOPES_H
#define COLLECT_TASK_SCOPES_H

struct capture;

/*
 * Call after snapshot_finish() and process_files_collect().  What cannot be read is absent.  0 or
 * -ENOMEM.
 */
int task_scopes_collect(struct capture *capture);

#endif
