/* SPDX-License-Identifier: MIT */
/*
 * Finds the offsets of jemalloc's counters in debug information.
 *
 * Searches for `struct tsd_s` among the top-level types of each unit, which is where C compilers
 * put it, and takes the constant locations of its two counters.  Split debug information (.dwo)
 * and strings in a file shared by several (.gnu_debugaltlink) are not followed: that would open
 * files by names that someone else wrote.
 *
 * The file may be hostile: it is read, never mapped, and only in a confined child.
 */
#ifndef HOST_DWARF_LAYOUT_H
#define HOST_DWARF_LAYOUT_H

#include "host/oracle/tsd_layout.h"

/* Limits, so that a walk ends whatever the file contains. */
#define DWARF_UNITS_MAX 200000
#define DWARF_ENTRIES_MAX 20000000
#define DWARF_BYTES_MAX ((uint64_t)2 << 30) /* all debug sections, decompressed */

/*
 * The fd is open for reading.  Offsets count from the start of the struct, which is jemalloc's
 * thread-local variable.  Returns 0, -ENODATA when the struct is not there, -EFBIG when a limit
 * was reached before it was found, -EBADMSG for broken debug information, or -ENOMEM.
 */
int dwarf_tsd_layout(int fd, struct tsd_layout *ret);

#endif
