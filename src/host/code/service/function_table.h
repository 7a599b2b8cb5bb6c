/* SPDX-License-Identifier: MIT */
/*
 * The functions of an ELF file, from its symbol tables and from the table of starts in its
 * .eh_frame_hdr, which also has the functions that no symbol names.
 *
 * The file may be hostile: whatever its tables say, a function lies within executable memory of the
 * file.  Only in a confined child.
 */
#ifndef HOST_CODE_FUNCTION_TABLE_H
#define HOST_CODE_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

typedef struct Elf Elf;

#define FUNCTION_NAME_TABLES 7 /* that the names of one file may come from */
#define FUNCTION_SEGMENTS 16   /* executable ones; further ones are ignored */
#define FUNCTION_STARTS_MAX 4000000

/* Addresses as the file has them. */
struct address_range {
	uint64_t start, end;
};

struct function_symbol {
	uint64_t start : 56;
	uint64_t table : 3; /* which one has its name */
	uint64_t rank : 5;  /* of several at one start, the lowest is taken */
	uint32_t size;	    /* 0: not known */
	uint32_t name;
};

/* All zeros is empty and valid. */
struct function_table {
	struct address_range segments[FUNCTION_SEGMENTS];
	size_t segment_count;
	/* Ascending once function_table_finish() was called; one symbol for each start. */
	ARRAY_OF(struct function_symbol) symbols;
	struct {
		const char *bytes; /* end with a NUL */
		size_t size;
	} names[FUNCTION_NAME_TABLES];
	size_t name_tables;
	ARRAY_OF(uint64_t) starts; /* of .eh_frame_hdr, ascending */
};

struct function {
	struct address_range range;
	struct address_range
		same;	  /* addresses that this answer is right for; others may be in it */
	const char *name; /* as the file has it; NULL: none has this address */
	bool is_resolver; /* STT_GNU_IFUNC: chooses one of several functions at run time */
};

/*
 * Notes the executable segments of the program and the starts in its .eh_frame_hdr.  Comes first.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int function_table_begin(struct function_table *table, Elf *elf);
void function_table_clear(struct function_table *table);

/*
 * Adds the symbols of a file: of the program, its debug file, or mini debug information.  The names
 * belong to `elf`, which must stay.  Broken tables add nothing.  Returns 0 or -ENOMEM.
 */
int function_table_add_symbols(struct function_table *table, Elf *elf);

/*
 * Adds names of our own making, one after the other, each with a NUL; they must stay.  Returns the
 * number of their table for function_table_add(), or -E2BIG.
 */
int function_table_add_names(struct function_table *table, const char *names, size_t size);
/* Adds a function that no symbol names.  0 or -ENOMEM. */
int function_table_add(struct function_table *table, uint64_t start, int names, uint32_t name);

/* Makes functions findable; also once more after further ones were added. */
void function_table_finish(struct function_table *table);

/*
 * The function that has the address; false outside of executable memory.  Where there is neither a
 * symbol nor a start, the range has this one address.
 */
bool function_table_find(const struct function_table *table, uint64_t address,
			 struct function *ret);

/* The function of that name; false when there is none. */
bool function_table_find_name(const struct function_table *table, const char *name,
			      struct function *ret);

#endif
