/* SPDX-License-Identifier: MIT */
/*
 * Decides which files contain code that we may run.
 *
 * We trust root and the user who runs us (the effective user).  A file is trusted when it is a
 * plain file of theirs, every directory from the root of our own mount namespace down to it is
 * theirs, and neither group nor others may write to any of these.  That holds for sticky
 * directories too: anybody can put a file into one.  Links on the way are not followed.
 *
 * A file system may lie about owners.  FUSE is never believed, since an ordinary user may run it.
 * A file system mounted with nosuid is not believed when it says that a file belongs to root.
 * 65534, which the kernel shows for users that it cannot name, is never trusted, even if we run as
 * 65534.
 */
#ifndef HOST_TRUSTED_FILE_H
#define HOST_TRUSTED_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether both describe the same file, unchanged. */
bool file_is_unchanged(const struct stat *one, const struct stat *other);

/*
 * Opens a file by its path for reading, if it is trusted and, unless that is NULL, unchanged from
 * `wanted`.  Returns an fd, or -EKEYREJECTED for any other file and when there is none.  May wait
 * for a file system.
 */
int trusted_file_open(const char *path, const struct stat *wanted);

#endif
