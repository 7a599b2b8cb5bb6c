/* SPDX-License-Identifier: MIT */
/*
 * Mini debug information: a small ELF file with a symbol table, packed with xz into the section
 * .gnu_debugdata of a stripped program (as Fedora ships them).  Only in a confined child.
 */
#ifndef HOST_CODE_MINI_DEBUG_H
#define HOST_CODE_MINI_DEBUG_H

#include <stddef.h>

typedef struct Elf Elf;

#define MINI_DEBUG_MAX ((size_t)32 << 20) /* bytes, unpacked */

/*
 * Unpacks it.  Returns 0 and bytes for the caller to free, -ENODATA when there is none, -EFBIG,
 * -EBADMSG or -ENOMEM.
 */
int mini_debug_unpack(Elf *elf, char **ret, size_t *ret_size);

#endif
