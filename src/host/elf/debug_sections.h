/* SPDX-License-Identifier: MIT */
/*
 * The sections of an ELF file by their names, and how to use those with debug information
 * (.debug_*) of a file that may be hostile.  Only in a confined child.
 */
#ifndef HOST_DEBUG_SECTIONS_H
#define HOST_DEBUG_SECTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct named_section {
	Elf_Scn *section;
	GElf_Shdr header;
	const char *name;
};

/* Moves on to the next section that has bytes in the file; false at the end. */
bool named_section_next(Elf *elf, struct named_section *section);
/* The first section of that name that has bytes in the file. */
bool named_section_find(Elf *elf, const char *name, struct named_section *ret);

/*
 * Checks how much memory the debug sections would take, before a library unpacks any of them.
 * Returns 0, -EFBIG when they have more than `limit` bytes or compressed ones more than
 * `packed_limit`, or -EBADMSG for a size that no compression can reach.
 */
int debug_sections_check(Elf *elf, uint64_t file_size, uint64_t limit, uint64_t packed_limit);

/* The bytes of one section, as the library has them in memory. */
struct debug_text_range {
	const char *start, *end;
};

#define DEBUG_TEXT_RANGES 16 /* .debug_info, .debug_str, .debug_line_str, and any .debug_types */

/* Where the texts of debug information are. */
struct debug_texts {
	struct debug_text_range ranges[DEBUG_TEXT_RANGES];
	size_t count;
};

/* Must follow dwarf_begin_elf(), which unpacks the sections in place. */
void debug_texts_find(Elf *elf, struct debug_texts *ret);
/* Whether a text ends within its section: the library does not check that. */
bool debug_text_has_end(const struct debug_texts *texts, const char *text);

#endif
