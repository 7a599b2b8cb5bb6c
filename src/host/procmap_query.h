/*
 * The files of a process' memory, asked of the kernel one mapping at a time: much
 * quicker than the text of a process with a thousand threads, whose stacks are
 * mappings too.
 */
#ifndef HOST_PROCMAP_QUERY_H
#define HOST_PROCMAP_QUERY_H

struct process_maps;

/*
 * Adds every mapping of a file, by an fd of the process' `maps`.  Returns 0, -ENOMEM, or another
 * negative errno when this kernel (older than 6.11) or this process cannot be asked; then what was
 * added is to be thrown away.
 */
int procmap_query_files(int fd, struct process_maps *maps);

#endif
