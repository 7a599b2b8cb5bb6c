/* SPDX-License-Identifier: MIT */
/*
 * Names the functions of one ELF file, from its symbol tables, its debug file, its mini debug
 * information and its DWARF.
 *
 * The files may be hostile.  Only in a confined child: the ELF library was not made for hostile
 * files, so one may crash this process or keep it busy, but tells no more than it was asked.
 */
#ifndef HOST_CODE_ELF_NAMES_H
#define HOST_CODE_ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct Elf Elf;

#define ELF_NAMES_MAX 16    /* at one address: a function, and those inlined into it */
#define ELF_SOURCE_MAX 1024 /* bytes of a path, with the NUL; a longer one is left out */

/* Offsets in the texts of an answer; 0: not known. */
struct elf_name {
	uint32_t function;
	uint32_t source;
	uint32_t line;
	uint32_t is_inlined; /* into the next name */
};

/* All zeros is empty and valid. */
struct elf_answer {
	uint64_t start, end;		      /* addresses for which the answer is the same */
	uint64_t function_start;	      /* of the function that was not inlined */
	uint32_t count;			      /* at least 1 */
	struct elf_name names[ELF_NAMES_MAX]; /* the innermost inlined function first */
	struct text texts;		      /* begins with a NUL; each text ends with one */
};
void elf_answer_free(struct elf_answer *answer);

struct elf_names;

/*
 * `program` has `size` bytes, and `debug`, which may be NULL, is its debug file (see
 * host/elf/debug_file.h).  Both are borrowed until elf_names_free().  Returns 0, -EBADMSG for a
 * file that is not ELF for this machine, or -ENOMEM.
 */
int elf_names_open(Elf *program, uint64_t size, Elf *debug, uint64_t debug_size,
		   struct elf_names **ret);
void elf_names_free(struct elf_names *names); /* NULL is allowed */

/* Memory that it takes, at least: what the tables and debug information have. */
uint64_t elf_names_bytes(const struct elf_names *names);

/*
 * Names the code at an address, as the file has addresses.  Replaces what the answer had.  Returns
 * 0, -ENOENT where the file has no code, or -ENOMEM.
 */
int elf_names_find(struct elf_names *names, uint64_t address, struct elf_answer *answer);

#endif
