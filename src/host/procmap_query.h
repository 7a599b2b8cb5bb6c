/* SPDX-License-Identifier: MIT */
/*
 * The files of a process' memory, asked of the kernel one mapping at a time: much
 * quicker than the text of a process with a thousand threads, whose stacks are
 * mappings too.
 */
#ifndef HOST_PROCMAP_QUERY_H
#define HOST_PROCMAP_QUERY_H

#include <stdint.h>

struct process_mapping;
struct process_maps;

/*
 * Adds every mapping of a file, by an fd of the process' `maps`.  Returns 0, -ENOMEM, or another
 * negative errno when this kernel (older than 6.11) or this process cannot be asked; then what was
 * added is to be thrown away.
 */
int procmap_query_files(int fd, struct process_maps *maps);

/*
 * The mapping of a file that holds an address, without its name.  Returns 0, -ENOENT when there is
 * none, or another negative errno as above.
 */
int procmap_query_at(int fd, uint64_t address, struct process_mapping *ret);

#endif
