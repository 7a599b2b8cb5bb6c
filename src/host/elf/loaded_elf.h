/* SPDX-License-Identifier: MIT */
/*
 * Reads a program or library from the memory of a process, without its file: its segments and its
 * table of dynamic symbols.
 *
 * The process can have anything in that memory and change it meanwhile.  So every size and every
 * walk is bounded, no pointer is followed unchecked, and the result is only what the process
 * claims about itself.
 */
#ifndef HOST_LOADED_ELF_H
#define HOST_LOADED_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "host/elf/elf_inspect.h"

struct target_memory;

struct loaded_elf {
	/* From memory: header and segments; the rest is all zeros until it is read. */
	struct elf_findings findings;
	uint64_t bias;		  /* what to add to an address of the file */
	uint64_t start, end;	  /* addresses of its segments */
	uint64_t note, note_size; /* where the notes are that may hold its build id */
};

/*
 * `header` is the address of its ELF header.  Returns 0; -ENOEXEC when there is none; -EBADMSG for
 * another machine, or when the program headers do not follow it directly; or the error of a read.
 */
int loaded_elf_read(const struct target_memory *memory, uint64_t header, struct loaded_elf *ret);

/* Fills in the build id, if there is one.  Returns 0 or the error of a read. */
int loaded_elf_read_id(const struct target_memory *memory, struct loaded_elf *elf);

/* An entry of a dynamic section: its tag, and its value, which stays 0 when there is none. */
struct dynamic_value {
	int64_t tag;
	uint64_t value;
};

/*
 * Finds the values of some tags in the dynamic section at an address, which ends after `size`
 * bytes at the latest.  0 or the error of a read.
 */
int dynamic_section_read(const struct target_memory *memory, uint64_t address, size_t size,
			 struct dynamic_value *values, size_t count);

/*
 * Fills in the symbols of elf_symbols.def that the module exports, by its GNU hash table.  Returns
 * 0, -ENODATA when it has no GNU hash table, -EBADMSG, or the error of a read.
 */
int loaded_elf_read_symbols(const struct target_memory *memory, struct loaded_elf *elf);

/* The same for a single symbol. */
int loaded_elf_read_symbol(const struct target_memory *memory, struct loaded_elf *elf,
			   enum elf_symbol symbol);

#endif
