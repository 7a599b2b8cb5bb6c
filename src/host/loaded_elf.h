/* SPDX-License-Identifier: MIT */
/*
 * A program or library as it lies in the memory of a process: what its segments and its table of
 * dynamic symbols say, without a look at its file.
 *
 * The memory is a stranger's, who can have anything there and change it meanwhile: every size
 * and every walk is bounded, nothing is followed that memory alone vouches for, and what comes out
 * is the stranger's word about itself.
 */
#ifndef HOST_LOADED_ELF_H
#define HOST_LOADED_ELF_H

#include <stdint.h>

#include "host/elf_inspect.h"

struct target_memory;

struct loaded_elf {
	/* What memory tells: header, segments; the rest is all zeros until it is asked for. */
	struct elf_findings findings;
	uint64_t bias;		  /* what to add to an address of the file */
	uint64_t start, end;	  /* addresses of its segments */
	uint64_t note, note_size; /* where the notes are that may hold its id */
};

/*
 * `header` is the address of its ELF header.  Returns 0; -EBADMSG when there is none, or one of
 * another machine, or with its segments not right behind it; or what reading said.
 */
int loaded_elf_read(const struct target_memory *memory, uint64_t header, struct loaded_elf *ret);

/* Fills in the build id, if there is one: 0, or what reading said. */
int loaded_elf_read_id(const struct target_memory *memory, struct loaded_elf *elf);

/*
 * Fills in the symbols of elf_symbols.def that it has for others to use, by its GNU hash
 * table.  Returns 0, -ENODATA without such a table, -EBADMSG, or what reading said.
 */
int loaded_elf_read_symbols(const struct target_memory *memory, struct loaded_elf *elf);

/* The same for one of them. */
int loaded_elf_read_symbol(const struct target_memory *memory, struct loaded_elf *elf,
			   enum elf_symbol symbol);

#endif
