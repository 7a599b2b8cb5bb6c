/* SPDX-License-Identifier: MIT */
/*
 * Directories, opened with the rights of a user: what we may read and that user may not, is refused.
 *
 * The kernel checks with the user's id; as it would still grant us what our own groups may do, the
 * directory's mode must also give the right to its owner, who is the user, or to everybody.  A right
 * that the user has through a group alone is therefore not used.  Symbolic links are not followed.
 *
 * File systems that another program or host answers for (FUSE, NFS) are not asked at all, since who
 * waits for one that is silent cannot even be killed: -EREMOTE.
 */
#ifndef HOST_USER_DIRECTORY_H
#define HOST_USER_DIRECTORY_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens an absolute path, part by part; each part must be a directory that the user may search, and
 * the last one may be listed.  An fd, or a negative errno: -ELOOP for a link, -EACCES.
 */
int user_directory_open(uid_t uid, const char *path);
/* The same below a directory that was opened so; `name` may have several parts. */
int user_directory_open_below(uid_t uid, int directory, const char *name);

/* Adds it to an inotify instance; returns the number of the watch, or a negative errno. */
int user_directory_watch(uid_t uid, int inotify, int directory, uint32_t events);

#endif
