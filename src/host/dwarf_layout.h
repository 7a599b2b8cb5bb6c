/* SPDX-License-Identifier: MIT */
/*
 * The offsets of jemalloc's counters, from debug information.
 *
 * Looks for `struct tsd_s` among the types that stand directly in a unit, which
 * is where C compilers put it, and takes the constant locations of its two
 * counters.  Units of split debug information (.dwo) and strings that are kept
 * in a file shared by several (.gnu_debugaltlink) are not followed: that would
 * open files by names that a stranger wrote.
 *
 * The file belongs to a stranger: read, never mapped, only in a confined child.
 */
#ifndef HOST_DWARF_LAYOUT_H
#define HOST_DWARF_LAYOUT_H

#include "host/tsd_layout.h"

/* What is looked at before giving up: a walk ends however the file is made. */
#define DWARF_UNITS_MAX 200000
#define DWARF_ENTRIES_MAX 20000000
#define DWARF_BYTES_MAX ((uint64_t)2 << 30) /* all debug sections, decompressed */

/*
 * The fd is open for reading.  Offsets count from the start of the struct, that
 * is of jemalloc's thread-local variable.  Returns 0, -ENODATA when the struct is
 * not there, -EFBIG when a bound was met before it was found, -EBADMSG for broken
 * debug information, or -ENOMEM.
 */
int dwarf_tsd_layout(int fd, struct tsd_layout *ret);

#endif
