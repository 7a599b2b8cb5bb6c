/* SPDX-License-Identifier: MIT */
/*
 * The source file and line of an address, and the functions that were inlined there, from DWARF.
 *
 * Split debug information (.dwo) and files that several share (.gnu_debugaltlink) are not followed:
 * that would open files by names that someone else wrote.  The work for one address is bounded,
 * whatever the file contains; beyond that an address has a line and no inlined functions, or
 * nothing.
 * Only in a confined child.
 */
#ifndef HOST_CODE_SOURCE_LINES_H
#define HOST_CODE_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

typedef struct Elf Elf;
struct source_lines;

/* Debug information that is larger, or takes more memory once it is unpacked, is not used. */
#define SOURCE_BYTES_MAX ((uint64_t)2 << 30)
#define SOURCE_PACKED_MAX ((uint64_t)64 << 20)

/* A function at an address.  Texts belong to the struct source_lines. */
struct source_frame {
	const char *function; /* mangled where the file has that; NULL: not known */
	const char *source;   /* NULL: not known */
	uint32_t line; /* of the address; of a function that others are inlined into: of the call */
};

/*
 * `elf` must stay.  Returns 0; -ENODATA when there is no debug information; -EFBIG, -EBADMSG or
 * -ENOMEM.
 */
int source_lines_open(Elf *elf, uint64_t file_size, struct source_lines **ret);
void source_lines_free(struct source_lines *lines); /* NULL is allowed */

/* About how much memory it takes: sections that were unpacked, and tables of lines. */
uint64_t source_lines_bytes(const struct source_lines *lines);

/*
 * The functions at an address, the innermost inlined one first.  Returns how many, 0 when the debug
 * information does not have the address.  Where there are more than `capacity`, the
 * innermost are left out.
 */
size_t source_lines_find(struct source_lines *lines, uint64_t address, struct source_frame *frames,
			 size_t capacity);

#endif
