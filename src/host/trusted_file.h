/* SPDX-License-Identifier: MIT */
/*
 * Code that we may run: whose word is it?
 *
 * Trusted are root and who runs us (the effective user), and so a plain file of theirs in
 * directories of theirs, all the way from the root of our own mount namespace, as long as neither
 * group nor others may write to any of them.  A sticky directory is no exception: anybody can put a
 * file into it.  Links on the way are not followed.
 *
 * What a file system says of owners is believed where root mounted it to be believed: not of FUSE,
 * which a user answers for, and nothing is root's where set-user-id does not count (nosuid).  The
 * kernel's number for who is not known, 65534, is nobody's own.
 */
#ifndef HOST_TRUSTED_FILE_H
#define HOST_TRUSTED_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether two states are of the very same file, unchanged. */
bool file_is_unchanged(const struct stat *one, const struct stat *other);

/*
 * Opens a file by its path for reading, if it is trusted and, unless that is NULL, unchanged from
 * `wanted`.  Returns an fd, or -EKEYREJECTED for any other file and for none.  May wait for a file
 * system.
 */
int trusted_file_open(const char *path, const struct stat *wanted);

#endif
