/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says about a process' memory: which files are mapped into it
 * and where, and where its program was loaded.
 *
 * Both are read below the directory fd of the process in the proc tree, so that
 * they are of that process even when its pid is used again (then -ESRCH).  Names
 * are bytes from strangers.
 */
#ifndef HOST_PROCESS_MAPS_H
#define HOST_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/array.h"

#define PROCESS_MAPPINGS_MAX 65536 /* of files; a process with more is refused */

/* A range of addresses that shows a file. */
struct process_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t device; /* as makedev() makes it: of the file system that has the inode */
	uint64_t inode;
	bool executable;
	bool shared;	    /* writes reach the file, and all others that map it so */
	bool first_of_file; /* the lowest executable mapping of its file */
	bool deleted;	  /* the file has no name any more; the kernel's mark is cut off the name */
	const char *name; /* in the root of the process; the kernel's \ooo escapes undone */
};

/* Ascending addresses.  All zeros is empty and valid. */
struct process_maps {
	ARRAY_OF(struct process_mapping) mappings;
	struct arena names;
};

/*
 * Reads `maps`: mappings of files only.  Returns 0, -ESRCH, -EACCES or -EPERM
 * (no right to look), -EBADMSG for a line that cannot be, -E2BIG, -ENOMEM.
 * A kernel thread has none: 0 and an empty list.
 */
int process_maps_read(int process, struct process_maps *ret);
void process_maps_clear(struct process_maps *maps);

/* The same from a text, which need not end with a newline. */
int process_maps_parse(const char *text, size_t length, struct process_maps *ret);

/* The mapping that holds an address, or NULL: so the file of a module, by an address in it. */
const struct process_mapping *process_maps_at(const struct process_maps *maps, uint64_t address);

/* The next executable mapping of a file that is in none before it, from index *cursor on; or NULL. */
const struct process_mapping *process_maps_next_file(const struct process_maps *maps,
						     size_t *cursor);

/*
 * Opens the mapped file itself for reading: through `map_files`, which names the
 * very file even if it is deleted or replaced, else (without the capability for
 * that) by its name below the root of the process, if device and inode are those of
 * the mapping.  Returns an fd, or -ESTALE when the name leads to another file, or
 * another negative errno.
 */
int process_mapping_open(int process, const struct process_mapping *mapping);

/*
 * The state of the mapped file itself, through `map_files`: 0, or a negative errno (-EPERM without
 * the capability for that).  By what the kernel knows: a file system is not asked, and so it cannot
 * keep us waiting.  Device, inode, mode, owner, size and times of change are set.
 */
int process_mapping_stat(int process, const struct process_mapping *mapping, struct stat *ret);

/* From the auxiliary vector: 0 where there is no such entry. */
struct program_image {
	uint64_t entry;	      /* AT_ENTRY: minus the file's entry it is the load bias */
	uint64_t phdr;	      /* AT_PHDR */
	uint64_t interpreter; /* AT_BASE: load bias of the dynamic loader */
};

/* Returns 0, -ESRCH, -EACCES or -EPERM, -ENODATA when there is no AT_ENTRY (a kernel thread). */
int program_image_read(int process, struct program_image *ret);

#endif
