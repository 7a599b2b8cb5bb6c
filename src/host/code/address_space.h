/* SPDX-License-Identifier: MIT */
/*
 * What a program has mapped where.  A process has an address space for each program that it runs (each exec); a
 * fork copies that of its parent.  It is filled from the kernel's records of each mapping, or from /proc
 * while the process lives, and stays valid after its end.
 */
#ifndef HOST_ADDRESS_SPACE_H
#define HOST_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

#define CODE_BUILD_ID_MAX 20

/* Executable memory; others need not be added.  Names are copied. */
struct code_mapping {
	uint64_t start, end;
	uint64_t offset;	/* in the file */
	uint64_t device, inode; /* 0: not known */
	uint8_t build_id[CODE_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: not known */
	const char *path;      /* in the root of the process; "[vdso]", "//anon", ... */
};

struct address_space;

/* NULL when there is no memory.  `pid` is where its files may be found while it lives. */
struct address_space *address_space_new(struct code *code, int32_t pid, uint64_t start_ns);
struct address_space *address_space_copy(const struct address_space *parent, int32_t pid,
					 uint64_t start_ns);
/* Sets when its process started, if that was not known. */
void address_space_identify(struct address_space *space, uint64_t start_ns);
/* Sets when its program began (CLOCK_MONOTONIC): what was made before is not its own. */
void address_space_begin(struct address_space *space, uint64_t begin_ns);
/* Never that of another: a process has another one for each program that it runs. */
uint64_t address_space_number(const struct address_space *space);
void address_space_free(struct address_space *space); /* NULL is allowed */

/* Adds a mapping, in place of what was there.  0, -E2BIG or -ENOMEM. */
int address_space_map(struct address_space *space, const struct code_mapping *mapping);
/* Adds all mappings of the process as it is now.  0 or a negative errno (-ESRCH: it is gone). */
int address_space_read(struct address_space *space);

#endif
