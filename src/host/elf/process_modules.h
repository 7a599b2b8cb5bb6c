/* SPDX-License-Identifier: MIT */
/*
 * Lists the programs and libraries that a process has in its memory: which file each one is, from
 * the kernel's map of the process, and what its ELF header says, from the memory itself.  No file
 * is opened.
 *
 * The map comes from the kernel and can be trusted.  The headers are only what the process
 * claims.  If a file is not on a disk and the page with its header is not in memory, the header is
 * not read: fetching the page could wait for a file system that never answers.
 */
#ifndef HOST_PROCESS_MODULES_H
#define HOST_PROCESS_MODULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"
#include "host/elf/loaded_elf.h"
#include "host/elf/process_maps.h"

#define PROCESS_MODULES_MAX 4096 /* a process with more is refused */

struct process_module {
	const struct process_mapping *mapping; /* the lowest executable one of its file */
	bool is_executable;		       /* the program itself, not a library */
	uint64_t header;		       /* its address */
	int status;	       /* 0: elf is set; -EAGAIN: not in memory; or why it cannot be read */
	struct loaded_elf elf; /* with its build id */
};

/* Ascending addresses.  All zeros is empty and valid. */
struct process_modules {
	struct process_maps maps;
	struct program_image image; /* all zeros when it is not known */
	ARRAY_OF(struct process_module) list;
};

/*
 * `process` is the directory fd of process `pid`.  Executable mappings of files that are not ELF
 * are left out.  Returns 0, -E2BIG, or a negative errno of process_maps_read().  May wait for the
 * process's lock on its own map.
 */
int process_modules_read(int process, pid_t pid, struct process_modules *ret);
void process_modules_clear(struct process_modules *modules);

#endif
