/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel for the mapped files of a process, one mapping at a time.  That is much quicker
 * than reading the text of a process with a thousand threads, whose stacks are mappings too.
 */
#ifndef HOST_PROCMAP_QUERY_H
#define HOST_PROCMAP_QUERY_H

struct process_maps;

/*
 * Adds every mapping of a file, through an fd of the process's `maps`.  Returns 0, -ENOMEM, or
 * another negative errno when this kernel (older than 6.11) or this process cannot be asked; then
 * the caller must discard what was added.
 */
int procmap_query_files(int fd, struct process_maps *maps);

#endif
