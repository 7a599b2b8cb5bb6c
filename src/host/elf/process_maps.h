/* SPDX-License-Identifier: MIT */
/*
 * Reads what the kernel says about a process's memory: which files are mapped and where, and where
 * its program was loaded.
 *
 * Both are read below the directory fd of the process in the proc tree.  So they belong to that
 * process even when its pid is used again (then -ESRCH).  Names may hold any bytes.
 */
#ifndef HOST_PROCESS_MAPS_H
#define HOST_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"

#define PROCESS_MAPPINGS_MAX 65536 /* of files; a process with more is refused */

/* A range of addresses where a file is mapped. */
struct process_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t device; /* in the format of makedev(); of the file system with the inode */
	uint64_t inode;
	bool executable;
	bool shared;	    /* MAP_SHARED: writes reach the file and all who map it so */
	bool first_of_file; /* the lowest executable mapping of its file */
	bool deleted;	    /* the file was deleted; the kernel's mark is cut off the name */
	const char *name;   /* in the root of the process; the kernel's \ooo escapes undone */
};

/* Ascending addresses.  All zeros is empty and valid. */
struct process_maps {
	bool is_of_code; /* all that can be executed, and nothing else; not: all files */
	ARRAY_OF(struct process_mapping) mappings;
	struct arena names;
};

/*
 * Reads `maps`: mappings of files only.  Returns 0, -ESRCH, -EACCES or -EPERM (no right to read
 * it), -EBADMSG for an impossible line, -E2BIG, -ENOMEM.  A kernel thread has none: 0 and an empty
 * list.
 */
int process_maps_read(int process, struct process_maps *ret);
/* The same: executable mappings only, and also those of no file, whose inode is 0: "[vdso]", "". */
int process_maps_read_code(int process, struct process_maps *ret);
void process_maps_clear(struct process_maps *maps);

/* The same from a text, which need not end with a newline. */
int process_maps_parse(const char *text, size_t length, struct process_maps *ret);

/*
 * Asks the kernel for the mappings that are wanted, one at a time, through an fd of the process's
 * `maps`.  That is much quicker than reading the text of a process with a thousand threads, whose
 * stacks are mappings too.  Only for process_maps_read().  Returns 0, -ENOMEM, or another negative
 * errno when this kernel (older than 6.11) or this process cannot be asked; then the caller must
 * discard what was added.
 */
int procmap_query_files(int fd, struct process_maps *maps);

/*
 * Adds a mapping of the file that the kernel names so; cuts off the mark of a deleted file.  Only
 * for those who list mappings.  0, -E2BIG, -ENOMEM.
 */
int process_maps_add(struct process_maps *maps, const struct process_mapping *mapping,
		     const char *name, size_t length);

/* The mapping that holds an address, or NULL.  Gives the file of a module, by an address in it. */
const struct process_mapping *process_maps_at(const struct process_maps *maps, uint64_t address);

/* The first executable mapping of the next file, from index *cursor on; or NULL. */
const struct process_mapping *process_maps_next_file(const struct process_maps *maps,
						     size_t *cursor);

/*
 * Opens the mapped file for reading.  Uses `map_files`, which leads to the same file even if it
 * was deleted or replaced.  Without the capability for that, uses its name below the root of the
 * process, if device and inode are those of the mapping.  Returns an fd; -ESTALE when the name
 * leads to another file; or another negative errno.
 */
int process_mapping_open(int process, const struct process_mapping *mapping);

/*
 * Gets the status of the mapped file through `map_files`: 0, or a negative errno (-EPERM without
 * the capability for that).  Uses only what the kernel knows: it does not ask the file system, so
 * that cannot keep us waiting.  Sets device, inode, mode, owner, size and times of change.
 */
int process_mapping_stat(int process, const struct process_mapping *mapping, struct stat *ret);

/* From the auxiliary vector: 0 where there is no such entry. */
struct program_image {
	uint64_t entry;	      /* AT_ENTRY: minus the file's entry it is the load bias */
	uint64_t interpreter; /* AT_BASE: load bias of the dynamic loader */
};

/* Returns 0, -ESRCH, -EACCES or -EPERM, -ENODATA when there is no AT_ENTRY (a kernel thread). */
int program_image_read(int process, struct program_image *ret);

#endif
